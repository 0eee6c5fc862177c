"""The experiments of the source documents: `./run demo hydraulic | trainer | elastic | palletizer | ...`, each checked
by other means."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from demos import (
    DEMOS,
    elastic,
    hydraulic,
    hydraulic_cylinders,
    lwr_inverse_dynamics,
    palletizer,
    space_manipulator,
    trainer,
)
from demos.__main__ import main

PAGES = Path(__file__).parents[2] / "docs" / "experiments"


def simpson(y, h):
    """Integral of samples (2 m + 1,) with step h."""
    return h / 3.0 * (y[0] + 4.0 * y[1:-1:2].sum() + 2.0 * y[2:-1:2].sum() + y[-1])


# ------------------------------------------------------------------------------------------------ the command
def test_every_experiment_has_a_module_a_page_and_a_line_of_help(capsys):
    assert main(["--help"]) == 0
    text, index = capsys.readouterr().out, (PAGES / "index.md").read_text("utf-8")
    for name in DEMOS:
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
        assert f"./run demo {name}" in index
        stem = name.replace("-", "_")
        assert find_spec(f"demos.{stem}") and (PAGES / f"{stem}.md").is_file()
    for figure in PAGES.glob("*.png"):
        pages = [path for path in PAGES.glob("*.md") if figure.stem.startswith(f"{path.stem}_")]
        page = max(pages, key=lambda path: len(path.stem)).read_text("utf-8")
        assert 10_000 < figure.stat().st_size < 150_000 and f"({figure.name})" in page


def test_an_unknown_experiment_is_refused_with_a_hint(capsys):
    assert main(["hydralic"]) == 2
    assert f"expected one of: {', '.join(DEMOS)}. Hint: did you mean hydraulic?" in capsys.readouterr().err


def test_without_a_name_it_is_the_short_demonstration_and_tells_the_others(capsys, monkeypatch):
    monkeypatch.setattr(lwr_inverse_dynamics, "main", print)  # test_documents.py runs it
    for words in ([], ["--samples", "15"]):
        assert main(words) == 0
        assert capsys.readouterr().out == f"{words}\nmore: ./run demo {' | '.join(DEMOS)}\n"


@pytest.mark.parametrize(
    ("name", "figures", "words"),
    [
        pytest.param(
            "hydraulic",
            ("motion", "torques", "closure", "cylinders"),
            ("speed at the middle point 1.1835 m/s", "rad after 5 s", "damped tones 3.49, 4.15", "14.96, 16.23"),
            marks=pytest.mark.slow,
        ),
        (
            "trainer",
            ("links", "achievable", "forces"),
            ("limits are met in 443 of them", "factor 1.171255", "2161.0   1597.4"),
        ),
        pytest.param(
            "elastic",
            ("torques", "difference", "springs"),
            ("derivatives of q needed: 10", "  . . x x x x x", "0.030 rad off in the first second, 0.539 rad in all"),
            marks=pytest.mark.slow,
        ),
        (
            "palletizer",
            ("structure", "motion", "torques", "rods"),
            (
                "1                carousel - R2 - arm - R6 - triangle - rod1          1          R6  constant tie",
                "          R4  closed form",
                "7953.47        5218.78      53.0231",
                "4.13 kN and 3.18 kN",
            ),
        ),
        pytest.param(
            "palletizer-path",
            ("phase", "torques"),
            ("excess of any limit at 100 points of each interval: 0e+00 of it", "then bounded by"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "calibration",
            ("poses", "accuracy", "residuals"),
            (
                "60 poses with 4 markers: 15 of ISO 9283",
                "'to_q4.translation.x'",
                "cannot be told apart",
                "x repeatability",
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "gait",
            ("stride", "efforts", "grid"),
            ("humanoid: 0.06 m/s", "converged", "least stability margin 5.0 mm"),
            marks=pytest.mark.slow,
        ),
        pytest.param("aibo", ("patterns", "trot"), ("aibo trots: 0.1 m/s", "converged"), marks=pytest.mark.slow),
        pytest.param(
            "space-manipulator",
            ("turn", "agreement", "cases"),
            ("120                  5.942", "0.0992                 3.22", "hinges held: 0.182, 0.227, 1.2, 1.79 Hz"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_experiment_prints_its_numbers_and_writes_its_figures(name, figures, words, tmp_path, capsys):
    assert main([name, "--samples", "41", "--quiet", "--out", str(tmp_path), "--format", "png"]) == 0
    text, err = capsys.readouterr()
    assert all(word in text for word in words) and not err
    for figure in figures:
        path = tmp_path / f"{name.replace('-', '_')}_{figure}.png"
        assert str(path) in text and path.read_bytes()[:4] == b"\x89PNG"


def test_what_cannot_be_done_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["trainer", "--samples", "5", "--quiet", "--out", str(tmp_path / "file" / "x")]) == 1
    assert "demo trainer: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["hydraulic", "--samples", "1"])
    assert "--samples must be 2 or more, got 1" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ hydraulic [G13 3]
@pytest.fixture(scope="module")
def motion() -> hydraulic.Motion:
    return hydraulic.inverse_problem(501)


@pytest.fixture(scope="module")
def closure(motion) -> hydraulic.Closure:
    return hydraulic.forward_problem(motion)


def test_the_load_visits_its_places_and_stays_horizontal(motion):
    frames = gs.fk(motion.arm, motion.q)["link5.tool"]
    up = np.array([0.0, 0.0, 1.0])
    assert np.abs(frames.R[:, 2, :] - up).max() < 1e-9 and np.abs(frames.R[:, :, 2] - up).max() < 1e-9
    for t, (x, y, z, turn) in zip(hydraulic.TIMES, hydraulic.PLACES, strict=True):
        k = int(np.argmin(np.abs(motion.t - t)))
        assert frames.p[k] == pytest.approx([x, y, z], abs=1e-9)
        assert np.arctan2(frames.R[k, 1, 0], frames.R[k, 0, 0]) == pytest.approx(turn, abs=1e-9)


def test_the_path_is_of_third_order_and_does_not_stop_at_the_middle(motion):
    q, v, a = motion.q, motion.v, motion.a
    assert np.abs(v[[0, -1]]).max() < 1e-12 and np.abs(v[250]).max() > 0.4
    for half in (a[:251], a[250:]):  # accelerations are straight lines
        assert np.abs(np.diff(half, 2, axis=0)).max() < 1e-12
    h = motion.t[1]
    assert np.abs((q[2:] - q[:-2]) / (2 * h) - v[1:-1]).max() < 1e-4  # and they belong together
    assert np.abs((v[2:] - v[:-2]) / (2 * h) - a[1:-1]).max() < 3e-3


def test_torques_of_the_manipulator_are_those_of_pinocchio_and_of_g13_one_by_one(motion):
    oracle = pytest.importorskip("pinocchio_oracle").Oracle(motion.arm)
    for k in range(0, 501, 25):
        want = oracle.rnea(motion.q[k], motion.v[k], motion.a[k])
        assert motion.tau[k] == pytest.approx(want, rel=1e-10, abs=1e-8)
    assert np.abs(hydraulic.one_by_one(motion) - motion.tau[:, 1:4]).max() < 1e-9 * np.abs(motion.tau).max()


def test_the_work_of_the_torques_is_the_energy_of_the_manipulator(motion):
    power = np.sum(motion.tau * motion.v, axis=1)
    height = gs.potential_energy(motion.arm, motion.q[[0, 250]])
    energy = height[1] - height[0] + gs.kinetic_energy(motion.arm, motion.q[250], motion.v[250])
    assert abs(energy) > 1000.0  # the load is lifted by a metre
    assert simpson(power[:251], motion.t[1]) == pytest.approx(energy, rel=1e-8)


def test_the_ground_carries_weight_and_inertia(motion):
    h, mass = 1e-3, 660.0 + 3200.0 / 9.81
    for t in (0.7, 1.9, 3.3):
        centre = np.array([gs.center_of_mass(motion.arm, motion.path(s)) for s in (t - h, t, t + h)])
        want = mass * ((centre[0] - 2 * centre[1] + centre[2]) / h**2 + [0.0, 0.0, 9.81])
        k = int(np.argmin(np.abs(motion.t - t)))
        assert motion.base[k, 3:] == pytest.approx(want, abs=2e-2)  # axes of the base; parts in a million


def test_forward_dynamics_gives_the_path_back_without_feedback(motion):
    run = hydraulic.driven(motion)
    assert np.abs(run.q - motion.q).max() < 1e-7 and np.abs(run.v - motion.v).max() < 1e-6


def test_the_swing_after_the_closure_is_that_of_pinocchio_and_scipy(motion, closure):
    oracle = pytest.importorskip("pinocchio_oracle").Oracle(motion.arm)
    solve = pytest.importorskip("scipy.integrate").solve_ivp

    def rate(_, x):
        q, v = x[:5], x[5:]
        tau = hydraulic.STIFFNESS * (closure.free - q) - hydraulic.DAMPING * v
        return np.concatenate([v, oracle.aba(q, v, tau)])

    start = motion.path.derivatives(hydraulic.CLOSURE, 1).ravel()
    t = closure.exact.t[:301:30]  # 0.6 s: all of the swing that can be seen
    want = solve(rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-10, atol=1e-12).y.T
    assert np.abs(closure.exact.q[:301:30] - want[:, :5]).max() < 1e-9
    assert np.abs(closure.run.q[:301:30] - want[:, :5]).max() < 1e-6  # ode23, as in G13
    assert np.abs(closure.run.q[-1] - closure.run.q[0]).max() < 1e-5  # and it comes to rest where it was


def test_dampers_take_what_the_manipulator_loses(closure):
    run, h = closure.exact, closure.exact.t[1]
    taken = simpson(np.sum(hydraulic.DAMPING * run.v**2, axis=1), h)
    assert run.energy[0] - run.energy[-1] == pytest.approx(taken, rel=1e-4)
    assert taken > 100.0


def test_the_law_as_printed_would_drive_the_joints_away(motion, closure):
    M = gs.crba(motion.arm, closure.run.q[0])
    for sign, unstable in ((1.0, True), (-1.0, False)):
        stiff, damped = np.diag(sign * hydraulic.STIFFNESS), np.diag(-hydraulic.DAMPING)
        A = np.block([[np.zeros((5, 5)), np.eye(5)], [np.linalg.solve(M, stiff), np.linalg.solve(M, damped)]])
        assert (np.linalg.eigvals(A).real.max() > 1.0) == unstable


@pytest.fixture(scope="module")
def cylinders(motion, closure) -> hydraulic_cylinders.Cylinders:
    return hydraulic.with_cylinders(motion, closure)


TRIANGLES = {  # pins before and behind the joint, in its plane, from its axis [m]
    1: ((0.40 - 0.25, -0.65), (0.60, -0.10)),
    2: ((0.70 - 1.6, 0.30), (-0.30, 0.20)),
    3: ((0.85 - 1.4, 0.15), (0.0, 0.22)),
}


def length_and_lever(j, angle):
    """Of the cylinder of joint j, by hand."""
    if j not in TRIANGLES:
        lever = hydraulic_cylinders.DRIVES[f"q{j + 1}"].lever
        return lever * angle, lever
    base, (x, y) = TRIANGLES[j]
    rod = np.array([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])
    way = rod - base
    length = np.linalg.norm(way)
    return length, (way @ [-rod[1], rod[0]]) / length


def closed_by_hand(block, length, speed, p_a, p_b):
    """Force and rates of the pressures of a cylinder with a closed valve."""
    (A,), (ratio,), (s,), (V,), (C,), (d,) = (
        getattr(block, key) for key in ("area", "rod_ratio", "stroke", "dead_volume", "compliance", "viscous")
    )
    x, leak = length - block.closed_length[0], 2e-14 * (p_a - p_b)
    rate_a = (-A * speed - leak) / ((V + A * x) / 1.4e9 + C)
    rate_b = (A * ratio * speed + leak) / ((V + A * ratio * (s - x)) / 1.4e9 + C)
    return A * p_a - A * ratio * p_b - d * speed, rate_a, rate_b


def test_the_closure_with_cylinders_is_that_of_pinocchio_and_scipy(motion, cylinders):
    oracle = pytest.importorskip("pinocchio_oracle").Oracle(motion.arm)
    solve = pytest.importorskip("scipy.integrate").solve_ivp

    def rate(_, x):
        q, v, p = x[:5], x[5:10], x[10:].reshape(5, 2)
        tau, change = np.zeros(5), np.zeros((5, 2))
        for j, block in enumerate(cylinders.blocks):
            length, lever = length_and_lever(j, q[j])
            force, *change[j] = closed_by_hand(block, length, lever * v[j], *p[j])
            tau[j] = lever * force
        return np.concatenate([v, oracle.aba(q, v, tau), change.ravel()])

    start = np.concatenate([cylinders.run.q[0], cylinders.run.v[0], cylinders.run.p[0]])
    t = cylinders.run.t[:101:20]  # 0.2 s
    atol = np.concatenate([np.full(10, 1e-11), np.full(10, 1e-3)])
    want = solve(rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-9, atol=atol).y.T
    assert np.abs(cylinders.run.q[:101:20] - want[:, :5]).max() < 1e-8
    assert np.abs(cylinders.run.p[:101:20] / want[:, 10:] - 1.0).max() < 1e-6


def test_the_cylinders_have_the_stiffness_of_the_law(motion, closure, cylinders):
    q0, lengths = closure.run.q[0], [length_and_lever(j, closure.run.q[0, j]) for j in range(5)]
    for j, (block, (length, lever)) in enumerate(zip(cylinders.blocks, lengths, strict=True)):
        _, rate_a, rate_b = closed_by_hand(block, length, lever, 0.0, 0.0)  # [Pa/rad]
        A = block.area[0]
        stiffness = -lever * (A * rate_a - A * block.rod_ratio[0] * rate_b)
        assert stiffness == pytest.approx(hydraulic.STIFFNESS[j], rel=1e-9)
        assert lever**2 * block.viscous[0] == pytest.approx(hydraulic.DAMPING[j], rel=1e-12)
    assert cylinders.run.tau[0] == pytest.approx(gs.gravity(motion.arm, q0) - hydraulic.DAMPING * closure.run.v[0])


def test_cylinders_swing_as_the_law_says_but_sink(motion, closure, cylinders):
    first = closure.run.t < 0.3
    swing, law = (np.abs(x.q[first] - closure.run.q[0]).max(axis=0) for x in (cylinders.run, closure.run))
    assert swing == pytest.approx(law, rel=5e-3)
    assert np.abs(cylinders.run.tau).max(axis=0) == pytest.approx(np.abs(closure.torque).max(axis=0), rel=5e-3)
    sunk = cylinders.run.q[-1] - closure.run.q[0]
    assert np.all(sunk[1:4] < [-5e-5, -5e-4, -1e-3]) and np.abs(sunk[[0, 4]]).max() < 5e-5
    assert np.abs(cylinders.run.energy_residual).max() < 1e-4
    slow = hydraulic.with_cylinders(motion, closure, hydraulic.CLOSING)
    assert np.all(np.abs(slow.run.tau).max(axis=0) < np.abs(closure.torque).max(axis=0))
    assert np.abs(slow.run.a[0]).max() < 1e-3  # it starts in steady motion


# ------------------------------------------------------------------------------------------------ trainer [KV IV-VI]
@pytest.fixture(scope="module")
def motors() -> trainer.Motors:
    return trainer.motor_level()


def explicit_trainer(driven):
    """Pinocchio, with every rotor as a body; friction apart."""
    tools = pytest.importorskip("explicit_rotors")
    plain = gs.robots.spatial_disorientation_trainer()
    seats = {"q1": None, "q2": "arm.next", "q3": "fork.next", "q4": "ring.origin"}
    axes = {"q1": (0, 0, 1), "q2": (0, 0, 1), "q3": (0, 1, 0), "q4": (1, 0, 0)}
    rotors = [
        tools.Rotor(j, trainer.DRIVES[j][1], seats[j] or "q1.a", axes[j], {}, lumped=seats[j] is not None)
        for j in driven.dofs
    ]
    ties = {f"spin_{j}": ({j: trainer.DRIVES[j][0]}, 0.0) for j in driven.dofs}
    return tools.Explicit(driven, tools.explicit(plain, rotors), ties)


def test_link_torques_of_three_programs_agree_and_give_the_accelerations_back():
    links = trainer.link_level(201)
    scale = np.abs(links.rnea).max()
    assert np.abs(links.rnea - links.mrnea).max() < 1e-13 * scale
    assert np.abs(links.solved - links.a).max() < 1e-12
    assert np.abs(links.a).max(axis=0).min() > 1.0  # every joint is accelerated
    oracle = pytest.importorskip("pinocchio_oracle").Oracle(gs.robots.spatial_disorientation_trainer())
    for k in range(0, 201, 10):
        want = oracle.rnea(links.q[k], links.v[k], links.a[k])
        assert links.rnea[k] == pytest.approx(want, abs=1e-11 * scale)


def test_torques_are_at_their_limits_exactly_where_it_is_told(motors):
    found, limits = motors.achieved, np.array([row[2] for row in trainer.DRIVES.values()])
    assert np.all(np.abs(found.u) <= limits)
    assert np.array_equal(np.abs(found.u) == limits, found.cut != 0)
    told = np.zeros_like(found.cut, dtype=bool)
    for episode in found.report():
        assert episode.limit == "torque"
        inside = (found.t[:-2] >= episode.start - 1e-9) & (found.t[:-2] < episode.end - 1e-9)
        told[inside, found.actuators.index(episode.who)] = True
    assert np.array_equal(told, found.cut != 0)
    assert 300 < told.sum() < 600 and (np.abs(motors.wanted) > limits).any(axis=0).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_accelerations_under_limits_are_those_of_hybrid_dynamics(motors):
    """Joints within their limits keep what is programmed; those at a limit follow from Pinocchio's equations."""
    oracle, found = explicit_trainer(motors.trainer), motors.achieved
    limits, ratios = (np.array([row[k] for row in trainer.DRIVES.values()]) for k in (2, 0))
    asked = np.diff(motors.programme, axis=0) / trainer.CYCLE
    for k in [*np.flatnonzero(found.limited)[::40], 100, 900]:
        q, v, cut = found.q[k], found.v[k], found.cut[k] != 0
        friction = trainer.VISCOUS * v + trainer.COULOMB * np.tanh(v / trainer.SMOOTH)
        H = oracle.crba(q) / ratios[:, None]
        bias = (oracle.rnea(q, v, np.zeros(4)) + friction) / ratios
        a = (asked[k + 1] - v) / trainer.CYCLE
        rest = found.cut[k] * limits - bias - H[:, ~cut] @ a[~cut]
        a[cut] = np.linalg.solve(H[np.ix_(cut, cut)], rest[cut])
        assert found.a[k] == pytest.approx(a, abs=1e-9)
        assert found.u[k] == pytest.approx(H @ a + bias, abs=1e-8)
        assert found.v[k + 1] == pytest.approx(v + a * trainer.CYCLE, abs=1e-13)


