"""The same tasks in pink: the same rates, where the cost is the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from benchmarks.robots import urdf
from gyrostat import tasks as ts

pin = pytest.importorskip("pinocchio")
pink = pytest.importorskip("pink")
TIP = "panda_hand_tcp"
EXACT = {"primal_tol": 1e-12, "dual_tol": 1e-12}


@pytest.fixture(scope="module")
def panda():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = gs.load(urdf("panda"), mimic=False)
    peer = pin.buildModelFromUrdf(str(urdf("panda")))
    assert tuple(peer.names[1:]) == model.coordinates
    return model, peer, np.array([0.1, -0.5, 0.2, -2.0, 0.1, 1.5, 0.7, 0.02, 0.02])


def asked(panda, seed, gain, weights, damping):
    """The same tasks twice."""
    _, peer, q = panda
    rng = np.random.default_rng(seed)
    at = pink.Configuration(peer, peer.createData(), q)
    target = at.get_transform_frame_to_world(TIP) * pin.exp6(rng.normal(size=6) * 0.1)
    frame = pink.tasks.FrameTask(TIP, *weights, gain=gain, lm_damping=damping)
    frame.set_target(target)
    posture = pink.tasks.PostureTask(0.02)
    posture.set_target(q + 0.1)
    seen = at.get_transform("panda_hand", "panda_link3") * pin.exp6(rng.normal(size=6) * 0.1)
    relative = pink.tasks.RelativeFrameTask("panda_hand", "panda_link3", 0.3, 0.4)
    relative.set_target(seen)
    own = [
        ts.Frame(TIP, target.homogeneous, *weights, gain=gain, damping=damping),
        ts.Posture(q + 0.1, 0.02),
        ts.RelativeFrame("panda_hand", seen.homogeneous, root="panda_link3", position=0.3, orientation=0.4),
    ]
    return at, [frame, posture, relative], own


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("dt", [0.001, 0.2])
@pytest.mark.parametrize(("gain", "weights", "damping"), [(1.0, (1.0, 1.0), 0.0), (0.4, (2.0, 0.3), 0.5)])
def test_rates_are_those_of_pink(panda, limits, dt, gain, weights, damping):
    for seed in range(4):
        at, theirs, own = asked(panda, seed, gain, weights, damping)
        used = None if limits else []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            v = pink.solve_ik(at, theirs, dt, solver="daqp", damping=1e-5, limits=used, **EXACT)
        found = ts.Stack(panda[0], own, limits="model" if limits else None, damping=1e-5).rates(panda[2], dt)
        np.testing.assert_allclose(found, v, atol=1e-8 * max(1.0, np.abs(v).max()))
