"""Beams with in-cut joints (AS 2.2, Fig. 1, Table 1), and beams in segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.tracing.choose import where
from gyrostat.solvers.dynamics.actuator_efforts import actuated_joints
from tests.support.comparing import assert_close
from tests.support.flexible_models import ALUMINIUM, MOUNTINGS, bent_state, boom_arm, cantilever

BEAM_EQUATION = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613]) ** 2
SLENDER = {"length": 1.0, "area": 1.0, "I_y": 1e-10, "I_z": 1e-10, "J": 1e-10, "E": 1e10, "G": 1e10, "density": 1.0}
TABLE_1_A = {
    2: (1.01, 62.6),
    4: (0.018, 2.77, 16.4),
    6: (0.002, 0.222, 4.18),
    8: (0.0005, 0.0443, 0.597),
    10: (0.0001, 0.013, 0.161),
}
"""Relative errors of frequencies in per cent, by the number of joints [AS Table 1]; omega_2 of eight is printed .44."""


@pytest.mark.parametrize("joints", TABLE_1_A)
def test_frequencies_are_those_of_table_1(joints):
    model = cantilever((1, 0), **SLENDER, method="in-cut", elements=joints // 2)
    omega = 2 * np.pi * gs.eigenfrequencies(model, np.zeros(joints)).undamped[:3]
    for got, exact, printed in zip(omega, BEAM_EQUATION, TABLE_1_A[joints], strict=False):
        unit = 10.0 ** -len(f"{printed}".split(".")[1])
        error = abs(got / exact - 1.0) * 100.0
        assert abs(error - printed) < unit, (error, printed)  # some are cut off, not rounded


@pytest.mark.parametrize("elements", [1, 3])
def test_statics_of_the_tip_are_those_of_a_cantilever(elements):
    """Compliance (6, 6) of the end, torques first: twist and both bending planes exact, stretch none."""
    model = cantilever(1, **ALUMINIUM | {"length": 0.7}, modes_x=1, method="in-cut", elements=elements)
    zero = np.zeros(model.nv)
    K = gs.rnea_derivatives(model, zero, zero, zero).dtau_dq
    J = gs.jacobian(model, zero, "boom.b", expressed_in="local")
    x, L = ALUMINIUM, 0.7
    C = np.zeros((6, 6))
    C[0, 0] = L / (x["G"] * x["J"])
    for turn, shift, sign, I in ((1, 5, -1.0, x["I_y"]), (2, 4, 1.0, x["I_z"])):
        EI = x["E"] * I
        C[turn, turn], C[shift, shift] = L / EI, L**3 / (3 * EI)
        C[turn, shift] = C[shift, turn] = sign * L**2 / (2 * EI)
    got = J @ np.linalg.solve(K, J.T)
    assert_close(got / np.abs(C).max(), C / np.abs(C).max(), 1e-14)


@pytest.mark.parametrize("elements", [1, 2])
def test_mass_centre_and_inertia_are_those_of_the_beam(elements):
    model = cantilever(1, **ALUMINIUM | {"length": 0.7}, modes_x=1, method="in-cut", elements=elements)
    whole, (x, L) = gs.TotalInertia(model)(np.zeros(model.nv)), (ALUMINIUM, 0.7)
    m = x["density"] * x["area"] * L
    assert_close(whole.m, m, 1e-14)
    assert_close(whole.p, (L / 2, 0, 0), 1e-14)
    line = x["density"] * L
    J = line * np.diag([x["I_y"] + x["I_z"], x["I_y"], x["I_z"]]) + m * L**2 / 12 * np.diag([0, 1, 1])
    assert_close(whole.J, J, 1e-14)


OPTIONS: list[dict[str, Any]] = [
    {"method": "in-cut", "elements": 1, "modes": 1},
    {"segments": 2, "modes": (1, 1), "modes_x": (1, 0)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["in-cut", "segments"])
@pytest.mark.parametrize(("entry", "leave"), MOUNTINGS)
def test_forward_dynamics_undo_inverse_dynamics(entry, leave, options):
    model = boom_arm(entry, leave, **options)
    q, v, a = bent_state(model)
    tau = gs.rnea(model, q, v, a)
    for algorithm in ("aba", "crba", "mrnea"):
        assert np.abs(gs.ForwardDynamics(model, algorithm)(q, v, tau) - a).max() < 1e-6, algorithm
    h = 1e-4

    def energy(t: float) -> float:
        moved = q + t * v + t * t / 2 * a
        return float(gs.kinetic_energy(model, moved, v + t * a) + gs.potential_energy(model, moved))

    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    assert abs(v @ tau - rate) < 1e-7 * abs(rate)


def test_frames_stay_where_they_are_written():
    for options in OPTIONS:
        model = boom_arm(**options)
        frames = gs.ForwardKinematics(model)(np.zeros(model.nq))
        for name, p in (("a", (0, 0, 0)), ("mid", (0.5, 0, 0)), ("tool", (0.9, 0.05, -0.1)), ("b", (1.2, 0, 0))):
            assert_close(frames[f"boom.{name}"].p, p, 1e-14)


def test_coordinates_of_segments_and_cuts_have_names():
    names = boom_arm(**OPTIONS[1]).dofs[2:]
    assert names == tuple(f"boom.{x}_{k}" for k in (1, 2) for x in ("y1", "z1", "t1"))
    assert boom_arm(**OPTIONS[0]).dofs[2:] == tuple(f"boom.r{x}" for x in ("z1", "y1", "x1", "x2", "y2", "z2"))


def test_two_segments_are_two_beams_in_a_row():
    long = boom_arm(segments=2, modes=(2, 1))
    half: dict[str, Any] = ALUMINIUM | {"length": 0.6, "modes": (2, 1)}
    one, two = (
        gs.FlexibleBeam("one", **half, frames={"mid": 0.5}),
        gs.FlexibleBeam("two", **half, frames={"tool": (0.3, 0.05, -0.1)}),
    )
    others = [e for e in long.entities if e.name != "boom"]
    at = {"boom.a": "one.a", "boom.b": "two.b", "boom.mid": "one.mid", "boom.tool": "two.tool"}
    wires = [tuple(at.get(port, port) for port in group) for group in long.connections]
    row = gs.Model("row", (*others, one, two), (*wires, ("one.b", "two.a")), long.context)
    q, v, a = bent_state(long)
    assert_close(gs.rnea(long, q, v, a), gs.rnea(row, q, v, a), 1e-12)


def test_properties_of_segments_are_live():
    model = boom_arm(segments=2, modes=(1, 1))
    changes = {"boom.E": 5e9, "boom.density": 2000.0, "boom.I_y": 2e-8}
    solver = gs.InverseDynamics(model, live=list(changes))
    solver.refresh(model.replace(changes))
    state = bent_state(model)
    assert_close(solver(*state), gs.rnea(model.replace(changes), *state), 1e-12)


RECTANGLE = gs.sections.rectangle
TAPER = (0.0, RECTANGLE(0.004, 0.006)), (0.3, RECTANGLE(0.003, 0.004)), (0.8, RECTANGLE(0.002, 0.005))
TAPERED: dict[str, Any] = {"section": TAPER, "length": 0.8, "E": 7e8, "G": 3e8, "density": 2700.0}


def tapered(**options: Any) -> gs.Model:
    beam = gs.FlexibleBeam("boom", **TAPERED, modes_x=0, **options)
    return gs.assemble("tapered", beam, gs.connect("world", "boom.a"), gravity=(0, 0, 0))


def test_tapered_beams_in_pieces_tend_to_the_whole_one():
    whole = tapered(method="fe", elements=32, modes=(6, 0))
    f = gs.eigenfrequencies(whole, np.zeros(whole.nv)).undamped[:3]
    m, p, J = gs.TotalInertia(whole)(np.zeros(whole.nv))
    for options, tolerance in (
        ({"method": "in-cut", "elements": 12, "modes": (1, 0)}, 1e-3),
        ({"segments": 8, "modes": (2, 0)}, 8e-4),
    ):
        model = tapered(**options)
        zero = np.zeros(model.nv)
        assert np.abs(gs.eigenfrequencies(model, zero).undamped[:3] / f - 1.0).max() < tolerance
        turning = 1e-7 if model["boom"].sections_turn else 1e-12  # pieces have inertia about y and z
        for got, expected, within in zip(gs.TotalInertia(model)(zero), (m, p, J), (1e-12, 1e-12, turning), strict=True):
            assert_close(got, expected, within)


@pytest.mark.parametrize("damping", [1e-3, {"alpha": 0.5, "beta": 1e-3}, {"ratios": 0.02}], ids=str)
def test_segments_have_the_damping_of_their_beams(damping):
    model = cantilever.__wrapped__((2, 0), segments=2, damping=damping)
    two = [
        gs.FlexibleBeam(name, **ALUMINIUM | {"length": 0.5}, modes=(2, 0), modes_x=0, damping=damping) for name in "pq"
    ]
    row = gs.assemble("row", *two, gs.connect("world", "p.a"), gs.connect("p.b", "q.a"), gravity=(0, 0, 0))
    q, v, a = np.random.default_rng(0).normal(size=(3, 4)) * 0.05
    assert_close(gs.rnea(model, q, v, a), gs.rnea(row, q, v, a), 1e-12)


def test_mistakes_are_told_by_name():
    for more, told in (
        ({"elements": 0}, "'elements' must be a whole number from 1 to 1000, got 0"),
        ({"segments": 2}, "'segments' is 2: a beam with in-cut joints is in pieces already"),
        ({"damping": {"ratios": 0.01}}, "springs at cuts have damping in proportion to their stiffness"),
        ({"damping": {"alpha": 1.0, "beta": 0.0}}, "springs at cuts have damping in proportion to their stiffness"),
        ({"shear": True}, "'shear' is not there for in-cut joints"),
    ):
        with pytest.raises(gs.SpecError, match=told):
            gs.check(cantilever.__wrapped__(1, **{"method": "in-cut"} | more))


def spun(**options: Any) -> float:
    """Greatest lag [m] of the tip of a beam that is spun up to 6 rad/s in 15 s [Kane, Ryan, Banerjee 1987; the planar
    data of Simo and Vu-Quoc 1986]; the hub is so heavy that it turns as prescribed."""
    section = {"area": 1.0, "I_y": 1.0, "I_z": 5e-4, "J": 1.0, "E": 2.8e7, "G": 1.0, "density": 1.2}
    beam = gs.FlexibleBeam("boom", length=10.0, **section, modes_x=0, **options)
    hub, hinge = gs.RigidBody("hub", mass=1.0, inertia=(1e9,) * 3), gs.Joint("hinge", "revolute", axis="z")
    wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", "hub", "boom.a")
    model = gs.assemble("spin", hinge, hub, beam, *wires, gravity=(0, 0, 0))

    def drive(t: Any, q: Any, v: Any) -> Any:
        return np.array([1e9 * where(t <= 15.0, 0.4 * (1 - np.cos(2 * np.pi * t / 15)), 0.0), *[0.0] * (model.nv - 1)])

    times = np.linspace(6.0, 8.0, 401)
    run = gs.simulate(model, drive, None, None, 8.0, method="radau", compiled=True, t_eval=times, progress=False)
    p = gs.ForwardKinematics(model)(run.q)["boom.b"].p
    return float((np.cos(run.q[:, 0]) * p[:, 1] - np.sin(run.q[:, 0]) * p[:, 0]).min())


def test_segments_reach_the_lag_of_a_geometrically_exact_beam_in_spin_up():
    """Exudyn's GeometricallyExactBeam2D, eight elements: -0.5731 m; one floating frame: -0.5758 m."""
    assert abs(spun(modes=(2, 0), segments=4) + 0.5738) < 1e-4
    assert abs(spun(modes=(1, 0), method="in-cut", elements=8) + 0.5733) < 1e-4


