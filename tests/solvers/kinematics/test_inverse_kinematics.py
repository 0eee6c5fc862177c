"""Inverse kinematics: closed forms, all branches, random trees, limits, targets out of reach, and every refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.simulate import trajectories as tr
from gyrostat.solvers.kinematics.inverse.branches import inverse_kinematics_branches
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import inverse_kinematics
from gyrostat.solvers.kinematics.inverse.pose_error import PoseError, chosen_rows
from gyrostat.solvers.kinematics.inverse.start_points import start_points
from gyrostat.spatial import so3
from tests.support.comparing import assert_close, central
from tests.support.examples import few
from tests.support.puma_arm import A2, A3, D3, D4, planar, puma
from tests.support.random_models import various_tree

PUMA, TWO, THREE = puma(), planar(0.5, 0.4), planar(0.5, 0.4, 0.2)


def apart(q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Difference of angles, full turns taken off."""
    return np.abs(np.mod(q - other + np.pi, 2.0 * np.pi) - np.pi)


# ------------------------------------------------------------------------------------------------ closed forms
def two_link(x: float, y: float, l1: float = 0.5, l2: float = 0.4) -> np.ndarray:
    """Both solutions of the planar arm of two links."""
    c = (x * x + y * y - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
    found = []
    for q2 in (math.acos(c), -math.acos(c)):
        found.append([math.atan2(y, x) - math.atan2(l2 * math.sin(q2), l1 + l2 * math.cos(q2)), q2])
    return np.array(found)


@pytest.mark.parametrize("point", [(0.6, 0.3), (-0.2, 0.5), (0.1, -0.15), (0.89, 0.0)])
def test_two_links_have_the_two_closed_solutions(point):
    want = two_link(*point)
    branches = inverse_kinematics_branches(TWO, "l2.tip", [*point, 0.0], axes=("x", "y"))
    assert len(branches) == 2
    assert branches.isolated.all()
    for q in want:
        assert apart(branches.q, q).max(axis=1).min() < 1e-11


def test_three_links_with_an_angle_have_two_closed_solutions():
    angle, x, y = 0.7, 0.55, 0.35
    T = np.eye(4)
    T[:3, :3] = so3.exp(np.array([[0.0, 0.0, angle]]))[0]
    T[:2, 3] = x, y
    want = two_link(x - 0.2 * math.cos(angle), y - 0.2 * math.sin(angle))
    want = np.column_stack([want, angle - want.sum(axis=1)])
    for axes in ("pose", ("x", "y", "rz")):
        branches = inverse_kinematics_branches(THREE, "l3.tip", T, axes=axes)
        assert len(branches) == 2
        for q in want:
            assert apart(branches.q, q).max(axis=1).min() < 1e-11


def puma_closed_form(T: np.ndarray) -> np.ndarray:
    """The eight solutions: wrist position by q1 (two), q3 (two), q2; wrist angles twice."""
    R, p = T[:3, :3], T[:3, 3]
    found = []
    r, k = math.hypot(p[0], p[1]), (p @ p - A2**2 - A3**2 - D3**2 - D4**2) / (2.0 * A2)
    for a in (1.0, -1.0):
        q1 = math.atan2(p[1], p[0]) - math.atan2(D3, a * math.sqrt(r * r - D3 * D3))
        for b in (1.0, -1.0):
            q3 = math.atan2(A3, D4) - math.atan2(k, b * math.sqrt(A3**2 + D4**2 - k * k))
            along = math.cos(q1) * p[0] + math.sin(q1) * p[1]
            x, _, z = gs.fk(PUMA, [0.0, 0.0, q3, 0.0, 0.0, 0.0])["l6"].p
            q2 = math.atan2(-p[2], along) - math.atan2(-z, x)  # both in the plane of the arm, which turns about y
            found.append((q1, q2, q3, R))
    return np.array([q for q1, q2, q3, R in found for q in _wrists(q1, q2, q3, R)])


def _wrists(q1: float, q2: float, q3: float, R: np.ndarray) -> list[list[float]]:
    R3 = gs.fk(PUMA, [q1, q2, q3, 0.0, 0.0, 0.0])["s4"].R
    D = R3.T @ R  # Rz(q4) Rx(pi/2) Rz(q5) Rx(-pi/2) Rz(q6)
    c = math.hypot(D[0, 2], D[1, 2])
    found = []
    for sign in (1.0, -1.0):
        q5 = math.atan2(sign * c, D[2, 2])
        q4 = math.atan2(-sign * D[1, 2], -sign * D[0, 2])
        q6 = math.atan2(-sign * D[2, 1], sign * D[2, 0])
        found.append([q1, q2, q3, q4, q5, q6])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_puma_has_eight_branches_as_its_closed_form_says(seed):
    q = gs.random_configuration(PUMA, seed)
    T = gs.fk(PUMA, q)["l6"].matrix
    branches = inverse_kinematics_branches(PUMA, "l6", T)
    assert len(branches) == 8
    assert branches.isolated.all()
    assert np.all((branches.q >= -np.pi) & (branches.q < np.pi))
    assert_close(gs.fk(PUMA, branches.q)["l6"].matrix, np.tile(T, (8, 1, 1)), 1e-12)
    assert apart(branches.q, q).max(axis=1).min() < 1e-9
    closed = puma_closed_form(T)
    assert_close(gs.fk(PUMA, closed)["l6"].matrix, np.tile(T, (8, 1, 1)), 1e-12)  # the oracle itself
    for one in closed:
        assert apart(branches.q, one).max(axis=1).min() < 1e-9
    again = inverse_kinematics_branches(PUMA, "l6", T)
    assert np.array_equal(again.q, branches.q)  # deterministic


def test_limits_leave_out_branches_and_turn_angles_into_their_range():
    q = gs.random_configuration(PUMA, 3)
    T = gs.fk(PUMA, q)["l6"].matrix
    every = inverse_kinematics_branches(PUMA, "l6", T)
    lefty = inverse_kinematics_branches(PUMA, "l6", T, limits=({"q5": 0.0}, {"q5": np.pi}))
    assert len(lefty) == np.sum(every.q[:, 4] > 0.0) == 4
    assert lefty.outside == 4
    turned = inverse_kinematics_branches(PUMA, "l6", T, limits=({"q1": 4.0}, {"q1": 4.0 + 2.0 * np.pi}))
    assert len(turned) == 8
    assert np.all((turned.q[:, 0] >= 4.0) & (turned.q[:, 0] <= 4.0 + 2.0 * np.pi))


def test_branches_of_the_hydraulic_manipulator_with_a_horizontal_load():
    """G13: position and the turn about the vertical; two ways to bend the elbow."""
    crane = gs.robots.hydraulic_manipulator()
    q = np.array([0.3, 0.8, -1.2, 0.4, 0.5])
    branches = inverse_kinematics_branches(crane, "link5.tool", gs.fk(crane, q)["link5.tool"])
    assert len(branches) == 2
    assert np.abs(branches.q[:, 1:4].sum(axis=1)).max() < 1e-10
    assert apart(branches.q, q).max(axis=1).min() < 1e-10
    level = inverse_kinematics(
        crane, "link5.tool", gs.fk(crane, q)["link5.tool"], [0, 0.5, -1, 0.5, 0], axes=("x", "y", "z", "rx", "ry")
    )
    assert level.converged
    assert level.q[4] == pytest.approx(0.0, abs=1e-12)  # the turn about the vertical was free
    assert_close(gs.fk(crane, level.q)["link5.tool"].R[2], [0.0, 0.0, 1.0], 1e-12)


# ------------------------------------------------------------------------------------------------ reachable targets
def test_a_batch_of_puma_targets_is_reached():
    q = gs.random_configuration(PUMA, 11, (20, 10))
    target = gs.fk(PUMA, q)["l6"]
    found = inverse_kinematics(PUMA, "l6", target)
    assert found.q.shape == (20, 10, 6)
    assert found.converged.all()
    assert (found.reason == "converged").all()
    assert_close(gs.fk(PUMA, found.q)["l6"].matrix, target.matrix, 1e-10)
    near = inverse_kinematics(PUMA, "l6", target, q + 0.01)
    assert np.abs(near.q - q).max() < 0.5
    assert "200 of 200 targets reached" in str(near)


def test_targets_close_to_singularities_are_reached():
    """Where two branches nearly meet, steps that only go downhill creep."""
    q = gs.random_configuration(PUMA, 8, (50,))
    q[:, 2] = math.atan2(A3, D4) - math.pi / 2 + 10.0 ** np.linspace(-7, -2, 50)  # stretched elbow
    found = inverse_kinematics(PUMA, "l6", gs.fk(PUMA, q)["l6"])
    assert found.converged.all()


def test_targets_where_four_branches_nearly_meet_are_reached():
    """Elbow stretched and wrist above the shoulder, both nearly: undamped steps lead out of the valley."""
    rng = np.random.default_rng(3)
    q = rng.uniform(-2.0, 2.0, (12, 6))
    q[:, 2] = math.atan2(-D4, A3) + math.pi + rng.uniform(1e-5, 1e-4, 12)
    x, _, z = np.moveaxis(gs.fk(PUMA, q * [0, 0, 1, 0, 0, 0])["l6"].p, -1, 0)
    q[:, 1] = math.pi / 2 - np.arctan2(-z, x) + rng.uniform(1e-4, 1e-3, 12)
    assert np.linalg.svd(gs.jacobian(PUMA, q, "l6", "local"))[1][:, -1].max() < 1e-5
    found = inverse_kinematics(PUMA, "l6", gs.fk(PUMA, q)["l6"])
    assert found.converged.all()


def test_a_start_at_a_limit_moves_inwards():
    for side in (0.2, 1.5):
        arm = planar(0.5, 0.4, q1=(-1.0, 1.0), q2=(0.2, 1.5))
        target = gs.fk(arm, [0.3, 0.8])["l2.tip"].p
        found = inverse_kinematics(arm, "l2.tip", target, [0.3, side], axes=("x", "y"), starts=1)
        assert_close(found.q, [0.3, 0.8], 1e-9)


def test_branches_at_half_a_turn_are_not_counted_twice():
    for q in ([math.pi, 1.0], [-math.pi, 1.0], [math.pi - 1e-9, -0.7]):
        assert len(inverse_kinematics_branches(TWO, "l2.tip", gs.fk(TWO, q)["l2.tip"].p, axes=("x", "y"))) == 2


def test_full_turns_are_not_taken_off_across_a_limit():
    low, high = [3.5, 0.3], [3.5 + 2.0 * math.pi, 2.0]
    target = gs.fk(TWO, [9.5, 0.8])["l2.tip"].p
    found = inverse_kinematics(TWO, "l2.tip", target, [3.6, 0.5], limits=(low, high), axes=("x", "y"))
    assert_close(found.q, [9.5, 0.8], 1e-9)
    free = inverse_kinematics(TWO, "l2.tip", target, [3.6, 0.5], axes=("x", "y"))
    assert free.converged
    assert np.abs(free.q - [3.6, 0.5]).max() <= math.pi


def test_of_several_solutions_the_nearest_to_the_start_is_taken():
    """A stretched arm cannot begin to fold, so that the other starts are used."""
    target, rest = [0.6, 0.0, 0.0], np.zeros(3)
    alone = inverse_kinematics(THREE, "l3.tip", target, rest, axes=("x", "y"), starts=1)
    assert alone.reason == "nearest"
    found = inverse_kinematics(THREE, "l3.tip", target, rest, axes=("x", "y"))
    starts = start_points(THREE, np.full(3, -np.inf), np.full(3, np.inf), 15)
    each = inverse_kinematics(THREE, "l3.tip", target, starts, axes=("x", "y"), starts=1)
    ways = np.linalg.norm(apart(each.q, rest), axis=1)[each.converged]
    assert np.ptp(ways) > 0.1
    assert np.linalg.norm(found.q) == pytest.approx(ways.min(), abs=1e-6)


def reach(seed: int, bodies: int) -> None:
    """Every joint kind, quaternions and free bases among them: fk(ik(target)) = target."""
    model = various_tree(seed, bodies)
    rng = np.random.default_rng(seed)
    q = gs.random_configuration(model, rng)
    start = gs.integrate(model, q, 0.3 * rng.normal(size=model.nv))
    kinematics = gs.ForwardKinematics(model, ["end"], mode="interpret")
    target = kinematics(q)["end"]
    found = inverse_kinematics(model, "end", target, start)
    assert found.converged, str(found)
    assert_close(kinematics(found.q)["end"].matrix, target.matrix, 1e-10)
    assert found.position_error <= 2e-10
    assert found.orientation_error <= 2e-10


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_reach_what_is_reachable(seed):
    reach(seed, seed + 1)


@pytest.mark.slow
@settings(max_examples=few(30), deadline=None)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 9))
def test_many_random_trees_reach_what_is_reachable(seed, bodies):
    reach(seed, bodies)


