"""Contacts of bodies on a height field, against distances to its triangles that coal or a brute force finds."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.contact.contact_faces import faces_of
from gyrostat.algorithms.contact.field_contacts import FieldContacts
from gyrostat.algorithms.contact.nearest_points import reach_of, solid_of
from gyrostat.geometry.height_field import HeightField
from gyrostat.graph.contacts import Candidate, Surface, contact_candidates, on_a_plane, placed
from gyrostat.spatial.representation import Pose
from gyrostat.spatial.so3 import exp

SIZES = {
    "sphere": (0.15,),
    "capsule": (0.1, 0.4),
    "box": (0.5, 0.3, 0.2),
    "cylinder": (0.15, 0.3),
    "ellipsoid": (0.1, 0.2, 0.3),
}
WORLD = Pose(np.eye(3), np.zeros(3))


def rough(seed=0, n=17, height=0.1):
    return HeightField((4.0, 3.0, 1.0), height * np.random.default_rng(seed).normal(size=(n, n + 2)))


def on(field, kind, size):
    """How a body of this kind touches a field."""
    body = gs.RigidBody("body", mass=1.0, shapes=[gs.Shape(kind=kind, size=size, role="collision")])
    model = gs.assemble("one", gs.chain("world", gs.Joint("flight", "free"), body), gs.Ground("floor"))
    (c, *_) = contact_candidates(model)
    a = placed(model, c.surfaces[0])
    c = Candidate("body|field", a, c.b, c.law, False, c.surfaces)
    solid = solid_of(model, c, 0) if kind not in ("sphere", "capsule") else (None, reach_of(kind, size))
    faces = faces_of(kind, size, solid[0])
    return FieldContacts("body|field", field, a, on_a_plane(model, c.surfaces[0], a), solid, faces)


def prism(coal, corners):
    """The solid below a facet."""
    points = coal.StdVec_Vec3s()
    for x in (*corners, *(corners - np.array([0.0, 0.0, 0.8]))):
        points.append(x)
    return coal.Convex.convexHull(points, True, "Qt")


def nearest_on_triangles(x, corners):
    """Distance of a point to the nearest of triangles (k, 3, 3), by their planes and edges."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    above = ((x - a) * n).sum(axis=1)
    foot = x - above[:, None] * n
    inside = np.ones(len(a), bool)
    least = np.inf
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, foot - p) * n).sum(axis=1) >= 0.0
        s = np.clip(((x - p) * (q - p)).sum(axis=1) / ((q - p) ** 2).sum(axis=1), 0.0, 1.0)
        least = min(least, np.linalg.norm(p + s[:, None] * (q - p) - x, axis=1).min())
    return min(least, np.abs(above[inside]).min(initial=np.inf))


def test_the_gap_of_a_sphere_is_its_distance_to_the_nearest_triangle():
    field, r, random = rough(), 0.15, np.random.default_rng(1)
    touching, corners = on(field, "sphere", (r,)), field.vertices[field.facets]
    for _ in range(60):
        x = np.array([*random.uniform(-1.2, 1.2, 2), 0.0])
        k = field.under(x[None])[0]
        x[2] = corners[k, 0, 2] + random.uniform(0.12, 0.25)
        distance = nearest_on_triangles(x, corners)
        _, n, gaps = touching.touching(Pose(np.eye(3), x), WORLD, 0.2)
        if x[2] > corners[k, :, 2].max():  # above the surface
            assert gaps.min() == pytest.approx(distance - r, abs=1e-12)
            assert np.abs(np.linalg.norm(n, axis=1) - 1.0).max() < 1e-12