def four_bar(loops: str) -> gs.Model:
    """A four-bar with a flexible coupler."""
    beam = gs.FlexibleBeam(
        "coupler", **ALUMINIUM | {"length": 0.6}, method="in-cut", elements=1, modes=(1, 0), modes_x=0
    )
    bars = [
        gs.RigidBody(name, mass=1.0, com=(L / 2, 0, 0), inertia=(0.01, 0.01, 0.01), frames={"end": (L, 0, 0)})
        for name, L in (("crank", 0.2), ("rocker", 0.4))
    ]
    joints = [gs.Joint(f"j{k}", "revolute", axis="z") for k in range(4)]
    wires = [("world", "j0.a", "ground.a"), ("j0.b", "crank"), ("crank.end", "j1.a"), ("j1.b", "coupler.a")]
    wires += [("coupler.b", "j2.a"), ("ground.b", "j3.a"), ("j3.b", "rocker"), ("rocker.end", "j2.b")]
    ground = gs.Displacement("ground", translation=(0.5, 0, 0))
    reference = {"j0": 1.0, "j1": -0.5, "j3": 1.2}
    links = [gs.connect(*w) for w in wires]
    return gs.assemble("four_bar", *bars, beam, *joints, ground, *links, loops=loops, reference=reference)


def test_loops_keep_the_strains_and_both_treatments_agree():
    minimal, whole = four_bar("minimal"), four_bar("constraints")
    assert minimal.dofs == ("j0", "coupler.rz1", "coupler.rz2")
    start = {"j0": 1.0, "j1": -0.5, "j3": 1.2, "coupler.rz1": 0.02, "coupler.rz2": -0.01}
    q = gs.close(whole, np.array([start[name] for name in whole.coordinates]))
    at = [whole.dofs.index(name) for name in minimal.dofs]
    tau = np.where(np.array(whole.dofs) == "j0", 5.0, 0.0)
    a = gs.aba(whole, q, np.zeros(whole.nv), tau)[at]
    assert_close(gs.aba(minimal, q[at], np.zeros(3), tau[at]), a, 1e-9)
    assert actuated_joints(gs.robots.flexible_arm()) == ["turn", "shoulder", "elbow"]