def test_redundant_arms_and_batches_of_starts():
    arm = gs.robots.kuka_lwr4()
    q = gs.random_configuration(arm, 4, (50,))
    target = gs.fk(arm, q)["link7.flange"]
    found = inverse_kinematics(arm, "link7.flange", target)
    assert found.converged.all()
    one = inverse_kinematics(arm, "link7.flange", target.matrix[0], q + 0.1)  # fifty starts, one target
    assert one.q.shape == (50, 7)
    assert one.converged.all()
    held = inverse_kinematics(arm, "link7.flange", target.matrix[0], q[0], hold=["q3"])
    assert held.q[2] == q[0, 2]
    with pytest.raises(gs.StateError, match="7 rates for 6 independent rows"):
        inverse_kinematics_branches(arm, "link7.flange", target.matrix[0])
    branches = inverse_kinematics_branches(arm, "link7.flange", target.matrix[0], q[0], hold="q3")
    assert len(branches) >= 2
    assert np.all(branches.q[:, 2] == q[0, 2])


def test_position_orientation_and_chosen_axes():
    q = gs.random_configuration(PUMA, 6)
    target = gs.fk(PUMA, q)["l6"]
    place = inverse_kinematics(PUMA, "l6", target.p)
    assert place.converged
    assert_close(gs.fk(PUMA, place.q)["l6"].p, target.p, 1e-10)
    turn = inverse_kinematics(PUMA, "l6", target.R)
    assert_close(gs.fk(PUMA, turn.q)["l6"].R, target.R, 1e-10)
    assert turn.position_error == 0.0
    plane = inverse_kinematics(PUMA, "l6", target, axes=("z",))  # anywhere in the plane z = 0 of the target
    assert abs((target.R.T @ (gs.fk(PUMA, plane.q)["l6"].p - target.p))[2]) < 1e-10
    for free, axes in enumerate((("ry", "rz"), ("rx", "rz"), ("rx", "ry"))):
        found = inverse_kinematics(PUMA, "l6", target, axes=axes)
        assert found.converged
        assert_close(gs.fk(PUMA, found.q)["l6"].R[:, free], target.R[:, free], 1e-10)
    twist = inverse_kinematics(PUMA, "l6", target, axes=["rx"])
    assert abs(quaternion_of((target.R.T @ gs.fk(PUMA, twist.q)["l6"].R)[None])[0, 0]) < 1e-9


