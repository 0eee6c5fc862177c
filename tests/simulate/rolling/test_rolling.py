"""Rolling without slipping: closed forms, hand-derived equations, every method, and what is refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from tests.support.loop_models import four_bar
from tests.support.rolling_models import MASS, RADIUS, disc, euler_rates, leaned, turntable

G = 9.81
AXIAL, ACROSS = 0.06, 0.03
CASES = {"disc": disc(), "tyre": disc(crown=0.1), "sphere": disc("sphere"), "turntable": turntable()}


def started(model: gs.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = gs.integrate(model, gs.neutral(model), 0.2 * rng.normal(size=model.nv))
    return gs.close(model, q, rng.normal(size=model.nv))


@pytest.mark.parametrize("name", CASES)
def test_rows_are_derivatives_of_the_motion(name):
    """a keeps the slip of the next instant at zero: J, bias and their derivative by finite differences of J v."""
    model = CASES[name]
    from gyrostat.algorithms.constrained.loop_equations import loop_equations
    from gyrostat.graph.network import network

    net = network(model)
    q, v = started(model, 1)
    v = v + 0.3  # any motion, slipping too
    at = lambda s: loop_equations(net, gs.integrate(model, q, s * v))  # noqa: E731
    h = 1e-6
    rate = (at(h).J.astype(float) - at(-h).J.astype(float)) @ v / (2 * h)
    found = loop_equations(net, q, v)
    np.testing.assert_allclose(found.bias.astype(float), rate, rtol=1e-6, atol=1e-7)
    gap = (at(h).g[0] - at(-h).g[0]) / (2 * h)
    np.testing.assert_allclose(float(found.J[0] @ v), float(gap), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_energy_is_kept_and_nothing_slips(name):
    model = CASES[name] if name != "turntable" else turntable(5.0)
    q, v = started(model, 2)
    run = gs.simulate(model, q0=q, v0=v, t_end=1.0, rtol=1e-10, atol=1e-12)
    assert np.ptp(run.energy) < 1e-8 * (1.0 + abs(run.energy[0]))
    assert run.closure["contact"].distance.max() < 1e-13
    assert run.closure["contact"].rate.max() < 1e-12


def test_a_disc_moves_as_hand_derived_equations_say():
    model, lean, rates = disc(), 0.2, np.array([0.4, 9.0, 1.0])
    w1, w2, w3 = rates
    turned = np.array([w1, w2, w3])
    v0 = np.concatenate([turned, RADIUS * np.array([w2, -w1, 0.0])])
    q0 = leaned(lean)
    run = gs.simulate(model, q0=q0, v0=v0, t_end=1.5, rtol=1e-11, atol=1e-12)
    y0 = [lean, w1, w2, w3]
    want = solve_ivp(
        lambda t, y: euler_rates(lean, t, y, AXIAL, ACROSS, G), (0, 1.5), y0, rtol=1e-11, atol=1e-12, method="DOP853"
    ).y[:, -1]
    w = run.v[-1, :3]
    height = run.q[-1, 2]
    np.testing.assert_allclose(np.cos(want[0]) * RADIUS, height, atol=1e-8)
    np.testing.assert_allclose(w[1], want[2], atol=1e-7)  # about the axis
    np.testing.assert_allclose(np.hypot(w[0], w[2]), np.hypot(want[1], want[3]), atol=1e-7)  # in the disc


def test_a_leaned_disc_runs_in_a_circle_of_the_closed_form():
    """Steady turn: lean, spin n about the axis and w3 constant where hand-derived dw1 vanishes."""
    lean, w3 = 0.3, 1.2
    p = w3 * np.tan(lean)
    inertia = AXIAL + MASS * RADIUS**2
    w2 = (p * ACROSS * w3 - RADIUS * MASS * G * np.sin(lean)) / (w3 * inertia)
    v0 = np.array([0.0, w2, w3, RADIUS * w2, 0.0, 0.0])
    run = gs.simulate(disc(), q0=leaned(lean), v0=v0, t_end=3.0, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.q[:, 2], RADIUS * np.cos(lean), atol=1e-8)
    turning = w3 / np.cos(lean)  # about the vertical
    radius = abs(RADIUS * w2 / turning)
    centre = np.array([0.0, RADIUS * w2 / turning])
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :2] - centre, axis=1), radius, atol=1e-7)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_sphere_on_a_turntable_circles_with_two_sevenths_of_its_speed(speed):
    """Milne 1948: the centre moves on a circle with 2/7 of the table's angular velocity, wherever it begins."""
    model = turntable()
    q0 = gs.neutral(model) + 0.0
    block = model.layout.of["pose"]
    q0[block.q][:2] = 0.4, 0.1
    v0 = np.zeros(model.nv)
    v0[model.layout.of["turn"].v] = speed
    v0[block.v] = 0.3, 0.2, 0.1, 0.0, 0.0, 0.0
    contact = speed * np.array([-q0[block.q][1], q0[block.q][0], 0.0])
    v0[block.linear] = contact - np.cross([0.3, 0.2, 0.1], [0.0, 0.0, -RADIUS])
    run = gs.simulate(model, q0=q0, v0=v0, t_end=3.0, rtol=1e-11, atol=1e-13)
    r0, u0 = q0[block.q][:2], v0[block.linear][:2]
    w = 2.0 / 7.0 * speed
    centre = r0 + np.array([-u0[1], u0[0]]) / w
    t = run.t[:, None]
    d = r0 - centre
    want = centre + d * np.cos(w * t) + np.array([-d[1], d[0]]) * np.sin(w * t)
    np.testing.assert_allclose(run.q[:, block.q][:, :2], want, atol=2e-8)