def test_by_kv_44_all_accelerations_follow_from_the_torques_that_were_cut(motors):
    found, limits = motors.by_44, np.array([row[2] for row in trainer.DRIVES.values()])
    k = np.flatnonzero(found.limited)[::20]
    H, bias = gs.ActuatorDynamics(motors.trainer)(found.q[:-2][k], found.v[:-1][k])
    asked = (np.diff(motors.programme, axis=0)[1:][k] / trainer.CYCLE - found.v[:-1][k]) / trainer.CYCLE
    u = np.clip(np.einsum("nij,nj->ni", H, asked) + bias, -limits, limits)
    a = np.linalg.solve(H, (u - bias)[..., None])[..., 0]
    assert found.a[k] == pytest.approx(a, abs=1e-9)


def test_slower_by_the_factor_the_programme_is_just_achievable(motors):
    for factor, met in ((motors.factor, False), (0.9999 * motors.factor, True)):
        assert gs.AchievableMotion(motors.trainer, trainer.CYCLE * factor)(motors.programme).limited.any() == met


def test_forces_of_the_joints_are_those_of_pinocchio_with_every_rotor_as_a_body(motors):
    oracle, found, forces = explicit_trainer(motors.trainer), motors.achieved, trainer.joint_forces(motors)
    v = np.diff(motors.programme, axis=0) / trainer.CYCLE
    motions = (motors.programme, v, np.diff(v, axis=0) / trainer.CYCLE), (found.q, found.v, found.a)
    largest = {joint: np.max(x.force) for joint, x in forces.items()}
    for k in [*np.flatnonzero(found.limited)[::40], 100, 900]:
        for which, (q, v, a) in enumerate(motions):
            oracle.oracle.rnea(oracle.q(q[k]), oracle.G @ v[k], oracle.G @ a[k])
            cut = oracle.oracle.joint_forces()
            for joint, axis in trainer.AXES.items():
                w, x, near = cut[f"{joint}.b"], forces[joint], 1e-9 * largest[joint]
                assert x.drive[which][k] == pytest.approx(w[axis], abs=near)
                assert x.moment[which][k] == pytest.approx(np.linalg.norm(np.delete(w[:3], axis)), abs=near)
                assert x.force[which][k] == pytest.approx(np.linalg.norm(w[3:]), abs=near)


