"""How motions go through a component, and forces back [H04 Tables 3.1, 3.4]: V_k = phi_k V + S_k v, f = sum of phi_k^T
f_k, u = sum of S_k^T f_k, with k over its outports. Two ports and nothing else: no inertia, no accelerations.

A row is ``row(c, on, motion, memo) -> Transfer``, in the representation of the setting. A component without a row is
read off its rows of kinematics and Newton-Euler (:mod:`~gyrostat.algorithms.user_components.component_equations`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.kinematics import NO_RATES, Own
from gyrostat.algorithms.user_components.component_equations import equations
from gyrostat.graph.network import Component
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia


@dataclass(frozen=True)
class Transfer:
    """By the names of the outports: ``shifts`` phi, ``S`` (6, own rates)."""

    shifts: Mapping[str, Shift]
    S: Mapping[str, Array]


transfer: Algorithm[Callable[[Component, Setting, Motion, Any], Transfer]] = Algorithm("transfer to the outports")


@transfer.row(FixedBase, DrivenBase, Displacement, RigidBody)
def rigid(c: Component, on: Setting, motion: Motion, memo: Any) -> Transfer:
    return Transfer(memo, dict.fromkeys(memo, NO_RATES))


@transfer.row(RotorInertia, ForceElement)
def leaf(c: Component, on: Setting, motion: Motion, memo: Any) -> Transfer:
    return Transfer({}, {})


@transfer.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> Transfer:
    return Transfer({name: memo.shift for name in c.outports}, {name: memo.S for name in c.outports})


def transfer_of(c: Component, on: Setting, motion: Motion, memo: Any, own: Own) -> Transfer:
    """By its row, or read off its other rows."""
    if transfer.serves(c):
        return transfer.of(c)(c, on, motion, memo)
    read = equations(c, on, motion, own.q, own.v)
    return Transfer(read.shifts, read.S)