def test_a_free_base_goes_to_the_target():
    tree = gs.robots.tree(3, 4, base="free")
    q = gs.random_configuration(tree, 1)
    target = gs.fk(tree, q)["body3"]
    found = inverse_kinematics(tree, "body3", target)
    assert found.converged
    assert_close(gs.fk(tree, found.q)["body3"].matrix, target.matrix, 1e-10)


def test_a_base_that_moves_with_time_needs_the_time():
    base = gs.HarmonicMotion(amplitude=(0.3, 0.0, 0.1), frequency=0.5, rate=0.7)
    ship = gs.Model("ship", PUMA.entities, PUMA.connections, gs.Context(base=base))
    target = gs.fk(PUMA, gs.random_configuration(PUMA, 2))["l6"].matrix
    times = np.array([0.0, 0.4, 1.3])
    found = inverse_kinematics(ship, "l6", target, t=times)
    assert found.converged.all()
    assert_close(gs.fk(ship, found.q, t=times)["l6"].matrix, np.tile(target, (3, 1, 1)), 1e-10)
    assert np.abs(found.q[1] - found.q[0]).max() > 0.1
    with pytest.raises(gs.StateError, match=r"give t="):
        inverse_kinematics(ship, "l6", target)
    with pytest.raises(gs.SpecError, match="base"):
        tr.cartesian_line(ship, "l6", np.zeros(6), target, 1.0)


