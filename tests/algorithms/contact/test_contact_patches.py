"""Patches of contact: corners that faces share, their gaps, edges, random poses against nearest points."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.contact_faces import TILT, faces_of
from gyrostat.algorithms.contact.contact_patches import POINTS, contact_patch
from gyrostat.spatial.representation import Pose

UP = np.array([0.0, 0.0, 1.0])
FLOOR = faces_of("box", (2.0, 2.0, 1.0)), Pose(np.eye(3), np.array([0.0, 0.0, -0.5]))


def turned(axis: int, angle: float) -> np.ndarray:
    c, s, R = np.cos(angle), np.sin(angle), np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def patch(kind, size, R, p, on=FLOOR):
    """Above the floor; nearest points as they would be found, with a normal that is off by 1e-6."""
    pose = Pose(R, np.array(p, dtype=float))
    lowest = pose.p - UP * 0.05
    normal = np.array([1e-6, -1e-6, 1.0])
    return contact_patch(faces_of(kind, size), pose, *on, normal / np.linalg.norm(normal), lowest, lowest * [1, 1, 0])


def test_a_box_on_a_larger_one_touches_with_its_four_corners():
    n, points, gaps = patch("box", (0.2, 0.3, 0.1), turned(2, 0.4), [0.1, 0.2, 0.05 + 1e-3])
    np.testing.assert_array_equal(n, UP)
    np.testing.assert_allclose(gaps, 1e-3, atol=1e-15)
    corners = np.array([[x, y] for x in (-0.1, 0.1) for y in (-0.15, 0.15)]) @ turned(2, 0.4)[:2, :2].T + [0.1, 0.2]
    order = np.lexsort(np.round(points[:, :2], 12).T), np.lexsort(np.round(corners, 12).T)
    np.testing.assert_allclose(points[order[0], :2], corners[order[1]], atol=1e-12)


def test_a_box_over_an_edge_touches_up_to_it():
    _, points, gaps = patch("box", (0.2, 0.3, 0.1), np.eye(3), [1.0, 0.0, 0.05])
    assert len(gaps) == 4
    np.testing.assert_allclose(np.sort(np.unique(np.round(points[:, 0], 9))), [0.9, 1.0])


def test_boxes_turned_against_each_other_share_eight_corners():
    same = faces_of("box", (0.2, 0.2, 0.1)), Pose(np.eye(3), np.array([0.0, 0.0, -0.05]))
    _, points, _ = patch("box", (0.2, 0.2, 0.1), turned(2, np.pi / 4), [0, 0, 0.05], same)
    assert len(points) == 8
    assert np.abs(points[:, :2]).max() <= 0.1 + 1e-12


def test_gaps_of_a_box_that_leans_are_those_of_its_corners():
    angle = 0.5 * TILT
    R = turned(1, angle)
    _, _, gaps = patch("box", (0.2, 0.3, 0.1), R, [0, 0, 0.06])
    heights = (np.array([[x, y, -0.05] for x in (-0.1, 0.1) for y in (-0.15, 0.15)]) @ R.T)[:, 2] + 0.06
    np.testing.assert_allclose(np.sort(gaps[:4]), np.sort(heights), atol=1e-12)


@pytest.mark.parametrize(
    "kind, size, R, height, count",
    [
        ("cylinder", (0.05, 0.2), np.eye(3), 0.1, 8),
        ("cylinder", (0.05, 0.2), turned(0, np.pi / 2), 0.05, 2),
        ("capsule", (0.05, 0.2), turned(0, np.pi / 2), 0.05, 2),
        ("box", (0.2, 0.2, 0.2), turned(0, np.pi / 4), 0.1 * np.sqrt(2), 2),
        ("sphere", (0.05,), np.eye(3), 0.05, 1),
        ("ellipsoid", (0.05, 0.04, 0.03), np.eye(3), 0.03, 1),
    ],
)
def test_faces_edges_and_points_on_a_face(kind, size, R, height, count):
    pose = Pose(R, np.array([0.1, 0.2, height]))
    lowest = np.array([0.1, 0.2, 0.0])
    _, points, gaps = contact_patch(faces_of(kind, size), pose, *FLOOR, UP, lowest, lowest)
    assert len(points) == count <= POINTS
    np.testing.assert_allclose(gaps, 0.0, atol=1e-12)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)


def test_two_cylinders_along_each_other_touch_at_the_ends_of_what_they_share():
    rod = faces_of("cylinder", (0.1, 1.0))
    R = turned(0, np.pi / 2)  # along -y
    low, high = Pose(R, np.array([0.0, 0.0, -0.1])), Pose(R, np.array([0.0, 0.4, 0.1]))
    _, points, gaps = contact_patch(rod, high, rod, low, UP, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(np.sort(points[:, 1]), [-0.1, 0.5], atol=1e-12)
    np.testing.assert_allclose(gaps, 0.0, atol=1e-12)


@pytest.mark.by_default(12)
@pytest.mark.parametrize("seed", range(40))
def test_random_boxes_have_points_on_both_surfaces_and_the_nearest_among_them(seed):
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(seed)
    sizes, poses = rng.uniform(0.1, 0.4, (2, 3)), []
    for k in range(2):
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)) if seed % 2 else np.eye(3) + 0.02 * rng.normal(size=(3, 3)))
        Q = Q * np.sign(np.linalg.det(Q))
        poses.append(Pose(Q, np.array([0.0, 0.0, 0.45 * k]) + 0.05 * rng.normal(size=3)))
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    solids = [(coal.Box(*size), coal.Transform3s(pose.R, pose.p)) for size, pose in zip(sizes, poses, strict=True)]
    gap = coal.distance(*solids[1], *solids[0], request, result)
    on_a, on_b = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
    faces = [faces_of("box", size) for size in sizes]
    n, points, gaps = contact_patch(faces[1], poses[1], faces[0], poses[0], -np.array(result.normal), on_a, on_b)
    assert 1 <= len(points) <= POINTS
    assert gaps.min() == pytest.approx(gap, abs=2e-6)
    for k, sign in ((0, -1.0), (1, 1.0)):
        own = (points + sign * 0.5 * gaps[:, None] * n - poses[k].p) @ poses[k].R
        assert np.abs(np.abs(2 * own / sizes[k]).max(axis=1) - 1.0).max() < 1e-4


def test_faces_that_touch_have_the_normal_of_a_face_whatever_nearest_points_say():
    """Between nearest points at a distance of rounding any direction may come out."""
    half = np.array([0.2, 0.2, 0.05])
    pose = Pose(np.eye(3), np.array([0.0, 0.0, 0.1 + 1e-13]))
    on = np.array([0.03, 0.01, 0.05])
    tilted = np.array([6e-3, -2e-3, 1.0])
    n, points, gaps = contact_patch(
        faces_of("box", 2 * half),
        pose,
        faces_of("box", 2 * half),
        Pose(np.eye(3), np.zeros(3)),
        tilted / np.linalg.norm(tilted),
        on,
        on,
    )
    np.testing.assert_allclose(n, [0.0, 0.0, 1.0], atol=1e-15)
    assert len(points) == 4
    np.testing.assert_allclose(gaps, 1e-13, atol=1e-15)


def test_an_edge_on_an_edge_keeps_its_own_normal():
    turn, across = turned(0, np.pi / 4), turned(1, np.pi / 4)
    top = Pose(turn, np.array([0.0, 0.0, 0.2 * np.sqrt(2.0)]))
    on = np.array([0.0, 0.0, 0.1 * np.sqrt(2.0)])
    n, _, gaps = contact_patch(
        faces_of("box", (0.4, 0.2, 0.2)), top, faces_of("box", (0.2, 0.4, 0.2)), Pose(across, np.zeros(3)), UP, on, on
    )
    np.testing.assert_allclose(n, [0.0, 0.0, 1.0], atol=1e-12)
    assert abs(gaps).min() < 1e-12
