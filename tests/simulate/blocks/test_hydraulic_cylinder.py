"""The hydraulic cylinder: closed forms, geometry, power, a boom written out by hand, all methods, and its refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import blocks as bl
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.vector_system import VectorSystem

NOTHING = np.zeros(0)
OIL = {"area": 3e-3, "dead_volume": 2e-4, "supply": 20e6, "flow": 3e-7, "rod_ratio": 0.6}
LIFT = bl.HydraulicCylinder(
    **OIL, stroke=0.6, closed_length=0.65, viscous=3e3, coulomb=200.0, leakage=2e-12, drain=1e-12, compliance=1e-13,
    between=("mast.pin", "boom.pin"), initial=(6e6, 6e6), name="lift",
)  # fmt: skip


def crane(**boom) -> gs.Model:
    """A boom on a mast that turns: the cylinder's pins are 0.6 m below and 0.2 m before the hinge, 0.6 m along the
    boom."""
    mast = gs.RigidBody("mast", mass=50.0, inertia=(5, 5, 5), frames={"pin": (0.2, 0, -0.6), "next": (0, 0, 0)})
    boom = {"mass": 200.0, "com": (0.9, 0, 0), "inertia": (3, 50, 50), "frames": {"pin": (0.6, 0, 0)}} | boom
    hinges = gs.Joint("slew", "revolute", axis="z"), gs.Joint("lift", "revolute", axis=(0, -1, 0))
    return gs.assemble("crane", gs.chain("world", hinges[0], mast, hinges[1], gs.RigidBody("boom", **boom)))


def slider(mass: float = 300.0, **others) -> gs.Model:
    """A mass that slides along x, without weight."""
    body = gs.RigidBody("block", mass=mass, inertia=(1, 1, 1), **others)
    return gs.assemble("slider", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), body))


def valve(u: float, *cylinders, **options):
    return bl.diagram(bl.Constant([u], target="u"), *cylinders, gives="tau", **options)


def inputs(u, q, v):
    return {"u": np.atleast_1d(u), "q": np.atleast_1d(q), "v": np.atleast_1d(v)}


# ------------------------------------------------------------------------------------------------ geometry
def distance_by_hand(angle):
    """Length between the pins of the crane, and its derivative by the angle of the boom."""
    x, z = 0.6 * math.cos(angle) - 0.2, 0.6 * math.sin(angle) + 0.6
    length = math.hypot(x, z)
    return length, (-0.6 * math.sin(angle) * x + 0.6 * math.cos(angle) * z) / length


def test_length_and_lever_are_those_of_the_triangle():
    cylinder = LIFT.within(crane())
    for slew, angle in ((0.0, 0.3), (1.0, -0.1), (-2.0, 1.1)):
        x = inputs(0.0, [slew, angle], [0.7, 0.4])
        found = cylinder.output(0.0, x, np.array([8e6, 3e6]), NOTHING)
        length, lever = distance_by_hand(angle)
        assert found["lift.length"] == pytest.approx([length], rel=1e-14)
        assert found["lift.speed"] == pytest.approx([0.4 * lever], rel=1e-13)
        force = 3e-3 * 8e6 - 1.8e-3 * 3e6 - 3e3 * 0.4 * lever - 200.0 * math.tanh(0.4 * lever / 1e-3)
        assert found["lift.force"] == pytest.approx([force], rel=1e-13)
        assert found["tau"] == pytest.approx([0.0, force * lever], rel=1e-13)
        assert found["tau"][0] == 0.0  # exactly: slewing carries both pins


def tailed() -> gs.Model:
    """A floating trunk with two branches, of which one has a joint that follows another."""
    arm, leg = (gs.RigidBody(n, mass=1, inertia=(1, 1, 1), frames={"tip": (0.1, 0.3, 0.5)}) for n in ("arm", "leg"))
    hand = gs.RigidBody("hand", mass=1, inertia=(1, 1, 1), frames={"tip": (0, 0.2, 0.3)})
    trunk = gs.RigidBody("trunk", mass=5, inertia=(1, 1, 1), frames={"left": (0, 0.2, 0), "right": (0, -0.2, 0)})
    parts = gs.chain("world", gs.Joint("base", "free"), trunk)
    left = gs.chain(
        "trunk.left", gs.Joint("shoulder", "revolute", axis="y"), arm, gs.Joint("wrist", "revolute", axis="x"), hand
    )
    right = gs.chain("trunk.right", gs.Joint("hip", "revolute", axis="x"), leg)
    return gs.assemble("tailed", parts, left, right)


MODELS = {
    "across a floating trunk": (tailed, ("leg.tip", "hand.tip"), {"shoulder", "wrist", "hip"}),
    "along one branch": (tailed, ("trunk.left", "hand.tip"), {"shoulder", "wrist"}),
    "to the ground": (lambda: gs.robots.arm6(), ("world", "link4"), None),
    "a base that moves by itself": (
        lambda: gs.robots.two_link().replace({"context.base": gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=2.0)}),
        ("world", "lower.tip"), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "ports", "moving"), MODELS.values(), ids=MODELS.keys())
def test_the_force_acts_by_the_transposed_jacobian(make, ports, moving):
    model, rng = make(), np.random.default_rng(3)
    block = replace(LIFT, between=ports, closed_length=1e-6, stroke=50.0, viscous=0.0, coulomb=0.0, name="").within(
        model
    )
    options = {} if isinstance(model.context.base, str) else {"t": 0.0}
    for _ in range(4):
        q, v = gs.integrate(model, gs.neutral(model), rng.normal(size=model.nv)), rng.normal(size=model.nv)
        found = block.output(0.0, inputs(0.0, q, v), np.array([9e6, 1e6]), NOTHING)
        p = [gs.fk(model, q, **options)[port].p for port in ports]
        J = [gs.jacobian(model, q, port, "aligned", **options)[3:] for port in ports]
        n = (p[1] - p[0]) / np.linalg.norm(p[1] - p[0])
        assert found["length"][0] == pytest.approx(np.linalg.norm(p[1] - p[0]), rel=1e-12)
        row = n @ (J[1] - J[0])
        assert found["speed"][0] == pytest.approx(row @ v, abs=1e-12)
        assert found["tau"] == pytest.approx(row * found["force"][0], abs=1e-8)
        if moving:
            dofs = {name.split(".")[0] for name, x in zip(model.dofs, found["tau"], strict=True) if x}
            assert dofs == moving


# ------------------------------------------------------------------------------------------------ closed forms
def test_the_steady_speed_is_flow_over_area():
    cylinder = bl.HydraulicCylinder(**OIL, stroke=2.0, transition=1.0, closed_length=-0.5, viscous=3e3)
    for force, speed in ((5e3, 0.1), (-8e3, 0.3), (5e3, -0.2), (2e4, -0.05)):
        u, p_a, p_b = cylinder.steady(force, speed)
        Q_a, Q_b = cylinder.inflow(np.array([u]), np.array([p_a]), np.array([p_b]))
        assert [Q_a[0] / 3e-3, -Q_b[0] / 1.8e-3] == pytest.approx([speed, speed], rel=1e-12)
        x = inputs(u, 0.4, speed)
        assert np.abs(cylinder.derivative(0.0, x, np.array([p_a, p_b]), NOTHING)).max() < 1e-3  # [Pa/s]
        assert cylinder.output(0.0, x, np.array([p_a, p_b]), NOTHING)["tau"] == pytest.approx([force], rel=1e-9)
    push = gs.ForceElement("push", wrench=(0, 0, 0, -5e3, 0, 0))
    model = gs.assemble(
        "pushed",
        gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("b", mass=100.0, inertia=(1, 1, 1)), push),
    )
    u, p_a, p_b = cylinder.steady(5e3, 0.1)
    run = gs.simulate(
        model, valve(u, replace(cylinder, transition=1e4, initial=(8e6, 8e6))), [0.0], t_end=1.0, rtol=1e-5
    )
    assert run.v[-1] == pytest.approx([0.1], rel=1e-3)
    assert run.p[-1] == pytest.approx([p_a, p_b], rel=1e-3)


def test_the_natural_frequency_is_that_of_the_two_springs_of_oil():
    cylinder = bl.HydraulicCylinder(**OIL, stroke=0.5, initial=(5e6, 5e6 / 0.6))
    plant = Plant(slider(), valve(0.0, cylinder))
    poles = np.linalg.eigvals(
        plant.derivatives.rhs_jacobian(0.0, np.array([0.2]), np.zeros(1), np.array(cylinder.states))
    )
    stiffness = 1.4e9 * (3e-3**2 / (2e-4 + 3e-3 * 0.2) + 1.8e-3**2 / (2e-4 + 1.8e-3 * 0.3))
    assert np.abs(poles.imag).max() == pytest.approx(math.sqrt(stiffness / 300.0), rel=1e-9)
    assert np.abs(poles.real).max() < 1e-5 * math.sqrt(stiffness / 300.0)


def test_a_symmetric_cylinder_in_the_middle_has_merritts_load_pressure():
    """V/(4 beta) dP/dt = Q - A v - c P, Q = K/sqrt(2) u sqrt(P_s - sign(u) P) [Merritt 1967, 6.1]."""
    cylinder = bl.HydraulicCylinder(1e-3, 0.2, 2e-5, 2e7, 1e-7, leakage=1e-11, transition=1.0)
    V = 2.0 * (2e-5 + 1e-3 * 0.1)
    for u, v, P in ((0.3, 0.02, 5e6), (-0.3, 0.02, 5e6), (0.5, -0.1, -1e6)):
        rate = cylinder.derivative(0.0, inputs(u, 0.1, v), np.array([1e7 + P / 2, 1e7 - P / 2]), NOTHING)
        flow = 1e-7 / math.sqrt(2.0) * u * math.sqrt(2e7 - math.copysign(1.0, u) * P)
        assert rate[0] - rate[1] == pytest.approx(4.0 * 1.4e9 / V * (flow - 1e-3 * v - 1e-11 * P), rel=1e-9)


def test_balanced_pressures_hold_the_boom():
    model = crane()
    q = np.array([0.5, 0.3])
    lever = distance_by_hand(0.3)[1]
    tight = replace(LIFT, leakage=0.0, drain=0.0)
    _, p_a, p_b = tight.steady(gs.gravity(model, q)[1] / lever)
    assert 3e-3 * p_a - 1.8e-3 * p_b == pytest.approx(gs.gravity(model, q)[1] / lever, rel=1e-12)
    run = gs.simulate(model, valve(0.0, replace(tight, initial=(p_a, p_b))), q, t_end=0.3)
    assert np.abs(run.q - q).max() < 1e-9
    assert run.p[-1] == pytest.approx([p_a, p_b], rel=1e-9)


# ------------------------------------------------------------------------------------------------ power
def test_oil_that_comes_in_does_work_is_compressed_or_lost():
    """p_a Q_a + p_b Q_b = F dx/dt + friction + leakage + p_a C_a dp_a/dt + p_b C_b dp_b/dt, in every state."""
    rng, block = np.random.default_rng(5), LIFT.within(crane())
    for _ in range(20):
        p, x = rng.uniform(0, 2e7, 2), inputs(rng.uniform(-1, 1), [0.0, rng.uniform(0, 1)], rng.normal(size=2))
        out, rate = block.output(0.0, x, p, NOTHING), block.derivative(0.0, x, p, NOTHING)
        Q_a, Q_b = block.inflow(x["u"], p[:1], p[1:])
        C_a, C_b = block.capacities(out["lift.length"])
        speed = out["lift.speed"][0]
        lost = 3e3 * speed**2 + 200.0 * speed * math.tanh(speed / 1e-3) + 2e-12 * (p[0] - p[1]) ** 2
        stored = p[0] * C_a[0] * rate[0] + p[1] * C_b[0] * rate[1]
        power = out["tau"] @ x["v"]
        assert power == pytest.approx(out["lift.force"][0] * speed, rel=1e-12)
        assert p[0] * Q_a[0] + p[1] * Q_b[0] == pytest.approx(power + lost + stored, rel=1e-9)


def test_the_energy_of_the_boom_is_the_work_of_the_cylinder():
    model = crane()
    run = gs.simulate(model, valve(0.4, LIFT), [0.3, 0.2], [0.5, 0.0], t_end=0.4, rtol=1e-9, atol=1e-9)
    assert run.counters.compiled
    assert np.ptp(run.energy) > 100.0
    assert np.abs(run.energy_residual).max() < 1e-5
    force, speed = [], []
    block = LIFT.within(model)
    for t, q, v, p in zip(run.t, run.q, run.v, run.p, strict=True):
        out = block.output(t, inputs(0.4, q, v), p, NOTHING)
        force.append(out["lift.force"][0])
        speed.append(out["lift.speed"][0])
    assert np.array(force) * np.array(speed) == pytest.approx(run.power, rel=1e-9, abs=1e-6)


# ------------------------------------------------------------------------------------------------ an oracle by hand
def boom_by_hand(t, y):
    """angle, rate, p_a, p_b of the crane with LIFT: everything written out, u = 0.5 sin(6 t)."""
    angle, rate, p_a, p_b = y
    l, lever = distance_by_hand(angle)
    speed, u, A, A_b = lever * rate, 0.5 * math.sin(6.0 * t), 3e-3, 1.8e-3

    def root(drop):
        return drop / (drop**2 + 1e8) ** 0.25

    flow = 3e-7 * abs(u)
    Q_a = flow * (root(20e6 - p_a) if u > 0 else -root(p_a)) - 1e-12 * p_a - 2e-12 * (p_a - p_b)
    Q_b = flow * (-root(p_b) if u > 0 else root(20e6 - p_b)) - 1e-12 * p_b + 2e-12 * (p_a - p_b)
    C_a = (2e-4 + A * (l - 0.65)) / 1.4e9 + 1e-13
    C_b = (2e-4 + A_b * (1.25 - l)) / 1.4e9 + 1e-13
    force = A * p_a - A_b * p_b - 3e3 * speed - 200.0 * math.tanh(speed / 1e-3)
    inertia = 50.0 + 200.0 * 0.9**2
    turn = (force * lever - 200.0 * 9.81 * 0.9 * math.cos(angle)) / inertia
    return [rate, turn, (Q_a - A * speed) / C_a, (Q_b + A_b * speed) / C_b]


def moving_valve():
    return bl.diagram(bl.function(lambda t: np.array([0.5 * np.sin(6.0 * t)]), target="u"), LIFT, gives="tau")


@pytest.fixture(scope="module")
def by_hand():
    solve = pytest.importorskip("scipy.integrate").solve_ivp
    t = np.linspace(0.0, 0.6, 13)
    return t, solve(
        boom_by_hand, (0.0, 0.6), [0.2, 0.0, 6e6, 6e6], "Radau", t, rtol=1e-9, atol=[1e-11, 1e-11, 1e-2, 1e-2]
    ).y.T


def test_a_boom_moves_as_its_equations_written_out_by_hand_say(by_hand):
    t, want = by_hand
    run = gs.simulate(crane(), moving_valve(), [0.0, 0.2], t_end=0.6, t_eval=t, rtol=1e-9, atol=1e-10)
    assert run.counters.compiled
    assert np.ptp(want[:, 0]) > 0.05
    assert np.abs(run.q[:, 1] - want[:, 0]).max() < 1e-7
    assert np.abs(run.v[:, 1] - want[:, 1]).max() < 1e-6
    assert np.abs(run.p / want[:, 2:] - 1.0).max() < 1e-6
    assert np.abs(run.q[:, 0]).max() == 0.0


STEPS = {
    "rk4": 1e-4,
    "semi-implicit-euler": 2e-5,
    "moreau": 2e-5,
    "newmark": 5e-4,
    "variational": 1e-4,
    "trapezoid": 5e-4,
    "generalised-alpha": 5e-4,
    "dina": 5e-4,
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_same_motion(method, by_hand):
    t, want = by_hand[0][:2], by_hand[1][:2]
    options = {"dt": STEPS[method]} if method in STEPS else {"rtol": 1e-7}
    if method in ("cvode", "ida"):
        pytest.importorskip("sksundae")
    run = gs.simulate(crane(), moving_valve(), [0.0, 0.2], t_end=0.05, t_eval=t, method=method, **options)
    assert run.status == "finished" and run.counters.compiled
    assert np.abs(run.q[:, 1] - want[:, 0]).max() < 2e-5
    assert np.abs(run.p / want[:, 2:] - 1.0).max() < 2e-3


def test_uncompiled_runs_and_rollouts_are_the_same_motion():
    q, law = np.array([0.1, 0.2]), valve(0.4, LIFT)
    runs = [
        gs.simulate(crane(), law, q, t_end=0.02, method="rk4", dt=2e-4, t_eval=[0.0, 0.02], compiled=compiled)
        for compiled in (None, False)
    ]
    rolled = gs.rollout(crane(), law, q0=q, dt=2e-4, steps=100)
    for found in (runs[1], rolled):
        assert found.q[-1] == pytest.approx(runs[0].q[-1], abs=1e-13)
        assert found.p[-1] == pytest.approx(runs[0].p[-1], rel=1e-12)


def test_implicit_methods_get_exact_derivatives():
    plant = Plant(crane(), valve(0.4, LIFT))
    assert not plant.why_not_compiled
    q, v, p = np.array([0.1, 0.4]), np.array([0.3, -0.2]), np.array([9e6, 4e6])
    J = plant.derivatives.rhs_jacobian(0.0, q, v, p)
    y, size = np.concatenate([q, v, p]), np.array([1.0, 1.0, 1.0, 1.0, 1e6, 1e6])

    def rate(y):
        a, dp, _ = plant.acceleration(0.0, y[:2], y[2:4], y[4:])
        return np.concatenate([y[2:4], a, dp])

    for k in range(6):
        h = 1e-6 * size[k] * np.eye(6)[k]
        column = (rate(y + h) - rate(y - h)) / (2e-6 * size[k])
        assert J[:, k] == pytest.approx(column, rel=2e-5, abs=1e-6 * np.abs(column).max() + 1e-8)


@pytest.mark.parametrize("sizes", [None, 1.0])
def test_absolute_tolerances_of_pressures_are_parts_of_the_supply(sizes, monkeypatch):
    """Tanks are at zero: a pressure there has no size of its own, and 1e-9 Pa is less than its rounding."""
    if sizes:
        monkeypatch.setattr(bl.HydraulicCylinder, "sizes", property(lambda self: (1.0, 1.0)))
    tolerance = 1e-9 * (sizes or 20e6)
    law = bl.diagram(
        bl.Constant([0.0], target="u"), bl.first_order(0.1, source="v", target="slow", size=2), LIFT, gives="tau"
    )
    plant = Plant(crane(), law)
    assert VectorSystem(plant).absolute(1e-6, 1e-9)[4:] == pytest.approx([1e-9, 1e-9, tolerance, tolerance])
    method = METHODS["dopri5"](plant, 1e-6, 1e-9)
    scale = method.allowed[:-1]
    assert scale[-4:] == pytest.approx([1e-9, 1e-9, tolerance, tolerance])


# ------------------------------------------------------------------------------------------------ ends, check valves
def test_a_piston_comes_to_rest_at_its_end():
    cylinder = bl.HydraulicCylinder(**OIL, stroke=0.3, end_stiffness=2e8, end_damping=2.0, viscous=2e3, suction=1e-6)
    run = gs.simulate(slider(), valve(0.5, cylinder), [0.2], t_end=0.6)
    beyond, force = run.q[-1, 0] - 0.3, 3e-3 * 20e6  # b is empty in the end
    assert beyond == pytest.approx(force / 2e8, rel=1e-3)
    assert abs(run.v[-1, 0]) < 1e-5
    hit = cylinder.output(0.0, inputs(0.0, -1e-4, -0.2), np.zeros(2), NOTHING)["force"]
    assert hit == pytest.approx([2e8 * 1e-4 * 1.4 + 2e3 * 0.2], rel=1e-12)


def test_suction_valves_keep_oil_from_boiling():
    cylinder = bl.HydraulicCylinder(**OIL, stroke=0.5, initial=(1e5, 1e5))
    pulled = {"q0": [0.1], "v0": [0.5], "t_end": 0.02}
    with pytest.raises(
        gs.SimulationError, match=r"pressure of chamber a is -10\d+\.\d+ Pa, below -101325 Pa, where oil"
    ):
        gs.simulate(slider(), valve(0.0, cylinder), **pulled)
    run = gs.simulate(slider(), valve(0.0, replace(cylinder, suction=1e-5)), **pulled)
    assert -1e5 < run.p[:, 0].min() < 0.0


def test_a_rack_turns_a_joint():
    hinge = gs.robots.pendulum()
    rack = bl.HydraulicCylinder(1e-3, 0.4, 1e-4, 1e7, 1e-7, lever=0.08, closed_length=-0.2)
    found = rack.output(0.0, inputs(0.0, 0.5, 2.0), np.array([4e6, 1e6]), NOTHING)
    assert [found[k][0] for k in ("length", "speed", "force", "tau")] == pytest.approx([0.04, 0.16, 3e3, 240.0])
    run = gs.simulate(hinge, valve(0.01, rack), t_end=0.05)
    assert np.abs(run.energy_residual).max() < 1e-3
    both = bl.per_joint([rack, replace(rack, opening="w")])
    assert both.output(
        0.0, {"u": [0, 0], "w": [0, 0], "q": np.zeros(2), "v": np.zeros(2)}, np.array([4e6, 1e6] * 2), NOTHING
    )["tau"] == pytest.approx([240.0, 240.0])


# ------------------------------------------------------------------------------------------------ wiring
def test_a_loop_around_the_length_of_the_cylinder_is_no_algebraic_loop():
    law = bl.diagram(
        bl.Constant([1.0], target="wanted"),
        bl.difference("wanted", "lift.length", "e"),
        bl.Gain(6.0, source="e", target="u"),
        LIFT,
        gives="tau",
    )
    run = gs.simulate(crane(), law, [0.0, 0.4], t_end=2.0)
    assert distance_by_hand(run.q[-1, 1])[0] == pytest.approx(1.0, abs=2e-3)
    nested = bl.diagram(
        bl.renamed(bl.diagram(LIFT, gives=("tau", "lift.length")), {"u": "opening"}),
        bl.Constant([1.0], target="wanted"),
        bl.difference("wanted", "lift.length", "e"),
        bl.series(bl.Gain(6.0, source="e", target="opening")),
        gives="tau",
    )
    assert nested.inputs == ("q", "v")
    again = gs.simulate(crane(), nested, [0.0, 0.4], t_end=2.0)
    assert again.q[-1] == pytest.approx(run.q[-1], abs=1e-9)


def test_a_loop_through_a_composite_without_feedthrough_can_be_computed():
    lag = bl.renamed(bl.series(bl.Gain(2.0), bl.first_order(0.1)), {"u": "e"})
    loop = bl.diagram(bl.difference("r", "y", "e"), lag, gives="y")
    assert not loop.feedthrough
    assert loop.output(0.0, {}, np.array([0.03]), NOTHING)["y"] == pytest.approx([0.3])  # y = 10 x
    rate = loop.derivative(0.0, {"r": np.ones(1)}, np.array([0.03]), NOTHING)
    assert 10.0 * rate == pytest.approx([(2.0 * 0.7 - 0.3) / 0.1])


def test_another_model_in_a_run_moves_the_pins():
    heavier = crane(mass=210.0, frames={"pin": (0.5, 0, 0)})

    def swap(t, q, v):
        return heavier, q, v

    event = gs.Event(lambda t, q, v: t - 0.01, name="swap", reset=swap)
    run = gs.simulate(crane(), valve(0.2, LIFT), [0.0, 0.3], t_end=0.02, events=event)
    moved = LIFT.within(heavier).output(0.02, inputs(0.2, run.q[-1], run.v[-1]), run.p[-1], NOTHING)["tau"]
    assert run.tau[-1] == pytest.approx(moved, rel=1e-12)
    still = LIFT.within(crane()).output(0.02, inputs(0.2, run.q[-1], run.v[-1]), run.p[-1], NOTHING)["tau"]
    assert abs(still[1] - moved[1]) > 100.0


# ------------------------------------------------------------------------------------------------ refusals
def refused(error, match, action):
    with pytest.raises(error, match=match):
        action()


def test_a_length_outside_the_stroke_is_refused_at_the_start():
    words = (
        r"simulate: at the start hydraulic cylinder 'lift': it is 0\.3355\d+ m long, expected 0\.65 m to 1\.25 m\. Hint"
    )
    refused(gs.StateError, words, lambda: gs.simulate(crane(), valve(0.1, LIFT), [0.0, -0.7], t_end=1.0))


@pytest.mark.parametrize(
    "options", [{}, {"method": "rk4", "dt": 1e-3}, {"method": "radau"}, {"method": "dina", "dt": 1e-3}]
)
def test_a_run_stops_at_the_end_of_the_stroke_and_says_so(options):
    law = valve(0.5, replace(LIFT, stroke=0.2))
    words = (
        r"joint 'lift' .*: hydraulic cylinder 'lift': it is 0\.850\d* m long, expected 0\.65 m to 0\.85 m\. Hint: check"
    )
    with pytest.raises(gs.SimulationError, match=words) as caught:
        gs.simulate(crane(), law, [0.0, 0.2], t_end=3.0, **options)
    lengths = [distance_by_hand(angle)[0] for angle in caught.value.result.q[:, 1]]
    assert 0.845 < max(lengths) <= 0.85 + 1e-8


def test_a_rollout_says_it_too():
    law = valve(0.5, replace(LIFT, stroke=0.2))
    words = r"rollout: .* not finite any more in step \d+.*'lift': it is 0\.85\d* m long, expected .*Hint: check"
    refused(gs.GyrostatError, words, lambda: gs.rollout(crane(), law, q0=[0.0, 0.2], dt=5e-4, steps=4000))


def test_what_cannot_be_meant_is_refused():
    law = valve(0.1, LIFT)
    far = replace(LIFT, between=("mast.pin", "bom.pin"))
    refused(
        gs.FrameError,
        r"no frame or port 'bom\.pin' in 'crane'\. Hint: did you mean 'boom\.pin'",
        lambda: far.within(crane()),
    )
    same = replace(LIFT, between=("mast", "mast.origin"))
    refused(gs.SpecError, r"names the same port twice, 'mast\.origin'", lambda: same.within(crane()))
    rigid = replace(LIFT, between=("mast", "mast.pin"))
    refused(gs.SpecError, r"no joint lies between 'mast\.origin' and 'mast\.pin'\. Hint", lambda: rigid.within(crane()))
    refused(
        gs.StateError,
        r"is not known without a robot\. Hint: runs find them",
        lambda: LIFT.output(0.0, inputs(0, [0, 0], [0, 0]), np.zeros(2), NOTHING),
    )
    moved = replace(LIFT.within(crane()), between=("mast.origin", "boom.pin"))
    refused(gs.StateError, r"is not known without a robot", lambda: moved.moving(inputs(0, [0, 0.2], [0, 0])))
    joints = bl.per_joint([LIFT, bl.Constant([0.0], target="tau")])
    refused(
        gs.SpecError, r"cylinder 'lift' acts between two frames.*Hint: put it beside", lambda: joints.within(crane())
    )
    refused(gs.StateError, r"no opening of its valve moves it with 5 m/s", lambda: LIFT.steady(0.0, 5.0))
    pins = {"boom.pin.translation": [[0.6, 0.0, 0.0], [0.61, 0.0, 0.0]]}
    refused(
        gs.StateError,
        r"parameters\['boom\.pin\.translation'\] moves the frames",
        lambda: gs.rollout(crane(), law, q0=[0, 0.2], dt=1e-3, steps=1, parameters=pins),
    )
    loads = gs.rollout(crane(), law, q0=[0, 0.2], dt=1e-4, steps=50, parameters={"boom.mass": [200.0, 400.0]})
    assert loads.v[-1, 0, 1] > loads.v[-1, 1, 1]