# ------------------------------------------------------------------------------------------------ limits, out of reach
def test_limits_of_the_model_are_kept_and_named():
    arm = planar(0.5, 0.4, q1=(-0.5, 0.5), q2=(0.2, 1.5))
    free = inverse_kinematics(arm, "l2.tip", [0.3, 0.7, 0.0], limits=None, axes=("x", "y"))
    assert free.converged
    assert not free.active_limits
    found = inverse_kinematics(arm, "l2.tip", [0.3, 0.7, 0.0])
    assert not found.converged
    assert found.reason == "nearest"
    assert found.active_limits == (("q1", "upper"),)
    assert "q1 at its upper limit" in str(found)
    assert "not reached: this is the nearest configuration found" in str(found)
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 401), np.linspace(0.2, 1.5, 401)), axis=-1).reshape(-1, 2)
    best = np.linalg.norm(gs.fk(arm, grid)["l2.tip"].p - [0.3, 0.7, 0.0], axis=1).min()
    assert found.position_error == pytest.approx(best, abs=1e-5)
    assert found.position_error <= best + 1e-12
    with pytest.raises(gs.StateError, match=r"q0 of 'q2' is 0, outside its limits 0.2 to 1.5"):
        inverse_kinematics(arm, "l2.tip", [0.3, 0.7, 0.0], [0.0, 0.0])


