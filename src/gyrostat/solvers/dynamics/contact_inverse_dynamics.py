"""Inverse dynamics of under-actuated robots in contact: efforts and contact forces of a motion (H04 3.2.4.2).

M a + h = tau + J^T f, tau = 0 where nothing drives the robot (its base, passive joints). Of all forces that do it,
inside the friction cones, the ones of least norm are taken; tau follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import Held, contact_jacobian, held_frames
from gyrostat.algorithms.contact.frame_contact import Contacts, FrameContact, as_contacts
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.floating import floats
from gyrostat.configuration.packing import names_of, together
from gyrostat.errors import ShapeError, StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.dynamics.cone_program import forces_in_cones
from gyrostat.solvers.dynamics.contact_dynamics import ContactSolver
from gyrostat.solvers.dynamics.contact_results import ContactResult, InverseContact
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.call_signatures import of_configuration
from gyrostat.solvers.machinery.loop_treatment import state_of
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


class ContactParts(ContactResult):
    """J (m, nv) and Q (m, 6) of all rows."""

    __slots__ = ()
    _fields = ("J", "Q")


class ContactMap(ContactSolver):
    """Rows of contacts; points with friction have (normal, t1, t2) in the world."""

    loops = "refused"
    loops_hint = "minimal coordinates, loops='auto'"
    inverts = False
    name = "rnea with contacts"
    state = ("q",)
    __call__ = of_configuration
    rate_axes = (("J", (1,)), ("Q", ()))
    Answer = ContactParts

    def held(self, net: Network) -> tuple[Held, ...]:
        return held_frames(net, self.contacts, cones=True)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        held, rest = self.held(net), np.zeros(net.model.nv)
        motions = sweep_motion(net, on, x["q"], rest, rest)
        Q = np.concatenate([h.selector(motions[h.port]) for h in held])
        return {"J": contact_jacobian(net, on, x["q"], held), "Q": Q}


def unactuated(model: Model, passive: Any = ()) -> list[int]:
    """Numbers of the rates that nothing drives: of free joints and a free base, of joints that are said to be passive
    or that a drive moves through a spring, and of those named here."""
    named = names_of(passive, "rnea", "passive")
    for name in named:
        if name not in model.layout.entities:
            raise StateError(
                f"rnea: passive names '{name}', which is no joint with coordinates. "
                f"Hint: {nearest(name, model.layout.entities)}"
            )
    behind = behind_springs(model)
    found: list[int] = []
    for name in model.layout.entities:
        entity = model.wiring.entities[name]
        idle = floats(model, name) or entity.said_passive is True or name in named
        found += [int(k) for k in model.layout.places((name,))[1] if idle or int(k) in behind]
    return sorted(found)


def contact_efforts(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    wrenches: Any = None,
    *,
    contacts: Contacts,
    passive: Any = (),
    t: Any = None,
    **others: Any,
) -> InverseContact:
    """``.tau`` (..., nv), zero where nothing drives the robot, and ``.forces[name]`` (..., 6); see :func:`rnea`."""
    expect_model(model, "rnea")
    for name in others:
        raise ShapeError(f"rnea: {name} is not taken with contacts. Hint: t, passive, wrenches")
    chosen = as_contacts(contacts, "rnea")
    for c in chosen:
        if c.friction is not None and c.kind not in ("point", "normal"):
            raise ShapeError(
                f"rnea: '{c.frame}' is {c.kind if isinstance(c.kind, str) else 'held by rows'}, and a friction cone "
                "belongs to a point. Hint: name the corners of the sole, each with kind='point'"
            )
    free = unactuated(model, passive)
    mapped: ContactMap = cached_solver(model, ContactMap, contacts=chosen)
    needed = cached_solver(model, InverseDynamics, representation="body")(q, v, a, wrenches, t=t)
    J, Q = mapped(q, t=t)
    shape, (needed, J, Q) = together("rnea", tau=(needed, 1), J=(J, 2), Q=(Q, 2))
    tau, forces = np.array(needed), np.zeros((len(needed), len(chosen), 6))
    for k in range(len(needed)):
        f = _forces(chosen, J[k][:, free].T, needed[k, free], state_of(k, shape))
        tau[k] -= J[k].T @ f
        tau[k, free] = 0.0
        forces[k] = _wrenches(chosen, Q[k], f)
    names = [c.frame for c in chosen]
    made = InverseContact.of(names, {mapped.network.port(name): k for k, name in enumerate(names)})
    return made(tau=tau.reshape(*shape, model.nv), forces=forces.reshape(*shape, len(names), 6))  # type: ignore[return-value]


def _wrenches(contacts: Sequence[FrameContact], Q: Array, f: Array) -> Array:
    at = np.cumsum([0, *(c.rows for c in contacts)])
    return np.array([Q[i:j].T @ f[i:j] for i, j in pairwise(at)])


SAME = 1e-8
"""Part of the forces on what is not driven that may be left over by rounding."""


def _forces(contacts: Sequence[FrameContact], A: Array, b: Array, state: str) -> Array:
    """f (m,) of least norm with A f = b, inside the cones."""
    m = A.shape[1]
    if not len(b):
        b, A = np.zeros(0), np.zeros((0, m))
    left, values, right = np.linalg.svd(A, full_matrices=False)
    rank = int(np.sum(values > 1e-9 * max(values.max(initial=0.0), 1e-300)))
    left, values, right = left[:, :rank], values[:rank], right[:rank]
    size = float(np.abs(b).max(initial=0.0))
    short = float(np.abs(b - left @ (left.T @ b)).max(initial=0.0))
    names = ", ".join(c.frame for c in contacts)
    if short > SAME * size:
        raise StateError(
            f"rnea: no forces at {names} make this motion{state}: {short:.3g} N m or N are missing where nothing "
            "drives the robot. Hint: more contacts, or another acceleration; gs.ContactDynamics gives possible ones"
        )
    asked = (left.T @ b) / values
    f = right.T @ asked
    if all(c.friction is None for c in contacts) or size == 0.0:
        return f
    found = forces_in_cones(contacts, right, asked / size)
    if found is None:
        raise StateError(
            f"rnea: no forces at {names} inside the friction cones make this motion{state}. Hint: more friction, more "
            "contacts, or another acceleration"
        )
    return found * size