@pytest.mark.parametrize("kind", SIZES)
def test_a_body_that_coal_brings_to_touch_touches(kind):
    coal = pytest.importorskip("coal")
    field, size = rough(3), SIZES[kind]
    touching = on(field, kind, size)
    shapes = {"sphere": coal.Sphere, "capsule": coal.Capsule, "box": coal.Box, "cylinder": coal.Cylinder}
    solid = {**shapes, "ellipsoid": coal.Ellipsoid}[kind](*size)
    random = np.random.default_rng(4)
    for _ in range(6):
        R, p = exp(random.normal(size=3)), np.array([*random.uniform(-0.9, 0.9, 2), 1.0])
        numbers = field.cells(p[:2] - touching.reach, p[:2] + touching.reach)
        triangles = [prism(coal, corners) for corners in field.vertices[field.facets[numbers]]]

        def distance(at, solid=solid, triangles=triangles, R=R):
            request, least = coal.DistanceRequest(), np.inf
            request.gjk_tolerance, request.gjk_max_iterations = 1e-10, 512
            for triangle in triangles:
                result = coal.DistanceResult()
                still = coal.Transform3s(np.eye(3), np.zeros(3))
                least = min(least, coal.distance(solid, coal.Transform3s(R, at), triangle, still, request, result))
            return least

        d = distance(p)
        while d > 2e-6:  # lowered by its distance, it cannot go through
            p[2] -= d
            d = distance(p)
        _, n, gaps = touching.touching(Pose(R, p), WORLD, 1e-3)
        assert gaps.min() == pytest.approx(d, abs=5e-7)
        assert (n[:, 2] > 0.0).all()


def test_a_plane_has_one_contact_and_no_edges_inside():
    x, y = np.linspace(-2.0, 2.0, 21), np.linspace(-1.5, 1.5, 13)
    field = HeightField((4.0, 3.0, 1.0), 0.3 * x[None, :] - 0.1 * y[:, None])
    assert len(field.convex_edges.ends) == 2 * (20 + 12)  # the border
    n = np.array([-0.3, 0.1, 1.0]) / np.sqrt(1.1)
    touching = on(field, "sphere", (0.15,))
    for at in np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2)).round(1):  # on edges and corners of cells, too
        foot = np.array([*at, 0.3 * at[0] - 0.1 * at[1]])
        _, normals, gaps = touching.touching(Pose(np.eye(3), foot + 0.149 * n), WORLD, 0.01)
        assert len(gaps) == 1
        assert np.abs(normals[0] - n).max() < 1e-14
        assert gaps[0] == pytest.approx(-0.001, abs=1e-15)


def test_both_sides_of_a_valley_hold_a_point_and_one_side_of_a_ridge():
    x = np.linspace(-2.0, 2.0, 9)
    for sign, heights in ((1.0, (-0.004, 0.002)), (-1.0, (0.002,))):
        field = HeightField((4.0, 4.0, 3.0), sign * np.tile(np.abs(x), (9, 1)))
        tip = Surface("tip", "", "", np.eye(3), np.zeros(3), "point", ())
        touching = FieldContacts("tip|field", field, tip, [tip], (None, 0.0), lambda d: None)
        _, n, gaps = touching.touching(Pose(np.eye(3), np.array([0.003, 0.1, -0.001])), WORLD, 0.01)
        assert gaps.tolist() == pytest.approx([z / np.sqrt(2.0) for z in heights], abs=1e-15)
        assert len(n) == len(heights)


def test_beside_and_below_the_field_nothing_touches():
    field = HeightField((2.0, 2.0, 0.5), np.zeros((3, 3)))
    touching = on(field, "sphere", (0.1,))
    for p in ((1.3, 0.0, 0.0), (0.0, 0.0, -0.65), (0.0, 0.0, 0.5)):
        assert len(touching.touching(Pose(np.eye(3), np.array(p)), WORLD, 0.01)[2]) == 0


def test_cells_and_facets_are_where_they_are_said_to_be():
    field = HeightField((2.0, 4.0, 1.0), np.array([[0.0, 1.0], [2.0, 7.0], [3.0, 4.0]]))
    assert field.vertices[field.facets[0]].tolist() == [[-1, -2, 0], [1, -2, 1], [1, 0, 7]]
    assert field.vertices[field.facets[1]].tolist() == [[-1, -2, 0], [1, 0, 7], [-1, 0, 2]]
    inside = field.vertices[field.facets].mean(axis=1)
    assert field.under(inside).tolist() == [0, 1, 2, 3]
    assert field.under(np.array([[1.1, 0.0, 0.0], [0.0, -2.1, 0.0]])).tolist() == [-1, -1]
    corners = field.vertices[field.facets]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.abs(n / np.linalg.norm(n, axis=1)[:, None] - field.normals).max() < 1e-15
    vertices, triangles = field.closed_surface()
    p, q, r = vertices[triangles].transpose(1, 0, 2)
    volume = (np.cross(p, q) * r).sum() / 6.0
    heights = corners[:, :, 2].mean(axis=1)
    assert volume == pytest.approx((heights + 1.0).sum() * 2.0)