def test_bearings_carry_less_than_the_programme_asks_for_where_a_motor_is_at_its_limit(motors):
    forces = trainer.joint_forces(motors)
    asked, done = (max(x) for x in forces["q3"].moment)
    assert (asked, done) == pytest.approx((2161.0, 1597.4), abs=0.05)
    free = ~motors.achieved.limited & (motors.achieved.t[:-2] < 1.0)  # before the first limit they are the same
    for x in forces.values():
        for programmed, achievable in (x.drive, x.moment, x.force):
            assert programmed[free] == pytest.approx(achievable[free], abs=1e-6)


# ------------------------------------------------------------------------------------------------ elastic [H04 5.1]
@pytest.fixture(scope="module")
def torques() -> elastic.Torques:
    return elastic.inverse(samples=126)


def test_the_step_is_smoothed_by_a_filter_of_order_16():
    """Sixteen lags: (1 + T d/dt)^16 q is the step."""
    step, t = elastic.smoothed_step(), np.array([0.3, 0.9, 1.7])
    rows = step.derivatives(t, 16)[..., 0]
    binomial, T = np.array([1.0]), step.time_constant
    for _ in range(16):
        binomial = np.convolve(binomial, [1.0, T])
    assert rows @ binomial == pytest.approx(np.full(3, 2.0), abs=1e-9)
    assert np.abs(step.derivatives(0.0, 15)).max() == 0.0 and abs(step(2.5) - 2.0).max() < 3e-6


