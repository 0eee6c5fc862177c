"""Rollouts of a real arm next to MuJoCo with the same model and step."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close

pytest.importorskip("mujoco", reason="MuJoCo comes with the extra 'oracles'")
pytest.importorskip("pinocchio", reason="the wheel with robots comes with the extra 'oracles'")

from benchmarks.bench_rollout import DT, PAIRS, prepared, read, set_state, states
from benchmarks.harness import FULL, ratio
from benchmarks.robots import urdf
from validation.mujoco_robot import MujocoRobot
from validation.urdf_files import opened


@pytest.mark.parametrize("method", PAIRS)
def test_ends_of_motion_equal_those_of_mujoco(method):
    file = opened(urdf("panda"))
    model = file.load("fixed")
    peer = prepared(MujocoRobot(file, model, "fixed"), PAIRS[method])
    q, v = states(model, 5)
    tau = np.linspace(-5.0, 5.0, model.nv)
    got = gs.rollout(model, tau, q, v, DT, 300, method, every=None)
    for k in range(5):
        set_state(peer, q[k], v[k])
        for _, here, _, there in peer.singles:
            peer.data.qfrc_applied[there] = tau[here]
        peer.mj.mj_step(peer.model, peer.data, 300)
        assert_close(got.q[0, k], read(peer, model), 1e-10)


@pytest.mark.slow
def test_steps_are_faster_than_those_of_mujoco():
    """Five times for one robot, fifteen times for thousands, on one core."""
    from benchmarks.bench_rollout import measure

    found: dict[str, float] = {}
    for _ in range(3):  # other processes may disturb one program and not the other
        rows = measure(FULL)
        for row in rows:
            if row.stage == "run" and not row.peer:
                found[row.case] = max(found.get(row.case, 0.0), ratio(row, rows) or 0.0)
        if found["rk4, one robot"] >= 5.0 and found["rk4, 4096 robots"] >= 15.0:
            return
    pytest.fail(f"rk4 is faster by {found}, expected 5 and 15")
