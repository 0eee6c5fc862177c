"""Forward dynamics with frames in contact: accelerations and contact forces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import kkt_factors
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.contact.contact_dynamics import (
    ContactMotion,
    Respond,
    accelerations_by_mass_matrix,
    accelerations_by_sweeps,
    by_sweeps,
)
from gyrostat.algorithms.contact.contact_rows import Held, held_frames
from gyrostat.algorithms.contact.frame_contact import Contacts, read_contacts
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.contact_results import ContactAcceleration, ContactResult
from gyrostat.solvers.dynamics.locked_joints import free_inertia_factors, without_locked
from gyrostat.solvers.machinery.call_signatures import of_force
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model

Array = np.ndarray


class ContactSolver(StateSolver):
    """Abstract: a function of a state and of frames in contact."""

    loops = "solved"
    inverts = True
    Answer: type[ContactResult] | None = None
    """Class of its results; that of a solver knows the names of its contacts. None: one array."""

    def __init__(
        self,
        model: Model,
        contacts: Contacts,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "body", rules, live, mode)
        self.contacts = read_contacts(self.network, contacts, self.name)
        names = [c.frame for c in self.contacts]
        also = {self.network.port(name): k for k, name in enumerate(names)}
        self.Result = None if self.Answer is None else self.Answer.of(names, also)

    def options(self) -> dict[str, Any]:
        options = {k: v for k, v in super().options().items() if k != "representation"}
        return options | {"contacts": self.contacts}

    def _spec_options(self) -> dict[str, Any]:
        return self.options() | {"contacts": {self.network.port(c.frame): c.data() for c in self.contacts}}

    def held(self, net: Network) -> tuple[Held, ...]:
        """The contacts on a network."""
        return held_frames(net, self.contacts)

    def response(self, net: Network, on: Setting, q: Array) -> Respond:
        """What generalised forces do to the robot without contacts: joints locked, loops closed."""
        n = net.model.nv
        if net.closures:
            rows = loop_equations(net, q).J
            closed, none = kkt_factors(net, on, q, rows, self.safe), np.zeros(len(rows))
            return lambda forces: closed.solve(np.concatenate([forces, none]))[:n]
        factors = free_inertia_factors(net, on, q, self.locked)
        return lambda forces: without_locked(factors.solve(without_locked(forces, self.locked)), self.locked)

    def without_contacts(
        self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads, respond: Respond
    ) -> Array:
        """The acceleration (nv,) that the robot would have without its contacts."""
        if net.closures:
            return self._closed(net, on, x, given, np.zeros(net.model.nv))[: net.model.nv]
        h: Any = sweep_forces(net, on, x["q"], x["v"], np.zeros(net.model.nv), given)[0]
        return respond(x["tau"] - h)

    def loop_multipliers(
        self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads, contact_forces: Array
    ) -> Array:
        """Forces (rows of loops,) that keep loops closed beside generalised forces (nv,) of contacts."""
        return -self._closed(net, on, x, given, contact_forces)[net.model.nv :]

    def _closed(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads, more: Array) -> Array:
        """a and -multipliers of loops that are constraints, for tau and further forces (nv,)."""
        q, v = x["q"], x["v"]
        h: Any = sweep_forces(net, on, q, v, np.zeros(net.model.nv), given)[0]
        found = loop_equations(net, q, v)
        factors = kkt_factors(net, on, q, found.J, self.safe)
        return factors.solve(np.concatenate([x["tau"] - h + more, -found.bias]))

    def motion(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> ContactMotion:
        """a, the forces of all rows, and the wrenches."""
        q, v, tau, held = x["q"], x["v"], x["tau"], self.held(net)
        if by_sweeps(net) and not self.locked:
            return accelerations_by_sweeps(net, on, q, v, tau, given, held)
        respond = self.response(net, on, q)
        free = self.without_contacts(net, on, x, given, respond)
        return accelerations_by_mass_matrix(net, on, q, v, held, free, respond)


class ContactDynamics(ContactSolver):
    """a (..., nv) and contact forces for tau, with frames held in contact: M a + h = tau + J^T f, J a + dJ/dt v = -C f
    [H04 (3.64)-(3.66)].

    ``contacts``: a list of :class:`FrameContact`, a list of frames (held fixed), or ``{frame: "fixed" | "point" | rows
    (m, 6)}``. They are bilateral, against the world (also where the base moves by itself). What they hold are the
    numbers w = Q V of each frame's velocity in its own axes (for ``"normal"``: n . velocity of the origin): dw/dt = 0
    holds exactly for any v, w = 0 or not; for ``"point"`` it is the acceleration of the origin against the world.
    Contacts that hold the same thing twice share its force with least norm, or as their ``compliance`` says; a frame
    that nothing moves gets none.

    Called with q (..., nq), v and tau (..., nv) [N m, N]; returns ``.a`` (..., nv) and ``.forces[name]`` (..., 6):
    torque [N m], then force [N] on the robot, about the frame's origin and in its axes. Drives, springs, loops of both
    treatments, wrenches are in it; batches, live properties, ``.jacobian("a", "q")``, CasADi, C as everywhere.
    ``order`` of joints: those that are left out are locked."""

    name = "contact_dynamics"
    state = ("q", "v", "tau")
    __call__ = of_force
    takes_wrenches = True
    rate_axes = (("a", (0,)), ("forces", ()))
    Answer = ContactAcceleration

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        found = self.motion(net, on, x, given)
        return {"a": found.a, "forces": found.wrenches}