def test_a_sphere_down_a_slope_has_five_sevenths_of_the_acceleration():
    slope = 0.4
    body = gs.RigidBody("ball", mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3)
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    model = gs.assemble("slope", gs.chain("world", gs.Joint("pose", "free"), body), gravity=gravity)
    on = gs.Rolling("contact", RADIUS, kind="sphere").on("ball")
    run = gs.simulate(model, q0=[0, 0, RADIUS, 0, 0, 0, 1], t_end=1.0, events=[on], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run.q[-1, 0], 5.0 / 14.0 * G * np.sin(slope), atol=1e-8)
    force = MASS * G * np.array([np.cos(slope), -2.0 / 7.0 * np.sin(slope), 0.0])
    np.testing.assert_allclose(run.rolling_forces["contact"], np.tile(force, (len(run.t), 1)), atol=1e-8)
    again = gs.simulate(model, q0=[0, 0, RADIUS, 0, 0, 0, 1], t_end=1.0, events=on)
    assert again.model is run.model  # made once


METHODS = {
    "dopri5": {}, "dop853": {}, "ode23": {}, "bdf": {}, "radau": {}, "cvode": {}, "ida": {}, "scipy-bdf": {},
    "scipy-radau": {}, "rk4": {"dt": 1e-3}, "trapezoid": {"dt": 2e-4}, "newmark": {"dt": 2e-4},
    "generalised-alpha": {"dt": 2e-4}, "dina": {"dt": 2e-4},
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_rolls_to_the_same_place(method):
    model = CASES["disc"]
    if method in ("cvode", "ida"):
        pytest.importorskip("sksundae")
    q, v = gs.close(model, leaned(0.1), [0.1, 5.0, 0.2, 0.0, 0.0, 0.0])
    want = gs.simulate(model, q0=q, v0=v, t_end=0.3, method="dop853", rtol=1e-12, atol=1e-13).q[-1]
    options = METHODS[method] or {"rtol": 1e-8, "atol": 1e-10}
    run = gs.simulate(model, q0=q, v0=v, t_end=0.3, method=method, **options)
    assert np.abs(run.q[-1] - want).max() < (3e-6 if "dt" in options else 1e-6)
    assert run.closure["contact"].distance.max() < 1e-9 and run.closure["contact"].rate.max() < 1e-8


def test_velocity_drift_of_baumgarte_stays_small():
    model = CASES["disc"]
    q, v = gs.close(model, leaned(0.1), [0.1, 5.0, 0.2, 0.0, 0.0, 0.0])
    run = gs.simulate(model, q0=q, v0=v, t_end=1.0, stabilisation="baumgarte", k1=50.0, rtol=1e-9)
    assert run.closure["contact"].distance.max() < 1e-8 and run.closure["contact"].rate.max() < 1e-6


def test_a_batch_has_the_bits_of_single_runs():
    model = CASES["disc"]
    starts = [gs.close(model, leaned(x), [0.1, 5.0, 0.2, 0.0, 0.0, 0.0]) for x in (0.05, 0.1)]
    many = gs.simulate(model, q0=np.stack([q for q, _ in starts]), v0=np.stack([v for _, v in starts]), t_end=0.3)
    for run, (q, v) in zip(many, starts, strict=True):
        assert np.array_equal(run.q, gs.simulate(model, q0=q, v0=v, t_end=0.3).q)


def test_a_wheel_rolls_beside_stops():
    """Constraints that are decided in Python leave rolling as it is."""
    model = gs.robots.bicycle().replace({"steer.lower": -0.05, "steer.upper": 0.05})
    q, v = gs.close(model, gs.neutral(model), straight(3.0) | {"steer": 2.0})
    run = gs.simulate(model, q0=q, v0=v, t_end=0.3, events=[gs.JointLimits()])
    assert any(e.name == "steer" for e in run.events)
    assert run["steer"].q.max() < 0.05 + 1e-8
    assert max(x.distance.max() for x in run.closure.values()) < 1e-9
    assert max(x.rate.max() for x in run.closure.values()) < 1e-8


def straight(speed: float) -> dict:
    return {"pose": (0, 0, 0, speed, 0, 0), "rear_spin": speed / 0.3, "steer": 0.0, "front_spin": speed / 0.35}


def test_the_step_by_step_simulator_takes_wheels():
    body = gs.RigidBody("disc", mass=MASS, inertia=(0.03, 0.06, 0.03))
    model = gs.assemble("disc", gs.chain("world", gs.Joint("pose", "free"), body))
    on = gs.Rolling("contact", RADIUS).on("disc")
    sim = gs.Simulator(model, dt=1e-3, q0=[0, 0, RADIUS, 0, 0, 0, 1], v0=[0, 5 / RADIUS, 0, 5, 0, 0], constraints=on)
    np.testing.assert_allclose(sim.step(steps=200).q[:3], [1.0, 0.0, RADIUS], atol=1e-9)


def test_rolling_is_written_and_read(tmp_path):
    model = CASES["tyre"]
    again = gs.load(gs.save(model, tmp_path / "disc.yaml") or tmp_path / "disc.yaml")
    assert again["contact"] == model["contact"]
    assert "gyrostat: 4" in (tmp_path / "disc.yaml").read_text()


# ------------------------------------------------------------------------------------------------ what is refused
def test_what_cannot_roll_is_refused_by_name():
    model, q = CASES["disc"], leaned(0.0)
    with pytest.raises(gs.LoopError, match=r"v0 lets the wheel 'contact' slip.*4\.7 m/s.*gs\.close"):
        gs.simulate(model, q0=q, v0=[0, 1, 0, 5, 0, 0], t_end=1.0)
    with pytest.raises(gs.LoopError, match=r"q0 leaves the loop 'contact'.*open by 0\.01.*gs\.close"):
        gs.simulate(model, q0=q + 0.01 * np.eye(7)[2], t_end=1.0)
    with pytest.raises(gs.GyrostatError, match=r"index=3.*'contact'.*rolls.*index=2"):
        gs.simulate(model, q0=q, t_end=1.0, method="trapezoid", dt=1e-3, index=3)
    with pytest.raises(gs.GyrostatError, match=r"variational.*does not serve"):
        gs.simulate(model, q0=q, t_end=1.0, method="variational", dt=1e-3)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda m: m.with_rolling(gs.Rolling("c", 0.3)), r"with_rolling: expected a rolling wheel.*\.on\('wheel'\)"),
        (lambda m: m.with_rolling(gs.Rolling("c", 0.3).on("dics")), "with_rolling: wheel.*disc"),
        (lambda m: m.with_rolling(gs.Rolling("contact", 0.3).on("disc")), "'contact' is in use already"),
        (lambda m: m.with_rolling(gs.Rolling("c", -0.3).on("disc")), "'radius' must be positive, got -0.3"),
        (lambda m: m.with_rolling(gs.Rolling("c", 0.3, crown=0.4).on("disc")), "'crown' must be from 0 to the radius"),
        (lambda m: gs.robots.quadruped().with_rolling(gs.Rolling("c", 0.3).on("trunk")), "is no ground.*free"),
    ],
)
def test_mistakes_are_told(what, message):
    with pytest.raises(gs.SpecError, match=message):
        what(CASES["disc"])


