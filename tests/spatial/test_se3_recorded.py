"""Logarithms of placements and their rates, in arithmetic that can be recorded."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.spatial import so3
from gyrostat.spatial.se3_recorded import placement_log, placement_log_rate, rotation_log

ANGLES = [0.0, 1e-12, 1e-6, 1.4e-4, 1e-2, 0.2499, 0.2501, 1.0, 2.0, 2.68, 2.7, 3.0, np.pi - 1e-4, np.pi - 1e-9, np.pi]


def turned(x):
    return so3.exp(np.asarray(x, float)[None])[0]


@pytest.mark.parametrize("angle", ANGLES)
def test_the_logarithm_undoes_the_exponential_to_rounding_up_to_half_a_turn(angle):
    rng = np.random.default_rng(int(1e6 * angle) % 1000)
    for _ in range(50):
        u = rng.normal(size=3)
        w = u / np.linalg.norm(u) * angle
        found = rotation_log(turned(w))
        np.testing.assert_allclose(turned(found), turned(w), atol=3e-15)
        if angle < np.pi - 1e-8:
            np.testing.assert_allclose(found, w, atol=1e-14)


@pytest.mark.parametrize("R", [np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
def test_half_turns_about_the_axes_have_their_axis(R):
    np.testing.assert_allclose(np.abs(rotation_log(R)), np.pi * (np.diag(R) > 0), atol=1e-15)


@pytest.mark.parametrize("angle", ANGLES[:-2])
def test_the_rate_is_that_of_a_moving_frame(angle):
    rng = np.random.default_rng(7)
    u = rng.normal(size=3)
    R, p = turned(u / np.linalg.norm(u) * angle), rng.normal(size=3)
    rate, h = placement_log_rate(placement_log(R, p), p), 1e-5
    for k, twist in enumerate(np.eye(6)):
        ahead, behind = (placement_log(R @ turned(s * twist[:3]), p + R @ (s * twist[3:])) for s in (h, -h))
        if angle < 3.0:
            np.testing.assert_allclose((ahead - behind) / (2 * h), rate[:, k], atol=2e-8)


def test_the_logarithm_and_its_rate_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(3)
    order = [3, 4, 5, 0, 1, 2]
    for _ in range(200):
        u = rng.normal(size=3)
        R, p = turned(u / np.linalg.norm(u) * rng.uniform(0.05, 3.1)), rng.normal(size=3)
        x = placement_log(R, p)
        np.testing.assert_allclose(x, pin.log6(pin.SE3(R, p)).vector[order], atol=1e-12)
        np.testing.assert_allclose(
            placement_log_rate(x, p), pin.Jlog6(pin.SE3(R, p))[np.ix_(order, order)], atol=1e-9, rtol=1e-9
        )


def test_recorded_logarithms_are_those_of_numbers():
    def both(R, p):
        x = placement_log(R, p)
        return {"x": x, "rate": placement_log_rate(x, p)}

    kernel, rng = Kernel(record(both, {"R": (3, 3), "p": (3,)})), np.random.default_rng(0)
    for angle in ANGLES[:-1]:
        u, p = rng.normal(size=3), rng.normal(size=3)
        R = turned(u / np.linalg.norm(u) * angle)
        out = kernel.call(R, p)
        x = placement_log(R, p)
        np.testing.assert_allclose(out["x"], x, atol=1e-13)
        np.testing.assert_allclose(out["rate"], placement_log_rate(x, p), rtol=1e-7, atol=1e-12)
