"""Frequencies, modes, response, maps and statics of every kind of elastic robot, against the whole state space."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.support import loop_models
from tests.support.comparing import assert_close
from tests.support.flexible_models import ALUMINIUM

HZ = np.geomspace(0.3, 80.0, 25)
BEAMS = {
    "modal": {"modes": (0, 3), "modes_x": 0},
    "modal, in space": {"modes": 1, "modes_x": 1},
    "in-cut": {"method": "in-cut", "elements": 2, "modes": (0, 1), "modes_x": 0},
    "segments": {"segments": 2, "modes": (0, 2), "modes_x": 0},
    "elements": {"method": "fe", "elements": 3, "modes": (0, 3), "modes_x": 0},
}


def boom(**beam):
    """A hinge, a beam and a load."""
    link = gs.FlexibleBeam("boom", **ALUMINIUM, length=0.8, damping=1e-3, frames={"mid": 0.3}, **beam)
    load = gs.RigidBody("load", mass=0.3, inertia=(1e-3,) * 3, frames={"tip": (0.1, 0, 0)})
    return gs.assemble("boom", gs.chain("world", gs.Joint("tilt", "revolute", axis="y"), link, load))


def solid():
    """A hinge and a bar of finite elements."""
    bar = pytest.importorskip("tests.support.flexible_solids").bar
    hinge = gs.Joint("tilt", "revolute", axis="y")
    wires = gs.connect("world", "tilt.a"), gs.connect("tilt.b", "arm.left")
    return gs.assemble("solid", hinge, bar(), *wires)


def elastic():
    model = gs.robots.two_link()
    for joint, stiffness in (("shoulder", 900.0), ("elbow", 400.0)):
        model = model.with_drive(joint, rotor_inertia=1e-3, gear_ratio=50, stiffness=stiffness, damping=0.5)
    return model


MODELS = {
    **{name: lambda beam=beam: (boom(**beam), [0.3], "load.tip") for name, beam in BEAMS.items()},
    "elastic joints": lambda: (elastic(), [0.3, -0.4], "lower"),
    "beam on an elastic joint": lambda: (
        boom(modes=(0, 2), modes_x=0).with_drive("tilt", rotor_inertia=1e-4, gear_ratio=40, stiffness=300.0),
        [0.3],
        "load.tip",
    ),
    "finite elements": lambda: (solid(), [0.3], "arm.right"),
    "loop": lambda: (loop_models.five_bar(loops="minimal"), None, "p1.tip"),
    "loop, constraints": lambda: (loop_models.five_bar(loops="constraints"), None, "p1.tip"),
}


@cache
def made(name):
    model, q, frame = MODELS[name]()
    drive = model.dofs.index(model.shafts.rotors[0]) if model.shafts.rotors else 0
    K = np.zeros((model.nv, 2 * model.nv))
    K[drive, drive], K[drive, model.nv + drive] = 30.0, 0.4
    pose = gs.neutral(model) if q is None else np.array(q)
    return model, pose, frame, drive, K


def whole(model, q, held, K):
    """A, B and the basis of displacements and rates, closed by u = -K x."""
    s = gs.linearise(model, q, tau=held, **({"ignorable": True} if gs.network(model).closures else {}))
    basis = getattr(s, "basis", np.eye(2 * model.nv))
    return s.A - s.B @ K @ basis, s.B, basis


def some(names, quick=("modal", "in-cut", "elastic joints", "loop, constraints")):
    """All of them, but most only among the slow tests."""
    return [x if x in quick else pytest.param(x, marks=pytest.mark.slow) for x in names]


@pytest.mark.parametrize("name", some(MODELS))
def test_response_and_poles_are_those_of_the_state_space(name):
    model, pose, frame, drive, K = made(name)
    r = gs.frequency_response(model, pose, [model.dofs[drive], f"{frame}.fz"], [model.dofs[drive], f"{frame}.z"], HZ, K)
    A, B, basis = whole(model, r.q, r.held, K)
    n = model.nv
    J = gs.jacobian(model, r.q, frame, "aligned")[5]
    unit = np.eye(n)[drive]
    X = np.linalg.solve(2j * np.pi * HZ[:, None, None] * np.eye(len(A)) - A, B @ np.stack([unit, J], axis=1))
    want = np.stack([unit, J]) @ basis[:n] @ X
    assert np.abs(r.H - want).max() <= 1e-8 * np.abs(want).max()
    closed = gs.eigenfrequencies(model, pose, controller=K)
    poles = np.linalg.eigvals(A)
    size = np.abs(poles).max()
    for p in closed.poles:  # as sets: double ones have no order
        assert np.abs(poles - p).min() <= 1e-6 * size
    assert len(closed.poles) == len(A)
    assert closed.note == r.note == ""


@pytest.mark.parametrize("name", some(MODELS))
def test_modes_are_orthogonal_and_seen_at_frames(name):
    model, pose, frame, *_ = made(name)
    found = gs.eigenfrequencies(model, pose)
    M = gs.crba(model, found.q)
    k = found.undamped.shape[-1]
    assert_close(found.modes.T @ M @ found.modes, np.eye(k), 1e-8)
    assert_close(found.displacements(frame), gs.jacobian(model, found.q, frame, "aligned") @ found.modes, 1e-10)
    _, q = found.motion(k - 1, amplitude=1e-3, pictures=4)
    assert_close(gs.difference(model, q[0], q[1]), -gs.difference(model, q[0], q[3]), 1e-9)
    chart = gs.frequency_map(model, {model.coordinates[0]: [found.q[0]]}, found.q) if k == model.nv else None
    if chart is not None:
        assert_close(chart.undamped[0], found.undamped, 1e-8)


@pytest.mark.parametrize("name", some(name for name in MODELS if "loop" not in name))
def test_what_nothing_drives_sags_while_the_drives_hold(name):
    model, pose, frame, *_ = made(name)
    found = gs.eigenfrequencies(model, pose)
    driven = [*model.shafts.rotors] or ["tilt"]
    load = {frame: gs.Wrench([0, 0, 0, 0, 0, -0.5], "aligned")}
    unloaded, loaded = (gs.equilibrium(model, found.q, None, w, locked=driven) for w in (None, load))
    assert_close(unloaded.q, found.q, 1e-8)
    at = [model.dofs.index(x) for x in driven]
    assert_close(loaded.q[at], found.q[at], 1e-12)
    tau = gs.rnea(model, loaded.q, *np.zeros((2, model.nv)), load)
    assert_close(np.delete(tau, at), np.zeros(model.nv - len(at)), 1e-8)
    assert_close(loaded.held[at], tau[at], 1e-8)
    assert loaded.stable
    p = [gs.fk(model, x.q)[frame].p[2] for x in (unloaded, loaded)]
    assert p[1] < p[0]


@pytest.mark.parametrize("name", some(BEAMS))
def test_kelvin_voigt_damping_of_every_kind_of_beam(name):
    """zeta = T w / 2, at rest without gravity."""
    link = gs.FlexibleBeam("boom", **ALUMINIUM, length=0.8, damping=1e-3, **BEAMS[name])
    found = gs.eigenfrequencies(gs.assemble("alone", gs.chain("world", link), gravity=(0, 0, 0)), [])
    slow = found.undamped[:2]
    ratios = found.damping_ratios[: 2 * len(slow) : 2]
    assert_close(ratios, np.pi * 1e-3 * slow, 1e-9)


def test_rayleigh_and_modal_damping_have_the_ratios_that_were_asked_for():
    """alpha / 2 w + beta w / 2; zeta of each shape of the clamped beam."""
    for damping in ({"alpha": 3.0, "beta": 2e-4}, {"ratios": 0.02}):
        link = gs.FlexibleBeam("boom", **ALUMINIUM, length=0.8, damping=damping, modes=(0, 4), modes_x=0)
        found = gs.eigenfrequencies(gs.assemble("alone", gs.chain("world", link), gravity=(0, 0, 0)), [])
        w = 2 * np.pi * found.undamped[:3]
        want = 0.02 * np.ones(3) if "ratios" in damping else 3.0 / (2 * w) + 1e-4 * w
        assert_close(found.damping_ratios[:6:2], want, 1e-9)


@pytest.mark.parametrize("name", some(["modal", "modal, in space", "in-cut", "segments"]))
def test_stress_in_every_kind_of_beam_balances_the_load(name):
    link = gs.FlexibleBeam("boom", **ALUMINIUM, length=0.8, **BEAMS[name])
    model = gs.assemble("alone", gs.chain("world", link), gravity=(0, 0, 0))
    load = {"boom.b": gs.Wrench([0, 0, 0, 0, 0, -1e-4], "aligned")}
    q = gs.equilibrium(model, np.zeros(model.nq), None, load).q
    x = np.array([0.0, 0.3, 0.7])
    found = gs.beam_stress(model, q, "boom", x, wrenches=load)
    assert_close(found.forces[:, 4] / 1e-4, 0.8 - x, 1e-8)
    if name != "modal, in space":  # one shape cannot bend as a load at the tip asks for
        assert_close(found.strain_forces[:, 4] / 1e-4, 0.8 - x, 1e-6)


def test_other_numbers_need_no_other_machine_code():
    """E and density of a beam, the mass of the load: the same as of the model with these numbers."""
    model, pose, frame, _, K = made("modal")
    inputs, outputs = [f"{frame}.fz"], [f"{frame}.z", "tilt"]
    gs.eigenfrequencies(model, pose, parameters={"boom.E": 9e9, "load.mass": 0.1})
    for change in ({"boom.E": 5e9, "load.mass": 0.4},):
        other = model.replace(change)
        found = gs.eigenfrequencies(model, pose, parameters=change)
        assert_close(found.undamped, gs.eigenfrequencies(other, pose).undamped, 1e-9)
        assert found.model["load.mass"] == change["load.mass"]
        r = gs.frequency_response(model, pose, inputs, outputs, HZ, K, parameters=change)
        want = gs.frequency_response(other, pose, inputs, outputs, HZ, K)
        assert_close(r.H, want.H, 1e-9)
        assert_close(found.displacements(frame), gs.eigenfrequencies(other, pose).displacements(frame), 1e-8)
    first = gs.eigenfrequencies(model, pose, parameters={"boom.E": 5e9, "load.mass": 0.4})
    gs.eigenfrequencies(model, pose, parameters={"boom.E": 1e9, "load.mass": 9.0})
    tau = gs.rnea(first.model, first.q, *np.zeros((2, model.nv)))  # the first one's model has its own numbers
    assert_close(tau[1:], np.zeros(model.nv - 1), 1e-9)
    with pytest.raises(gs.SpecError, match="live"):
        gs.eigenfrequencies(model, pose, parameters={"boom.modes": 2})
    with pytest.raises(gs.StateError, match="parameters must map paths"):
        gs.eigenfrequencies(model, pose, parameters=["boom.E"])