def test_a_wheel_that_nothing_else_holds_is_refused():
    body = gs.RigidBody("disc", mass=MASS, inertia=(0.03, 0.06, 0.03))
    parts = gs.Rolling("contact", RADIUS), gs.connect("world", "contact.ground"), gs.connect("disc", "contact.wheel")
    with pytest.raises(gs.SpecError, match="closes no loop"):
        gs.check(gs.assemble("loose", body, *parts))


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_rolling_dynamics_are_exact(name):
    """Along rates, and along displacements that keep the wheel on its plane, against differences."""
    model = CASES[name] if name != "turntable" else turntable(5.0)
    q, v = started(model, 3)
    tau = np.random.default_rng(4).normal(size=model.nv)
    exact, h = gs.aba_derivatives(model, q, v, tau), 1e-6

    def along(function):
        return np.array([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(model.nv)]).T

    np.testing.assert_allclose(exact.da_dv, along(lambda d: gs.aba(model, q, v + d, tau)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(exact.da_dtau, along(lambda d: gs.aba(model, q, v, tau + d)), rtol=1e-6, atol=1e-6)
    Z = np.eye(model.nv) - np.linalg.pinv(J := touch_row(model, q)) @ J

    def moved(d: np.ndarray) -> np.ndarray:
        return gs.aba(model, gs.close(model, gs.integrate(model, q, d)), v, tau)

    slope = np.array([(moved(h * z) - moved(-h * z)) / (2 * h) for z in Z.T]).T
    np.testing.assert_allclose(exact.da_dq @ Z, slope, rtol=2e-5, atol=2e-5)


def touch_row(model: gs.Model, q: np.ndarray) -> np.ndarray:
    """dg/dq of touching (1, nv)."""
    from gyrostat.algorithms.constrained.loop_equations import loop_equations
    from gyrostat.graph.network import network

    return loop_equations(network(model), q).J[:1].astype(float)


def test_loops_in_closed_form_stay_so_beside_a_wheel():
    """Rolling takes no coordinate away from a four-bar, and is the same with it."""
    body = gs.RigidBody("disc", mass=MASS, inertia=(ACROSS, AXIAL, ACROSS))
    both = four_bar().attach(gs.Joint("pose", "free"), "world", check=False).attach(body, "pose.b")
    both = both.with_rolling(gs.Rolling("contact", RADIUS).on("disc"))
    assert sorted(loop.treatment for loop in gs.loops(both)) == ["closed form", "constraints"]
    q, v = gs.close(CASES["disc"], leaned(0.1), [0.1, 5.0, 0.2, 0.0, 0.0, 0.0])
    alone = gs.simulate(CASES["disc"], q0=q, v0=v, t_end=0.5, rtol=1e-10, atol=1e-12).q[-1]
    start = {"A": -1.0, "pose": q}, {"A": 0.0, "pose": v}
    run = gs.simulate(both, q0=start[0], v0=start[1], t_end=0.5, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run["pose"].q[-1], alone, atol=1e-8)


def test_the_radius_is_a_parameter():
    model = CASES["disc"]
    run = gs.simulate(
        model, q0=[0, 0, 0.35, 0, 0, 0, 1], v0=[0, 10, 0, 3.5, 0, 0], t_end=0.5, parameters={"contact.radius": 0.35}
    )
    np.testing.assert_allclose(run.q[-1, :3], [1.75, 0.0, 0.35], atol=1e-5)
    with pytest.raises(gs.LoopError, match=r"rollout.*2 loop\(s\) that are constraints"):
        gs.rollout(gs.robots.bicycle(), np.zeros((1, 3, 9)), np.zeros((1, 10)), np.zeros((1, 9)), dt=1e-3)
