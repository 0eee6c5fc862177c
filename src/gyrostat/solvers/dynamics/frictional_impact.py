"""Impacts of contacts that only push, with friction cones: the terms by machine code, the law state by state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.contact_dynamics import lambda_inverse, responses
from gyrostat.algorithms.contact.contact_rows import Held, contact_jacobian, held_frames, held_velocities
from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.algorithms.contact.impact_laws import impact as law_of_impact
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import rates, together
from gyrostat.errors import ShapeError, StateError, clipped
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.contact_dynamics import ContactSolver
from gyrostat.solvers.dynamics.contact_results import ContactResult, ImpactVelocity
from gyrostat.solvers.machinery.call_signatures import of_motion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

Array = np.ndarray


class ImpactParts(ContactResult):
    """w (m,), Lambda^-1 (m, m), M^-1 J^T (nv, m) and Q (m, 6) of all rows."""

    __slots__ = ()
    _fields = ("w", "K", "Y", "Q")


class ImpactTerms(ContactSolver):
    """What a law of impact is computed from; points with friction have rows (normal, t1, t2) in the world."""

    name = "impact"
    state = ("q", "v")
    __call__ = of_motion
    rate_axes = (("w", ()), ("K", ()), ("Y", (0,)), ("Q", ()))
    Answer = ImpactParts

    def held(self, net: Network) -> tuple[Held, ...]:
        return held_frames(net, self.contacts, cones=True)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, held = x["q"], self.held(net)
        motions = sweep_motion(net, on, q, x["v"], np.zeros(net.model.nv))
        J = contact_jacobian(net, on, q, held)
        Y = responses(self.response(net, on, q), J)
        Q = np.concatenate([h.selector(motions[h.port]) for h in held])
        return {"w": held_velocities(held, motions), "K": lambda_inverse(J, Y), "Y": Y, "Q": Q}


def with_friction(contacts: Sequence[FrameContact], friction: Any) -> tuple[FrameContact, ...]:
    """Contacts with the friction of a call where they have none of their own; those that cannot have a cone are
    refused."""
    found: list[FrameContact] = []
    for c in contacts:
        mu = c.friction if c.friction is not None else friction
        if mu is not None and c.kind not in ("point", "normal"):
            kind = c.kind if isinstance(c.kind, str) else "held by rows"
            raise ShapeError(
                f"impact: '{c.frame}' is {kind}, and a friction cone belongs to a point, got friction = {clipped(mu)}. "
                "Hint: name the corners of the sole, each with kind='point'; without friction it is bilateral"
            )
        found.append(c if mu is None else replace(c, friction=mu))
    return tuple(found)


def frictional_impact(
    model: Model, q: Any, v: Any, contacts: tuple[FrameContact, ...], restitution: float, law: str, options: Any
) -> ImpactVelocity:
    """v and impulses with one-sided contacts first, bilateral ones at rest after it."""
    if options.get("out") is not None:
        raise ShapeError("impact: out is not taken with friction. Hint: leave it out")
    ordered = sorted(contacts, key=lambda c: c.friction is None)
    pushing = [c for c in ordered if c.friction is not None]
    layout = ConeLayout(tuple(c.rows for c in pushing), bilateral=sum(c.rows for c in ordered if c.friction is None))
    terms: ImpactTerms = cached_solver(model, ImpactTerms, contacts=tuple(ordered))
    w, K, Y, Q = terms(q, v, **options)
    shape, (w, K, Y, Q, before) = together(
        "impact", w=(w, 1), K=(K, 2), Y=(Y, 2), Q=(Q, 2), v=(rates(model, v, "impact", "v"), 1)
    )
    after, impulses = np.array(before), np.zeros((len(w), len(ordered), 6))
    sizes = np.cumsum([0, *(c.rows for c in ordered)])
    for k in range(len(w)):
        found = law_of_impact(K[k], w[k], layout, [c.friction for c in pushing], restitution, law)
        if not found.converged:
            raise StateError(
                f"impact: the law '{law}' found no impulses inside the cones in state {k}, residual "
                f"{found.residual:.2g}. Hint: law='newton'"
            )
        after[k] = before[k] + Y[k] @ found.P
        for i in range(len(ordered)):
            rows = slice(sizes[i], sizes[i + 1])
            impulses[k, i] = Q[k, rows].T @ found.P[rows]
    place = [ordered.index(c) for c in contacts]
    names = [c.frame for c in contacts]
    made = ImpactVelocity.of(names, {terms.network.port(name): k for k, name in enumerate(names)})
    return made(  # type: ignore[return-value]
        v_after=after.reshape(*shape, model.nv), impulses=impulses[:, place].reshape(*shape, len(names), 6)
    )
