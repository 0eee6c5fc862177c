"""Fixed steps that are too long for the stiffest shape of a link."""

import numpy as np
import pytest

import gyrostat as gs

STEEL = {"E": 2.1e11, "G": 8.1e10, "density": 7850.0}


def cantilever():
    sizes = {"length": 1.0, "area": 4e-4, "I_y": 1.3e-8, "I_z": 1.3e-8, "J": 2.2e-8, "modes": (2, 0), "modes_x": 0}
    beam = gs.FlexibleBeam("beam", **sizes, **STEEL)
    return gs.assemble("cantilever", beam, gs.connect("world", "beam.a"), gravity=(0, 0, 0))


@pytest.mark.parametrize(("method", "limit"), [("rk4", 2.0 * np.sqrt(2.0)), ("semi-implicit-euler", 2.0)])
def test_steps_beyond_the_bound_of_the_method_are_refused_and_those_below_it_run(method, limit):
    model = cantilever()
    highest = 2 * np.pi * gs.eigenfrequencies(model, np.zeros(2)).undamped[-1]
    start = {"q0": [1e-3, 1e-3], "method": method, "progress": False}
    with pytest.raises(gs.StateError, match=r"vibration of 'beam.y2' at .* Hz grow by .* each\. Hint: dt below"):
        gs.simulate(model, None, t_end=0.1, dt=1.01 * limit / highest, **start)
    run = gs.simulate(model, None, t_end=0.1, dt=0.99 * limit / highest, **start)
    assert np.abs(run.q).max() < 0.1
    short = "semi-implicit" if method != "rk4" else method
    with pytest.raises(gs.StateError, match=r"rollout: .*'beam.y2'"):
        gs.rollout(model, None, q0=[[1e-3, 1e-3]], dt=1.01 * limit / highest, steps=10, method=short)


def test_implicit_methods_take_any_step():
    gs.simulate(cantilever(), None, q0=[1e-3, 1e-3], t_end=0.1, dt=1e-2, method="dina", progress=False)


def test_dry_friction_of_joints_makes_no_step_too_long_and_the_shape_that_gives_is_named():
    stiff = {"section": gs.sections.tube(0.1, 0.004), "E": 7e10, "G": 2.6e10, "modes": 0, "modes_x": (0, 1)}
    model = gs.robots.arm6().with_flexible_link("link2", **stiff)
    how = {"q0": np.zeros(7), "t_end": 0.01, "method": "rk4", "progress": False}
    with pytest.raises(gs.StateError, match=r"vibration of 'link2\.beam\.x1' at 463\.5 Hz"):
        gs.simulate(model, None, dt=2e-3, **how)
    assert np.abs(gs.simulate(model, None, dt=1e-4, **how).q).max() < 1e-4
