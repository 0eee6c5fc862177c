"""A new kind of constraint is a class and one row; what is active, its forces and impacts follow from the rows."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.algorithms.constrained.active_set import ActiveRows, constraint_forces, rates_after_impact
from gyrostat.algorithms.constrained.constraint import BILATERAL, LOWER, UPPER, ConstraintRows, constraints
from gyrostat.algorithms.constrained.constraint_set import Active, ConstraintSet
from gyrostat.algorithms.constrained.line import Line
from gyrostat.graph.network import network
from tests.support.examples import few

G = 9.81
ACCURATE = {"rtol": 1e-11, "atol": 1e-12}


@dataclass(frozen=True)
class Rope:
    """A point with the coordinates (x, z) is at most ``length`` from the origin; at exactly that, if it is a rod."""

    length: float
    rod: bool = False
    restitution: float = 0.0


@constraints.row(Rope)
def rope_rows(rope, model):
    def bias(q, v):
        r = np.hypot(*q)
        return [(v @ v - (q @ v / r) ** 2) / r]

    return ConstraintRows(
        names=("rope",),
        residual=lambda q: np.hypot(q[..., 0], q[..., 1])[..., None] - rope.length,
        jacobian=lambda q: [q / np.hypot(*q)],
        side=[BILATERAL if rope.rod else UPPER],
        bias=bias,
        restitution=rope.restitution,
    )


@dataclass(frozen=True)
class Rod:
    """A fixed distance between two frames: it closes a loop."""

    a: str
    b: str
    length: float


@constraints.row(Rod)
def rod_rows(rod, model):
    net = network(model)
    line = Line(net, *(net.port(name) for name in (rod.a, rod.b)))

    def bias(q, v, h=1e-5):
        ahead, behind = (line(gs.integrate(model, q, s * h * v))[1] for s in (1.0, -1.0))
        return [(ahead - behind) @ v / (2.0 * h)]

    def residual(q):
        lengths = [float(line(x)[0]) for x in q.reshape(-1, q.shape[-1])]
        return np.reshape(lengths, (*q.shape[:-1], 1)) - rod.length

    return ConstraintRows(("rod",), residual, lambda q: [line(q)[1]], [BILATERAL], bias)


def particle():
    """A mass of 2 kg in the plane, x and z."""
    return gs.assemble(
        "particle",
        gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.Joint("z", "prismatic", axis="z"),
                 gs.RigidBody("mass", mass=2.0)),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ in gs.simulate
def test_a_rope_of_the_user_becomes_taut_by_an_impact_and_slack_where_its_tension_ends():
    x0, speed = np.array([0.6, 0.0]), np.array([0.0, 7.0])
    run = gs.simulate(particle(), q0=x0, v0=speed, t_end=1.0, events=Rope(1.0), **ACCURATE)
    taut, slack = run.events[:2]
    assert (taut.kind, taut.name, slack.kind) == ("upper", "rope", "release")
    z = 0.8  # where x = 0.6 meets the circle, on the way up
    t = (speed[1] - np.sqrt(speed[1] ** 2 - 2.0 * G * z)) / G
    assert taut.t == pytest.approx(t, abs=1e-10)
    n, v = taut.q, np.array([0.0, speed[1] - G * t])
    np.testing.assert_allclose(n, [0.6, 0.8], atol=1e-10)
    np.testing.assert_allclose(taut.v_after, v - n * (n @ v), atol=1e-9)
    w = taut.v_after @ taut.v_after  # rope slack: v^2 = g z, with v^2 + 2 g z = w + 2 g 0.8
    top = (w + 2.0 * G * 0.8) / (3.0 * G)
    assert slack.q[1] == pytest.approx(top, abs=1e-7) and np.hypot(*slack.q) == pytest.approx(1.0, abs=1e-8)
    assert np.all(np.hypot(*run.q.T) <= 1.0 + 1e-8)


def test_a_rope_that_bounces_keeps_the_energy():
    run = gs.simulate(
        particle(), q0=[0.5, 0.0], v0=[0.3, 0.0], t_end=2.0, events=Rope(1.0, restitution=1.0), **ACCURATE
    )
    assert sum(e.kind == "upper" for e in run.events) >= 2
    energy = 0.5 * np.sum(run.v**2, axis=1) + G * run.q[:, 1]
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "radau", "rk4", "newmark", "generalised-alpha", "dina", "ida"])
def test_a_bilateral_constraint_of_the_user_is_a_pendulum(method):
    if method == "ida":
        pytest.importorskip("sksundae")
    fixed = method in ("rk4", "newmark", "generalised-alpha", "dina")
    how = {"dt": 2e-3} if fixed else {"rtol": 1e-8, "atol": 1e-10}
    start = np.array([np.sin(0.5), -np.cos(0.5)])
    run = gs.simulate(particle(), q0=start, t_end=1.0, events=[Rope(1.0, rod=True)], method=method, **how)
    link = gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), *bob("bob", 2.0))
    swing = gs.simulate(gs.assemble("pendulum", link), q0=[-0.5], t_end=1.0, **ACCURATE).q[-1, 0]
    accuracy = 1e-6 if method in ("dopri5", "radau", "rk4", "ida") else 2e-5
    np.testing.assert_allclose(run.q[-1], [-np.sin(swing), -np.cos(swing)], atol=accuracy)


def bob(name, mass):
    return gs.Displacement(f"{name}_arm", translation=(0.0, 0.0, -1.0)), gs.RigidBody(name, mass=mass)


def pendula():
    """Two pendula, 0.5 m beside each other."""

    def arm(k):
        base = gs.Displacement(f"base{k}", translation=(0.5 * k, 0.0, 0.0))
        return gs.chain("world", base, gs.Joint(f"hinge{k}", "revolute", axis="y"), *bob(f"bob{k}", 1.0 + k))

    return gs.assemble("pendula", arm(0), arm(1))


def test_a_loop_closed_by_a_rod_of_the_user_is_a_parallelogram():
    rod = Rod("bob0", "bob1", 0.5)
    run = gs.simulate(pendula(), q0=[0.4, 0.4], t_end=1.0, events=rod, rtol=1e-9, atol=1e-11)
    link = gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), *bob("bob", 1.0))
    one = gs.simulate(gs.assemble("one", link), q0=[0.4], t_end=1.0, **ACCURATE)
    np.testing.assert_allclose(run.q[-1], np.repeat(one.q[-1], 2), atol=1e-7)
    pushed = gs.simulate(pendula(), [3.0, 0.0], t_end=0.5, events=rod, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(pushed.q[:, 0], pushed.q[:, 1], atol=1e-7)  # the rod takes the torque over
    assert abs(pushed.q[-1, 0]) > 0.05


def test_a_closed_loop_takes_away_rates_that_violate_it_by_an_impact():
    run = gs.simulate(pendula(), q0=[0.4, 0.4], v0=[1.0, 0.0], t_end=0.01, events=Rod("bob0", "bob1", 0.5))
    np.testing.assert_allclose(run.v[0], [1.0 / 3.0, 1.0 / 3.0], atol=1e-9)  # masses 1 and 2: momentum is kept


def test_stops_friction_and_a_constraint_of_the_user_act_together():
    model = particle().with_drive("x", coulomb=3.0, motor=False).replace({"z.lower": -0.9})
    run = gs.simulate(
        model, q0=[0.0, 0.0], v0=[0.5, 0.0], t_end=2.0, events=[gs.JointLimits(), Rope(0.95)], rtol=1e-9, atol=1e-11
    )
    kinds = [e.kind for e in run.events]
    assert "lower" in kinds and "stick" in kinds
    assert np.all(run.q[:, 1] >= -0.9 - 1e-9) and np.all(np.hypot(*run.q.T) <= 0.95 + 1e-7)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)


def test_a_start_that_violates_a_constraint_of_the_user_is_refused():
    with pytest.raises(gs.StateError, match=r"q0 violates 'rope'"):
        gs.simulate(particle(), q0=[1.1, 0.0], t_end=1.0, events=Rope(1.0))


def test_what_a_row_returns_wrongly_is_told_with_its_name():
    class Wrong:
        pass

    @constraints.row(Wrong)
    def wrong_rows(wrong, model):
        return ConstraintRows(("a", "b"), lambda q: q, np.eye(3), [LOWER, LOWER])

    try:
        with pytest.raises(
            gs.GyrostatError, match=r"row 'wrong_rows' for Wrong: jacobian has shape \(3, 3\), expected"
        ):
            gs.simulate(particle(), t_end=1.0, events=[Wrong()])
    finally:
        del constraints.rows[Wrong]
    with pytest.raises(gs.StateError, match="is no event"):
        gs.simulate(particle(), t_end=1.0, events=[Wrong()])


# ------------------------------------------------------------------------------------------------ the linear algebra
def random_problem(seed, k, n):
    rng = np.random.default_rng(seed)
    root, J = rng.normal(size=(n, n)), rng.normal(size=(k, n))
    return root @ root.T + 0.1 * np.eye(n), J, rng.normal(size=n), rng


@settings(max_examples=few(30), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(4, 7))
def test_forces_within_limits_are_complementary_to_accelerations(seed, k, n):
    M_inverse, J, a, rng = random_problem(seed, k, n)
    low = np.where(rng.random(k) < 0.4, 0.0, -np.abs(rng.normal(size=k)))
    high = np.where(low == 0.0, np.inf, np.abs(rng.normal(size=k)))
    A, c = J @ M_inverse @ J.T, J @ a
    f = constraint_forces(A, c, low, high)
    w = A @ f + c
    assert np.all((f >= low - 1e-9) & (f <= high + 1e-9))
    np.testing.assert_allclose(np.where(w > 1e-8, f - low, 0.0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.where(w < -1e-8, f - high, 0.0), 0.0, atol=1e-9)


def test_active_rows_fulfil_their_equation_with_the_bias_and_their_residual_says_so():
    M_inverse, J, a, rng = random_problem(3, 2, 5)
    b = rng.normal(size=2)
    active = ActiveRows(J, b)
    moved = active.accelerations(M_inverse, a)
    np.testing.assert_allclose(J @ moved + b, 0.0, atol=1e-12)
    M = np.linalg.inv(M_inverse)
    r = M @ (moved - a) - J.T @ active.forces(M_inverse, a)  # inverse dynamics with the forces of the constraints
    np.testing.assert_allclose(r, 0.0, atol=1e-9)
    np.testing.assert_allclose(active.residual(M @ (moved - a), moved), 0.0, atol=1e-9)


def test_an_impact_turns_speeds_round_and_loses_no_energy_if_it_is_elastic():
    M_inverse, J, v, _ = random_problem(7, 2, 4)
    after = rates_after_impact(M_inverse, J, v, np.array([0.5, 0.0]))
    np.testing.assert_allclose(J @ after, [-0.5, 0.0] * (J @ v), atol=1e-12)
    elastic = rates_after_impact(M_inverse, J, v, np.ones(2))
    M = np.linalg.inv(M_inverse)
    assert elastic @ M @ elastic == pytest.approx(v @ M @ v, rel=1e-10)


def test_what_is_active_is_a_value_of_arrays():
    model = particle().replace({"x.lower": -1.0, "x.upper": 1.0, "z.upper": 2.0})
    rows = ConstraintSet.of(model, [gs.JointLimits(restitution={"z": 0.5})])
    assert rows.names == ("x", "x", "z") and rows.side.tolist() == [LOWER, UPPER, UPPER]
    np.testing.assert_array_equal(rows.residuals(np.array([0.2, 0.5])), [1.2, -0.8, -1.5])
    np.testing.assert_array_equal(rows.restitution, [0.0, 0.0, 0.5])
    assert (rows.low[0], rows.high[0], rows.low[1], rows.high[1]) == (0.0, np.inf, -np.inf, 0.0)
    none = Active.none(rows)
    one = none.with_rows(np.array([True, False, False]))
    assert none.empty and not one.empty and one.without(0).empty and one.blocked.tolist() == [True, True, False]
    np.testing.assert_array_equal(one.rows(np.zeros(2), np.zeros(2)).J, [[1.0, 0.0]])
