"""The robot as a whole: centre of mass, inertia, momentum, energies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.foreign.component_equations import coriolis_and_damping, equations, foreign, own_state
from gyrostat.algorithms.matrices.body_jacobians import bodies, rotors
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.frame_forces import frame_force_energy
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, own_inertia, spin_momentum
from gyrostat.algorithms.shafts.elements import element_energy, element_inertia
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.calls import OfConfiguration, OfMotion
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.algebra import force_to_child, join
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spatial.representation import Motion, Pose, representation

ABSOLUTE = representation("absolute")
WEIGHTLESS = Setting(representation("body"), Gravity(np.zeros(3)))


class Mass(NamedTuple):
    """``m`` (...) [kg], ``p`` (..., 3) centre of mass in the world [m], ``J`` (..., 3, 3) inertia about it, world axes
    [kg m^2]."""

    m: Array
    p: Array
    J: Array


class TotalInertia(OfConfiguration):
    """Total mass, centre of mass and inertia of the robot [H04 4.3.2.2]; bodies that are fixed to the world count."""

    name = "total_inertia"
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


class CenterOfMass(OfMotion):
    """Position and velocity of the centre of mass."""

    name = "center_of_mass"
    needs = ("rigid",)
    Result = Centre
    rate_axes = (("p", ()), ("v", ()))

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, momentum = _momentum(net, on, x["q"], x["v"])
        return {"p": centre_of(total, self), "v": momentum[3:] / total.m}


def _momentum(net: Network, on: Setting, q: Array, v: Array) -> tuple[SpatialInertia, Array]:
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


class CentroidalMomentum(OfMotion):
    """Momentum (..., 6) about the centre of mass, world axes: angular [N m s], then linear [N s]."""

    name = "centroidal_momentum"
    needs = ("rigid",)
    result = "h"
    rate_axes = (("h", ()),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, momentum = _momentum(net, on, x["q"], x["v"])
        return {"h": force_to_child(np.eye(3), centre_of(total, self), momentum)}


class CentroidalMatrix(OfConfiguration):
    """A(q) (..., 6, nv): momentum about the centre of mass = A v [Orin, Goswami]; the forces of unit accelerations that
    the composite-body algorithm carries to the base."""

    name = "centroidal_matrix"
    needs = ("rigid",)
    result = "A"
    rate_axes = (("A", (1,)),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, columns = total_inertia(net, Setting(ABSOLUTE, on.gravity, on.t), x["q"])
        p = centre_of(total, self)
        found = [force_to_child(np.eye(3), p, columns.get(k, np.zeros(6))) for k in range(net.model.nv)]
        return {"A": np.stack(found, axis=1) if found else np.zeros((6, 0))}


class KineticEnergy(OfMotion):
    """T = 1/2 sum of V^T M V (...) [J], rotors of drives included: I (w_r^2 / 2 + w_r z . w) above what their carrier
    has. The constant momentum of gyrostats does no work and is left out."""

    name = "kinetic_energy"
    result = "T"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        motions = sweep_motion(net, on, x["q"], x["v"], np.zeros(net.model.nv))
        T: Any = 0.0
        for c in bodies(net):
            motion = motions[c.inport]  # type: ignore[index]
            T = T + 0.5 * (motion.V @ (own_inertia(c, on, motion) @ motion.V))
        for c in foreign(net):
            motion, own = motions[c.inport], own_state(net, c, x["q"], x["v"])  # type: ignore[index]
            V = np.concatenate([motion.V, own.v])
            T = T + 0.5 * (V @ (equations(c, on, motion, own.q, own.v).whole @ V))
        every = net.transmission.at(x["q"]).rates(x["v"])
        for c in rotors(net):
            motion, rate = motions[c.inport], every[c.v_at.start]  # type: ignore[index]
            T = T + (spin_momentum(c, on, motion) @ motion.V + 0.5 * c["inertia"] * rate) * rate
        still = element_inertia(net, x["q"], x["v"])[0] if net.transmission.elements else {}
        for (j, k), inertia in still.items():
            T = T + 0.5 * inertia * x["v"][j] * x["v"][k]
        return {"T": T}


def _masses(net: Network, motions: Mapping[int, Motion], q: Array) -> Iterator[tuple[Pose, SpatialInertia]]:
    """Every body with the pose of its frame, its inertia in that frame."""
    rest = np.zeros(net.model.nv)
    for c in bodies(net):
        yield motions[c.inport].pose, SpatialInertia.at_centre(c["mass"], c["com"], c["inertia"])  # type: ignore[index]
    for c in foreign(net):
        pose, own = motions[c.inport].pose, own_state(net, c, q, rest)  # type: ignore[index]
        still = equations(c, WEIGHTLESS, Motion(pose, np.zeros(6), np.zeros(6)), own.q, own.v)
        if not still.massless:
            yield pose, still.body


class PotentialEnergy(OfConfiguration):
    """U (...) [J] of gravity, -m g . p summed over bodies in uniform gravity, in fields the potential whose derivatives
    are the weights and gradient torques of extended bodies; and of springs, on shafts and between frames."""

    name = "potential_energy"
    needs = ("rigid", "energy", "weighs")
    result = "U"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        rest = np.zeros(net.model.nv)
        motions = sweep_motion(net, on, x["q"], rest, rest)
        U: Any = element_energy(net, x["q"]) + frame_force_energy(net, on, motions)
        for c in foreign(net):
            if any(kind in stored_energy.rows for kind in c.kind.__mro__):
                own = own_state(net, c, x["q"], rest)
                U = U + stored_energy.of(c)(c, on, motions[c.inport], own.q)  # type: ignore[index]
        for pose, M in _masses(net, motions, x["q"]):
            U = U + on.gravity.energy_of(pose, M)
        return {"U": U}