@settings(max_examples=few(12), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_limits_are_never_left(seed):
    rng = np.random.default_rng(seed)
    middle, half = rng.uniform(-1.5, 1.5, 6), rng.uniform(0.2, 1.5, 6)
    low, high = middle - half, middle + half
    q = rng.uniform(low, high)
    target = gs.fk(PUMA, q)["l6"]
    found = inverse_kinematics(PUMA, "l6", target, limits=(low, high), starts=4)
    assert np.all((found.q >= low) & (found.q <= high))
    near = inverse_kinematics(PUMA, "l6", target, np.clip(q + 0.05, low, high), limits=(low, high))
    assert near.converged
    away = inverse_kinematics(PUMA, "l6", 3.0 * target.p, limits=(low, high), starts=1)
    assert np.all((away.q >= low) & (away.q <= high))


def test_out_of_reach_the_arm_points_at_the_target():
    found = inverse_kinematics(TWO, "l2.tip", [3.0, 4.0, 0.0], axes=("x", "y"))
    assert not found.converged
    assert found.reason == "nearest"
    assert found.position_error == pytest.approx(5.0 - 0.9, abs=1e-9)
    assert_close(found.q, [math.atan2(4.0, 3.0), 0.0], 1e-4)
    inner = inverse_kinematics(TWO, "l2.tip", [0.05, 0.0, 0.0])
    assert inner.position_error == pytest.approx(0.05, abs=1e-9)


def test_weights_decide_what_matters_out_of_reach():
    T = np.eye(4)
    T[:3, 3] = 0.5, 0.6, 0.0  # no room for the angle as well
    T[:3, :3] = so3.exp(np.array([[0.0, 0.0, -2.5]]))[0]
    errors = {}
    for name, weights in (("place", (0.01, 0.01, 0.01, 1, 1, 1)), ("angle", (1, 1, 1, 0.01, 0.01, 0.01))):
        errors[name] = inverse_kinematics(TWO, "l2.tip", T, weights=weights, axes=("x", "y", "rz"))
    assert errors["place"].position_error < 0.01 < errors["angle"].position_error
    assert errors["angle"].orientation_error < 0.01 < errors["place"].orientation_error


# ------------------------------------------------------------------------------------------------ residuals
@pytest.mark.parametrize(
    "axes", ["pose", "position", ("rx", "ry"), ("ry", "rz", "x"), ("rx", "rz"), "rx", "ry", "rz", ("x", "rz")]
)
def test_the_derivative_of_the_residual_is_exact(axes):
    rng = np.random.default_rng(7)
    model = gs.robots.kuka_lwr4()
    error = PoseError(model, "link7.flange", chosen_rows(axes, "test"))
    q, v = gs.random_configuration(model, rng), rng.normal(size=7)
    R, p = so3.exp(rng.normal(size=(1, 3))), rng.normal(size=(1, 3))

    def along(t: float) -> np.ndarray:
        return error.residual((q + t * v)[None], R, p)[0]

    assert_close(error.derivative(q[None], R)[0] @ v, central(along, 0.0, 1e-3), 1e-9)


@settings(max_examples=few(100), deadline=None)
@given(
    direction=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda x: np.linalg.norm(x) > 1e-3),
    angle=st.one_of(st.floats(0.0, np.pi - 1e-6), st.floats(0.0, 1e-6)),
)
def test_rotation_vectors_go_there_and_back(direction, angle):
    x = np.array(direction) / np.linalg.norm(direction) * angle
    assert_close(so3.log(so3.exp(x[None]))[0], x, 1e-13)


