"""What comes with a motion: replay, simulation, files, interruption, warm starts, the other way to Ipopt."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from tests.studies.optimal_control.problems import block, swing_up

Motion = gs.studies.OptimalMotion


@pytest.fixture(scope="module")
def motion() -> Any:
    return gs.studies.optimal_control(swing_up(31))


def test_the_same_program_through_casadi_gives_the_same_motion(motion):
    pytest.importorskip("casadi")
    other = gs.studies.optimal_control(swing_up(31), solver="casadi")
    assert other.converged and other.iterations == motion.iterations
    np.testing.assert_allclose(other.q, motion.q, atol=1e-8)
    np.testing.assert_allclose(other.phases[0].multipliers, motion.phases[0].multipliers, atol=1e-5)


def test_a_motion_integrated_again_is_that_of_the_simulation(motion):
    (off,) = motion.replay()
    run = motion.simulate()
    np.testing.assert_allclose(run.q[-1] - motion.q[-1], off[-1, :2], atol=1e-6)
    fine = gs.studies.optimal_control(swing_up(61), guess=motion)
    assert np.abs(fine.replay()[0]).max() < 0.2 * np.abs(off).max()  # order 4: a sixteenth, far from the swing's end


def test_problem_and_result_are_data(motion):
    study = gs.studies.OptimalControl((swing_up(31),))
    again = gs.studies.OptimalControl.from_dict(json.loads(json.dumps(study.to_dict())))
    assert again.run().cost == motion.cost
    kept = Motion.from_dict(json.loads(json.dumps(motion.to_dict())))
    assert np.array_equal(kept.q, motion.q) and kept.report().html == motion.report().html
    with pytest.raises(gs.GyrostatError, match="is a function"):
        gs.studies.OptimalControl((swing_up(5, path=lambda s: s.q),)).to_dict()


def test_an_interrupted_search_keeps_its_last_iterate():
    def stop(done: int, total: Any, text: str) -> None:
        if done > 4:
            raise KeyboardInterrupt

    part = gs.studies.optimal_control(swing_up(31), progress=stop)
    assert not part.converged and part.message.startswith("interrupted")
    assert part.iterations == 4 and np.isfinite(part.q).all()


def test_an_exception_in_progress_is_not_swallowed():
    def fail(done: int, total: Any, text: str) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        gs.studies.optimal_control(swing_up(31), progress=fail)


def test_a_motion_is_a_good_guess(motion):
    assert gs.studies.optimal_control(swing_up(31), guess=motion).iterations < motion.iterations


def test_the_trajectory_passes_through_the_points(motion):
    t = motion.t[3:6]
    table = motion.trajectory.derivatives(t, 2)
    np.testing.assert_allclose(table[:, 0], motion.q[3:6], atol=1e-12)
    np.testing.assert_allclose(table[:, 2], motion.a[3:6], atol=1e-9)


def test_wrong_words_are_told():
    phase = gs.studies.Phase
    with pytest.raises(gs.GyrostatError, match=r"there is no cost 'torqe'. Hint: .*torque"):
        phase(block(), cost="torqe")
    with pytest.raises(gs.GyrostatError, match=r"duration must be a time > 0 s, or \(low, high\)"):
        phase(block(), duration=(2.0, 1.0))
    with pytest.raises(gs.GyrostatError, match="end gives 3 to 'x', which is limited to"):
        gs.studies.optimal_control(phase(block(), end={"q": 3.0}, limits={"q": ([-1], [1])}))
    with pytest.raises(gs.GyrostatError, match="nothing follows"):
        gs.studies.optimal_control(phase(block(), reset="impact"))
    with pytest.raises(gs.GyrostatError, match=r"path: the function failed while it was recorded, AttributeError"):
        gs.studies.optimal_control(phase(block(), path=lambda s: s.torques))
    with pytest.raises(gs.GyrostatError, match="Ipopt has no option 'tolerence'"):
        gs.studies.optimal_control(phase(block(), cost="torque"), options={"tolerence": 1.0})
    with pytest.raises(gs.GyrostatError, match=r"to lie between 1 and 0\. Hint: exchange them"):
        gs.studies.optimal_control(phase(block(), path=lambda s: gs.studies.between(s.q[0], 1.0, 0.0)))
    with pytest.raises(gs.GyrostatError, match=r"path: '0' compares, and is true or false.*at_most"):
        gs.studies.optimal_control(phase(block(), path=lambda s: s.v[0] < 1.0))
    with pytest.raises(gs.GyrostatError, match=r"parameter 'boks.mass' is no property: .*there is no 'boks'"):
        gs.studies.optimal_control(phase(block()), parameters={"boks.mass": (1.0, 2.0)})


def test_dry_friction_that_jumps_is_refused():
    parts = gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("b", mass=1.0))
    shaft = gs.connect("x.shaft", "rub.shaft")
    model = gs.assemble("rubbing", parts, gs.Friction("rub", coulomb=1.0), shaft)
    with pytest.raises(gs.GyrostatError, match=r"'rub' has dry friction with an exact sign.*smooth"):
        gs.studies.optimal_control(gs.studies.Phase(model, cost="torque"))
