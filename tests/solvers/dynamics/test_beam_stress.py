"""Forces in the sections of flexible beams and their stresses: closed forms, and balance with the forces at ports."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.flexible_models import MOUNTINGS, bent_state, boom_arm

STEEL = {"E": 2.1e11, "G": 8.1e10, "density": 7850.0}
BAR = gs.sections.rectangle(0.02, 0.01)
L = 1.5
X = np.array([0.0, 0.4, 0.75, 1.2, L])


def cantilever(gravity=(0, 0, 0), **options):
    beam = gs.FlexibleBeam("boom", **({"length": L, "section": BAR, "modes": 4, "modes_x": 2} | STEEL | options))
    return gs.assemble("cantilever", gs.chain("world", beam), gravity=gravity)


@pytest.fixture(scope="module")
def loaded():
    """A small load of every kind at the tip, whose deflection is 1e-6 of the length."""
    model = cantilever()
    load = np.array([2e-3, 3e-4, -2e-4, 5e-3, 1e-3, -2e-3])  # torque, moments, pull, forces
    wrenches = {"boom.b": gs.Wrench(load, "aligned")}
    return model, gs.equilibrium(model, np.zeros(model.nq), None, wrenches).q, wrenches, load


def test_a_cantilever_with_a_load_at_its_end(loaded):
    """N = F_x, V = F, M_y = m_y - F_z (L - x), M_z = m_z + F_y (L - x)."""
    model, q, wrenches, (T, m_y, m_z, N, F_y, F_z) = loaded
    found = gs.beam_stress(model, q, "boom", X, wrenches=wrenches)
    one = np.ones(5)
    want = np.stack([N * one, F_y * one, F_z * one, T * one, m_y - F_z * (L - X), m_z + F_y * (L - X)], axis=1)
    assert_close(found.forces[:, [0, 3]], want[:, [0, 3]], 1e-6)
    for got in (found.forces, found.strain_forces):
        assert np.abs(got - want)[:, 1:].max() < 5e-5 * np.abs(want[:, 1:]).max()  # the pull turns with the slope
        assert_close(got[:, 0], want[:, 0], 1e-6)
    assert found.disagreement < 1e-5
    assert_close(found.axial, found.forces[:, 0] / BAR.area, 1e-12)
    M = np.abs(found.forces[:, 4:])
    assert_close(found.bending, M[:, 0] * 0.005 / BAR.I_y + M[:, 1] * 0.01 / BAR.I_z, 1e-12)
    assert_close(found.torsion, np.abs(found.forces[:, 3]) / BAR.W_t, 1e-12)
    assert_close(found.von_mises, np.hypot(np.abs(found.axial) + found.bending, np.sqrt(3.0) * found.torsion), 1e-12)
    assert_close(found.strain[:, 2] * STEEL["E"] * BAR.I_y, found.forces[:, 4], 1e-12)


def test_a_cantilever_under_its_own_weight():
    """V_z = -w (L - x), M_y = w (L - x)^2 / 2, and the same by strain with three shapes: w'''' = const."""
    g = 1e-4
    model = cantilever((0, 0, -g), modes=(0, 3), modes_x=0)
    q = gs.equilibrium(model, np.zeros(3)).q
    found = gs.beam_stress(model, q, "boom", X)
    w = BAR.area * 7850.0 * g
    for got in (found.forces, found.strain_forces):
        assert np.abs(got[:, 2] / w + (L - X)).max() < 1e-8
        assert np.abs(got[:, 4] / w - (L - X) ** 2 / 2).max() < 1e-8
    assert np.isnan(found.strain_forces[:, [0, 1, 3, 5]]).all()  # what has no shapes has no strain
    assert np.isfinite(found.forces).all()
    assert found.disagreement < 1e-8
    assert len(gs.beam_stress(model, q, "boom").x) == 21


def test_a_tapered_beam_has_the_stress_of_each_section():
    table = ((0.0, gs.sections.rectangle(0.04, 0.02)), (L, gs.sections.rectangle(0.02, 0.02)))
    model = cantilever(section=table, modes=(0, 6), modes_x=0)
    F = 1e-3
    wrenches = {"boom.b": gs.Wrench([0, 0, 0, 0, 0, -F], "aligned")}
    q = gs.equilibrium(model, np.zeros(6), None, wrenches).q
    found = gs.beam_stress(model, q, "boom", X, wrenches=wrenches, section=table[0][1])
    assert_close(found.forces[:, 4] / F, L - X, 1e-9)
    assert_close(found.strain_forces[:, 4] / F, L - X, 2e-3)  # polynomials over a taper
    assert_close(found.bending / F, (L - X) * 0.01 / ((0.04 - 0.02 * X / L) * 0.02**3 / 12), 1e-9)


@pytest.mark.parametrize("mounting", MOUNTINGS)
def test_forces_at_the_ends_are_those_at_the_ports_in_any_motion(mounting):
    """Entered by any port: forces to rounding, moments up to squares of slopes and rotary inertia of bending."""
    model = boom_arm(*mounting)
    q, v, a = bent_state(model)
    small = np.where(["boom." in name for name in model.dofs], 1e-2, 1.0)
    q, v, a = small * q, small * v, small * a
    found = gs.beam_stress(model, q, "boom", [0.0, 0.3, 1.2], v=v, a=a)
    ports = gs.InverseDynamics(model).port_forces(q, v, a)
    entry = mounting[0]
    size = np.abs(found.forces).max()
    for row, port, side in ((0, "a", 1.0), (2, "b", -1.0)):
        F = ports[f"boom.{port}"] * (1.0 if port == entry else -1.0) * -side
        assert_close(found.forces[row, :3] / size, F[3:] / size, 1e-13)
        assert_close(found.forces[row, 3:] / size, F[:3] / size, 1e-6)


def test_a_beam_that_spins_is_pulled_by_its_own_inertia():
    """N = rho A w^2 (L^2 - x^2) / 2 of a stiff beam on a turning hinge."""
    beam = gs.FlexibleBeam("boom", length=L, section=BAR, **STEEL, modes=(1, 0), modes_x=(0, 1))
    model = gs.assemble("rotor", gs.chain("world", gs.Joint("hinge", "revolute", axis="z"), beam), gravity=(0, 0, 0))
    w = 0.1
    v = np.zeros(model.nv)
    v[0] = w
    found = gs.beam_stress(model, np.zeros(model.nq), "boom", X, v=v)
    assert_close(found.forces[:, 0] / (7850.0 * BAR.area * w**2), (L**2 - X**2) / 2, 1e-12)


def test_what_cannot_be_told_is_refused(loaded):
    model, q, *_ = loaded
    with pytest.raises(gs.StateError, match=r"'arm' is no flexible beam.*boom"):
        gs.beam_stress(model, q, "arm")
    with pytest.raises(gs.ShapeError, match=r"x must be places \(m,\) from 0 to 1\.5 m"):
        gs.beam_stress(model, q, "boom", [2.0])
    with pytest.raises(gs.ShapeError, match="one state at a time"):
        gs.beam_stress(model, np.stack([q, q]), "boom")
    bare = gs.FlexibleBeam("boom", length=L, area=2e-4, I_y=1e-9, I_z=1e-9, J=1e-9, **STEEL, modes=(0, 1), modes_x=0)
    other = gs.assemble("bare", gs.chain("world", bare))
    found = gs.beam_stress(other, [0.0], "boom", [0.0])
    with pytest.raises(gs.SpecError, match=r"bending needs c_y and c_z of its section, which are not known"):
        _ = found.bending
    assert gs.beam_stress(other, [0.0], "boom", [0.0], section=gs.sections.round(0.01)).bending.shape == (1,)
