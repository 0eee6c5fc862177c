"""The ten everyday tasks: what they compute is right, and they are no longer than with other libraries."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import gyrostat as gs
from benchmarks.robots import urdf
from tests.examples import everyday_tasks as tasks
from tests.examples.peers import PEERS

pytestmark = pytest.mark.skipif(not urdf("panda").exists(), reason="the robots come with the extra 'oracles'")


@pytest.fixture(autouse=True)
def _quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.ModelWarning)  # of the mimic joints of Talos
        yield


def lines(text: str) -> int:
    """Lines of code of a function without its head, and those of the load if it has one, which stands above."""
    code = [line.strip() for line in text.strip().splitlines()]
    return sum(bool(line) and not line.startswith(("def ", "#")) for line in code) + ("LOAD" in text)


@pytest.mark.parametrize("name", PEERS)
def test_no_task_takes_more_lines_than_elsewhere(name):
    own = lines(inspect.getsource(getattr(tasks, name)))
    program, text = PEERS[name]
    theirs = sum(bool(line.strip()) for line in text.splitlines())
    assert own <= theirs, f"{own} lines, {theirs} with {program}"


def theirs(name, **given):
    """What the lines of Pinocchio compute: its own variables."""
    pin = pytest.importorskip("pinocchio")
    found = {"pin": pin, "np": np, "path": str(urdf("panda")), "q": np.r_[tasks.Q, tasks.Q[-1]], **given}
    exec(PEERS[name][1], found)
    return found


def test_pinocchio_has_the_same_numbers_with_its_lines():
    loaded = theirs("payload_on_a_panda_hand")
    np.testing.assert_allclose(tasks.payload_on_a_panda_hand()[:7], loaded["tau"][:7], atol=1e-9)
    q = np.r_[tasks.Q, tasks.Q[-1]]
    q[5:7] = 1.5, 0.7
    _, M = tasks.locked_wrist()
    upper = np.triu(theirs("locked_wrist", q=q, q_reduced=q[[0, 1, 2, 3, 4, 7, 8]])["M"])
    np.testing.assert_allclose(np.triu(M)[:5, :5], upper[:5, :5], atol=1e-9)
    _, motors = tasks.drives_on_a_loaded_panda()
    driven = theirs("drives_on_a_loaded_panda", v=np.zeros(9), a=np.ones(9))["motor"]
    np.testing.assert_allclose(motors[:7], driven, atol=2e-3)  # without the gyroscopic coupling of rotors


@pytest.mark.slow
def test_feet_carry_talos_and_nothing_drives_its_base():
    talos, found = tasks.talos_gravity_compensation_with_foot_wrenches()
    assert np.abs(found.tau[:6]).max() < 1e-8
    weight = gs.total_inertia(talos, gs.neutral(talos)).m * 9.81
    frames = gs.fk(talos, gs.neutral(talos))
    force = sum(frames[name].R @ wrench[3:] for name, wrench in found.forces.items())
    np.testing.assert_allclose(force, [0, 0, weight], atol=1e-6)


def test_a_payload_adds_the_torques_of_its_weight():
    panda = gs.load("panda")
    more = tasks.payload_on_a_panda_hand() - gs.gravity(panda, tasks.Q)
    at = gs.fk(panda, tasks.Q)[tasks.HAND]
    J = gs.jacobian(panda, tasks.Q, tasks.HAND, "aligned")
    lever = at.R @ [0, 0, 0.05]
    np.testing.assert_allclose(more, J.T @ np.r_[np.cross(lever, [0, 0, 19.62]), 0, 0, 19.62], atol=1e-10)


def test_a_locked_wrist_leaves_a_block_of_the_mass_matrix():
    reduced, M = tasks.locked_wrist()
    q = tasks.Q.copy()
    q[5:7] = 1.5, 0.7
    kept = [0, 1, 2, 3, 4, 7]
    assert reduced.nv == 6
    np.testing.assert_allclose(M, gs.crba(gs.load("panda"), q)[np.ix_(kept, kept)], atol=1e-10)


def test_the_hand_goes_along_a_line():
    panda, line = tasks.panda_along_a_line()
    p = gs.fk(panda, line(np.linspace(0, 2, 20)))[tasks.HAND].p
    assert np.abs(np.cross(p - p[0], p[-1] - p[0])).max() < 1e-9
    np.testing.assert_allclose(p[-1] - p[0], [0.0, 0.2, 0.1], atol=1e-9)


def test_motors_of_a_loaded_panda_feel_a_hundredth_of_the_torque_and_their_rotors():
    drives, found = tasks.drives_on_a_loaded_panda()
    rest, panda = np.zeros(8), gs.load("panda").attach(tasks.LOAD, to=tasks.HAND)
    without = gs.rnea(panda, tasks.Q, rest, np.ones(8))[:7]
    np.testing.assert_allclose(found[:7], without / 100.0 + 5e-5 * 100.0, rtol=0.05, atol=0.02)
    assert len(drives.actuators) == 8


@pytest.mark.slow
def test_pd_control_follows_its_reference():
    run, figure = tasks.pd_control_with_a_plot()
    np.testing.assert_allclose(run.q[-1, :7], tasks.Q[:7] + 0.3, atol=0.01)
    assert len(figure.axes) >= 8


@pytest.mark.slow
def test_a_payload_is_identified():
    panda = gs.load("panda")
    loaded = panda.attach(tasks.LOAD, to=tasks.HAND)
    t = np.linspace(0, 10, 1001)
    rng = np.random.default_rng(0)
    swing = 0.2 * rng.normal(size=(2, 3, 8)) * (np.arange(8) < 7)
    motion = gs.trajectories.fourier(tasks.Q, *swing, 0.1)
    q, v, a = motion.derivatives(t, 2).swapaxes(0, 1)
    tau = gs.rnea(loaded, q, v, a)
    found = tasks.payload_identification(t, q, v, a, tau)
    assert found.mass == pytest.approx(2.0, abs=0.02)
    np.testing.assert_allclose(found.com, [0, 0, 0.05], atol=0.01)


@pytest.mark.slow
def test_robots_with_random_loads_sag_differently():
    run, figure = tasks.monte_carlo_with_a_plot()
    assert run.q.shape[1] == 200 and run.q[-1, :, 1].std() > 1e-3 and len(figure.axes) == 16


@pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="needs make and a C compiler")
def test_c_code_of_two_functions_is_built_and_tested_by_one_makefile(tmp_path):
    tasks.c_code_of_two_functions(tmp_path)
    found = subprocess.run(["make", "-C", tmp_path, "test"], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert {path.name for path in tmp_path.glob("*_test")} == {"panda_rnea_test", "panda_crba_test"}


def test_optimal_motion_keeps_the_tip_behind_the_wall():
    pytest.importorskip("casadi")
    arm, motion = tasks.optimal_control_with_an_end_effector_constraint()
    x = gs.fk(arm, motion.phases[0].q)["lower.tip"].p[:, 0]
    assert motion.converged and x.max() == pytest.approx(-0.3, abs=1e-6)
