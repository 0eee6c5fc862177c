"""Forces in the sections of a flexible beam, by equilibrium of the part beyond them.

S(x) = (N, V_y, V_z, T, M_y, M_z): what the part beyond x exerts on the part before it, in the axes of the section:
normal force (tension positive), shear forces, torque, bending moments about y and z. On the part beyond x act forces at
its ports, weight, and inertia rho A a, rho I alpha + w x rho I w of its sections, I about y and z only where they
have inertia about these. That holds to the accuracy of the motion, damping included."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.solvers.dynamics.beam_stations import Sections, Stations, profile
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.model import Model

Array = np.ndarray


def by_equilibrium(
    model: Model,
    name: str,
    at: Stations,
    state: tuple[Array, Array, Array],
    wrenches: Any,
    g: Array,
    motion: tuple[Sections, ...],
) -> Array:
    """S (m, 6) at the places that were asked for; ``g`` (3,): gravity."""
    beam, (here, _, inside) = at.beam, motion
    of = profile(beam, inside.x)
    weight = beam.density * at.weights.ravel()
    force = (weight * of["area"])[:, None] * (g - inside.a)
    J = weight[:, None] * np.stack([of["I_y"] + of["I_z"], of["I_y"], of["I_z"]], axis=1)
    J = J if beam.sections_turn else J * np.array([1.0, 0.0, 0.0])
    spin = J * inside.alpha + np.cross(inside.w, J * inside.w)
    moment = -np.einsum("mij,mj->mi", inside.R, spin)
    ports = _at_ports(model, name, state, wrenches)
    S = np.zeros((len(here.x), 6))
    for k, (x, R, p) in enumerate(zip(here.x, here.R, here.p, strict=True)):
        beyond = inside.x > x
        F = force[beyond].sum(axis=0)
        M = moment[beyond].sum(axis=0) + np.cross(inside.p[beyond] - p, force[beyond]).sum(axis=0)
        for place, origin, n, f in ports:
            if place >= x * (1.0 - 1e-12) and place > 0.0:
                F, M = F + f, M + n + np.cross(origin - p, f)
        S[k] = np.concatenate([R.T @ F, R.T @ M])
    return S


def _at_ports(
    model: Model, name: str, state: tuple[Array, Array, Array], wrenches: Any
) -> list[tuple[float, Array, Array, Array]]:
    """For each port: its place [m] along the beam, its origin, and moment and force on the beam there, in the world."""
    beam = model.wiring.entities[name]
    assert isinstance(beam, FlexibleBeam)
    places = {"a": 0.0, "b": beam.length} | {frame.name: frame.translation[0] for frame in beam.frames}
    names = [f"{name}.{port}" for port in places]
    forces = cached_solver(model, InverseDynamics, representation="body").port_forces(*state, wrenches, ports=names)
    motions = ForwardKinematics(model, names, mode="interpret")(state[0])
    entry = model.wiring.tree.inport[name]
    found: list[tuple[float, Array, Array, Array]] = []
    for port, x in places.items():
        motion, F = motions[f"{name}.{port}"], forces[f"{name}.{port}"]
        on = 1.0 if port == entry else -1.0  # what goes in acts on the beam, what goes out on what it carries
        found.append((x, motion.p, on * (motion.R @ F[:3]), on * (motion.R @ F[3:])))
    return found
