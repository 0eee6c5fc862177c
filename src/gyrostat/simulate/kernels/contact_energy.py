"""The energy of a model where a step with contacts ends, and where its surfaces are then, as one program; and what is
known of it: whether forces without contact keep it, or at least never raise it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.algorithms.matrices.energies import kinetic_energy_of, potential_energy_of
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.user_components.component_equations import foreign
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.graph.compliant_contacts import CompliantContact
from gyrostat.graph.network import Network
from gyrostat.simulate.kernels.contact_scene import WORLD
from gyrostat.spec.motor import Motor
from gyrostat.spec.pair_forces import Bushing, PointSpring
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Backlash, Damper, Friction, Spring

if TYPE_CHECKING:
    from gyrostat.simulate.kernels.model_kernels import ModelKernels

Array = np.ndarray
UNKNOWN, BOUNDED, KEPT_ENERGY = 0, 1, 2
"""What forces without contact do to the energy beside the work of efforts: nobody knows (components of users, bases
that move); they never raise it; they keep it."""
KEEPING = RotorInertia, Motor, Spring
PASSIVE = *KEEPING, Damper, Friction, Backlash
"""Kinds of elements on shafts."""
SPRINGS = PointSpring, Bushing


def energy_law(net: Network) -> int:
    """UNKNOWN, BOUNDED or KEPT_ENERGY for a network."""
    own = [c for c in foreign(net) if not c.kind.__module__.startswith("gyrostat.")]
    elements, pairs = net.transmission.elements, net.pairs
    known = all(c.kind in PASSIVE for c in elements) and all(c.kind in (*SPRINGS, CompliantContact) for c in pairs)
    if net.driven or own or not known:
        return UNKNOWN
    keeping = all(c.kind in KEEPING for c in elements) and all(
        c.kind in SPRINGS and not np.any(c["damping"]) for c in pairs
    )
    return KEPT_ENERGY if keeping and not foreign(net) else BOUNDED


def energies(net: Network, on: Any, q: Array, v: Array) -> tuple[Array, Mapping[int, Any]]:
    """Kinetic and potential energy (2,) [J], and the motions of all ports."""
    motions = sweep_motion(net, on, q, v, np.zeros(len(v)))
    return np.array([kinetic_energy_of(net, on, motions, q, v), potential_energy_of(net, on, motions, q)]), motions


def contact_energy(kernels: ModelKernels, ports: Sequence[int | None]) -> Program:
    """(t, q, v, live) to energies (2,) [J] and poses (ports, 12) of outports, None for the world; energies are zero
    where nothing is known of them."""
    model = kernels.model
    known = energy_law(kernels.net) != UNKNOWN

    def function(t: Array, q: Array, v: Array, live: Array) -> Mapping[str, Any]:
        net, on = kernels.scene(t[0], live)
        found, motions = energies(net, on, q, v) if known else (
            np.zeros(2), sweep_motion(net, on, q, v, np.zeros(len(v)))
        )  # fmt: skip
        at = [WORLD if port is None else motions[port].pose for port in ports]
        poses = [np.concatenate([np.ravel(pose.R), pose.p]) for pose in at]
        return {"energies": found, "poses": np.concatenate([np.zeros(0), *poses, np.zeros(1)])}

    shapes = {"t": (1,), "q": (model.nq,), "v": (model.nv,), "live": (kernels.live_size,)}
    with np.errstate(all="ignore"):
        return record(function, shapes, f"{model.name}_contact_energy")
