"""Every method has its order, on numbers and rotations; so has its dense output; its energy behaves as theory says."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods.drivers.explicit_steps import H
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.plant import Plant

INERTIA = np.array([1.0, 2.0, 3.0])
W0 = np.array([1.0, 2.0, -0.7])
NONE = np.zeros(0)


def quaternion_product(p, q):
    return np.array([*(p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3])), p[3] * q[3] - p[:3] @ q[:3]])


@pytest.fixture(scope="module")
def torque_free():
    """A free rigid body, and its motion at t = 1 by another way: quaternion and rates as plain numbers."""
    body = gs.RigidBody("body", mass=1.0, inertia=tuple(INERTIA))
    model = gs.assemble("body", gs.chain("world", gs.Joint("joint", "spherical"), body), gravity=(0, 0, 0))

    def rhs(t, y):
        w = y[4:]
        return [*(0.5 * quaternion_product(y[:4], np.append(w, 0.0))), *(-np.cross(w, INERTIA * w) / INERTIA)]

    y = solve_ivp(rhs, (0, 1), [0, 0, 0, 1, *W0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return Plant(model), (np.array([0, 0, 0, 1.0]), W0), (y[:4] / np.linalg.norm(y[:4]), y[4:])


@pytest.fixture(scope="module")
def spherical_tree():
    """A free body that carries a spherical pendulum and a hinged rod, with springy efforts; reference by tiny steps."""
    hub = gs.RigidBody("hub", mass=2.0, inertia=(0.2, 0.3, 0.4), frames={"left": (0.3, 0, 0), "right": (-0.2, 0.1, 0)})
    bob = gs.RigidBody("bob", mass=0.5, com=(0, 0.1, -0.4), inertia=(0.02, 0.03, 0.01))
    rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002))
    model = gs.assemble(
        "tree",
        gs.chain("world", gs.Joint("base", "free"), hub),
        gs.chain("hub.left", gs.Joint("ball", "spherical"), bob),
        gs.chain("hub.right", gs.Joint("hinge", "revolute", axis="x"), rod),
    )
    plant = Plant(model, lambda t, q, v: -0.1 * v * np.cos(t))
    rng = np.random.default_rng(3)
    start = gs.random_configuration(model, 3), rng.normal(size=model.nv)
    return plant, start, run(plant, "dopri5", start, 1.0 / 256)


def begun(plant, name, start, h, always=False):
    """A method at its start, with steps of h whatever the error; ``always``: it hands over every single step."""
    fixed = not METHODS[name].adaptive
    method = METHODS[name](plant, 1e6, 1e6, h, **({"dt": h} if fixed else {}))
    if not fixed:
        method.ctl[H] = h
    harvest = Harvest(plant, np.zeros(0))
    harvest.always = always
    method.attach(harvest, np.inf)
    method.prepare(0.0, *start, NONE)
    method.start(0.0, *start, NONE)
    return method


def run(plant, name, start, h, t_end=1.0):
    """(q, v) at the end, with steps of h whatever the error."""
    method = begun(plant, name, start, h)
    span = method.advance(t_end)
    while not span.reached:
        span = method.advance(t_end)
    return span.q, span.v


def error(plant, found, want):
    return max(np.abs(plant.difference(want[0], found[0])).max(), np.abs(found[1] - want[1]).max())


STEPS = {
    "semi-implicit-euler": (256, 512),
    "ode23": (32, 64),
    "rk4": (16, 32),
    "dopri5": (8, 16),
    "dop853": (8, 16),
    "variational": (64, 128),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("system", ["torque_free", "spherical_tree"])
def test_methods_have_their_order_on_rotations(name, system, request):
    plant, start, want = request.getfixturevalue(system)
    errors = [error(plant, run(plant, name, start, 1.0 / n), want) for n in STEPS[name]]
    order = np.log2(errors[0] / errors[1])
    assert METHODS[name].order - 0.35 < order < METHODS[name].order + 1.2, (errors, order)


@pytest.mark.parametrize(
    ("name", "order"),
    [("dop853", 7), ("dopri5", 4), ("ode23", 3), ("rk4", 3), ("variational", 2), ("semi-implicit-euler", 1)],
)
def test_dense_output_has_its_order(name, order, torque_free):
    """Local error of the interpolant: one order more than the dense output's."""
    plant, start, _ = torque_free
    errors = []
    for h in (0.4, 0.2) if name == "dop853" else (0.2, 0.1):
        step = begun(plant, name, start, h, always=True).advance(10.0).step
        t = h * np.array([0.3, 0.7])
        q, v, _ = step.dense(t)
        wants = [run(plant, "dop853", start, x / 16, x) for x in t]
        errors.append(max(error(plant, (q[k], v[k]), want) for k, want in enumerate(wants)))
        for found, end in zip(step.dense(np.array([h]))[:2], (step.q1, step.v1), strict=True):
            np.testing.assert_allclose(found[0], end, atol=1e-14)
        np.testing.assert_allclose(step.dense(0.0)[1], start[1], atol=1e-15)
    assert np.log2(errors[0] / errors[1]) > order + 0.6, errors


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("radau", 4.0),
        ("bdf", 3.0),
        ("scipy-radau", 4.0),
        ("scipy-bdf", 3.0),
        ("cvode", 3.0),
        ("ida", 3.0),
        ("dop853", 6.5),
        ("dopri5", 4.5),
        ("ode23", 2.7),
    ],
)
def test_errors_fall_with_the_tolerance_as_the_order_says(name, least):
    if name in ("cvode", "ida"):
        pytest.importorskip("sksundae", reason="cvode and ida need scikit-sundae")
    model = gs.robots.pendulum()
    rhs = lambda t, y: [y[1], -1.5 * 9.81 * np.sin(y[0])]  # noqa: E731
    times = np.linspace(1.0, 2.0, 11)
    want = solve_ivp(rhs, (0, 2), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14, t_eval=times).y[0]
    steps, errors = [], []
    for rtol in (1e-4, 1e-6, 1e-8) if name != "ode23" else (1e-3, 1e-5, 1e-6):
        found = gs.simulate(model, q0=[1.0], t_end=2.0, method=name, rtol=rtol, atol=1e-3 * rtol, t_eval=times)
        steps.append(found.counters.steps)
        errors.append(np.abs(found.q[:, 0] - want).max())
        assert errors[-1] < 10.0 * rtol
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order > least, (steps, errors)


