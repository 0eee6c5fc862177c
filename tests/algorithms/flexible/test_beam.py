"""A flexible beam as a component: frequencies, both mountings, all algorithms, energy."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.flexible_models import ALUMINIUM, MOUNTINGS, bent_state, boom_arm, cantilever

BEAM_EQUATION = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613]) ** 2
"""(k L)^2 of a cantilever: roots of cosh cos = -1."""


def test_ten_shapes_have_the_frequencies_of_the_beam_equation():
    f = gs.eigenfrequencies(cantilever((10, 0)), np.zeros(10)).undamped[:3]
    line = ALUMINIUM["density"] * ALUMINIUM["area"]
    exact = BEAM_EQUATION * np.sqrt(ALUMINIUM["E"] * ALUMINIUM["I_z"] / line) / (2 * np.pi)
    assert np.abs(f / exact - 1.0).max() < 1e-8


@pytest.mark.by_default(1)
@pytest.mark.parametrize(("entry", "leave"), MOUNTINGS)
def test_forward_dynamics_undo_inverse_dynamics_in_every_way(entry, leave):
    model = boom_arm(entry, leave, modes=(3, 2))
    q, v, a = bent_state(model)
    tau = gs.rnea(model, q, v, a)
    for method in ("aba", "mrnea", "crba"):
        for name in ("body", "inertial", "absolute"):
            again = gs.ForwardDynamics(model, method, representation=name)(q, v, tau)
            assert np.abs(again - a).max() < 1e-8, (method, name)
    M = gs.crba(model, q)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert np.allclose(gs.MassMatrix(model, "mrnea")(q), M, rtol=0.0, atol=1e-12 * np.abs(M).max())


@pytest.mark.parametrize(("entry", "leave"), MOUNTINGS)
def test_power_is_the_rate_of_energy(entry, leave):
    model = boom_arm(entry, leave, modes=(3, 2))
    q, v, a = bent_state(model)
    h = 1e-4

    def energy(t):
        moved = q + t * v + t * t / 2 * a
        return gs.kinetic_energy(model, moved, v + t * a) + gs.potential_energy(model, moved)

    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    assert abs(v @ gs.rnea(model, q, v, a) - rate) < 1e-8 * abs(rate)


@pytest.mark.parametrize(("modes", "length"), [((10, 0), 1.3), ((0, 14), 0.3), ((8, 0), 100.0)])
def test_many_shapes_may_be_held_by_the_far_end(modes, length):
    """At random amplitudes of high shapes the far end is hundreds of metres away: rounding of that is no mistake."""
    beam = gs.FlexibleBeam("beam", **ALUMINIUM | {"length": length}, modes=modes, modes_x=0)
    solver = gs.InverseDynamics(gs.assemble("held", beam, gs.connect("world", "beam.b"), gravity=(0, 0, 0)))
    still = np.zeros(sum(modes))
    assert np.abs(solver(still, still, still)).max() < 1e-9


def test_mistakes_are_told_by_name():
    with pytest.raises(gs.SpecError, match="'area' must be positive, got -1 m"):
        gs.check(cantilever(2, area=-1.0))
    with pytest.raises(gs.SpecError, match="'modes' must be a number of shapes, got -2"):
        cantilever(-2)


def test_coordinates_have_names_and_units():
    model = boom_arm(modes=(2, 1))
    assert model.dofs == ("pan", "tilt", "boom.y1", "boom.y2", "boom.z1", "boom.t1", "boom.x1")


def test_without_shapes_a_beam_is_a_rigid_body():
    model = boom_arm(modes=0, modes_x=0)
    boom = model["boom"]
    line, c = boom.density * boom.length, boom.mass * boom.length**2 / 12
    J = np.array([line * (boom.I_y + boom.I_z), c, c])
    places = {"mid": (0.5, 0, 0), "tool": (0.9, 0.05, -0.1), "b": (boom.length, 0, 0), "a": (0, 0, 0)}
    body = gs.RigidBody("boom", mass=boom.mass, com=(boom.length / 2, 0, 0), inertia=J, frames=places)
    rigid = gs.assemble(
        "rigid",
        *(body if e.name == "boom" else e for e in model.entities),
        *(gs.connect(*c) for c in model.connections),
    )
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    assert np.allclose(gs.rnea(model, q, v, a), gs.rnea(rigid, q, v, a), rtol=1e-12)


def test_random_configurations_deform_a_beam_a_little():
    model = boom_arm(modes=(2, 1))
    q = gs.random_configuration(model, 0, 100)
    assert np.abs(q[:, 2:]).max() <= 0.02 < np.abs(q[:, :2]).max()


@pytest.mark.parametrize("port", ["a", "b"])
def test_a_thick_beam_held_by_either_end_has_the_frequencies_of_the_beam_equation(port):
    steel = {"E": 2.1e11, "G": 8.1e10, "density": 7850.0, "section": gs.sections.rectangle(0.02, 0.1)}
    beam = gs.FlexibleBeam("beam", length=1.3, modes=(0, 10), modes_x=0, **steel)
    model = gs.assemble("held", beam, gs.connect("world", f"beam.{port}"), gravity=(0, 0, 0))
    roots = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613])
    exact = roots**2 * np.sqrt(beam.E * beam.I_y / (beam.density * beam.area)) / beam.length**2 / (2 * np.pi)
    found = gs.eigenfrequencies(model, np.zeros(model.nv)).undamped[:3]
    np.testing.assert_allclose(found, exact, rtol=3e-9)
