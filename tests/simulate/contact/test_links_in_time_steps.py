"""Flexible links on the ground: a propped cantilever by events and time steps, and steps that are too long for it."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

BENDS = {"E": 2.1e11, "G": 8.1e10, "density": 7850.0, "I_y": 2e-9, "I_z": 2e-9, "J": 4e-9}


def propped(**properties) -> tuple[gs.Model, float]:
    """A clamped beam of 1 m whose tip lies on the ground, and the force there in the end, 3/8 of its weight."""
    beam = gs.FlexibleBeam("beam", length=1.0, area=1e-4, **BENDS, modes=(0, 3), modes_x=0, damping=5e-3, **properties)
    wires = gs.connect("world", "beam.a"), gs.connect("beam.b", "tip")
    model = gs.assemble("propped", beam, gs.ContactPoint("tip"), gs.Ground("floor"), *wires)
    return model, 3.0 / 8.0 * beam.mass * 9.81


@pytest.mark.parametrize(("how", "off"), [({}, 1e-4), ({"method": "moreau", "dt": 1e-5}, 5e-3)])
def test_the_prop_of_a_cantilever_bears_three_eighths_of_its_weight(how, off):
    model, force = propped()
    run = gs.simulate(model, q0=np.zeros(model.nq), t_end=0.5, **how)
    assert run.contact_forces["tip|floor"][-1, 0] == pytest.approx(force, rel=off)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_steps_that_are_too_long_for_springs_or_dampers_of_a_link_are_refused(dt):
    model, _ = propped()
    words = "of 'moreau' make the vibration of 'beam.z3' grow by .*dt below 5.[0-9]e-05 s"
    with pytest.raises(gs.StateError, match=words):
        gs.simulate(model, q0=np.zeros(model.nq), t_end=0.1, method="moreau", dt=dt)
    with pytest.raises(gs.StateError, match=words):
        gs.rollout(model, q0=np.zeros(model.nq), dt=dt, steps=2, method="moreau")


def test_dampers_of_cut_links_are_implicit_and_bear_long_steps():
    model, _ = propped(method="in-cut", elements=2)
    run = gs.simulate(model, q0=np.zeros(model.nq), t_end=0.1, method="moreau", dt=1e-3)
    exact = gs.simulate(model, q0=np.zeros(model.nq), t_end=0.1)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-4)
