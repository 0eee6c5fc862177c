"""Velocities that contacts allow: the collision algorithm as inverse velocity kinematics (H04 5.4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_dynamics import by_sweeps, velocities_by_mass_matrix
from gyrostat.algorithms.contact.contact_rows import held_frames, held_velocities
from gyrostat.algorithms.contact.frame_contact import as_contacts, read_contacts
from gyrostat.algorithms.contact.inverse_velocity import jump_of_free_joints
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import names_of
from gyrostat.engine.tracing.choose import where
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.leg_partition import dependent_joints
from gyrostat.solvers.dynamics.locked_joints import free_inertia_factors, without_locked
from gyrostat.solvers.machinery.call_signatures import of_motion
from gyrostat.solvers.machinery.joint_order import read_joints
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

HELD = 1e-8
"""What contacts may still move, as a share of v [m/s, rad/s]."""


class ContactVelocities(StateSolver):
    """v (..., nv) for q, v: the rates of ``independent`` joints as they are, those of the others changed so that the
    contacts hold, J v = 0. Contacts as in :class:`ContactDynamics`; ``independent`` by default all joints but the
    nearest to each contact.

    It is the inelastic impact (3.68)-(3.70) with the independent joints locked, by sweeps along the tree: no Jacobian
    of a foot is set up or inverted [H04 5.4.3]. Where the dependent joints could still move, they change as little as
    possible (kinetic energy of the change); where they cannot follow, which is refused, a leg is singular."""

    name = "contact_velocities"
    state = ("q", "v")
    __call__ = of_motion
    result = "v_held"
    rate_axes = (("v_held", (0,)),)

    def __init__(
        self,
        model: Model,
        contacts: Any,
        independent: str | Sequence[str] | None = None,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "body", rules, live, mode)
        self.contacts = read_contacts(self.network, contacts, self.name)
        if self.network.driven:
            raise GyrostatError(
                f"{self.name}: the base of '{model.name}' moves by itself. Hint: base='free' or 'fixed'"
            )
        self._named = independent is not None
        if independent is None:
            held = held_frames(self.network, self.contacts)
            follow = dependent_joints(model, self.network, held, None, None, self.name)
            independent = tuple(name for name in model.layout.entities if name not in follow)
        self.independent = read_joints(model, independent, self.name) if len(independent) else ()
        self.kept = frozenset(int(k) for k in model.layout.places(self.independent)[1])

    def options(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().options().items() if k != "representation"}
        return kept | {"contacts": self.contacts, "independent": self.independent if self._named else None}

    def _spec_options(self) -> dict[str, Any]:
        return self.options() | {"contacts": {self.network.port(c.frame): c.data() for c in self.contacts}}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, held = x["q"], x["v"], held_frames(net, self.contacts)
        rest = np.zeros(net.model.nv)
        locked = sorted(self.kept | set(self.locked))
        w = held_velocities(held, sweep_motion(net, on, q, v, rest))
        if by_sweeps(net):
            jump = jump_of_free_joints(net, on, q, held, w, locked)
        else:
            factors = free_inertia_factors(net, on, q, locked)
            respond = lambda f: without_locked(factors.solve(without_locked(f, locked)), locked)  # noqa: E731
            jump = velocities_by_mass_matrix(net, on, q, held, w, respond).a
        after = v + jump
        left = held_velocities(held, sweep_motion(net, on, q, after, rest))
        held_still = left @ left <= HELD**2 * (1e-12 + v @ v)
        return {"v_held": after * where(held_still, 1.0, np.nan)}

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        super().examine(state, nonfinite)
        if nonfinite == "raise":
            frames = ", ".join(c.frame for c in self.contacts)
            raise StateError(
                f"{self.name}: the joints that are to follow cannot hold {frames} for these rates. Hint: a leg is "
                "stretched; or fewer independent joints"
            )


def contact_velocities(
    model: Model, q: Any, v: Any, contacts: Any, independent: str | Sequence[str] | None = None, **options: Any
) -> Array:
    """v (..., nv) that contacts allow, the rates of independent joints kept; see :class:`ContactVelocities`."""
    expect_model(model, ContactVelocities.name)
    chosen = as_contacts(contacts, ContactVelocities.name)
    kept = None if independent is None else names_of(independent, ContactVelocities.name, "independent")
    return cached_solver(model, ContactVelocities, contacts=chosen, independent=kept)(q, v, **options)
