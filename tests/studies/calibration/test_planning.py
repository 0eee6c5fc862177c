"""What is known before anything is measured: observability, chosen poses, poses of ISO 9283."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies import Camera, ISOCube, Points
from gyrostat.studies.calibration.equations import Equations
from gyrostat.studies.calibration.observability import value
from gyrostat.studies.calibration.pose_selection import _Exchange
from tests.studies.calibration.machines import NOISE, six_angles, six_axes
from tests.studies.calibration.test_derivatives import LOOK

FEW = ["q2.offset", "q3.offset", "d2.translation.z", "d4.translation.z", "q3.axis"]


def test_observability_is_that_of_the_singular_values():
    q = six_angles(np.random.default_rng(0), 20)
    planned = Points("d6", q, std=NOISE)
    told = gs.studies.observability(six_axes(), planned, FEW)
    E = Equations(six_axes(), [planned], FEW)
    s = np.linalg.svd(E.jacobian(np.zeros(6)), compute_uv=False)
    assert not told.unidentifiable
    expected = (np.prod(s) ** (1 / 6) / np.sqrt(20), s[-1] / s[0], s[-1], s[-1] ** 2 / s[0], 1 / np.sum(1 / s))
    np.testing.assert_allclose([told.O1, told.O2, told.O3, told.O4, told.O5], expected, rtol=1e-9)
    seen = E.raw(np.zeros(6))[0]
    result = gs.studies.calibrate(six_axes(), Points("d6", q, seen, std=NOISE), FEW)
    np.testing.assert_allclose(told.standard_deviations, result.standard_deviations, rtol=1e-6)


@pytest.mark.parametrize("criterion", ["D", "O2", "O3", "O4", "O5"])
def test_exchanges_come_close_to_the_best_of_all_sets(criterion):
    """12 candidates, 5 poses: all 792 sets are judged."""
    worst = 1.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        J = 10.0 * rng.normal(size=(12, 2, 4)) * rng.uniform(0.2, 3.0, (12, 1, 1))
        search = _Exchange(J, criterion, rng)
        chosen, finished, _ = search.chosen(5, False)
        judge = lambda k, J=J: value(criterion, np.linalg.svd(J[list(k)].reshape(-1, 4), compute_uv=False)[None], 5)[0]  # noqa: E731
        best = max(judge(k) for k in itertools.combinations(range(12), 5))
        worst = min(worst, judge(chosen) / best)
        assert finished and len(set(chosen.tolist())) == 5
    assert worst > (0.98 if criterion == "D" else 0.8)


def test_chosen_poses_show_more_than_random_ones_and_keep_the_rules():
    model = six_axes(False)
    limits = {f"q{k}.{side}": sign * 1.5 for k in range(1, 7) for side, sign in (("lower", -1), ("upper", 1))}
    model = model.replace(limits)
    camera = Camera(np.zeros((1, 6)), None, 0.1 * np.eye(3), "d6", pose=LOOK, focal=(1500, 1500), centre=(640, 480),
                    picture=(1280, 960), std=0.1)  # fmt: skip
    chosen = gs.studies.select_poses(model, camera, FEW, 12, candidates=300, allowed=lambda q, T: T[2, 3] > 0.5)
    assert chosen.q.shape == (12, 6) and np.abs(chosen.q).max() <= 1.5 and chosen.candidates < 300
    assert chosen.observability.O1 > 1.1 * chosen.random.O1
    place = gs.fk(model, chosen.q)["d6"]
    assert place.p[:, 2].min() > 0.5
    P = (place.p + 0.1 * place.R[:, :, 0] - LOOK[:3, 3]) @ LOOK[:3, :3]
    u = 1500 * P[:, :2] / P[:, 2:] + [640, 480]
    assert np.all((u > 0) & (u < [1280, 960])) and np.all(P[:, 2] > 0)


def test_a_choice_that_cannot_be_made_is_refused():
    model, points = six_axes(False), Points("d6", np.zeros((1, 6)), std=NOISE)
    with pytest.raises(gs.GyrostatError, match="criterion must be one of D, O1"):
        gs.studies.select_poses(model, points, FEW, 5, criterion="E")
    with pytest.raises(gs.GyrostatError, match="0 candidates can be measured, 5 are wanted"):
        gs.studies.select_poses(model, points, FEW, 5, candidates=20, allowed=lambda q, T: False)


# ------------------------------------------------------------------------------------------------ ISO 9283
@pytest.mark.parametrize("plane", "abcd")
def test_the_five_points_lie_on_the_diagonals_of_a_diagonal_plane(plane):
    cube = ISOCube((1.0, 0.2, 0.9), 0.6, plane)
    P, C = cube.points, cube.corners
    assert C.shape == (8, 3) and np.abs(np.ptp(C, axis=0) - 0.6).max() < 1e-15
    diagonal = 0.6 * np.sqrt(3)  # of the rectangle side x side sqrt(2), as of the cube
    for k in range(1, 5):
        assert np.linalg.norm(C - P[k], axis=1).min() == pytest.approx(0.1 * diagonal)
        assert np.linalg.norm(P[k] - P[0]) == pytest.approx(0.4 * diagonal)
    sides = [np.linalg.norm(P[1 + (k + 1) % 4] - P[1 + k]) for k in range(4)]
    np.testing.assert_allclose(sorted(sides), 0.8 * 0.6 * np.array([1, 1, np.sqrt(2), np.sqrt(2)]))
    normal = np.cross(P[2] - P[1], P[3] - P[1])
    for kind in ("line", "rectangle", "large circle", "small circle"):
        path = cube.path(kind, 41)[:, :3, 3]
        assert np.abs((path - P[0]) @ normal).max() < 1e-12  # in the plane
    circle = cube.path("large circle", 41)[:, :3, 3] - P[0]
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 0.4 * 0.6)


def test_iso_poses_out_of_reach_are_refused_by_name():
    model = six_axes(False)
    q = gs.studies.iso_configurations(model, "d6", ISOCube((1.6, 0.0, 1.2), 0.4), np.full(6, 0.1))
    np.testing.assert_allclose(gs.fk(model, q)["d6"].p, ISOCube((1.6, 0.0, 1.2), 0.4).points, atol=1e-9)
    with pytest.raises(gs.GyrostatError, match="P1 of cube 1 is out of reach of 'd6'"):
        gs.studies.iso_configurations(model, "d6", ISOCube((9.0, 0.0, 1.2), 0.4))
