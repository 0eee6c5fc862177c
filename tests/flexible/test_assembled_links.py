"""Reduced finite-element links assembled over hinges [AS (11)-(19), MON and VMS]: against the consistent equations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.flexible.assembled_links import AssembledLinks
from gyrostat.flexible.beam_lines import axial_line, bending_line
from gyrostat.flexible.superposed_nominal import nominal

ALU = {"area": 6e-4, "I_y": 6e-7, "I_z": 8e-7, "J": 1.2e-6, "E": 7e10, "G": 2.6e10, "density": 2700.0}
BEGIN, TURN = np.array([0.2, -0.7]), np.array([1.2, 0.9])


@cache
def arm(gravity=(0.0, 0.0, 0.0), load=True):
    """A yaw and an elbow, two booms of 6 and 5 m, a load of 200 kg."""
    booms = [
        gs.FlexibleBeam(f"boom{k}", length=L, modes=(3, 3), modes_x=(1, 0), **ALU) for k, L in ((1, 6.0), (2, 5.0))
    ]
    hinges = gs.Joint("yaw", "revolute", axis="z"), gs.Joint("elbow", "revolute", axis="y")
    body = gs.RigidBody("load", mass=200.0, com=(0.5, 0.1, 0), inertia=(50, 60, 60), frames={"tip": (1.0, 0, 0)})
    pairs = (
        ("world", "yaw.a"),
        ("yaw.b", "boom1.a"),
        ("boom1.b", "elbow.a"),
        ("elbow.b", "boom2.a"),
        ("boom2.b", "load"),
    )
    return gs.assemble("arm", *hinges, *booms, body, *(gs.connect(*pair) for pair in pairs), gravity=gravity)


def along(duration, dt):
    model = arm()
    path = gs.trajectories.point_to_point(BEGIN, BEGIN + TURN, duration=duration, order=5)
    return nominal(model, path, gs.flexible.rigid(model), dt, "test")


def frequencies(M, K):
    """[Hz]"""
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)) / (2.0 * np.pi)


# ------------------------------------------------------------------------------------------------ one link
def test_a_reduced_beam_keeps_rigid_inertia_statics_and_its_free_frequencies():
    line = bending_line(2.0, 100.0, 1.5, 0.0, 24, 2)
    assert line.rigid.T @ line.M @ line.rigid == pytest.approx(1.5 * np.array([[2.0, 2.0], [2.0, 8.0 / 3.0]]), rel=1e-9)
    assert line.rigid.T @ line.loads == pytest.approx(line.rigid.T @ line.M @ line.rigid, rel=1e-9)
    assert np.abs(line.K @ line.rigid).max() < 1e-9 * np.abs(line.K).max()
    held = np.linalg.inv(line.K[2:, 2:])
    assert held[0, 0] == pytest.approx(2.0**3 / 300.0, rel=1e-9) and held[1, 1] == pytest.approx(2.0 / 100.0, rel=1e-9)
    w = 2.0 * np.pi * frequencies(line.M + 1e-12 * np.eye(6), line.K + 1e-9 * line.M)
    free = np.array([4.730040744862704, 7.853204624095838]) ** 2 * np.sqrt(100.0 / 1.5) / 4.0
    assert w[2:4] == pytest.approx(free, rel=1e-4)
    rod = axial_line(2.0, 50.0, 1.5, 24)
    assert rod.K[1, 1] == pytest.approx(25.0) and rod.M.sum() == pytest.approx(3.0)


# ------------------------------------------------------------------------------------------------ the assembly
@pytest.mark.slow
def test_the_assembly_at_rest_has_the_eigenfrequencies_of_the_flexible_model():
    given = along(40.0, 10.0)
    links = AssembledLinks(given, 3, 24, "test")
    M, _, K, _ = links.matrices(slice(None))
    elastic = np.setdiff1d(links.free, links.rows)
    for k in (0, 2, 4):
        pick = np.ix_(elastic, elastic)
        found = frequencies(M[k][pick], K[k][pick])[:4]
        want = gs.eigenfrequencies(given.model, given.q[k], locked=["yaw", "elbow"]).undamped[:4]
        assert found == pytest.approx(want, rel=3e-3) and found[:2] == pytest.approx(want[:2], rel=2e-6)


def test_inertia_forces_of_the_links_give_the_torques_of_the_rigid_robot():
    """And the mass matrix of the hinges is that of the rigid robot."""
    given = along(8.0, 1.0)
    links = AssembledLinks(given, 1, 16, "test")
    r = np.sum([np.einsum("tij,ti->tj", X, force) for X, _, force in links._parts(slice(None))], axis=0)
    want = links.efforts(slice(None))
    assert np.abs(r[:, links.rows] - want).max() < 1e-5 * np.abs(want).max()  # sections turn gyroscopically, too
    M = links.matrices(slice(None))[0]
    assert M[:, links.rows[:, None], links.rows] == pytest.approx(gs.crba(given.rigid, given.rigid_q), rel=1e-9)


@pytest.mark.slow
def test_what_as_neglects_falls_with_the_square_of_the_speed():
    """Coriolis and centrifugal forces on the small motion: as small as (rate / frequency)^2, with drives that hold."""
    model = arm()
    rigid, differences = gs.flexible.rigid(model), []
    for duration in (80.0, 40.0):
        t, law = np.linspace(0.0, duration, 801), slew(duration)
        run = gs.simulate(rigid, law, BEGIN, t_eval=t, rtol=1e-9, atol=1e-11, progress=False)
        both = [way(model, run, law, every=4) for way in (gs.flexible.superposed, gs.flexible.assembled)]
        consistent, neglected = (vibration.deviation("load.tip") for vibration in both)
        differences.append(np.abs(consistent - neglected).max() / np.abs(consistent).max())
    assert differences[0] < 0.01 and 3.0 < differences[1] / differences[0] < 5.0, differences


def slew(duration):
    def law(t, q, v):
        phase = 2.0 * np.pi * t / duration
        goal = BEGIN + (t / duration - np.sin(phase) / (2.0 * np.pi)) * TURN
        return 4e4 * (goal - q) + 3e4 * ((1.0 - np.cos(phase)) / duration * TURN - v)

    return law


def test_rotation_stiffens_the_beam_in_the_consistent_equations_and_not_in_those_of_as():
    """A beam that turns at w about its root: frequencies out of plane follow f^2 = f0^2 + 1.193 w^2 (Southwell, clamped
    beam, first mode)."""
    beam = gs.FlexibleBeam("boom", length=6.0, modes=(0, 8), modes_x=0, **ALU)
    wires = gs.connect("world", "hub.a"), gs.connect("hub.b", "boom.a")
    model = gs.assemble("rotor", gs.Joint("hub", "revolute", axis="z"), beam, *wires, gravity=(0, 0, 0))
    rigid, f0 = gs.flexible.rigid(model), gs.eigenfrequencies(model, np.zeros(9), locked=["hub"]).undamped[0]
    w = np.pi * f0  # half the first frequency
    t = np.linspace(0.0, 4.0, 1601)
    spin = gs.simulate(rigid, None, v0=[w], t_eval=t, progress=False)
    shape = gs.eigenfrequencies(model, np.zeros(9), locked=["hub"]).modes[:, 0]
    run = gs.flexible.superposed(model, spin, start=1e-3 * shape / np.abs(shape).max(), locked=["hub"])
    assert _frequency(t, run["boom.z1"]) ** 2 == pytest.approx(f0**2 + 1.193 * (w / 2 / np.pi) ** 2, rel=2e-3)
    links = AssembledLinks(run.nominal, 3, 24, "test")
    start = np.zeros(len(links.names))
    start[links.names.index("boom.w")] = 1e-3
    still = gs.flexible.assembled(model, spin, start=start)
    assert _frequency(t, still["boom.w"]) == pytest.approx(f0, rel=0.02)


def _frequency(t, x):
    """[Hz] of the largest line, between two lines by a parabola."""
    spectrum = np.abs(np.fft.rfft((x - x.mean()) * np.hanning(len(x)), 16 * len(x)))
    k = int(np.argmax(spectrum))
    a, b, c = np.log(spectrum[k - 1 : k + 2])
    return (k + 0.5 * (a - c) / (a - 2 * b + c)) / (16 * len(x) * (t[1] - t[0]))


def test_cases_and_sag_are_those_of_the_beam_equation():
    beam = gs.FlexibleBeam("boom", length=6.0, modes=(0, 4), modes_x=0, **ALU)
    wires = gs.connect("world", "hub.a"), gs.connect("hub.b", "boom.a")
    model = gs.assemble("crane", gs.Joint("hub", "revolute", axis="z"), beam, *wires, gravity=(0, 0, -9.81))
    still = gs.simulate(gs.flexible.rigid(model), None, t_eval=np.linspace(0.0, 0.1, 21), progress=False)
    wrench = np.zeros((3, 6))
    wrench[:, 5] = 0.0, 50.0, -20.0
    EI, line = ALU["E"] * ALU["I_y"], ALU["density"] * ALU["area"]
    for run in (gs.flexible.superposed, gs.flexible.assembled):
        bent = run(model, still, start="static", wrenches={"boom.b": wrench})
        want = -9.81 * line * 6.0**4 / (8.0 * EI) + wrench[:, 5] * 6.0**3 / (3.0 * EI)
        assert bent.U.shape[:2] == (21, 3)
        assert bent.deviation("boom.b")[:, :, 2] == pytest.approx(np.tile(want, (21, 1)), rel=2e-4)


def test_a_base_that_moves_is_refused():
    craft = gs.RigidBody("craft", mass=900.0, inertia=(400.0, 500.0, 600.0))
    floating = gs.assemble(
        "floating", *arm().entities, craft, gs.connect("world", "craft"), *(gs.connect(*x) for x in arm().connections),
        base="free",
    )  # fmt: skip
    run = gs.simulate(gs.flexible.rigid(floating), None, t_eval=np.linspace(0.0, 0.1, 3), progress=False)
    with pytest.raises(gs.SpecError, match=r"'floating'.* has a base that moves, or loops. Hint: superposed takes it"):
        gs.flexible.assembled(floating, run)


def test_entities_of_other_kinds_are_refused_by_name():
    model = arm()
    driven = gs.assemble(
        "sprung", *model.entities, gs.Spring("belt", stiffness=1.0, ground=True), gs.connect("elbow.shaft", "belt.a"),
        *(gs.connect(*ports) for ports in model.connections),
    )  # fmt: skip
    run = gs.simulate(gs.flexible.rigid(driven), None, t_eval=np.linspace(0.0, 0.1, 3), progress=False)
    with pytest.raises(gs.SpecError, match=r"'belt'.*is a spring, which is no hinge, body or beam"):
        gs.flexible.assembled(driven, run)
    stiff = gs.flexible.rigid(model)
    with pytest.raises(gs.SpecError, match="has no flexible link"):
        gs.flexible.rigid(stiff)
    still = gs.simulate(stiff, None, t_eval=np.linspace(0.0, 0.1, 3), progress=False)
    with pytest.raises(gs.SpecError, match="has no flexible beam"):
        gs.flexible.assembled(stiff, still)
    bent = gs.flexible.assembled(model, still)
    with pytest.raises(gs.SpecError, match=r"'load.top' is no port of the assembly"):
        bent.deviation("load.top")
    with pytest.raises(gs.StateError, match="there is no 'boom'"):
        bent["boom"]


def test_the_rigid_model_moves_like_the_flexible_one_undeformed():
    model = arm((0.0, 0.0, -9.81))
    rigid, rng = gs.flexible.rigid(model), np.random.default_rng(3)
    at = [model.dofs.index(name) for name in rigid.dofs]
    small = rng.normal(size=(3, 2))
    whole = np.zeros((3, model.nv))
    whole[:, at] = small
    assert gs.rnea(model, *whole)[at] == pytest.approx(gs.rnea(rigid, *small), rel=1e-12)
    for port in ("boom2.a", "boom2.b", "load.tip"):
        assert gs.fk(model, whole[0])[port].p == pytest.approx(gs.fk(rigid, small[0])[port].p, abs=1e-14)
