"""``gs.studies.calibrate``: what it finds, how certain it says it is, and what it says that it cannot find."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies import CalibrationResult, Camera, Distances, FixedPoint, PlaneContact, Points, Poses
from gyrostat.studies.calibration.equations import Equations
from tests.studies.calibration.machines import NOISE, SIZES, THIRTY, measured, six_angles, six_axes
from tests.studies.calibration.test_derivatives import LOOK, beam_arm


@pytest.fixture(scope="module")
def thirty():
    """30 unknowns, 60 poses, noise 0.05 mm, and 200 other poses."""
    rng, model = np.random.default_rng(3), six_axes()
    q, x = six_angles(rng, 260), rng.normal(size=30) * SIZES
    x[25:28] = np.abs(x[25:28])
    (exact,), equations = measured(model, [Points("d6", q, std=NOISE)], THIRTY, x, rng, noise=False)
    seen = exact[:60] + NOISE * rng.normal(size=(60, 3))
    result = gs.studies.calibrate(model, Points("d6", q[:60], seen, std=NOISE), THIRTY)
    return model, result, q, exact, equations.native(x / equations.scale)


def test_thirty_unknowns_predict_other_poses_better_than_the_noise(thirty):
    model, result, q, exact, true = thirty
    error = result.positions("d6", q[60:]) - exact[60:]
    assert np.sqrt(np.mean(error**2)) < 0.6 * NOISE  # per coordinate; asked: 1.0
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 1.0 * NOISE  # in space
    nominal = Equations(model, [Points("d6", q[60:])], THIRTY)
    assert np.linalg.norm(nominal.raw(nominal.start())[0] - exact[60:], axis=1).mean() > 5e-3
    z = (result.values - true)[result.determined] / result.standard_deviations[result.determined]
    assert np.abs(z).max() < 4.0 and result.determined.sum() >= 25
    assert 0.7 < result.variance_factor < 1.35 and result.freedom == 180 - 30 + len(result.unidentifiable)


def test_what_cannot_be_told_apart_is_said_in_words(thirty):
    words = thirty[1].unidentifiable
    assert any("'q1.offset'" in w and "'base.rz'" in w and "by 1 mrad" in w and "changes nothing" in w for w in words)
    assert len(words) == 2
    for name in ("q1.offset", "base.rz"):
        assert not thirty[1].determined[thirty[1].parameters.index(name)]


def test_the_stated_deviation_of_predictions_is_honest(thirty):
    _, result, q, exact, _ = thirty
    deviations = result.position_deviations("d6", q[60:])
    z = (result.positions("d6", q[60:]) - exact[60:]) / deviations
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.5


def test_the_corrected_model_serves_every_solver_and_the_controller(thirty):
    _, result, q, _, _ = thirty
    full = result.coordinates(q[60:70])
    np.testing.assert_allclose(gs.fk(result.model, full)["d6"].p, result.positions("d6", q[60:70]), atol=1e-12)
    held = gs.rnea(result.model, full, np.zeros_like(full), np.zeros_like(full))
    joints = [result.model.dofs.index(f"q{k}") for k in (2, 3, 5)]
    assert np.abs(held[:, joints]).max() < 1e-6  # springs hold the robot where it is said to rest
    targets = result.poses("d6", q[60:70])
    found = result.commands("d6", targets, q[60:70] + 5e-3)
    assert found.converged.all() and not found.outside.any() and np.abs(found.q - q[60:70]).max() < 1e-8
    solver = gs.ForwardKinematics(result.model, live=["d2.translation", "q3.axis"])
    solver.refresh(result.model.replace({"d2.translation": (0.0, 0.0, 1.21)}))  # as any other model
    again = gs.studies.calibrate(result.model, result.study.measurements, THIRTY, cross_validation=0)
    assert [e.name for e in again.model.entities] == [e.name for e in result.model.entities]  # nothing is put in twice
    assert again.chi2 < result.chi2 + 0.1  # what was left open may rest elsewhere


def test_a_result_is_data_and_ends_in_a_report(thirty):
    _, result, q, _, _ = thirty
    back = CalibrationResult.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(back.positions("d6", q[:3]), result.positions("d6", q[:3]))
    assert back.unidentifiable == result.unidentifiable and back.model == result.model
    report = result.report()
    assert (
        "cannot be told apart" in str(report)
        and len(report.figures) == 2
        and "q2_drive.spring.stiffness" in report.html
    )
    low, high = result.confidence(0.99).T
    assert np.all(low <= result.values) and np.all(result.values <= high)
    assert 0.8 < result.cross_validation["points"] < 1.6


# ------------------------------------------------------------------------------------------------ closed forms
def gantry():
    """Three slides: everything is linear."""
    parts = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        parts += [gs.Joint(name, "prismatic", axis=tuple(axis)), gs.RigidBody(f"m{name}", mass=1.0)]
    return gs.assemble("gantry", gs.chain("world", *parts, gs.Displacement("tip", translation=(0.1, 0.0, 0.0))))


def test_linear_cases_are_those_of_the_closed_form():
    """Offsets of slides are the mean of what is missing, with deviation sigma / sqrt(n)."""
    rng, q = np.random.default_rng(0), np.random.default_rng(1).normal(size=(25, 3))
    seen = q + np.array([0.1, 0.0, 0.0]) + np.array([2e-3, -1e-3, 5e-4]) + 1e-4 * rng.normal(size=(25, 3))
    result = gs.studies.calibrate(gantry(), Points("tip", q, seen, std=1e-4), ["x.offset", "y.offset", "z.offset"])
    np.testing.assert_allclose(result.values, np.mean(seen - q, axis=0) - [0.1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(result.standard_deviations, 1e-4 / 5.0, rtol=1e-9)
    unknown = gs.studies.calibrate(gantry(), Points("tip", q, seen), ["x.offset", "y.offset", "z.offset"])
    residual = seen - q - np.mean(seen - q, axis=0)
    s = np.sqrt(np.sum(residual**2) / (75 - 3))
    np.testing.assert_allclose(unknown.standard_deviations, s / 5.0, rtol=1e-6)  # noise that nobody stated
    assert unknown.noise["points"] == pytest.approx(s / 1e-4) and unknown.variance_factor == pytest.approx(1.0)


def test_a_dh_arm_is_calibrated_as_by_a_program_of_its_own():
    """Denavit-Hartenberg matrices and SciPy with differences, written here from the definition."""
    from scipy.optimize import least_squares

    nominal = np.array(
        [[0.1, -np.pi / 2, 0.4, 0.0], [0.5, 0.3, 0.05, 0.0], [0.3, -0.4, 0.1, 0.0]]
    )  # a, alpha, d, theta
    chosen = [(0, 1), (1, 0), (1, 1), (2, 0), (2, 2), (1, 3), (2, 3)]

    def tip(rows, q):
        T = np.eye(4)
        for (a, alpha, d, theta), angle in zip(rows, q, strict=True):
            c, s, ca, sa = np.cos(theta + angle), np.sin(theta + angle), np.cos(alpha), np.sin(alpha)
            T = T @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
        return (T @ np.array([0.1, 0.05, 0.2, 1.0]))[:3]

    def all_tips(x, q):
        rows = nominal.copy()
        for (i, j), value in zip(chosen, x, strict=True):
            rows[i, j] += value
        return np.array([tip(rows, one) for one in q])

    rng = np.random.default_rng(5)
    q, true = rng.uniform(-2, 2, (30, 3)), 2e-3 * rng.normal(size=len(chosen))
    seen = all_tips(true, q) + NOISE * rng.normal(size=(30, 3))
    theirs = least_squares(
        lambda x: (all_tips(x, q) - seen).ravel() / NOISE, np.zeros(len(chosen)), xtol=1e-14, ftol=1e-14
    )
    rows = [gs.DHRow(a, alpha, d, m=1.0, I=(0.1, 0.1, 0.1)) for a, alpha, d, _ in nominal]
    model = gs.from_dh(rows, tool=(0.1, 0.05, 0.2))
    shifts = [e.name for e in model.wiring.entities.values() if isinstance(e, gs.DHDisplacement)]
    words = {0: "a", 1: "alpha", 2: "d", 3: "theta"}
    paths = [f"{shifts[i]}.{words[j]}" for i, j in chosen]
    result = gs.studies.calibrate(model, Points("tool", q, seen, std=NOISE), paths)
    ours = result.values - result.initial
    np.testing.assert_allclose(ours, theirs.x, atol=1e-8)
    C = np.linalg.inv(theirs.jac.T @ theirs.jac)
    np.testing.assert_allclose(result.standard_deviations, np.sqrt(np.diag(C)), rtol=1e-3)


def test_tilts_of_parallel_axes_are_well_posed():
    """Two parallel axes: the tilt is found, while DH parameters jump there."""
    rng, model = np.random.default_rng(6), six_axes(False)
    q = six_angles(rng, 40)
    x = np.array([1e-3, -2e-3, 5e-4, 1.5e-3])
    (seen,), _ = measured(model, [Points("d6", q, std=NOISE)], ["q2.axis", "q3.axis"], x, rng)
    result = gs.studies.calibrate(model, Points("d6", q, seen, std=NOISE), ["q2.axis", "q3.axis"])
    assert not result.unidentifiable and np.abs(result.values - x).max() < 5 * result.standard_deviations.max()
    assert result.standard_deviations.max() < 5e-5


@pytest.mark.slow
def test_standard_deviations_are_honest_over_many_runs():
    """Chi-square of the determined unknowns over 60 runs: within three standard deviations of its mean."""
    rng, model = np.random.default_rng(8), six_axes()
    q = six_angles(rng, 50)
    parameters = ["base", *(f"q{k}.offset" for k in range(2, 6)), "q2_drive.spring.stiffness", "d2.translation.z"]
    x = 1e-3 * rng.normal(size=12)
    x[10] = 0.3
    squares, chi = [], []
    for _ in range(60):
        (seen,), equations = measured(model, [Points("d6", q, std=NOISE)], parameters, x, rng)
        result = gs.studies.calibrate(model, Points("d6", q, seen, std=NOISE), parameters, cross_validation=0)
        difference = result.values - equations.native(x / equations.scale)
        squares.append(difference @ np.linalg.solve(result.covariance, difference))
        chi.append(result.chi2)
    n, m = 12, 150 - 12
    assert abs(np.mean(squares) - n) < 3 * np.sqrt(2 * n / 60)
    assert abs(np.mean(chi) - m) < 3 * np.sqrt(2 * m / 60)


# ------------------------------------------------------------------------------------------------ measurements
def test_every_measuring_system_finds_the_robot_and_itself():
    """Mixed: a camera whose place and lens are not known, a ball-bar, a touched point and a touched plane."""
    rng, model = np.random.default_rng(9), six_axes(False)
    parameters = [f"q{k}.offset" for k in range(2, 6)] + ["d2.translation.z", "d4.translation.z", "q3.axis"]
    q = six_angles(rng, 40)
    markers = 0.2 * rng.normal(size=(3, 3))
    planned = [
        Camera(q, None, markers, "d6", pose=LOOK, unknown=("pose", "focal", "centre"), std=0.02),
        Distances(
            "d6", q, None, (2.5, 0.3, 0.2), offset=-0.4, unknown=("origin", "offset"), std=NOISE, name="ball-bar"
        ),
    ]
    equations = Equations(model, planned, parameters)
    x = 1e-3 * rng.normal(size=len(equations.columns))
    x[len(parameters) + 1 :] *= 5.0
    x[[c.name in ("camera.fx", "camera.fy", "camera.cx", "camera.cy") for c in equations.columns]] = 2.0, -3.0, 4.0, 1.0
    (pixels, readings), _ = measured(model, planned, parameters, x, rng)
    result = gs.studies.calibrate(
        model,
        [
            Camera(q, pixels.reshape(40, 3, 2), markers, "d6", pose=LOOK, unknown=planned[0].unknown, std=0.02),
            Distances("d6", q, readings[:, 0], (2.5, 0.3, 0.2), offset=-0.4, unknown=("origin", "offset"), std=NOISE,
                      name="ball-bar"),
        ],
        parameters,
    )  # fmt: skip
    true = equations.native(x / equations.scale)
    z = (result.values - true) / np.maximum(result.standard_deviations, 1e-12)
    assert np.abs(z[result.determined]).max() < 4.5 and result.determined.sum() >= len(parameters)
    assert set(result.cross_validation) == {"camera", "ball-bar"}


@pytest.mark.slow
def test_a_point_that_is_touched_again_and_again_needs_no_measuring_system():
    rng, model = np.random.default_rng(10), six_axes(False)
    x = np.array([0.0, 1e-3, -1.5e-3, 2e-3, 5e-4])
    parameters = [f"q{k}.offset" for k in range(1, 6)]
    real = Equations(model, [Points("d6", np.zeros((1, 6)))], parameters).robot.changed(x)
    q0 = np.array([0.4, 0.3, 0.4, 0.2, 0.5, 0.1])
    point = gs.fk(real, q0)["d6"].p
    q = gs.inverse_kinematics(real, "d6", np.tile(point, (40, 1)), q0 + 0.6 * rng.normal(size=(40, 6))).q
    result = gs.studies.calibrate(model, FixedPoint("d6", q, std=1e-6), parameters, cross_validation=0)
    np.testing.assert_allclose(result.values[1:5], x[1:], atol=1e-5)
    assert any("'q1.offset'" in w for w in result.unidentifiable)
    np.testing.assert_allclose(result.values[5:7] ** 2 @ [1, 1], point[:2] @ point[:2], rtol=1e-5)


def test_a_plane_and_hidden_markers_count_only_where_they_were_seen():
    rng, model = np.random.default_rng(11), six_axes(False)
    q, markers = six_angles(rng, 30), 0.2 * rng.normal(size=(2, 3))
    parameters = ["base", "q2.offset", "d2.translation.z"]
    seen = rng.uniform(size=(30, 2)) > 0.3
    (points,), _ = measured(model, [Points("d6", q, None, markers, std=NOISE)], parameters, 1e-3 * np.ones(8), rng)
    points = points.reshape(30, 2, 3)
    spoilt = np.where(seen[..., None], points, 1e3)
    result = gs.studies.calibrate(model, Points("d6", q, spoilt, markers, seen=seen, std=NOISE), parameters)
    assert result.freedom == 3 * seen.sum() - 8 and np.abs(result.values[:6] - 1e-3).max() < 2e-4
    z = gs.fk(model, q)["d6"].p[:, 2]
    plane = PlaneContact("d6", q[np.abs(z - 2.0) < 1.0], 2.0, std=NOISE)
    assert len(Equations(model, [plane], ["base.z"]).evaluate(np.zeros(1))) == plane.count


def test_payloads_that_differ_between_measurements_tell_the_springs():
    rng, model = np.random.default_rng(12), six_axes()
    q = six_angles(rng, 25)
    planned = [
        Points("d6", q, std=NOISE, name="empty", properties={"link6.mass": 20.0}),
        Points("d6", q, std=NOISE, name="loaded", properties={"link6.mass": np.linspace(100.0, 300.0, 25)}),
    ]
    parameters = ["q2_drive.spring.stiffness", "q3_drive.spring.stiffness", "q2.offset"]
    x = np.array([0.4, -0.2, 1e-3])
    readings, equations = measured(model, planned, parameters, x, rng)
    made = [
        Points("d6", q, r, std=NOISE, name=m.name, properties=m.properties)
        for m, r in zip(planned, readings, strict=True)
    ]
    result = gs.studies.calibrate(model, made, parameters)
    z = (result.values - equations.native(x / equations.scale)) / result.standard_deviations
    assert np.abs(z).max() < 4.0 and result.standard_deviations[0] < 2e-2 * result.values[0]
    heavy = result.positions("d6", q[:2], {"link6.mass": 300.0})
    assert heavy[0, 2] < result.positions("d6", q[:2], {"link6.mass": 20.0})[0, 2]


# ------------------------------------------------------------------------------------------------ robustness
@pytest.mark.parametrize("loss", ["huber", "soft_l1", "cauchy"])
def test_outliers_do_not_move_a_robust_fit(loss):
    rng, q = np.random.default_rng(13), np.random.default_rng(14).normal(size=(60, 3))
    seen = q + np.array([0.1, 0.0, 0.0]) + 1e-3 + 1e-4 * rng.normal(size=(60, 3))
    seen[::9] += 0.05
    paths = ["x.offset", "y.offset", "z.offset"]
    plain = gs.studies.calibrate(gantry(), Points("tip", q, seen, std=1e-4), paths)
    robust = gs.studies.calibrate(gantry(), Points("tip", q, seen, std=1e-4), paths, loss=loss)
    assert np.abs(plain.values - 1e-3).min() > 3e-3 and plain.variance_factor > 100
    assert np.abs(robust.values - 1e-3).max() < 6 * robust.standard_deviations.max() < 3e-4


@pytest.mark.slow
def test_elastic_links_and_ratios_of_a_closed_robot_are_found():
    rng = np.random.default_rng(19)
    crane, q = beam_arm(), rng.uniform(-1, 1, (25, 2))
    (seen,), _ = measured(crane, [Points("hand", q, std=NOISE)], ["boom.E", "lift.offset"], [0.3, 2e-3], rng)
    result = gs.studies.calibrate(crane, Points("hand", q, seen, std=NOISE), ["boom.E", "lift.offset"])
    z = (result.values - [7e10 / 1.3, 2e-3]) / result.standard_deviations
    assert np.abs(z).max() < 4 and result.standard_deviations[0] < 0.02 * result["boom.E"]
    robot, q = gs.robots.palletizer(), rng.uniform(-0.2, 0.5, (25, 4))
    paths = ["R1_drive.gear.ratio", "R2.offset", "rod1.length"]
    N = robot[paths[0]]
    x = np.array([2e-3 * N, 1e-3, 2e-3])
    (seen,), _ = measured(robot, [Points("payload.tool", q, std=NOISE)], paths, x, rng)
    result = gs.studies.calibrate(robot, Points("payload.tool", q, seen, std=NOISE), paths)
    z = (result.values - result.initial - x) / result.standard_deviations
    assert np.abs(z[result.determined]).max() < 4 and result.determined[0]


def test_bounds_hold_and_are_told():
    q = np.random.default_rng(15).normal(size=(20, 3))
    seen = q + np.array([0.1, 0.0, 0.0]) + np.array([2e-3, 1e-3, 0.0])
    paths = {"x.offset": (-1e-3, 1e-3), "y.offset": None, "z.offset": (-1.0, 1.0)}
    result = gs.studies.calibrate(gantry(), Points("tip", q, seen, std=1e-4), paths)
    assert result["x.offset"] == pytest.approx(1e-3, abs=1e-9) and "at a bound: x.offset" in result.message
    assert result.standard_deviations[0] == 0.0 and result["y.offset"] == pytest.approx(1e-3)


def test_an_interrupted_calibration_keeps_the_best_so_far():
    rng, model = np.random.default_rng(16), six_axes()
    q = six_angles(rng, 30)
    (seen,), _ = measured(model, [Points("d6", q, std=NOISE)], ["base", "q2.offset"], 5e-3 * np.ones(7), rng)
    steps = []

    def stop(done, total, text):
        steps.append(text)
        if done == 3:
            raise KeyboardInterrupt

    result = gs.studies.calibrate(model, Points("d6", q, seen, std=NOISE), ["base", "q2.offset"], progress=stop)
    assert not result.finished and "interrupted" in result.message and result.cross_validation is None
    assert np.abs(result.residuals["points"]).max() < 0.2 * np.abs(result.residuals_before["points"]).max()
    assert "chi2" in steps[0]

    def stop_later(done, total, text):
        if text.startswith("fold 2"):
            raise KeyboardInterrupt

    paths = ["x.offset", "y.offset"]
    q = rng.normal(size=(30, 3))
    points = Points("tip", q, q + 1e-3 * rng.normal(size=(30, 3)), std=1e-3)
    result = gs.studies.calibrate(gantry(), points, paths, progress=stop_later)
    assert result.finished and "cross-validation was interrupted" in result.message and result.freedom == 88


def test_a_spring_that_is_drawn_much_too_stiff_or_too_soft_is_found():
    rng, model = np.random.default_rng(18), six_axes()
    q, path = six_angles(rng, 30), "q2_drive.spring.stiffness"
    for factor in (0.1, 0.6, 20.0):
        (seen,), _ = measured(model.replace({path: 1e6}), [Points("d6", q, std=NOISE)], ["base.x"], [0.0], rng)
        drawn = model.replace({path: 1e6 * factor})
        result = gs.studies.calibrate(drawn, Points("d6", q, seen, std=NOISE), [path, "base.x"], cross_validation=0)
        assert result[path] == pytest.approx(1e6, rel=1e-2), factor


def test_poses_with_full_covariances_are_weighted_by_them():
    rng, model = np.random.default_rng(17), six_axes(False)
    q = six_angles(rng, 20)
    A = rng.normal(size=(6, 6))
    C = 1e-9 * (A @ A.T + np.eye(6))
    T = gs.fk(model, q)["d6"].matrix
    noise = rng.normal(size=(20, 6)) @ np.linalg.cholesky(C).T
    T[:, :3, 3] += noise[:, 3:]
    T[:, :3, :3] = [gs.studies.calibration.camera._exp(w) @ R for w, R in zip(noise[:, :3], T[:, :3, :3], strict=True)]
    result = gs.studies.calibrate(model, Poses("d6", q, T, covariance=C), ["base", "q3.offset"])
    assert 0.6 < result.variance_factor < 1.4
    assert np.abs(result.values / result.standard_deviations).max() < 4.5


# ------------------------------------------------------------------------------------------------ refusals
Q = np.zeros((4, 6))


@pytest.mark.parametrize(
    ("measurement", "parameters", "message"),
    [
        (lambda: Points("d6", Q, np.zeros((4, 3))), ["q9.offset"], "q9"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), "base", "must be a list of paths"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), ["base", "base.x"], "'base.x' is named twice"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), ["link2.inertia"], "is a matrix"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), ["q2.axis.y"], "does not tilt about y"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), {"base.x": (2, 1)}, "low < high"),
        (lambda: Points("d6", Q, np.zeros((4, 3))), {"base.x": (1, 2)}, "begins outside its bounds"),
        (lambda: Points("q6", Q, np.zeros((4, 3))), ["q6.offset"], "is the joint's own"),
        (lambda: Points("d6", Q), ["base"], "nothing was measured"),
        (lambda: Points("d6", Q, np.zeros((3, 3))), ["base"], r"shape \(3, 3\)"),
        (lambda: Points("d6", Q, np.full((4, 3), np.nan)), ["base"], "not finite"),
        (lambda: Points("d6", Q, np.zeros((4, 3)), std=-1.0), ["base"], "positive numbers"),
        (lambda: Points("d6", Q[:, :5], np.zeros((4, 3))), ["base"], r"expected \(n, 6\): q1"),
        (lambda: Points("d6", Q, np.zeros((4, 3)), properties={"link6.mass": [1, 2]}), ["base"], "link6.mass"),
        (lambda: Points("d6", Q, np.zeros((4, 3)), properties={"link6.mass": 3.0}), ["link6.mass"], "unknown and"),
        (lambda: [Points("d6", Q, np.zeros((4, 3)))] * 2, ["base"], "two measurements are called 'points'"),
        (lambda: Camera(Q, None, [[0, 0, 0]], "d6"), ["base"], "pose of the camera"),
        (lambda: Poses("d6", Q, np.ones((4, 4, 4))), ["base"], "not orthonormal"),
        (lambda: [], ["base"], "measurements are"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_by_name(measurement, parameters, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.calibrate(six_axes(), measurement(), parameters)


def test_models_that_cannot_be_calibrated_are_refused_by_name():
    loops = gs.robots.palletizer(loops="constraints")
    with pytest.raises(gs.GyrostatError, match="loop"):
        gs.studies.calibrate(loops, Points("payload.tool", np.zeros((2, 6)), np.zeros((2, 3))), ["base"])
    with pytest.raises(gs.GyrostatError, match="loss must be one of linear, huber"):
        gs.studies.calibrate(six_axes(), Points("d6", Q, np.zeros((4, 3))), ["base"], loss="hubert")
    palletizer = gs.robots.palletizer()
    with pytest.raises(gs.GyrostatError, match="'R4' follows other joints"):
        gs.studies.calibrate(palletizer, Points("payload.tool", np.zeros((2, 4)), np.zeros((2, 3))), ["R4.offset"])
