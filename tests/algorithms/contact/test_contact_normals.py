"""Normals of shapes that touch, whatever the iteration that found their nearest points says."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.contact.contact_normals import apart, extent_of, touching_normal
from gyrostat.algorithms.contact.nearest_points import nearest_points
from gyrostat.spatial.representation import Pose
from gyrostat.spatial.so3 import exp

SIZES = {
    "box": (0.4, 0.3, 0.2),
    "cylinder": (0.12, 0.2),
    "capsule": (0.1, 0.3),
    "sphere": (0.1,),
    "ellipsoid": (0.1, 0.2, 0.3),
}
UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("kind", SIZES)
def test_the_distance_of_shapes_is_how_far_they_are_apart_along_their_normal(kind):
    coal = pytest.importorskip("coal")
    makers = {
        "box": coal.Box,
        "cylinder": coal.Cylinder,
        "capsule": coal.Capsule,
        "sphere": coal.Sphere,
        "ellipsoid": coal.Ellipsoid,
    }
    random, size = np.random.default_rng(0), SIZES[kind]
    one, two = makers[kind](*size), coal.Box(*SIZES["box"])
    for _ in range(20):
        a, b = (Pose(exp(random.normal(size=3)), random.normal(size=3) + k * np.ones(3)) for k in (0, 2))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.gjk_tolerance = 1e-10
        d = coal.distance(one, coal.Transform3s(a.R, a.p), two, coal.Transform3s(b.R, b.p), request, result)
        n = -np.array(result.normal)
        near = n + 1e-3 * random.normal(size=(30, 3))
        near /= np.linalg.norm(near, axis=1)[:, None]
        found = apart(extent_of(kind, size), a, extent_of("box", SIZES["box"]), b, np.concatenate([n[None], near]))
        assert found[0] == pytest.approx(d, abs=1e-6)
        assert found.max() < d + 1e-8


@pytest.mark.parametrize("kind", ["box", "cylinder"])
@pytest.mark.parametrize("other", ["box", "cylinder"])
def test_a_wrong_normal_of_shapes_that_lie_on_each_other_is_found(kind, other):
    random = np.random.default_rng(1)
    a, b = extent_of(kind, SIZES[kind]), extent_of(other, SIZES[other])
    below = Pose(exp(1e-11 * random.normal(size=3)), np.zeros(3))
    above = Pose(np.eye(3), np.array([0.01, 0.02, 0.2 - 1e-11]))
    for _ in range(20):
        wrong = random.normal(size=3)
        n = touching_normal(a, above, b, below, wrong / np.linalg.norm(wrong), -1e-11)
        assert np.abs(n - UP).max() < 1e-10


def test_the_normal_of_crossed_edges_is_across_both():
    box = extent_of("box", (0.2, 0.2, 0.2))
    below = Pose(exp(np.array([np.pi / 4, 0.0, 0.0])), np.zeros(3))  # an edge along x on top
    above = Pose(exp(np.array([0.0, np.pi / 4, 0.0])), np.array([0.0, 0.0, 0.2 * np.sqrt(2.0) - 1e-11]))
    wrong = np.array([0.6, 0.0, 0.8])
    assert np.abs(touching_normal(box, above, box, below, wrong, -1e-11) - UP).max() < 1e-12


def test_the_hull_of_a_mesh_has_the_extent_of_its_shape():
    coal = pytest.importorskip("coal")
    size = np.array([0.4, 0.3, 0.2])
    points = coal.StdVec_Vec3s()
    for x in np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3), axis=-1).reshape(-1, 3) * size:
        points.append(x)
    mesh, box = extent_of("mesh", (1, 1, 1), coal.Convex.convexHull(points, True, "Qt")), extent_of("box", size)
    d = np.random.default_rng(2).normal(size=(20, 3))
    assert np.abs(mesh.support(d) - box.support(d)).max() < 1e-15
    assert np.abs(np.sort(mesh.normals, axis=0) - np.sort(box.normals, axis=0)).max() < 1e-15
    assert np.abs(mesh.edges[mesh.edges.argmax(axis=1).argsort()] - np.eye(3)).max() < 1e-9


def test_nearest_points_give_the_normal_of_the_face_where_boxes_touch():
    pytest.importorskip("coal")
    cube = gs.Shape(kind="box", size=(0.2, 0.3, 0.1), role="collision")
    bodies = [gs.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1), shapes=[cube]) for name in "ab"]
    parts = [gs.chain("world", gs.Joint(f"{body.name}_free", "free"), body) for body in bodies]
    model = gs.assemble("pile", *parts, gs.ContactPair("a", "b"))
    q = gs.neutral(model)
    q[2] = 0.1
    for shift in (0.0, 0.03, 0.1):
        q[7] = shift
        normal = nearest_points(model, q).normals[0]
        np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=1e-12)
