"""Distances of shapes: closed forms, coal, witness points, gradients; which pairs there are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from benchmarks.robots import urdf
from gyrostat import tasks as ts

coal = pytest.importorskip("coal")
KINDS = {"sphere": (0.1,), "capsule": (0.05, 0.3), "box": (0.2, 0.1, 0.3), "cylinder": (0.08, 0.2)}


def two(a, b, ground=False):
    """Two bodies on arms of three joints each; a ground below, if it is wanted."""
    parts = []
    for name, kind, x in (("a", a, -0.5), ("b", b, 0.5)):
        shape = gs.Shape(kind=kind, size=KINDS[kind], role="collision", translation=(0.0, 0.02, 0.1))
        body = gs.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1), shapes=[shape])
        place = gs.Displacement(f"{name}_place", translation=(x, 0, 1.0))
        joints = [gs.Joint(f"{name}{k}", "revolute", axis=axis) for k, axis in enumerate("zyx")]
        slide = gs.Joint(f"{name}_slide", "prismatic", axis="x")
        parts.append(gs.chain("world", place, slide, *joints, body))
    return gs.assemble("two", *parts, *([gs.Ground("floor")] if ground else []))


@pytest.mark.parametrize("a", KINDS)
@pytest.mark.parametrize("b", KINDS)
def test_gradients_and_points_belong_to_the_distance(a, b):
    model = two(a, b, ground=True)
    q = 0.4 * gs.random_configuration(model, 3)
    q[[0, 4]] = 0.05, -0.05
    found, h = gs.distances(model, q), 1e-6
    assert set(found.pairs) == {("a", "b"), ("a", "floor"), ("b", "floor")}
    np.testing.assert_allclose(found.on_a - found.on_b, found.normal * found.distance[:, None], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-9)
    for k in range(model.nv):
        step = h * np.eye(model.nv)[k]
        slope = (gs.distances(model, q + step).distance - gs.distances(model, q - step).distance) / (2 * h)
        np.testing.assert_allclose(found.gradient[:, k], slope, atol=2e-5)


@pytest.mark.parametrize(("a", "b"), [("sphere", "sphere"), ("sphere", "capsule"), ("capsule", "capsule")])
def test_closed_forms_are_what_coal_finds(a, b):
    model = two(a, b)
    for q in gs.random_configuration(model, 1, 20):
        found = gs.distances(model, q)
        frames = gs.fk(model, q)
        placed = []
        for name in "ab":
            T = frames[f"{name}.origin"]
            placed.append(coal.Transform3s(T.R, T.p + T.R @ [0.0, 0.02, 0.1]))
        shapes = [coal.Sphere(*KINDS[x]) if x == "sphere" else coal.Capsule(*KINDS[x]) for x in (a, b)]
        result = coal.DistanceResult()
        gap = coal.distance(shapes[0], placed[0], shapes[1], placed[1], coal.DistanceRequest(), result)
        np.testing.assert_allclose(found.distance[0], gap, atol=1e-5)


def test_a_sphere_above_the_ground_is_its_height_less_its_radius():
    model = two("sphere", "sphere", ground=True)
    found = gs.distances(model, np.zeros(8), [("a", "floor"), ("a", "b")])
    np.testing.assert_allclose(found.distance, [1.0, 0.8], atol=1e-14)  # 1.1 - 0.1; 1.0 - 0.2
    np.testing.assert_allclose(found.normal, [[0, 0, 1], [-1, 0, 0]], atol=1e-14)
    assert found.closest == ("a", "b") and "0.8 m" in repr(found)


def test_many_states_are_as_one_after_the_other_and_touching_ones_are_those_without_distance():
    model = two("box", "capsule", ground=True)
    q = gs.random_configuration(model, 2, (3, 10))
    found = gs.distances(model, q)
    np.testing.assert_array_equal(found.distance[1, 4], gs.distances(model, q[1, 4]).distance)
    met = gs.in_collision(model, q)
    np.testing.assert_array_equal(met, (found.distance <= 0.0).any(axis=-1))
    assert met.any() and not met.all()
    assert gs.in_collision(model, q, margin=5.0).all()


def test_far_pairs_are_told_as_bounds_where_only_near_ones_matter():
    model = two("box", "cylinder")
    q = np.zeros(8)
    exact, bound = gs.distances(model, q), gs.distances(model, q, within=0.1)
    assert exact.near.all() and not bound.near.any()
    assert 0.1 < bound.distance[0] <= exact.distance[0]


@pytest.fixture(scope="module")
def panda():
    srdf = urdf("panda").parents[1] / "srdf" / "panda.srdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gs.load(urdf("panda")), gs.load(urdf("panda"), srdf=srdf)


def test_pairs_of_a_real_robot_come_from_its_structure_its_srdf_or_samples(panda):
    bare, told = panda
    every, allowed = gs.collision_pairs(bare), gs.collision_pairs(told)
    assert set(allowed) < set(every) and len(every) == 99 and len(allowed) == 44
    assert not any({"panda_link3", "panda_link4"} == set(pair) for pair in every)  # joined by a joint
    sampled = gs.collision_pairs(bare, samples=200)
    assert set(sampled) < set(every) and ("panda_link0", "panda_hand") in sampled


@pytest.mark.parametrize("kinds", [("capsule", "sphere"), ("box", "box")])
def test_avoidance_keeps_shapes_apart_while_a_task_pulls_them_together(kinds):
    model = two(*kinds)
    avoid = ts.CollisionAvoidance(distance=0.05, gain=0.5)
    stack = ts.Stack(model, ts.Posture(np.r_[0.6, np.zeros(3), -0.6, np.zeros(3)], gain=0.05), [avoid])
    q, least = np.zeros(8), np.inf
    for _ in range(100):
        q = q + 0.02 * stack.rates(q, 0.02)
        least = min(least, gs.distances(model, q).distance[0])
    assert least > 0.05 - 3e-3  # shapes turn within a step
    assert gs.distances(model, q).distance[0] < 0.06  # and it came as near as it may
    found = stack.solve(np.zeros(8))
    assert gs.distances(model, found.q).distance[0] > 0.05 - 1e-5


def test_what_cannot_be_kept_apart_is_refused_by_name():
    model = two("sphere", "sphere")
    q = np.r_[0.4, np.zeros(3), -0.45, np.zeros(3)]
    stack = ts.Stack(model, ts.Posture(q), [ts.VelocityLimits(np.full(8, 1e-3)), ts.CollisionAvoidance(distance=0.05)])
    with pytest.raises(gs.StateError, match=r"no rates keep all limits: a\|b should come apart"):
        stack.rates(q, 0.01)
    held = ts.Stack(model, ts.Posture(q), ts.CollisionAvoidance(), hold=model.dofs)
    assert held.solve(q).reason == "infeasible"


MISUSE = {
    "has no shape that can touch": {"pairs": [("a", "c")]},
    "do not move against each other": {"pairs": [("a", "a")]},
    "a pair names 3 things": {"pairs": [("a", "b", "a")]},
    "must be a list of two names": {"pairs": "ab"},
    "within must be a length": {"within": -1.0},
}


@pytest.mark.parametrize("words", MISUSE)
def test_misuse_is_told_in_words(words):
    with pytest.raises(gs.GyrostatError, match=words):
        gs.distances(two("sphere", "sphere"), np.zeros(8), **MISUSE[words])