def test_motor_torques_are_those_of_pinocchio_with_every_rotor_as_a_body(torques):
    tools, arm = pytest.importorskip("explicit_rotors"), torques.solver.model
    rotors, ties, laws = [], {}, []
    for k in range(1, 8):
        drive = f"q{k}_drive"
        ratio, carrier = arm[f"{drive}.gear.ratio"], "q1.a" if k == 1 else f"link{k - 1}.next"
        axis = (0, 0, 1) if k % 2 else (0, 1, 0)
        rotors.append(tools.Rotor(f"r{k}", arm[f"{drive}.rotor.inertia"], carrier, axis, {}, lumped=k > 1))
        ties[f"spin_r{k}"] = ({f"{drive}.rotor": 1.0}, 0.0)
        laws.append(tools.Law({f"{drive}.rotor": 1.0 / ratio, f"q{k}": -1.0}, arm[f"{drive}.spring.stiffness"]))
    full = tools.explicit(gs.robots.elastic_arm(drives=False), rotors)
    oracle, found, D = tools.Explicit(arm, full, ties, laws), torques.elastic, torques.derivatives
    for k in range(10, 126, 10):
        q, v, a = (
            np.concatenate([D[k, i], x[k]]) for i, x in enumerate((found.theta, found.theta_dot, found.theta_ddot))
        )
        tau = oracle.rnea(q, v, a)
        assert np.abs(tau[:7]).max() < 1e-9  # nothing but springs drives the links
        assert tau[7:] == pytest.approx(found.tau_motor[k], abs=1e-10)