def test_every_method_that_can_is_exact_where_acceleration_is_constant():
    ball = gs.assemble("ball", gs.chain("world", gs.Joint("z", "prismatic", axis="z"), gs.RigidBody("b", mass=1.0)))
    for name in ("dop853", "dopri5", "ode23", "rk4", "variational", "radau"):
        options = {} if METHODS[name].adaptive else {"dt": 0.1}
        found = gs.simulate(ball, q0=[1.0], t_end=1.0, method=name, rtol=1e-9, **options)
        assert found.q[-1, 0] == pytest.approx(1.0 - 9.81 / 2, abs=1e-7)
        assert found.t[-1] == 1.0


# ------------------------------------------------------------------------------------------------ energy for long
OMEGA = np.sqrt(1.5 * 9.81)


def swing(method, dt, steps):
    """Relative energy of a small swing of the pendulum, which is a harmonic oscillator of OMEGA."""
    found = gs.simulate(gs.robots.pendulum(), q0=[1e-4], t_end=steps * dt, method=method, dt=dt)
    energy = 0.5 * found.v[:, 0] ** 2 + 0.5 * OMEGA**2 * found.q[:, 0] ** 2
    return energy / energy[0], found


@pytest.mark.parametrize("dt", [0.1, 0.05])
def test_rk4_loses_the_energy_that_theory_says(dt):
    """|R(iz)|^2 = 1 - z^6/72 + z^8/576 at every step, z = OMEGA dt."""
    energy, _ = swing("rk4", dt, 1000)
    z = OMEGA * dt
    assert energy[-1] == pytest.approx((1.0 - z**6 / 72 + z**8 / 576) ** 1000, rel=1e-5)


def drift(steps):
    """Energy of semi-implicit Euler: E - h OMEGA^2 q v / 2 is an invariant of the oscillator."""
    dt = 0.02
    energy, found = swing("semi-implicit-euler", dt, steps)
    z = OMEGA * dt
    assert np.abs(energy - 1.0).max() < 1.05 * z / 2 / (1 - z / 2)
    period = round(2 * np.pi / z)
    assert np.mean(energy[-period:]) == pytest.approx(np.mean(energy[:period]), abs=1e-3)
    invariant = energy - dt * found.q[:, 0] * found.v[:, 0] / 1e-8
    np.testing.assert_allclose(invariant, invariant[0], atol=1e-6)


def test_semi_implicit_euler_keeps_the_energy_in_bounds():
    drift(4000)


@pytest.mark.slow
def test_energies_over_a_hundred_thousand_steps():
    drift(100_000)
    energy, _ = swing("rk4", 0.02, 100_000)
    z = OMEGA * 0.02
    assert energy[-1] == pytest.approx((1.0 - z**6 / 72 + z**8 / 576) ** 100_000, rel=1e-4)


# ------------------------------------------------------------------------------------------------ refusals
def test_a_missing_scipy_is_told_in_one_sentence(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(gs.GyrostatError, match=r"method 'scipy-radau' needs scipy\. Hint: pip install scipy"):
        gs.simulate(gs.robots.pendulum(), t_end=1.0, method="scipy-radau")


def test_a_body_that_spins_fast_is_followed_turn_by_turn(torque_free):
    plant, _, _ = torque_free
    found = gs.simulate(plant.model, v0=[0, 0, 50.0], t_end=10.0, t_eval=[10.0])
    angle = 500.0
    assert abs(found.q[0] @ [0, 0, np.sin(angle / 2), np.cos(angle / 2)]) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(gs.SimulationError, match="more than half a turn in one step"):
        gs.simulate(plant.model, v0=[0, 0, 50.0], t_end=10.0, method="rk4", dt=0.1)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Generalized_Alpha", "generalised-alpha"), ("semi_implicit", "semi-implicit-euler"), ("RK4", "rk4")],
)
def test_other_spellings_of_a_method_are_understood(written, meant):
    run = gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=0.01, dt=0.001, method=written)
    assert run.method == meant
