"""Centre of mass, total mass and inertia, and the momentum of the whole robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import bodies, rotors
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, own_inertia, spin_momentum
from gyrostat.algorithms.user_components.component_equations import coriolis_and_damping, equations, foreign, own_state
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.algebra import join
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spatial.representation import representation

ABSOLUTE = representation("absolute")


class Mass(NamedTuple):
    """``m`` (...) [kg], ``p`` (..., 3) centre of mass in the world [m], ``J`` (..., 3, 3) inertia about it, world axes
    [kg m^2]."""

    m: Array
    p: Array
    J: Array


class TotalInertia(StateSolver):
    """Total mass, centre of mass and inertia of the robot [H04 4.3.2.2]; bodies that are fixed to the world count."""

    loops = "any"
    name = "total_inertia"
    state = ("q",)
    __call__ = of_configuration
    needs = ("rigid",)
    Result = Mass
    rate_axes = (("m", ()), ("p", ()), ("J", ()))

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, _ = total_inertia(net, Setting(ABSOLUTE, on.gravity, on.t), x["q"])
        p = centre_of(total, self)
        return {"m": total.m, "p": p, "J": total.J - total.m * steiner(p)}


def centre_of(total: SpatialInertia, solver: StateSolver) -> Array:
    """Centre of mass (3,), if there is any mass."""
    if isinstance(total.m, float) and total.m <= 0.0:
        raise StateError(f"{solver.name}: '{solver.model.name}' has no mass. Hint: give its bodies a mass")
    return total.h / total.m


class Centre(NamedTuple):
    """Position ``p`` [m] and velocity ``v`` [m/s] of the centre of mass in the world, (..., 3)."""

    p: Array
    v: Array


class CenterOfMass(StateSolver):
    """Position and velocity of the centre of mass."""

    loops = "any"
    name = "center_of_mass"
    state = ("q", "v")
    __call__ = of_motion
    needs = ("rigid",)
    Result = Centre
    rate_axes = (("p", ()), ("v", ()))

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, momentum = total_momentum(net, on, x["q"], x["v"])
        return {"p": centre_of(total, self), "v": momentum[3:] / total.m}


def total_momentum(net: Network, on: Setting, q: Array, v: Array) -> tuple[SpatialInertia, Array]:
    """Total inertia and momentum (6,) about the world's origin; of a moving base too, and of gyrostats."""
    on = Setting(ABSOLUTE, on.gravity, on.t)
    motions = sweep_motion(net, on, q, v, np.zeros(len(v)))
    total, momentum = SpatialInertia(0.0, np.zeros(3), np.zeros((3, 3))), np.zeros(6)
    for c in bodies(net):
        motion = motions[c.inport]  # type: ignore[index]
        M = own_inertia(c, on, motion)
        total, momentum = total + M, momentum + M @ motion.V
        momentum = momentum + join(motion.pose.R @ c["momentum"], np.zeros(3))
    for c in foreign(net):
        motion, own = motions[c.inport], own_state(net, c, q, v)  # type: ignore[index]
        moving = equations(c, on, motion, own.q, own.v)
        spun = join(coriolis_and_damping(c, on, motion, own.q, own.v).l, np.zeros(3))
        total, momentum = total + moving.body, momentum + moving.M @ motion.V + moving.G @ own.v + spun
    every = net.transmission.at(q).rates(v)
    for c in rotors(net):
        momentum = momentum + spin_momentum(c, on, motions[c.inport]) * every[c.v_at.start]  # type: ignore[index]
    return total, momentum
