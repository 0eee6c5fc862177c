"""Ready-made conditions, contacts that are held twice, continuation, motions that did not converge."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.optimal_control.apart import squared_distance
from gyrostat.studies.optimal_control.transcription import recorded
from tests.studies.optimal_control.derivative_check import derivative_errors
from tests.studies.optimal_control.problems import block, swing_up
from tests.studies.optimal_control.test_phases_with_contacts import hopper

Phase = gs.studies.Phase
FEET = [[-0.1, -0.05], [0.15, -0.05], [0.15, 0.05], [-0.1, 0.05]]


def table() -> gs.Model:
    """A free body, driven by nothing, with four corners."""
    corners = [
        gs.chain("slab.origin", gs.Displacement(f"corner_{k}", translation=(x, y, 0.0)))
        for k, (x, y) in enumerate(FEET)
    ]
    slab = gs.RigidBody("slab", mass=3.0, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.1))
    arm = gs.chain(
        "slab.origin", gs.Joint("lean", "revolute", axis="y"),
        gs.RigidBody("mast", mass=1.0, com=(0, 0, 0.3), inertia=(0.02, 0.02, 0.01)),
    )  # fmt: skip
    return gs.assemble("table", gs.connect("world", "slab.origin"), slab, *corners, arm, base="free")


def test_corners_of_a_flat_foot_held_as_points_are_refused_by_name():
    phase = Phase(table(), {f"corner_{k}.b": "point" for k in range(4)}, nodes=4, cost="torque", duration=0.5)
    with pytest.raises(gs.GyrostatError, match=r"'corner_0.b'.* of 12 components.*, 6 follow.*kind 'fixed'"):
        gs.studies.optimal_control(phase)
    twice = Phase(table(), {"slab.origin": "fixed", "corner_1.b": "fixed"}, nodes=4, cost="torque", duration=0.5)
    with pytest.raises(gs.GyrostatError, match=r"contacts 'slab.origin' and 'corner_1.b': of 12 .* 6 follow"):
        gs.studies.optimal_control(twice)


@pytest.mark.slow
def test_a_foot_held_once_stands_with_its_centre_of_pressure_inside():
    st = gs.studies
    conditions = [
        st.friction_cone("slab.origin", 0.5), st.center_of_pressure("slab.origin", (-0.1, 0.15), (-0.05, 0.05)),
        st.com_over_support(FEET, 0.001), st.zmp_in_support(FEET),
    ]  # fmt: skip
    ends = {"start": {"q": {"lean": 0.0}, "v": 0}, "end": {"q": {"lean": 0.6}, "v": 0}}
    phase = Phase(table(), {"slab.origin": "fixed"}, nodes=11, cost="torque", duration=0.5, path=conditions, **ends)
    motion = st.optimal_control(phase).expect_converged()
    (w,) = motion.phases[0].forces.values()
    pressure = np.stack([-w[:, 1], w[:, 0]], axis=1) / w[:, 5:]
    assert pressure[:, 0].max() < 0.15 + 1e-6 and pressure[:, 0].min() > -0.1 - 1e-6
    assert np.all(np.hypot(w[:, 3], w[:, 4]) <= 0.5 * w[:, 5] + 1e-6)
    again = st.Phase.from_dict(json.loads(json.dumps(phase.to_dict())))
    assert again.path.functions[:2] == tuple(conditions[:2]) and again.contacts == phase.contacts


@pytest.mark.slow
def test_the_centre_of_pressure_binds_where_the_motion_is_fast():
    narrow = gs.studies.center_of_pressure("slab.origin", (-0.03, 0.05), (-0.05, 0.05))
    ends = {"start": {"q": {"lean": 0.0}, "v": 0}, "end": {"q": {"lean": 0.4}, "v": 0}}
    found = [
        gs.studies.optimal_control(
            Phase(table(), {"slab.origin": "fixed"}, nodes=9, cost="torque", duration=0.45, path=path, **ends)
        ).expect_converged()
        for path in (None, narrow)
    ]
    w = found[1].phases[0].forces["slab.origin"]
    assert found[1].cost > found[0].cost * 1.001
    assert (-w[:, 1] / w[:, 5]).min() == pytest.approx(-0.03, abs=1e-5)


def seen(a: np.ndarray, b: np.ndarray) -> Any:
    """A point that sees the frames 'a' and 'b' at a and b (3,)."""
    frames = {"a": a, "b": b}
    return SimpleNamespace(frame=lambda name: SimpleNamespace(p=frames[name], R=np.eye(3)))


def test_distances_of_spheres_and_capsules_are_those_of_a_search():
    rng, grid = np.random.default_rng(3), np.linspace(0.0, 1.0, 201)
    for a_long, b_long in itertools.product((False, True), repeat=2):
        for _ in range(15):
            d, e = rng.normal(size=3) * a_long, rng.normal(size=3) * b_long
            one, two = (
                gs.studies.Capsule("a", 0.1, (0, 0, 0), tuple(d)),
                gs.studies.Capsule("b", 0.1, (0, 0, 0), tuple(e)),
            )
            p, q = rng.normal(size=3), rng.normal(size=3)
            x, y = p + grid[:, None] * d, q + grid[:, None] * e
            known = ((x[:, None] - y[None]) ** 2).sum(axis=2).min()
            found = float(squared_distance(one, two, seen(p, q)))
            assert known - 1e-3 < found < known + 1e-9
    along = gs.studies.Capsule("a", 0.1, (0, 0, 0), (1, 0, 0))
    beside = gs.studies.Capsule("b", 0.1, (0, 0, 0), (1, 0, 0))
    for shift, known in ((0.3, 1.0), (2.0, 2.0), (-3.0, 5.0)):  # parallel axes, beside and behind
        assert squared_distance(along, beside, seen(np.zeros(3), np.array([shift, 1.0, 0.0]))) == pytest.approx(known)


def two_link() -> gs.Model:
    rod = gs.Shape(kind="capsule", size=(0.03, 0.4), translation=(0.2, 0, 0), rotation=gs.rpy(0, np.pi / 2, 0),
                   role="collision")  # fmt: skip
    return gs.assemble(
        "two",
        gs.chain(
            "world", gs.Joint("first", "revolute", axis="z"),
            gs.RigidBody("upper", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.01)),
            gs.Displacement("long", translation=(0.4, 0, 0)), gs.Joint("second", "revolute", axis="z"),
            gs.RigidBody("lower", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.01), shapes=(rod,)),
        ),
        gs.chain("world", gs.Displacement("post", translation=(0.45, 0.3, 0.0))),
    )  # fmt: skip


def test_capsules_are_read_from_the_shapes_of_bodies():
    (rod,) = gs.studies.capsules(two_link(), "lower")
    np.testing.assert_allclose([rod.start, rod.end], [[0, 0, 0], [0.4, 0, 0]], atol=1e-15)
    assert rod.frame == "lower.origin" and rod.radius == 0.03
    with pytest.raises(gs.GyrostatError, match="'upper' has no shapes that can touch"):
        gs.studies.capsules(two_link(), "upper")


@pytest.mark.slow
def test_an_arm_goes_round_a_post():
    (lower,), post = gs.studies.capsules(two_link(), "lower"), gs.studies.Capsule("post.b", 0.12)
    ends = {"start": {"q": [0, 0], "v": 0}, "end": {"q": [1.2, 0.0], "v": 0}}
    motions = [
        gs.studies.optimal_control(Phase(two_link(), nodes=15, cost="torque", limits=None, path=path, **ends))
        for path in (None, gs.studies.apart([(lower, post)], 0.01))
    ]
    gaps = []
    for motion in motions:
        motion.expect_converged()
        poses = [gs.fk(motion.model, q) for q in motion.q]
        seen_ones = [SimpleNamespace(frame=lambda n, p=p: SimpleNamespace(p=p[n].p, R=p[n].R)) for p in poses]
        gaps.append(min(float(squared_distance(lower, post, s)) ** 0.5 for s in seen_ones) - 0.15)
    assert gaps[0] < 0.0 and gaps[1] == pytest.approx(0.01, abs=1e-5)


@pytest.mark.slow
def test_derivatives_of_ready_conditions_are_exact():
    st, contact = gs.studies, gs.FrameContact("slab.origin", "fixed", friction=0.6)
    pair = (
        st.Capsule("mast.origin", 0.01, (0, 0, 0.1), (0, 0, 0.5)),
        st.Capsule("corner_1.b", 0.02, (0, 0, 0.3), (0.3, 0, 0.4)),
    )
    path = [
        st.friction_cone(contact), st.friction_cone(contact, facets=6), st.unilateral(contact, 2.0),
        st.center_of_pressure(contact, (-0.1, 0.1), (-0.1, 0.1)), st.hip_radius("mast.origin", "corner_2.b", 0.5, 0.1),
        st.foot_clearance(("corner_0.b", "corner_1.b"), 0.05), st.apart([pair]),
        st.com_over_support([f"corner_{k}.b" for k in range(4)], 0.01), st.zmp_in_support(FEET, height=0.1),
    ]  # fmt: skip
    phase = Phase(table(), (contact,), nodes=4, cost="effort", duration=(0.2, 0.5), path=path)
    assert max(derivative_errors(st.OptimalControl((phase,)), (4,))) < 1e-7


@pytest.mark.slow
def test_a_leg_keeps_its_clearance_and_length():
    st, model = gs.studies, hopper()
    path = [st.foot_clearance("foot.origin", 0.1), st.hip_radius("body.origin", "foot.origin", 0.9, 0.5)]
    ends = {"start": {"q": [0.7, -0.7], "v": [2.0, 0.0]}, "end": {"q": [np.nan, -0.7]}}
    motion = st.optimal_control(Phase(model, nodes=9, duration=0.4, cost="torque", limits=None, path=path, **ends))
    s = np.linspace(0.0, 1.0, 9)
    assert motion.converged and np.all(motion.q.sum(axis=1) >= 0.1 * np.sin(np.pi * s) - 1e-7)
    assert np.all((-motion.q[:, 1] <= 0.9 + 1e-7) & (-motion.q[:, 1] >= 0.5 - 1e-7))


@pytest.mark.slow
def test_continuation_goes_step_by_step_and_halves_steps():
    problem = gs.studies.OptimalControl((swing_up(21),))
    way = gs.studies.continuation(problem, "bob.mass", [0.3, 0.4, 0.5])
    assert way.complete and way.values == (0.3, 0.4, 0.5)
    assert way.motion.cost == pytest.approx(problem.run().cost, rel=1e-6)
    assert way.motions[1].iterations < way.motions[0].iterations
    reached = gs.studies.continuation(problem, "phases.0.end.q.0", np.array([0.4, 0.6]))
    assert reached.complete and reached.motion.q[-1, 0] == pytest.approx(0.6)
    again = gs.studies.Continuation.from_dict(json.loads(json.dumps(reached.to_dict())))
    assert np.array_equal(again.costs, reached.costs)
    with pytest.raises(gs.GyrostatError, match=r"'durration' is no property .* Hint: .*duration"):
        gs.studies.continuation(problem, "durration", [1.0])


def test_continuation_tells_how_far_it_came():
    reach = Phase(
        block(), duration=1.0, nodes=11, cost="torque", limits={"u": 10.0}, start={"q": 0, "v": 0}, end={"q": 1, "v": 0}
    )
    way = gs.studies.continuation([reach], "phases.0.end.q", [1.0, 4.0], halvings=3)  # 10 N move 1 kg by 2.5 m in 1 s
    assert not way.complete and repr(way).startswith("<NOT COMPLETE: phases.0.end.q = ")
    assert 2.0 < way.values[-1] < 2.5 and way.motion.converged


def test_a_motion_that_did_not_converge_says_so():
    motion = gs.studies.optimal_control(swing_up(21), iterations=2)
    assert repr(motion).startswith("<NOT CONVERGED: the greatest number of iterations is reached")
    assert "NOT CONVERGED" in motion.report().html
    for use in (lambda: motion.trajectory, motion.simulate, motion.expect_converged):
        with pytest.raises(gs.GyrostatError, match="the motion did not converge"):
            use()


def stands(c: tuple[float, float], push: float = 10.0) -> Any:
    """A point whose centre of mass and zero-moment point are c."""
    wrench = np.array([c[1] * push, -c[0] * push, 0.0, 0.0, 0.0, push])
    return SimpleNamespace(center_of_mass=np.array([*c, 0.7]), base_wrench=wrench)


def test_support_is_left_where_the_polygon_ends():
    for make in (gs.studies.com_over_support, gs.studies.zmp_in_support):
        for c, known in (((0.0, 0.0), True), ((0.14, 0.04), False), ((0.1, -0.02), True), ((0.0, 0.06), False)):
            rows = make(FEET[::-1], 0.02)(stands(c))
            rows = rows if isinstance(rows, list) else [rows]
            assert all(np.all(np.asarray(r.value, float) >= 0.0) for r in rows) == known


def test_wrong_conditions_are_told():
    st = gs.studies
    assert recorded is not None
    with pytest.raises(gs.GyrostatError, match="'foot' has no friction"):
        st.friction_cone("foot")
    with pytest.raises(gs.GyrostatError, match="the corners lie on a line"):
        st.com_over_support([[0, 0], [1, 1], [2, 2]])
    with pytest.raises(gs.GyrostatError, match=r"x must be \(low, high\)"):
        st.center_of_pressure("foot", (0.1, -0.1), (0, 1))
    with pytest.raises(gs.GyrostatError, match=r"longest is 0.1 and shortest 0.2"):
        st.hip_radius("a", "b", 0.1, 0.2)
    with pytest.raises(gs.GyrostatError, match="'foo' is no contact of this phase"):
        st.optimal_control(Phase(hopper(), {"foot.origin": "normal"}, nodes=3, path=st.unilateral("foo")))