def test_half_turns_have_a_rotation_vector():
    for k in range(3):
        R = -np.eye(3)
        R[k, k] = 1.0
        x = so3.log(R[None])[0]
        assert np.linalg.norm(x) == pytest.approx(np.pi, rel=1e-15)
        assert_close(so3.exp(x[None])[0], R, 1e-15)


# ------------------------------------------------------------------------------------------------ mistakes
MIRROR = np.diag([1.0, 1.0, -1.0])
MISTAKES = [
    (lambda: inverse_kinematics(PUMA, "l9", np.eye(4)), gs.GyrostatError, "l9"),
    (lambda: inverse_kinematics("puma", "l6", np.eye(4)), gs.GyrostatError, "inverse_kinematics"),
    (lambda: inverse_kinematics(PUMA, "l6", [1.0, 2.0]), gs.ShapeError, r"target has shape \(2,\)"),
    (lambda: inverse_kinematics(PUMA, "l6", MIRROR), gs.SpecError, "not a rotation"),
    (lambda: inverse_kinematics(PUMA, "l6", np.ones((3, 3))), gs.SpecError, "three points are an array"),
    (lambda: inverse_kinematics(PUMA, "l6", np.ones((4, 4))), gs.SpecError, "last row"),
    (lambda: inverse_kinematics(PUMA, "l6", [np.nan, 0.0, 0.0]), gs.NonFiniteError, "not finite"),
    (lambda: inverse_kinematics(PUMA, "l6", [0.1, 0.0, 0.0], [0.0]), gs.ShapeError, "q0"),
    (lambda: inverse_kinematics(PUMA, "l6", np.zeros((2, 3)), np.zeros((3, 6))), gs.ShapeError, "leading shapes"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), axes="roll"), gs.SpecError, "axes is 'roll'"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), axes=("x", "x")), gs.SpecError, "each once"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), weights=[1, 2]), gs.SpecError, "six finite numbers"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), weights=[1, 1, 1, 0, 1, 1]), gs.SpecError, "weight of 'x'"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), limits="none"), gs.SpecError, "limits is 'none'"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), limits=({"q9": 1}, None)), gs.StateError, "no coordinate 'q9'"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), limits=(np.ones(6), np.zeros(6))), gs.SpecError, "exchange"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), limits=(np.ones(5), None)), gs.ShapeError, "limits have"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), hold=["q7"]), gs.StateError, "no rate 'q7'"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), hold=3), gs.StateError, "hold must be a name"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), axes=[["x"]]), gs.SpecError, "axes is"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), limits=({"q1": "a"}, None)), gs.ShapeError, "limit of 'q1'"),
    (lambda: inverse_kinematics(PUMA, "l6", [1e200, 0.0, 0.0]), gs.SpecError, "farther than"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), starts=0), gs.SpecError, "starts must be"),
    (lambda: inverse_kinematics(PUMA, "l6", np.eye(4), tolerance=0.0), gs.SpecError, "tolerance must be"),
    (lambda: inverse_kinematics_branches(PUMA, "l6", np.zeros((2, 3))), gs.ShapeError, "one target at a time"),
    (lambda: inverse_kinematics_branches(PUMA, "l3", [0.3, 0.2, 0.1]), gs.StateError, "q3, q4, q5, q6 do not move it"),
]


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES, ids=[message for *_, message in MISTAKES])
def test_mistakes_are_told(call, error, message):
    with pytest.raises(error, match=message):
        call()