def test_the_rigid_model_is_the_bare_arm_with_inertia_of_the_rotors_added_to_its_joints(torques):
    bare, arm, D = gs.robots.elastic_arm(drives=False), torques.solver.model, torques.derivatives
    oracle = pytest.importorskip("pinocchio_oracle").Oracle(bare)
    ratio, inertia = (
        np.array([arm[f"q{k}_drive.{name}"] for k in range(1, 8)]) for name in ("gear.ratio", "rotor.inertia")
    )
    for k in range(0, 126, 25):
        want = oracle.rnea(D[k, 0], D[k, 1], D[k, 2]) / ratio + ratio * inertia * D[k, 2]
        assert torques.rigid[k] == pytest.approx(want, abs=1e-11)


def test_computed_torques_move_the_elastic_arm_as_programmed_and_those_of_the_rigid_model_do_not(torques):
    check = elastic.forward(torques.solver, dt=2.5e-4, kept=100)
    assert np.abs(check.error).max() < 1e-9 and np.abs(check.rotor_error).max() < 1e-7
    assert np.abs(check.run.energy_residual).max() < 1e-8  # work of the motors = kinetic energy, height and springs
    assert np.ptp(check.run.energy) > 10.0
    rigid = elastic.forward(torques.solver, rigid=True, dt=1e-3 / 2, kept=100)
    assert 0.02 < np.abs(rigid.error[rigid.run.t <= 1.0]).max() < 0.04


