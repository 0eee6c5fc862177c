"""Measurements that are wrong, empty, or too good to be true: refused by name, or told."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

UNKNOWN = ["reach.translation.x", "elbow.offset"]


def arm(spring: bool = False) -> gs.Model:
    shoulder = gs.Joint("shoulder", "revolute", axis=(0, 0, 1))
    elbow = gs.Joint("elbow", "revolute", axis=(0, 1, 0))
    hand = gs.RigidBody(
        "hand", mass=8.0, com=(0.2, 0, 0), inertia=(1, 1, 1), frames={"tip": {"translation": (0.5, 0, 0.1)}}
    )
    upper = gs.RigidBody("upper", mass=3.0, com=(0.4, 0, 0), inertia=(0.5, 2, 2))
    reach = gs.Displacement("reach", translation=(0.8, 0, 0))
    model = gs.assemble("arm", gs.chain("world", shoulder, upper, reach, elbow, hand))
    return model.with_drive("elbow", gear_ratio=100, rotor_inertia=1e-4, stiffness=1e4) if spring else model


def seen(n: int = 20) -> tuple[np.ndarray, np.ndarray]:
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (n, 2))
    real = arm().replace({"reach.translation": (0.803, 0.0, 0.0)})
    return q, gs.studies.StaticPoses(real, ["hand.tip"]).rest(q)[0].p[:, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"std": True}, "std is True"),
        ({"covariance": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "not symmetric"),
        ({"seen": np.zeros(20, bool)}, "seen is False everywhere"),
    ],
)
def test_noise_and_visibility_that_mean_nothing_are_refused(change, message):
    q, p = seen()
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.Points("hand.tip", q, p, **change)


@pytest.mark.parametrize("count", [2, 4])
def test_noise_of_markers_is_never_spread_over_the_wrong_numbers(count):
    q, p = seen()
    markers, points = np.zeros((count, 3)), np.tile(p[:, None], (1, count, 1))
    for change in ({"std": (1e-4, 1e-3)}, {"covariance": np.eye(2)}, {"seen": np.ones((20, 3), bool)}):
        with pytest.raises(gs.GyrostatError, match=next(iter(change))):
            gs.studies.Points("hand.tip", q, points, markers, **change)
    whole = gs.studies.Points("hand.tip", q, points, markers, std=(1e-4, 1e-3, 1e-2))
    assert np.diag(whole.whitening()) == pytest.approx(np.tile([1e4, 1e3, 1e2], count))
    assert gs.studies.Points("hand.tip", q, points, markers, seen=np.ones((20, count), bool)).visible().all()


@pytest.mark.parametrize("loss", ["linear", "huber", "soft_l1", "cauchy"])
def test_measurements_without_noise_give_no_noise_but_numbers(loss):
    q, p = seen()
    result = gs.studies.calibrate(arm(), gs.studies.Points("hand.tip", q, p), UNKNOWN, loss=loss)
    assert result["reach.translation.x"] == pytest.approx(0.803, abs=1e-12)
    assert 0.0 < result.noise["points"] <= 1.1e-9 and np.isfinite(result.variance_factor)
    assert result.variance_factor < 2.0 and np.all(result.standard_deviations < 1e-9)


def test_residuals_far_beyond_the_noise_are_told():
    q, p = seen()
    right = gs.studies.calibrate(arm(), gs.studies.Points("hand.tip", q, p, std=1e-4), UNKNOWN)
    wrong = gs.studies.calibrate(arm(), gs.studies.Points("hand.tip", np.rad2deg(q), p, std=1e-4), UNKNOWN)
    assert right.message == "converged" and "times the stated noise: units" in wrong.message
    assert "times the stated noise" in str(wrong.report())


@pytest.mark.parametrize("bounds", [(-1.0, 0.0), (-2.0, -1.0)])
def test_bounds_below_every_stiffness_are_refused(bounds):
    q, p = seen()
    with pytest.raises(gs.GyrostatError, match="begins outside its bounds"):
        gs.studies.calibrate(
            arm(True), gs.studies.Points("hand.tip", q, p, std=1e-4), {"elbow_drive.spring.stiffness": bounds}
        )


def mimic() -> gs.Model:
    one, two = (gs.Joint(n, "revolute", axis=(0, 1, 0)) for n in ("one", "two"))
    link = gs.Displacement("link", translation=(0.5, 0, 0))
    a, b = (gs.RigidBody(n, mass=1.0, com=(0.2, 0, 0), inertia=(1, 1, 1)) for n in "ab")
    tie = gs.Gear("tie", ratio=2.0, offset=0.1)
    wires = [gs.connect("two.shaft", "tie.motor"), gs.connect("one.shaft", "tie.joint")]
    return gs.assemble("mimic", gs.chain("world", gs.Displacement("foot"), one, a, link, two, b), tie, *wires)


def test_an_encoder_that_moves_a_follower_too_is_not_taken_for_a_turned_link():
    # commands are 10 mrad too small: the follower turns by twice that
    model, q = mimic(), np.linspace(-1.0, 1.0, 15)[:, None]
    real = gs.studies.StaticPoses(model, ["b"]).rest(q + 0.01)[0]
    poses = np.tile(np.eye(4), (15, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = real.R[:, 0], real.p[:, 0]
    seen = gs.studies.Poses("b", q, poses, std=(1e-5, 1e-5))
    with pytest.raises(gs.GyrostatError, match=r"'two' follows 'one' through 'tie'.*tie\.offset"):
        gs.studies.calibrate(model, seen, ["one.offset"])
    result = gs.studies.calibrate(model, seen, ["foot.rotation.y", "tie.offset"])
    assert result.values == pytest.approx([0.01, 0.1 + 2 * 0.01], abs=1e-9) and result.message == "converged"
