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


def test_what_wrong_data_leave_open_keeps_its_value_and_the_noise_is_told():
    """Poses in another order, no noise stated: nothing is known, so nothing moves, and the message says why."""
    q, p = seen()
    result = gs.studies.calibrate(arm(), gs.studies.Points("hand.tip", q[::-1], p), UNKNOWN)
    assert "nobody stated the noise of 'points'" in result.message and "order of columns" in result.message
    assert not result.determined.any() and all("keeps its value" in words for words in result.unidentifiable)
    assert result.values == pytest.approx(result.initial, abs=1e-12)


@pytest.mark.parametrize("kind", ["angle", "length"])
def test_commands_in_degrees_or_millimetres_are_refused(kind):
    joint = gs.Joint("a", "revolute" if kind == "angle" else "prismatic", axis=(0, 0, 1), lower=-0.5, upper=1.5)
    body = gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1))
    model = gs.assemble("one", gs.chain("world", joint, gs.Displacement("out", translation=(1.0, 0, 0)), body))
    q = np.linspace(-0.5, 1.5, 9)[:, None]
    p = gs.studies.StaticPoses(model, ["out"]).rest(q)[0].p[:, 0]
    gs.studies.calibrate(model, gs.studies.Points("out", q, p), ["base.x"])
    with pytest.raises(gs.GyrostatError, match=r"q of 'a' goes .* radians.*metres"):
        gs.studies.calibrate(model, gs.studies.Points("out", 57.3 * q, p), ["base.x"])


def test_numbers_that_were_not_seen_may_be_missing():
    q, p = seen()
    known = np.random.default_rng(1).uniform(size=20) < 0.7
    T = np.tile(np.eye(4), (20, 1, 1))
    T[:, :3, 3] = p
    T[:, :3, :3] = gs.studies.StaticPoses(arm(), ["hand.tip"]).rest(q)[0].R[:, 0]
    length = np.linalg.norm(p, axis=1)
    measurements = (
        gs.studies.Points("hand.tip", q, np.where(known[:, None], p, np.nan), seen=known, std=1e-4),
        gs.studies.Poses("hand.tip", q, np.where(known[:, None, None], T, np.nan), seen=known, std=(1.0, 1e-4)),
        gs.studies.Distances("hand.tip", q, np.where(known, length, np.nan), seen=known, std=1e-4),
    )
    for measured in measurements:
        result = gs.studies.calibrate(arm(), measured, ["reach.translation.x"])
        assert result["reach.translation.x"] == pytest.approx(0.803, abs=1e-9)
        again = type(measured).from_dict(measured.to_dict())
        assert gs.studies.calibrate(arm(), again, ["reach.translation.x"]).values == pytest.approx(result.values)
    with pytest.raises(gs.GyrostatError, match="not finite"):
        gs.studies.Points("hand.tip", q, np.where(known[:, None], p, np.nan))


def test_a_covariance_counts_only_between_what_was_seen():
    """One coordinate missing: its place holds rubbish, which must not leak through the correlation."""
    q, p = seen()
    C = 1e-8 * np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 1.0]])
    known = np.ones((20, 3), bool)
    known[::2, 1] = False
    spoilt = np.where(known, p, 7.0)
    measured = gs.studies.Points("hand.tip", q, spoilt, seen=known, covariance=C)
    result = gs.studies.calibrate(arm(), measured, UNKNOWN)
    assert result["reach.translation.x"] == pytest.approx(0.803, abs=1e-9) and result.chi2 < 1e-6
    W = measured.whitening()[0]
    part = np.linalg.inv(C[np.ix_([0, 2], [0, 2])])
    np.testing.assert_allclose((W.T @ W)[np.ix_([0, 2], [0, 2])], part, rtol=1e-12)
    assert not W[1].any() and not W[:, 1].any()


def test_transposed_placements_are_refused():
    q, p = seen()
    T = np.tile(np.eye(4), (20, 1, 1))
    T[:, :3, 3] = p
    with pytest.raises(gs.GyrostatError, match="last row of poses is not 0 0 0 1"):
        gs.studies.Poses("hand.tip", q, np.swapaxes(T, 1, 2))
    with pytest.raises(gs.GyrostatError, match="last row of pose is not 0 0 0 1"):
        gs.studies.Camera(q, None, frame="hand.tip", pose=T[0].T)