def test_a_faster_motion_makes_the_difference_larger(torques):
    fast = elastic.inverse(elastic.DURATION / 2, samples=126)
    slow_share, fast_share = (np.abs(x.difference).max(axis=0) / np.abs(x.rigid).max(axis=0) for x in (torques, fast))
    assert np.all(slow_share > 0.01)  # H04: they differ significantly even for the smooth motion
    assert np.all(fast_share[:3] > 3.0 * slow_share[:3])


def test_the_zeros_of_s_are_those_of_h04_and_it_does_not_depend_on_the_first_and_last_joint(torques):
    arm, rng = torques.solver.model, np.random.default_rng(4)
    here = rng.uniform(-2.0, 2.0, 14)
    S, elsewhere = gs.rotor_coupling(arm, here).S, here.copy()
    elsewhere[[0, 6]] += 1.0
    assert np.abs(np.tril(S, 1)).max() < 1e-18  # the diagonal and its neighbour, and all below
    assert np.abs(S[np.triu_indices(7, 2)]).min() > 1e-9
    assert np.array_equal(torques.solver.coupling() == 2, np.triu(np.ones((7, 7)), 2) == 1)
    assert np.abs(gs.rotor_coupling(arm, elsewhere).S - S).max() < 1e-18
    assert torques.solver.order == 10


