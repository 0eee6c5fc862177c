"""Forward kinematics to acceleration level, outward (H04 Tables 3.1-3.3, and the rows of \\dot V in Tables 3.6, 3.7).

Protocol <RKIN,6D>: a :class:`Motion` at every spatial port: placement R, p in the world, spatial velocity V, spatial
acceleration A, in the representation of the setting. Protocol <RKIN,1D>: q, v, a at the state ports.

A row is ``row(c, on, motion, q, v, a) -> (motions by outport, memo)``: it gets the component, the setting, the motion
at the inport and the component's own part of the state; the memo is handed to the rows of later sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting, expect_shape
from gyrostat.algorithms.flexible.beam_kinematics import flexible_beam
from gyrostat.algorithms.flexible.modal_body_kinematics import flexible_body
from gyrostat.errors import RowError
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.sweep import outward
from gyrostat.spatial.algebra import Array, join
from gyrostat.spatial.base_motion import base_state
from gyrostat.spatial.joints import MOTIONS, ZERO6, JointMotion
from gyrostat.spatial.representation import Motion, Pose, Shift
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.flexible_body import FlexibleBody
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import LockedRotor, RotorInertia

NO_RATES, NONE = np.zeros((6, 0)), np.zeros(0)
Motions = Mapping[str, Motion]
KinematicsRow = Callable[[Component, Setting, Motion, Array, Array, Array], tuple[Motions, Any]]


def _examine(c: Component, answer: Any) -> Any:
    """What a row from elsewhere returns."""
    who = f"forward kinematics: the row for '{c.name}'"
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[0], Mapping):
        raise RowError(f"{who} must return (motions by outport, memo), got {type(answer).__name__}. Hint: ({{}}, None)")
    if set(answer[0]) != set(c.outports):
        raise RowError(
            f"{who} gives motions at {sorted(answer[0])}, expected {sorted(c.outports)}. "
            f"Hint: one per outport; c.met is the port by which it is met, here '{c.met}'"
        )
    for name, motion in answer[0].items():
        for letter, shape in (("V", (6,)), ("A", (6,))):
            expect_shape(getattr(motion, letter, None), shape, f"{who}: {letter} at '{name}'")
    return answer


kinematics: Algorithm[KinematicsRow] = Algorithm("forward kinematics", _examine, defining=True)
kinematics.row(FlexibleBeam)(flexible_beam)
kinematics.row(FlexibleBody)(flexible_body)


@dataclass(frozen=True)
class JointMemo:
    """phi across a joint and its subspace S (6, nv) in the representation; its own motion in its far frame."""

    shift: Shift
    S: Array
    joint: JointMotion


def rigid(on: Setting, motion: Motion, R: Array, p: Array) -> tuple[Motion, Shift]:
    """Through a displacement [H04 Table 3.6]."""
    out, shift, _ = on.representation.through(motion, JointMotion(R, p, NO_RATES, ZERO6), NONE, NONE)
    return out, shift


def moving(on: Setting, motion: Motion, joint: JointMotion, v: Array, a: Array) -> tuple[Motion, JointMemo]:
    """Through a joint [H04 Table 3.8]: V_2 = phi V_1 + S v, and the derivative of that."""
    out, shift, S = on.representation.through(motion, joint, v, a)
    return out, JointMemo(shift, S, joint)


@kinematics.row(FixedBase)
def fixed_base(c: Component, on: Setting, world: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    motion, shift = rigid(on, world, np.eye(3), np.zeros(3))
    return {"frame": motion}, {"frame": shift}


@kinematics.row(DrivenBase)
def driven_base(c: Component, on: Setting, world: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    R, p, V_b, A_b = base_state(c["motion"], on.t)
    given = JointMotion(R, p, V_b[:, None], A_b)  # one rate that is always 1: S = V_b, c = A_b
    motion, memo = moving(on, world, given, np.ones(1), np.zeros(1))
    return {"frame": motion}, {"frame": memo.shift}


@kinematics.row(FreeBase)
def free_base(c: Component, on: Setting, world: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    motion, memo = moving(on, world, MOTIONS["free"](c.props, q, v), v, a)
    return {"frame": motion}, memo


@kinematics.row(Displacement, DHDisplacement, RigidBody, LockedRotor)
def placed(c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    outports = {name: rigid(on, motion, *place) for name, place in c.places.items()}
    return {name: m for name, (m, _) in outports.items()}, {name: shift for name, (_, shift) in outports.items()}


@kinematics.row(Joint)
def joint(c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    met = MOTIONS[c["kind"]](c.props, q, v)
    met = met.reversed() if c["far"] else met
    out, memo = moving(on, motion, met.after(*c["before"]) if "before" in c.props else met, v, a)
    return {name: out for name in c.outports}, memo


@dataclass(frozen=True)
class Spin:
    """Rate and acceleration of a rotor against its carrier."""

    v: Any
    a: Any


@kinematics.row(RotorInertia)
def rotor(c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    return {}, Spin(v[0], a[0])


@kinematics.row(ForceElement)
def leaf(c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motions, Any]:
    return {}, None


def world_motion(acceleration: Array) -> Motion:
    """The inertial frame; it may be given an acceleration (3,) that stands for gravity."""
    return Motion(Pose(np.eye(3), np.zeros(3)), np.zeros(6), join(np.zeros(3), acceleration))


class Own(NamedTuple):
    """A component's part of the state."""

    q: Array
    v: Array
    a: Array


Begin = Callable[[Component, Motion, Any, Own], None]


def no_begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
    """Nothing else to do on the way out."""


def sweep_motion(
    network: Network,
    on: Setting,
    q: Array,
    v: Array,
    a: Array,
    world: Motion | None = None,
    begin: Begin = no_begin,
) -> dict[int, Motion]:
    """Motions at every port; ``begin(component, motion at its inport, memo, its part of the state)`` lets another
    algorithm come along."""

    network = network.at(q, v)
    moved = network.transmission
    q, v, a = moved.coordinates(q), moved.rates(v), moved.accelerations(a)

    def step(c: Component, motion: Motion) -> Motions:
        own = Own(q[c.q_at], v[c.v_at], a[c.v_at])
        out, memo = kinematics.of(c)(c, on, motion, *own)
        begin(c, motion, memo, own)
        return out

    return outward(network, world or world_motion(np.zeros(3)), step)
