"""Shapes of beams: polynomials, finite elements, shear, tapers; against the differential equations of beams."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import gyrostat as gs
from gyrostat.spatial.beams.beam_shapes import beam_shapes
from gyrostat.spec.beam_form import BeamForm
from tests.support.flexible_models import ALUMINIUM, cantilever

BEAM_EQUATION = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613]) ** 4
"""(k L)^4 of a cantilever: roots of cosh cos = -1."""
MATERIAL = {key: ALUMINIUM[key] for key in ("E", "G", "density")}


def stiffness(**form):
    given: dict[str, Any] = {"y": 5, "z": 0, "t": 0, "x": 0} | form
    return np.diag(beam_shapes(BeamForm(**given)).y.stiffness)


def roots(determinant, guesses):
    """One root near each guess."""
    return np.array([brentq(determinant, 0.9 * x, 1.1 * x, xtol=1e-14, rtol=np.float64(1e-13)) for x in guesses])


@pytest.mark.parametrize(("n", "accuracy"), [(5, 1e-4), (8, 1e-6), (10, 1e-8)])
def test_polynomials_converge_to_the_beam_equation(n, accuracy):
    found = np.sqrt(stiffness(y=n)[:2] / BEAM_EQUATION[:2])
    assert np.abs(found - 1.0).max() < accuracy


def test_elements_converge_with_the_fourth_order():
    coarse, fine = (np.sqrt(stiffness(elements=n)[0] / BEAM_EQUATION[0]) - 1.0 for n in (4, 8))
    assert 3.9 < np.log2(coarse / fine) < 4.1


def test_modes_are_orthonormal_and_positive_at_the_tip():
    for form in (BeamForm(6, 4, 3, 2), BeamForm(6, 4, 3, 2, elements=6)):
        s = beam_shapes(form)
        assert np.array_equal(s.y.mass, np.eye(6))
        assert np.allclose(s.t.rotary, np.eye(3), atol=1e-12)
        assert all(np.all(station.f > 0.0) for station in s.at(1.0).values())


def test_stretch_is_in_the_axial_functions():
    for form in (BeamForm(2, 0, 0, 3), BeamForm(2, 0, 0, 3, elements=5)):
        x = beam_shapes(form).x
        assert np.allclose(x.P.T @ x.P, np.eye(3), atol=1e-11)


@pytest.mark.parametrize(("Phi", "r2"), [(0.01, 0.003), (0.1, 0.03)])
def test_shear_has_the_frequencies_of_timoshenko(Phi, r2):
    def determinant(b):  # v' = psi + Phi Q, psi' = M, M' = -Q - r2 b psi, Q' = -b v
        A = np.array([[0, 1, 0, Phi], [0, 0, 1, 0], [0, -r2 * b, 0, -1], [-b, 0, 0, 0]], dtype=float)
        return np.linalg.det(expm(A)[2:, 2:])

    found = stiffness(y=6, shear_y=(Phi, r2))[:3]
    assert np.abs(found / roots(determinant, found) - 1.0).max() < 1e-9


SMOOTH = (0.0, 1.0, 1.0, 1.0, 1.0), (1.0, 0.3, 0.2, 0.2, 0.2)
KINKED = (0.0, 1.0, 1.0, 1.0, 1.0), (0.6, 0.7, 0.5, 0.4, 0.5), (1.0, 0.3, 0.1, 0.1, 0.1)


@pytest.mark.parametrize(("rows", "accuracy"), [(SMOOTH, 1e-8), (KINKED, 1e-5)])
def test_a_tapered_beam_has_the_frequencies_of_its_equation(rows, accuracy):
    x, area, _, moment, _ = zip(*rows, strict=True)
    mean = np.trapezoid(area, x)

    def determinant(b):  # v' = s, s' = M / I, M' = -Q, Q' = -b A v
        def slope(at, state):
            v, s, M, Q = state.reshape(4, 2)
            return np.concatenate([s, M / np.interp(at, x, moment), -Q, -b / mean * np.interp(at, x, area) * v])

        state = np.array([[0, 0], [0, 0], [1, 0], [0, 1]], dtype=float).ravel()
        for a, e in pairwise(x):
            state = solve_ivp(slope, (a, e), state, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        return np.linalg.det(state.reshape(4, 2)[2:])

    found = stiffness(y=12, profile=rows)[:2]
    assert np.abs(found / roots(determinant, found) - 1.0).max() < accuracy


# ------------------------------------------------------------------------------------------------ as a component
@pytest.mark.parametrize("beam", [{}, {"method": "fe", "elements": 4}, {"method": "fe", "elements": 4, "modes": 2}])
@pytest.mark.parametrize("end", [1.0, 0.25])
def test_one_shape_twists_and_stretches_as_loads_at_the_tip_demand(beam, end):
    """T / G int 1 / J and F / E int 1 / A, with sections that fall linearly to ``end`` at the tip."""
    beam = {"modes": 1} | beam
    first = gs.sections.rectangle(0.02, 0.03)
    last = first.model_copy(update={key: end * getattr(first, key) for key in ("area", "I_y", "I_z", "J")})
    boom = gs.FlexibleBeam(
        "boom", length=0.8, section=((0.0, first), (0.8, last)), E=7e8, G=3e8, density=2700.0, **beam
    )
    model = gs.assemble("boom", boom, gs.connect("world", "boom.a"), gravity=(0, 0, 0))
    loads = {"boom.b": gs.Wrench([1e-3, 0, 0, 1e-3, 0, 0], "aligned")}
    tip = gs.fk(model, gs.equilibrium(model, np.zeros(model.nv), wrenches=loads).q)["boom.b"]
    mean = 0.8 * (1.0 if end == 1.0 else np.log(1.0 / end) / (1.0 - end)) * 1e-3
    within = 1e-6 if "method" not in beam or end == 1.0 else 2e-2  # four elements with a linear twist
    assert abs(tip.R[2, 1] / (mean / (3e8 * first.J)) - 1.0) < within
    assert abs((tip.p[0] - 0.8) / (mean / (7e8 * first.area)) - 1.0) < within


def test_nodes_carry_a_force_at_the_tip_exactly():
    model = cantilever(None, method="fe", elements=3)
    force, EI = 2.0, ALUMINIUM["E"] * ALUMINIUM["I_y"]
    K = gs.rnea_derivatives(model, *(np.zeros(model.nv) for _ in range(3))).dtau_dq
    names = list(model.dofs)
    loads = np.zeros(model.nv)
    loads[names.index("boom.z3")] = force
    q = np.linalg.solve(K, loads)
    assert np.isclose(q[names.index("boom.z3")], force / (3 * EI), rtol=1e-10)
    assert np.isclose(q[names.index("boom.ry3")], -force / (2 * EI), rtol=1e-10)
    assert np.isclose(q[names.index("boom.z1")], force / EI * (1 / 18 - 1 / 162), rtol=1e-10)
    boom = model["boom"]
    assert boom.is_length("z3") and not boom.is_length("ry3")


@pytest.mark.parametrize("beam", [{"method": "fe", "elements": 12}, {}])
def test_all_methods_agree_at_a_loaded_tip(beam):
    load = gs.RigidBody("load", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    found = gs.eigenfrequencies(cantilever((6, 0), (load,), **beam), np.zeros(6)).undamped[:2]
    exact = gs.eigenfrequencies(cantilever((12, 0), (load,)), np.zeros(12)).undamped[:2]
    assert np.abs(found / exact - 1.0).max() < 1e-4


def test_twist_and_stretch_have_the_frequencies_of_the_wave_equation():
    model = cantilever(0, modes_x=4)
    J, line = ALUMINIUM["I_y"] + ALUMINIUM["I_z"], ALUMINIUM["density"]
    speeds = np.sqrt(ALUMINIUM["G"] * ALUMINIUM["J"] / (line * J)), np.sqrt(ALUMINIUM["E"] / line)
    found = np.sort(gs.eigenfrequencies(model, np.zeros(8)).undamped)
    for speed in speeds:
        assert np.abs(found / (speed / 4.0) - 1.0).min() < 1e-6


@pytest.mark.parametrize(
    ("damping", "ratio"),
    [
        (0.002, lambda w, _: 0.002 * w / 2),
        ({"alpha": 0.3, "beta": 0.002}, lambda w, _: 0.15 / w + 0.001 * w),
        ({"ratios": [0.01, 0.02]}, lambda w, planes: np.where(np.arange(len(w)) < planes, 0.01, 0.02)),
    ],
)
def test_damping_has_the_ratios_of_its_law(damping, ratio):
    for planes, beam in ((1, {"modes": (3, 0)}), (2, {"method": "fe", "elements": 2})):
        model = gs.assemble(
            "cantilever",
            gs.FlexibleBeam("boom", **(ALUMINIUM | {"length": 1.0, "modes_x": 0, "damping": damping} | beam)),
            gs.connect("world", "boom.a"),
            gravity=(0, 0, 0),
        )
        poles: Any = gs.eigenfrequencies(model, np.zeros(model.nv)).poles
        poles = poles[poles.imag > 0.0]
        poles = poles[np.argsort(np.abs(poles))]
        w, zeta = np.abs(poles), -poles.real / np.abs(poles)
        assert len(w) >= 2
        assert np.allclose(zeta, ratio(w, planes), rtol=1e-8)


# ------------------------------------------------------------------------------------------------ sections
def test_sections_have_the_moments_of_their_parts():
    tube, rod, hole = gs.sections.tube(0.1, 0.01), gs.sections.round(0.1), gs.sections.round(0.08)
    for key in ("area", "I_y", "I_z", "J"):
        assert np.isclose(getattr(tube, key), getattr(rod, key) - getattr(hole, key), rtol=1e-12)
    box, outer, inner = (
        gs.sections.box(0.1, 0.06, 0.005),
        *(gs.sections.rectangle(*x) for x in ((0.1, 0.06), (0.09, 0.05))),
    )
    for key in ("area", "I_y", "I_z"):
        assert np.isclose(getattr(box, key), getattr(outer, key) - getattr(inner, key), rtol=1e-12)
    square, two = gs.sections.rectangle(1, 1), gs.sections.rectangle(1, 2)
    assert np.allclose([square.J, square.W_t, two.J, two.W_t], [0.14058, 0.20817, 0.45736, 0.49176], atol=1e-5)
    assert np.isclose(gs.sections.i_beam(0.1, 0.2, 0.006, 0.01).I_y, (0.1 * 0.2**3 - 0.094 * 0.18**3) / 12)


def test_a_beam_takes_its_numbers_from_a_section_and_files_keep_it(tmp_path):
    tube = gs.sections.tube(0.1, 0.005)
    taper = ((0.0, tube), (2.0, gs.sections.tube(0.05, 0.005)))
    for section in (tube, {"tube": [0.1, 0.005]}, {"tube": {"diameter": 0.1, "thickness": 0.005}}, taper):
        beam = gs.FlexibleBeam(
            "boom", length=2.0, section=section, **MATERIAL, damping={"ratios": 0.01}, frames={"mid": 1}
        )
        assert (beam.area, beam.J) == (tube.area, tube.J)
        model = gs.assemble("m", beam, gs.connect("world", "boom.a"))
        gs.save(model, tmp_path / "m.yaml")
        assert gs.load(tmp_path / "m.yaml")["boom"] == beam
    half = (tube.area + taper[1][1].area) / 2
    assert np.isclose(beam.mass, half * 2.0 * MATERIAL["density"])


ROD = gs.sections.round(0.1)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"section": {"tub": [0.1, 0.005]}}, "has no section 'tub'.*did you mean 'tube'"),
        ({"section": {"tube": [0.1, 0.06]}}, "does not fit"),
        ({"section": ((0.0, ROD), (1.0, ROD))}, "let them rise from 0 to the length 2"),
        ({"section": ROD, "damping": -1.0}, "'damping' must not be negative"),
        ({"section": ROD, "damping": "much"}, "'damping' must be a damping"),
        ({"section": ROD, "frames": {"tip": 2.5}}, "frame 'tip' is at x = 2.5 m"),
        ({"section": ROD, "modes": [1, 2, 3]}, "must be one number or two"),
        ({"section": ROD, "method": "fe", "modes": 99}, "has 99 shapes in one family"),
        ({"section": ROD, "method": "fe", "shear": True}, "'shear' is not there for finite elements"),
        ({"section": ROD, "method": "fe", "elements": 10**9}, "must be a whole number from 1 to 1000"),
        ({"section": ROD, "modes": 10**9}, "'modes' must be a number of shapes"),
        ({"section": ((0.0, gs.sections.Section(area=0, I_y=0, I_z=0, J=0)), (2.0, ROD))}, "at 0 m must be positive"),
        ({}, "needs the property 'area'"),
    ],
)  # fmt: skip
def test_mistakes_are_told_by_name(given, match):
    with pytest.raises(gs.SpecError, match=match):
        beam = gs.FlexibleBeam("boom", length=2.0, **MATERIAL, **given)
        gs.check(gs.assemble("m", beam, gs.connect("world", "boom.a")))


def test_what_decides_about_shapes_cannot_be_live():
    tube = gs.sections.tube(0.1, 0.005)
    beam = gs.FlexibleBeam("boom", length=2.0, section=tube, **MATERIAL, modes=2, frames={"mid": 1.0}, shear=True)
    model = gs.assemble("m", beam, gs.connect("world", "boom.a"))
    for path in ("boom.modes", "boom.section.area", "boom.mid.translation", "boom.E"):
        with pytest.raises(gs.SpecError, match="cannot be live"):
            gs.InverseDynamics(model, live=[path])
