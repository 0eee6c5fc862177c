"""Variables of a phase, and its equations as functions that can be recorded.

A point is z = (xi, v, u, theta): local coordinates xi (nv,) of q around the reference, rates v, controls u, and what is
free in the whole problem: parameters and durations. The dynamics are implicit, with y = (a, f),

    R(z, y) = [M a + h - B u - J^T f;  J a + dJ/dt v] = 0,

f the forces of contacts and of loops that stay constraints. R is linear in y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations, loop_residual
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.algorithms.contact.contact_rows import (
    contact_jacobian,
    count,
    held_accelerations,
    held_frames,
    held_velocities,
)
from gyrostat.algorithms.contact.frame_contact import read_contacts, refuse_compliance
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.kinematics import sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import no_loads, sweep_forces
from gyrostat.algorithms.user_components.requirements import examined
from gyrostat.configuration.chart import local_rates, moved
from gyrostat.configuration.manifold import neutral
from gyrostat.engine.tracing.recording_scalar import Recorded, alone
from gyrostat.errors import GyrostatError
from gyrostat.graph.network import Network, network
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.dynamics.zero_moment_point import ground_wrench
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.shaft_elements import Backlash, Friction, both_ways
from gyrostat.studies.optimal_control.free_numbers import FreeNumbers
from gyrostat.studies.optimal_control.phase import Phase

Array = np.ndarray


class Split(NamedTuple):
    """A point taken apart: q (nq,), v, u, parameters by name, t, fraction and duration, and the network at it."""

    xi: Array
    q: Array
    v: Array
    u: Array
    parameters: Mapping[str, Any]
    t: Any
    fraction: Any
    duration: Any
    net: Network


@dataclass(frozen=True)
class PhaseSpace:
    """Phase ``number`` with the free numbers of the whole problem."""

    phase: Phase
    number: int
    free: FreeNumbers

    @cached_property
    def who(self) -> str:
        name = self.phase.name or str(self.number)
        return f"optimal_control: phase '{name}'"

    @property
    def model(self) -> Any:
        return self.phase.model

    @cached_property
    def net(self) -> Network:
        net = network(self.model)
        if net.driven:
            raise GyrostatError(f"{self.who}: the base of '{self.model.name}' moves by itself. Hint: base='free'")
        examined(net)
        _refuse_jumps(self.model, self.who)
        return net

    @cached_property
    def on(self) -> Setting:
        return Setting(representation("body"), gravity(self.model.context.gravity), 0.0)

    # ------------------------------------------------------------------ sizes
    @cached_property
    def n(self) -> int:
        """Rates."""
        return self.model.nv

    @cached_property
    def controls(self) -> tuple[int, ...]:
        """Rates that controls act on."""
        dofs = self.model.dofs
        if self.phase.controls is not None:
            return tuple(dofs.index(name) for name in self.phase.controls)
        root = f"{self.model.wiring.root}."
        entities = self.model.wiring.entities
        behind = behind_springs(self.model)
        driven = []
        for k, name in enumerate(dofs):
            owner = entities.get(name) or entities.get(name.rpartition(".")[0])
            passive = owner is not None and bool(getattr(owner, "said_passive", False))
            if not (name.startswith(root) or passive or k in behind):
                driven.append(k)
        return tuple(driven)

    @cached_property
    def m(self) -> int:
        """Controls."""
        return len(self.controls)

    @cached_property
    def nw(self) -> int:
        """Variables of a point, without free numbers."""
        return 2 * self.n + self.m

    @cached_property
    def nz(self) -> int:
        return self.nw + self.free.size

    @cached_property
    def held(self) -> tuple[Any, ...]:
        """Contacts on the network."""
        if not self.phase.contacts:
            return ()
        contacts = read_contacts(self.net, self.phase.frame_contacts, self.who)
        refuse_compliance(contacts, self.who, "optimal control holds contacts rigidly")
        return held_frames(self.net, contacts)

    @cached_property
    def loop_rows(self) -> list[int]:
        """Rows of loops that stay constraints."""
        return list(loop_structure(self.net).rows) if self.net.closures else []

    @cached_property
    def force_rows(self) -> slice:
        """Where y has the forces of contacts."""
        return slice(self.n, self.n + count(self.held))

    @cached_property
    def ny(self) -> int:
        return self.n + count(self.held) + len(self.loop_rows)

    @cached_property
    def reference(self) -> Array:
        """q (nq,) of xi = 0."""
        q = neutral(self.model)
        at = self.model.layout
        q[at.number_q] = 0.0
        return q

    @cached_property
    def turning(self) -> bool:
        """Whether there are quaternions, so that xi is not q."""
        return bool(self.model.layout.turning)

    # ------------------------------------------------------------------ recorded
    @property
    def data(self) -> dict[str, tuple[int, ...]]:
        """Further inputs of recorded functions: ``clock`` [s at which the point lies if durations are fixed, fraction
        of the phase], ``spent`` (free,): seconds per free number."""
        return {"clock": (2,), "spent": (self.free.size,)}

    def split(self, z: Array, clock: Any, spent: Any) -> Split:
        """Parts of a point."""
        n = self.n
        xi, v, u, theta = z[:n], z[n : 2 * n], z[2 * n : self.nw], z[self.nw :]
        live = {path: _scalar(theta[k]) for path, k in self.free.live(self.model).items()}
        net = network(self.model, live=live) if live else self.net
        q = moved(self.model, self.reference, xi) if self.turning else xi
        t = clock[0] + (spent @ theta if self.free.size else 0.0)
        fixed = self.phase.duration
        T = theta[self.free.duration(self.number)] if self.phase.free_duration else fixed
        return Split(xi, q, v, u, self.free.named(theta), t, clock[1], T, net)

    def efforts(self, u: Array) -> Array:
        """tau (nv,) of the controls."""
        tau: Any = np.zeros(self.n, dtype=object)
        tau[...] = 0.0
        tau[list(self.controls)] = u
        return tau

    def residual(self, split: Split, y: Array) -> Array:
        """R (ny,)."""
        net, n = split.net, self.n
        a = y[:n]
        h = sweep_forces(net, self.on, split.q, split.v, a)[0]
        R = h - self.efforts(split.u)
        if self.ny == n:
            return R
        J, rates = self._constraints(split, a)
        return np.concatenate([R - product(J.T, y[n:]), rates])

    def _constraints(self, split: Split, a: Array) -> tuple[Array, Array]:
        """J (rows, nv) and d(J v)/dt of contacts and loops."""
        net, J, rates = split.net, [], []
        if self.held:
            held = held_frames(net, [h.contact for h in self.held])
            J.append(contact_jacobian(net, self.on, split.q, held))
            motions = sweep_motion(net, self.on, split.q, split.v, a, world_motion(np.zeros(3)))
            rates.append(held_accelerations(held, motions, np.zeros(3)))
        if self.loop_rows:
            loops = loop_equations(net, split.q, split.v)
            J.append(loops.J[self.loop_rows])
            rates.append(product(loops.J[self.loop_rows], a) + loops.bias[self.loop_rows])
        return np.concatenate(J), np.concatenate(rates)

    def terms(self, split: Split) -> tuple[Array, Array]:
        """R(z, 0) (ny,) and dR/dy (ny, ny)."""
        n, zero = self.n, np.zeros(self.ny)
        K: Any = np.zeros((self.ny, self.ny), dtype=object)
        K[...] = 0.0
        K[:n, :n] = composite_mass_matrix(split.net, self.on, split.q)
        if self.ny > n:
            J, _ = self._constraints(split, zero[:n])
            K[:n, n:], K[n:, :n] = -J.T, J
        return self.residual(split, zero), K

    def coordinate_rates(self, split: Split) -> Array:
        """dxi/dt (nv,)."""
        return local_rates(self.model, split.xi, split.v) if self.turning else split.v

    def constraint_velocity(self, split: Split) -> Array:
        """J v (rows,), zero while contacts stand and loops are closed."""
        parts = []
        if self.held:
            motions = sweep_motion(split.net, self.on, split.q, split.v, np.zeros(self.n), world_motion(np.zeros(3)))
            parts.append(held_velocities(self.held, motions))
        if self.loop_rows:
            parts.append(product(loop_equations(split.net, split.q, split.v).J[self.loop_rows], split.v))
        return np.concatenate(parts) if parts else np.zeros(0)

    def loop_positions(self, split: Split) -> Array:
        """How far loops are open (rows,)."""
        return np.asarray(loop_residual(split.net, split.q))[self.loop_rows] if self.loop_rows else np.zeros(0)

    def momentum_step(self, split: Split, jump: Array, impulses: Array) -> tuple[Array, Array]:
        """M (v+ - v-) - J^T Lambda (nv,) and J v+ (rows,) of an impact at ``split`` (q, v+)."""
        net, n = split.net, self.n
        M = composite_mass_matrix(net, self.on, split.q)
        if self.ny == n:
            return M @ jump, np.zeros(0)
        J, _ = self._constraints(split, np.zeros(n))
        return M @ jump - product(J.T, impulses), product(J, split.v)

    def external_wrench(self, split: Split, a: Array) -> Array:
        """Torque about the world's origin and force (6,) that the motion needs from the world."""
        on = Setting(representation("absolute"), self.on.gravity, 0.0)
        return ground_wrench(split.net, on, split.q, split.v, a, no_loads)


def _scalar(x: Any) -> Any:
    return alone(x) if type(x) is Recorded else np.asarray(x)


def _refuse_jumps(model: Any, who: str) -> None:
    """Refuse elements whose force jumps: derivatives would not be told of it."""
    for name, entity in model.wiring.entities.items():
        if isinstance(entity, Friction):
            parts = [*both_ways(entity.coulomb), *(both_ways(entity.static) if entity.static is not None else ())]
            if any(parts) and not entity.smooth:
                raise GyrostatError(
                    f"{who}: '{name}' has dry friction with an exact sign: forces jump where the rate is zero. "
                    "Hint: give it smooth=0.01 [rad/s], or load the model with friction=False"
                )
        if isinstance(entity, Backlash):
            raise GyrostatError(f"{who}: '{name}' is a backlash: its force has corners. Hint: leave it out")
