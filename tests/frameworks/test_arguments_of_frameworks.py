"""What is refused before any framework is asked, and who is told to install it."""

import sys

import pytest

import gyrostat as gs


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_what_is_no_solver_of_a_state_is_refused_and_a_missing_extra_is_named(name, monkeypatch):
    convert = getattr(gs, name)
    with pytest.raises(gs.GyrostatError, match=rf"gs.{name}: needs a solver of a state, got Model"):
        convert(gs.robots.two_link())
    solver = gs.KineticEnergy(gs.robots.two_link())
    with pytest.raises(gs.GyrostatError, match="nonfinite"):
        convert(solver, nonfinite="perhaps")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(gs.GyrostatError, match=rf"gs.{name} needs {name}. Hint: pip install 'gyrostat\[{name}\]'"):
        convert(solver)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_a_base_that_moves_as_a_function_of_time_is_refused(name):
    arm = gs.robots.two_link()
    context = gs.Context(base=gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=1.0))
    solver = gs.InverseDynamics(gs.Model(arm.name, arm.entities, arm.connections, context))
    with pytest.raises(gs.GyrostatError, match="the base of 'two_link' is driven as a function of time"):
        getattr(gs, name)(solver)
