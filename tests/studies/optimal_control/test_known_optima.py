"""Problems whose solution is known in closed form or published."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.studies.optimal_control.problems import block, swing_up

SWING_UP = 225.55373
"""Cost of the swing-up, from kelly_trajopt_values.json: 225.55373 with 120 intervals of Hermite-Simpson."""


def test_the_block_moves_for_twelve():
    ends = {"start": {"q": 0, "v": 0}, "end": {"q": 1, "v": 0}}
    motion = gs.studies.optimal_control(gs.studies.Phase(block(), duration=1.0, nodes=11, cost="torque", **ends))
    assert motion.converged
    assert motion.cost == pytest.approx(12.0, abs=1e-8)  # u = 6 - 12 t
    np.testing.assert_allclose(motion.u[:, 0], 6.0 - 12.0 * motion.t, atol=1e-6)
    assert motion.error < 1e-8


def test_the_fastest_motion_of_a_block_is_bang_bang():
    ends = {"start": {"q": 0, "v": 0}, "end": {"q": 1, "v": 0}, "limits": {"u": 1.0}}
    motion = gs.studies.optimal_control(gs.studies.Phase(block(), duration=(0.5, 5.0), nodes=22, cost="time", **ends))
    assert motion.duration == pytest.approx(2.0, rel=2e-3)  # t = 2 sqrt(d / a); the switch lies between nodes
    assert np.all(np.abs(motion.u[[0, -1], 0]) > 0.999)


@pytest.mark.parametrize("method", ["hermite-simpson", "radau"])
def test_the_swing_up_costs_what_is_published(method):
    motion = gs.studies.optimal_control(swing_up(61 if method == "hermite-simpson" else 41), method=method)
    assert motion.converged
    assert motion.cost == pytest.approx(SWING_UP, rel=3e-5)


@pytest.mark.slow
def test_the_cost_of_the_swing_up_settles_to_six_digits_and_its_error_is_told():
    motion = gs.studies.optimal_control(swing_up(31), refine=5, grid_tolerance=3e-8)
    assert f"{motion.cost:.3f}" == "225.554"
    assert motion.cost == pytest.approx(SWING_UP, abs=5e-5)
    for row in motion.refinements:
        assert abs(row[1] - SWING_UP) < row[3] + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("method", "stages"), [("hermite-simpson", 3), ("radau", 2), ("radau", 3), ("radau", 4)])
def test_the_error_of_the_cost_is_told_on_every_single_grid(method, stages):
    """225.5537242: Radau with 240 intervals of three stages, and with 120 of four."""
    for nodes in (31, 61):
        motion = gs.studies.optimal_control(swing_up(nodes), method=method, stages=stages)
        off = abs(motion.cost - 225.5537242)
        assert off < motion.cost_error < 30.0 * off + 1e-6
