"""Criteria of balance: support polygon, zero-moment point, capture point, momentum, friction cones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.geometry.convex_hull import convex_hull, side, signed_distance
from tests.support.legged import PAWS, SOLES, bent, held_rows

HUMAN, DRIVEN, DOG = gs.robots.humanoid(), gs.robots.humanoid(drives=True), gs.robots.aibo(head=True)
CORNERS = tuple(f"{s}_foot.{c}_{d}" for s in ("left", "right") for c in ("toe", "heel") for d in ("left", "right"))


def standing(model: gs.Model, contacts: dict[str, str], rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """q, v that satisfies the contacts, torques of the joints alone."""
    q = bent(model)
    v = gs.contact_velocities(model, q, rng.normal(size=model.nv), contacts)
    tau = 5.0 * rng.normal(size=model.nv)
    tau[:6] = 0.0
    return q, v, tau


# ------------------------------------------------------------------------------------------------ hulls
def test_the_hull_is_the_same_for_every_order_of_its_points():
    points = np.array([(0, 0), (2, 0), (1, 0), (2, 1), (1, 0.5), (0, 0)], dtype=float)
    hulls = [convex_hull(points[list(order)]) for order in permutations(range(6))]
    for hull in hulls:
        np.testing.assert_array_equal(hull, [(0, 0), (2, 0), (2, 1)])


@pytest.mark.parametrize(
    ("points", "vertices"),
    [
        ([], np.zeros((0, 2))),
        ([(1, 2)] * 3, [(1, 2)]),
        ([(0, 0), (1, 1), (3, 3), (2, 2)], [(0, 0), (3, 3)]),
        ([(0.0, 0.0), (-0.0, 0.0)], [(0, 0)]),
        ([(0, 0), (1e-17, 1.0), (0.0, 2.0)], [(0, 0), (1e-17, 1), (0, 2)]),  # not on a line: exactly
        ([(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)], [(0.1, 0.1), (0.3, 0.3)]),  # 0.3 - 0.1 is no float, but on a line
    ],
)
def test_degenerate_hulls_are_exact(points, vertices):
    np.testing.assert_array_equal(convex_hull(np.array(points, dtype=float).reshape(-1, 2)), vertices)


def test_the_side_of_a_line_is_decided_without_rounding():
    a, b = np.array([0.5, 0.5]), np.array([12.0, 12.0])
    for k in range(-8, 9):
        c = np.array([24.0, 24.0 + k * np.spacing(24.0)])
        assert side(a, b, c) == np.sign(k)


def test_hulls_of_random_points_hold_all_of_them_and_agree_with_qhull():
    scipy = pytest.importorskip("scipy.spatial")
    rng = np.random.default_rng(1)
    for n in (3, 5, 20, 60):
        points = rng.normal(size=(n, 2))
        hull = convex_hull(points)
        peer = scipy.ConvexHull(points)
        assert {tuple(p) for p in hull} == {tuple(points[k]) for k in peer.vertices}
        assert min(signed_distance(hull, p) for p in points) >= 0.0


# ------------------------------------------------------------------------------------------------ support polygon
def test_the_humanoid_stands_on_the_hull_of_its_soles():
    q = gs.neutral(HUMAN)
    polygon = gs.support_polygon(HUMAN, q, CORNERS, height=-0.77)
    np.testing.assert_allclose(polygon.vertices, [(-0.075, -0.145), (0.145, -0.145), (0.145, 0.145), (-0.075, 0.145)])
    assert polygon.area == pytest.approx(0.22 * 0.29)
    assert polygon.corners[:, 2] == pytest.approx([-0.77] * 4)
    c = gs.center_of_mass(HUMAN, q)
    assert polygon.margin(c) == pytest.approx(gs.stability_margin(HUMAN, q, points=CORNERS, height=-0.77))
    assert polygon.margin(c) == pytest.approx(c[0] + 0.075)
    assert polygon.margin([[0.2, 0.2, 5.0], [0.0, 0.0, 0.0]]) == pytest.approx([-np.hypot(0.055, 0.055), 0.075])


def test_the_compiled_margin_is_that_of_the_polygon_wherever_the_robot_is():
    rng = np.random.default_rng(2)
    q = gs.random_configuration(HUMAN, rng, (40,))
    q[:, 3:7] = (0.0, 0.0, 0.0, 1.0)
    margins = gs.stability_margin(HUMAN, q, points=CORNERS)
    for row, margin in zip(q, margins, strict=True):
        polygon = gs.support_polygon(HUMAN, row, CORNERS)
        assert margin == pytest.approx(polygon.margin(gs.center_of_mass(HUMAN, row)), abs=1e-12)
    assert (margins > 0).any() and (margins < 0).any()


@pytest.mark.parametrize("points", [PAWS[:1], PAWS[:2], (PAWS[0], PAWS[0], PAWS[3]), PAWS[:3]])
def test_points_and_lines_have_no_inside(points):
    q = bent(DOG)
    margin = gs.stability_margin(DOG, q, points=points)
    polygon = gs.support_polygon(DOG, q, points)
    assert margin == pytest.approx(polygon.margin(gs.center_of_mass(DOG, q)), abs=1e-13)
    assert len(polygon.vertices) == len(set(points)) and (len(set(points)) > 2 or margin < 0.0)


def test_on_a_slope_the_centre_of_mass_is_seen_along_gravity():
    angle = 0.3
    q = gs.neutral(HUMAN)
    q[3:7] = (0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2))  # the soles are parallel to the slope
    normal = (np.sin(angle), 0.0, np.cos(angle))
    height = float(np.array(normal) @ gs.fk(HUMAN, q)[SOLES[0]].p)
    margin = gs.stability_margin(HUMAN, q, points=CORNERS, normal=normal, height=height)
    c = gs.center_of_mass(HUMAN, gs.neutral(HUMAN))
    fallen = c[0] + (c[2] + 0.77) * np.tan(angle)  # along the slope, downhill is forwards
    assert margin == pytest.approx(0.145 - fallen, abs=1e-12)


# ------------------------------------------------------------------------------------------------ forces
@pytest.mark.parametrize("model", [HUMAN, DRIVEN, DOG], ids=["humanoid", "driven", "dog"])
def test_the_zero_moment_point_is_the_centre_of_pressure(model):
    contacts = dict.fromkeys(PAWS, "point") if model is DOG else dict.fromkeys(SOLES, "fixed")
    rng = np.random.default_rng(3)
    q, v, tau = standing(model, contacts, rng)
    found = gs.ContactDynamics(model, contacts)(q, v, tau)
    for height, normal in ((0.0, (0, 0, 1)), (0.3, (0.1, -0.2, 0.9))):
        moving = gs.zero_moment_point(model, q, v, found.a, normal=normal, height=height)
        pressed = gs.center_of_pressure(model, q, found.forces, normal=normal, height=height)
        np.testing.assert_allclose(moving, pressed, rtol=1e-9, atol=1e-9)
        n = np.array(normal) / np.linalg.norm(normal)
        assert moving @ n == pytest.approx(height, abs=1e-12)


def test_at_rest_the_zero_moment_point_is_below_the_centre_of_mass_and_wrenches_move_it():
    q, rest = bent(DOG), np.zeros(DOG.nv)
    c = gs.center_of_mass(DOG, q)
    np.testing.assert_allclose(gs.zero_moment_point(DOG, q, rest, rest), [c[0], c[1], 0.0], atol=1e-12)
    push = gs.Wrench((0, 0, 0, 1.0, 0, 0), "aligned")
    moved = gs.zero_moment_point(DOG, q, rest, rest, wrenches={"torso": push})
    weight = 9.81 * gs.total_inertia(DOG, q).m
    assert moved[0] - c[0] == pytest.approx(gs.fk(DOG, q)["torso"].p[2] / weight)


def test_forces_of_a_compliant_ground_are_forces_of_the_ground():
    soft = HUMAN.with_ground(friction=0.8, stiffness=2e4, damping=0.5)
    rng = np.random.default_rng(8)
    q, v = gs.neutral(HUMAN), 0.1 * rng.normal(size=HUMAN.nv)
    q[2] = 0.765
    a = gs.aba(soft, q, v, np.zeros(HUMAN.nv))
    p = gs.zero_moment_point(soft, q, v, a)
    np.testing.assert_allclose(p, gs.zero_moment_point(HUMAN, q, v, a), atol=1e-12)
    assert gs.support_polygon(HUMAN, q, CORNERS).margin(p) > 0.0  # the ground only pushes
    rate = gs.centroidal_momentum_rate(HUMAN, q, v, a)
    np.testing.assert_allclose(gs.centroidal_momentum_rate(soft, q, v, a), rate, atol=1e-10)


def test_momentum_changes_by_contact_forces_and_weight_and_by_the_momentum_matrix():
    contacts = dict.fromkeys(SOLES, "fixed")
    rng = np.random.default_rng(4)
    q, v, tau = standing(DRIVEN, contacts, rng)
    found = gs.ContactDynamics(DRIVEN, contacts)(q, v, tau)
    rate = gs.centroidal_momentum_rate(DRIVEN, q, v, found.a)
    c, place = gs.center_of_mass(DRIVEN, q), gs.fk(DRIVEN, q)
    force = np.array([0.0, 0.0, -9.81 * 47.0])
    torque = np.zeros(3)
    for frame, w in found.forces.items():
        R, p = place[frame].R, place[frame].p
        force = force + R @ w[3:]
        torque = torque + R @ w[:3] + np.cross(p - c, R @ w[3:])
    np.testing.assert_allclose(rate, [*torque, *force], rtol=1e-9, atol=1e-9)
    h = 1e-6
    before, after = (gs.integrate(HUMAN, q, s * h * v + h * h / 2 * found.a) for s in (-1, 1))
    slope = (gs.centroidal_momentum(DRIVEN, after, v + h * found.a)
             - gs.centroidal_momentum(DRIVEN, before, v - h * found.a)) / (2 * h)  # fmt: skip
    np.testing.assert_allclose(rate, slope, atol=1e-5 * np.abs(rate).max())
    bare = gs.centroidal_momentum_rate(HUMAN, q, v, found.a) - gs.centroidal_momentum_rate(HUMAN, q, v, 0 * v)
    np.testing.assert_allclose(bare, gs.centroidal_matrix(HUMAN, q) @ found.a, rtol=1e-9, atol=1e-9)


def test_a_pendulum_steered_to_its_capture_point_comes_to_rest_there():
    point = gs.assemble(
        "mass", gs.connect("world", "m.origin"), gs.RigidBody("m", mass=2.0, inertia=(1, 1, 1)), base="free"
    )
    q, v = gs.neutral(point), np.zeros(6)
    q[:3], v[3:] = (0.1, 0.2, 0.8), (0.5, -0.3, 0.0)
    p = gs.capture_point(point, q, v)
    w = np.sqrt(9.81 / 0.8)
    np.testing.assert_allclose(p, [0.1 + 0.5 / w, 0.2 - 0.3 / w, 0.0], atol=1e-14)
    # linear inverted pendulum: x'' = w^2 (x - p), x(t) = p + (x0 - p) exp(-w t)
    assert w * w * (0.1 - p[0]) == pytest.approx(-w * 0.5)
    assert gs.capture_point(point, q, v, height=0.3)[0] == pytest.approx(0.1 + 0.5 * np.sqrt(0.5 / 9.81))


def test_friction_margins_are_those_of_the_cone():
    contacts = [gs.FrameContact(name, friction=mu) for name, mu in zip(SOLES, (0.4, 0.8), strict=True)]
    rng = np.random.default_rng(6)
    q, v, tau = standing(HUMAN, dict.fromkeys(SOLES, "fixed"), rng)
    found = gs.ContactDynamics(HUMAN, contacts)(q, v, tau)
    by_frame = gs.friction_margins(HUMAN, q, found.forces, dict(zip(SOLES, (0.4, 0.8), strict=True)))
    solver = gs.FrictionMargins(HUMAN, contacts)
    np.testing.assert_allclose(solver(q, v, tau), [by_frame[name] for name in SOLES], rtol=1e-10)
    place = gs.fk(HUMAN, q)
    for name, mu in zip(SOLES, (0.4, 0.8), strict=True):
        f = place[name].R @ found.forces[name][3:]
        assert by_frame[name] == pytest.approx(mu * f[2] - np.hypot(f[0], f[1]))
    h = 1e-6
    slope = (solver(q, v, tau + h * np.eye(18)[9]) - solver(q, v, tau - h * np.eye(18)[9])) / (2 * h)
    np.testing.assert_allclose(solver.jacobian("margins", "tau")(q, v, tau)[:, 9], slope, atol=1e-6)


def test_friction_margins_know_locked_joints():
    contacts = [gs.FrameContact(sole, "point", friction=0.5) for sole in SOLES]
    joints = [name for name in reversed(HUMAN.layout.entities) if name not in ("left_knee", "right_ankle_pitch")]
    assert len(joints) == len(HUMAN.layout.entities) - 2
    at_q, at_v = HUMAN.layout.places(joints)
    rng = np.random.default_rng(5)
    q, (v, tau) = gs.neutral(HUMAN), rng.normal(size=(2, HUMAN.nv))
    q[at_q] = bent(HUMAN)[at_q]
    state = q[at_q], v[at_v], tau[at_v]
    forces = gs.ContactDynamics(HUMAN, contacts).in_order(joints)(*state).forces
    expected = gs.friction_margins(HUMAN, q, forces, 0.5)
    found = gs.FrictionMargins(HUMAN, contacts).in_order(joints)(*state)
    np.testing.assert_allclose(found, [expected[sole] for sole in SOLES], rtol=1e-9)
    left_out = [k for k in range(HUMAN.nv) if k not in at_v]
    v[left_out], tau[left_out] = 0.0, 0.0
    loose = gs.FrictionMargins(HUMAN, contacts)(q, v, tau)
    assert np.abs(loose - found).min() > 1.0  # the joints could move


# ------------------------------------------------------------------------------------------------ velocities
@pytest.mark.parametrize("model", [HUMAN, DRIVEN, DOG], ids=["humanoid", "driven", "dog"])
def test_the_collision_algorithm_is_inverse_velocity_kinematics(model):
    contacts = dict.fromkeys(PAWS, "point") if model is DOG else dict.fromkeys(SOLES, "fixed")
    rng = np.random.default_rng(7)
    q, v = bent(model), rng.normal(size=model.nv)
    after = gs.contact_velocities(model, q, v, contacts)
    J = held_rows(model, q, contacts)
    follow = [k for k in range(6, model.nv) if np.any(J[:, k])]
    kept = [k for k in range(model.nv) if k not in follow]
    np.testing.assert_array_equal(after[kept], v[kept])
    np.testing.assert_allclose(after[follow], -np.linalg.solve(J[:, follow], J[:, kept] @ v[kept]), atol=1e-9)
    batch = gs.contact_velocities(model, q, np.stack([v, 2 * v]), contacts)
    np.testing.assert_allclose(batch[1], 2 * after, atol=1e-12)


def test_joints_that_could_still_move_change_by_least_energy():
    contacts = {SOLES[0]: "point"}
    rng = np.random.default_rng(8)
    q, v = bent(HUMAN), rng.normal(size=18)
    after = gs.contact_velocities(HUMAN, q, v, contacts, independent=["world"])
    M, J = gs.crba(HUMAN, q)[6:, 6:], held_rows(HUMAN, q, contacts)
    Y = np.linalg.solve(M, J[:, 6:].T)
    wanted = v[6:] - Y @ np.linalg.solve(J[:, 6:] @ Y, J @ v)
    np.testing.assert_allclose(after[6:], wanted, atol=1e-9)
    np.testing.assert_array_equal(after[:6], v[:6])


def test_one_joint_stays_independent_by_its_name_alone():
    q, v = bent(HUMAN), np.random.default_rng(8).normal(size=18)
    wanted = gs.contact_velocities(HUMAN, q, v, {SOLES[0]: "point"}, independent=["world"])
    np.testing.assert_array_equal(gs.contact_velocities(HUMAN, q, v, {SOLES[0]: "point"}, independent="world"), wanted)


def test_joints_with_more_rates_than_a_contact_holds_are_counted():
    hip = gs.RigidBody("hip", mass=1.0, inertia=(1, 1, 1))
    foot = gs.RigidBody("foot", mass=1.0, inertia=(1, 1, 1), frames={"end": (0, 0, -1)})
    ankle = gs.Joint("ankle", "universal", axis="y", second_axis="x")
    model = gs.assemble("walker", gs.chain("world", hip, ankle, foot), base="free")
    q, v = gs.neutral(model), np.ones(8)
    with pytest.raises(gs.GyrostatError, match=r"contact_velocities: .*'foot.end' holds 1 comp.* ankle, have 2 rates"):
        gs.contact_velocities(model, q, v, {"foot.end": "normal"})
    with pytest.raises(gs.GyrostatError, match=r"contact_velocities: .* joints that move it alone have 2 rates"):
        gs.contact_velocities(model, q, v, {"foot.end": "point"})


# ------------------------------------------------------------------------------------------------ refusals
def test_what_has_no_answer_is_refused():
    q, rest = bent(HUMAN), np.zeros(18)
    fall = gs.aba(HUMAN, q, rest, rest)
    with pytest.raises(gs.StateError, match=r"zero_moment_point: the motion needs no force along the normal"):
        gs.zero_moment_point(HUMAN, q, rest, fall)
    with pytest.raises(gs.StateError, match=r"capture_point: the centre of mass is not above the ground"):
        gs.capture_point(HUMAN, q, rest, height=3.0)
    with pytest.raises(gs.StateError, match=r"center_of_pressure: the contacts do not press"):
        gs.center_of_pressure(HUMAN, q, {SOLES[0]: np.zeros(6)})
    with pytest.raises(gs.StateError, match=r"contact_velocities: the joints that are to follow cannot hold left_foot"):
        gs.contact_velocities(HUMAN, gs.neutral(HUMAN), np.ones(18), [SOLES[0]])
    weightless = HUMAN.replace({"context.gravity": (0, 0, 0)})
    with pytest.raises(gs.GyrostatError, match=r"gravity of 'humanoid' does not press against the ground"):
        gs.capture_point(weightless, q, rest)
    with pytest.raises(gs.GyrostatError, match=r"gravity of 'humanoid' does not press against the ground"):
        gs.stability_margin(HUMAN, q, points=CORNERS, normal=(0, 0, -1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: gs.support_polygon(HUMAN, q, []), r"support_polygon: no point is named"),
        (lambda q: gs.support_polygon(HUMAN, q, ["left_foot.tow"]), r"left_foot"),
        (lambda q: gs.support_polygon(HUMAN, np.stack([q, q]), CORNERS), r"expected one configuration"),
        (lambda q: gs.support_polygon(HUMAN, q, CORNERS, normal=(0, 0, 0)), r"normal must be a direction"),
        (lambda q: gs.support_polygon(HUMAN, q, CORNERS, height=np.nan), r"height must be a finite number"),
        (lambda q: gs.support_polygon(HUMAN, q, CORNERS).margin([1, 2]), r"p has shape \(2,\), expected \(..., 3\)"),
        (lambda q: gs.center_of_pressure(HUMAN, q, {}), r"forces must map frames to wrenches"),
        (lambda q: gs.center_of_pressure(HUMAN, q, {SOLES[0]: [1, 2]}), r"'left_foot.sole' has shape \(2,\)"),
        (
            lambda q: gs.friction_margins(HUMAN, q, {SOLES[0]: np.ones(6)}, -1.0),
            r"friction of 'left_foot.sole' must be",
        ),
        (lambda q: gs.friction_margins(HUMAN, q, {SOLES[0]: np.ones(6)}, np.inf), r"a finite number >= 0, got inf"),
        (lambda q: gs.friction_margins(HUMAN, q, {SOLES[0]: [0, 0, 0, 0, 0, np.nan]}, 0.5), r"sole' is not finite"),
        (lambda q: gs.center_of_pressure(HUMAN, q, {SOLES[0]: [0, 0, 0, 0, 0, np.inf]}), r"sole' is not finite"),
        (
            lambda q: gs.center_of_pressure(HUMAN, np.tile(q, (3, 1)), {SOLES[0]: np.ones((4, 6))}),
            r"the force at 'left_foot.sole' has shape \(4, 6\), which does not fit the batch \(3,\)",
        ),
        (
            lambda q: gs.center_of_pressure(HUMAN, q, {SOLES[0]: np.ones((3, 6)), SOLES[1]: np.ones((4, 6))}),
            r"the force at 'right_foot.sole' has shape \(4, 6\), which does not fit",
        ),
        (lambda q: gs.support_polygon(HUMAN, q, CORNERS).margin((np.nan, 0, 0)), r"support_polygon: p is not finite"),
        (lambda q: gs.FrictionMargins(HUMAN, [SOLES[0]]), r"the contact 'left_foot.sole' has no friction"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(gs.GyrostatError, match=message):
        call(bent(HUMAN))