# ------------------------------------------------------------------------------------------------ palletizer [H04 5.2]
def test_the_palletizer_reaches_its_places_with_a_level_load():
    motion = palletizer.cycle(57)
    for t, (x, y, z, turn) in zip(palletizer.TIMES, palletizer.PLACES, strict=True):
        tool = gs.fk(motion.robot, motion.path(t))["payload.tool"]
        np.testing.assert_allclose(tool.p, (x, y, z), atol=1e-9)
        np.testing.assert_allclose(tool.R[:, 0], (np.cos(turn), np.sin(turn), 0.0), atol=1e-9)
    np.testing.assert_allclose(motion.v[[0, -1]], 0.0, atol=1e-12)


def test_torques_of_the_palletizer_are_those_by_the_forces_in_its_rods():
    """H04 3.2.3.2, step by step, and Lagrange's multipliers: accelerations of the tree with these torques."""
    motion = palletizer.cycle(15)
    tau, _ = palletizer.by_rods(motion.q, motion.v, motion.a)
    np.testing.assert_allclose(tau, motion.tau, rtol=0, atol=1e-9)
    forces = gs.InverseDynamics(motion.robot).port_forces(motion.q, motion.v, motion.a, ports=["rod1.b", "rod2.b"])
    pulls = np.column_stack([np.linalg.norm(forces[f"rod{k}.b"][:, 3:], axis=1) for k in (1, 2)])
    np.testing.assert_allclose(motion.rods, pulls, rtol=0, atol=1e-8)
    tree = gs.robots.palletizer(loops="constraints")
    at = [tree.dofs.index(f"R{k}") for k in range(1, 7)]
    full = np.zeros((4, len(motion.t), 6))
    for x, given in zip(full, (motion.q, motion.v, motion.a), strict=False):
        x[:, at] = palletizer.whole(given)
    full[3][:, [at[0], at[1], at[2], at[4]]] = motion.tau
    found = np.array([gs.aba(tree, full[0][k], full[1][k], full[3][k]) for k in range(len(motion.t))])
    np.testing.assert_allclose(found, full[2], rtol=0, atol=1e-9)


def test_the_work_of_the_palletizers_motors_is_what_the_load_gains_and_friction_takes():
    motion = palletizer.cycle(2801)
    power = np.einsum("nk,nk->n", motion.tau, motion.v)
    friction = sum(
        motion.robot[f"{name}_drive.friction.viscous"] * motion.v[:, j] ** 2
        + motion.robot[f"{name}_drive.friction.coulomb"] * np.abs(motion.v[:, j])
        for j, name in enumerate(motion.robot.dofs)
    )
    gained = gs.potential_energy(motion.robot, motion.q[-1]) - gs.potential_energy(motion.robot, motion.q[0])
    assert simpson(power - friction, motion.t[1]) == pytest.approx(gained, rel=1e-4)


def test_the_palletizer_costs_no_more_than_one_and_a_half_six_axis_robots():
    spent = palletizer.cost(rounds=30, number=300)
    assert spent.ratio("palletizer") <= 1.5
    assert spent.operations["palletizer"] < 1.1 * spent.operations["arm6"]


# ------------------------------------------------------------------------------------------- space manipulator [AS 2.2]
@pytest.mark.slow
def test_small_vibrations_agree_with_the_full_motion_of_the_space_manipulator_where_it_is_slow():
    slow, fast = (space_manipulator.turn(duration, samples=401) for duration in (60.0, 15.0))
    assert slow.size == pytest.approx(0.02462, abs=2e-5) and fast.size == pytest.approx(0.8658, abs=4e-4)
    assert slow.shares[0] < 1e-4 and slow.shares[1] < 0.01  # superposed, assembled as AS
    assert 0.005 < fast.shares[0] < 0.01 and 0.05 < fast.shares[1] < 0.2
    assert fast.both.step_error < 1e-6


@pytest.mark.slow
def test_a_load_on_a_motion_that_was_recorded_with_another_is_that_of_its_own_full_motion():
    many = space_manipulator.cases(20, samples=401)
    model, law = space_manipulator.manipulator(load=float(many.loads[-1])), space_manipulator.drives(60.0)
    rigid = gs.flexible.rigid(space_manipulator.manipulator())
    both = gs.flexible.compare(model, None, law, space_manipulator.BEGIN, t_end=60.0, dt=0.15, frame="load.tip")
    run = gs.simulate(rigid, law, space_manipulator.BEGIN, t_eval=both.t, rtol=1e-9, atol=1e-11, progress=False)
    full = both.full.frames()["load.tip"].p - run.frames()["load.tip"].p
    assert np.abs(np.linalg.norm(full, axis=1)[::4] - many.by_load[:, -1]).max() < 2e-3 * many.by_load[:, -1].max()
