"""Impacts of frames with the world: the jump of the velocity, and the impulses that make it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_dynamics import by_sweeps, velocities_by_mass_matrix, velocities_by_sweeps
from gyrostat.algorithms.contact.contact_rows import Held, held_velocities
from gyrostat.algorithms.contact.frame_contact import Contacts, as_contacts, refuse_compliance
from gyrostat.algorithms.contact.impact_laws import LAWS
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.errors import GyrostatError, ShapeError, clipped, nearest
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.contact_dynamics import ContactSolver
from gyrostat.solvers.dynamics.contact_results import ImpactVelocity
from gyrostat.solvers.dynamics.frictional_impact import frictional_impact, with_friction
from gyrostat.solvers.machinery.call_signatures import of_motion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
NO_LAW = "what yields has no law of impulses"


class Impact(ContactSolver):
    """v after an impact, and the impulses: M (v' - v) = J^T P, w' = -e w with w = J v what the contacts hold
    [H04 (3.68)-(3.70)]; P = -(1 + e) Lambda w.

    The impact is bilateral: every component that a contact holds jumps, whichever way it moved; see :func:`impact` for
    contacts that only push. ``restitution`` e between 0 and 1, a number for all contacts. Positions do not change
    during it; forces that are finite, springs and friction of drives among them, have no part in it, inertia of rotors
    has. A ``compliance`` is refused. Where loops are constraints, v is taken as it is: the impact keeps J_l v.
    Contacts as in :class:`ContactDynamics`; those that hold the same thing twice share its impulse.

    Called with q (..., nq) and v (..., nv); returns ``.v`` (..., nv) and ``.impulses[name]`` (..., 6) [N m s, N s] on
    the robot in the frame's axes. Derivatives: ``.jacobian("v_after", "v")``."""

    name = "impact"
    state = ("q", "v")
    __call__ = of_motion
    rate_axes = (("v_after", (0,)), ("impulses", ()))
    Answer = ImpactVelocity

    def __init__(
        self,
        model: Model,
        contacts: Contacts,
        restitution: float = 0.0,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        self.restitution = read_restitution(restitution, self.name)
        super().__init__(model, contacts, rules, live, mode)
        refuse_compliance(self.contacts, self.name, NO_LAW)

    def options(self) -> dict[str, Any]:
        return super().options() | {"restitution": self.restitution}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, held = x["q"], x["v"], self.held(net)
        w = self.velocities(net, on, q, v, held) * (1.0 + self.restitution)
        if by_sweeps(net) and not self.locked:
            jump = velocities_by_sweeps(net, on, q, held, w)
        else:
            jump = velocities_by_mass_matrix(net, on, q, held, w, self.response(net, on, q))
        return {"v_after": v + jump.a, "impulses": jump.wrenches}

    def velocities(self, net: Network, on: Setting, q: Array, v: Array, held: Sequence[Held]) -> Array:
        """w (m,) of all contacts."""
        return held_velocities(held, sweep_motion(net, on, q, v, np.zeros(net.model.nv)))


def read_restitution(given: Any, who: str) -> float:
    """A coefficient between 0 and 1."""
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    if not number or not 0.0 <= float(given) <= 1.0:
        raise ShapeError(f"{who}: restitution must be a number between 0 and 1, got {clipped(given)}")
    return float(given)


def impact(
    model: Model,
    q: Any,
    v: Any,
    contacts: Contacts,
    restitution: float = 0.0,
    friction: float | None = None,
    law: str = "poisson",
    **options: Any,
) -> ImpactVelocity:
    """``.v`` (..., nv) after an impact and ``.impulses[name]`` (..., 6) for q (..., nq), v (..., nv).

    Without friction contacts are bilateral, see :class:`Impact`. With ``friction``, or a contact's own, contacts
    ``"point"`` and ``"normal"`` only push, along their ``normal``, within the cone \\|P_t\\| <= mu P_n (``"normal"``:
    no friction at all), and those that part stay free; ``restitution`` is that of the normal, by ``law``
    ``"poisson"``, ``"newton"`` or ``"sequential"`` (:mod:`~gyrostat.algorithms.contact.impact_laws`). Energy never
    grows. Contacts without friction beside them are held, and come to rest. Not recorded: one state after the other,
    without derivatives or C."""
    expect_model(model, "impact")
    chosen = as_contacts(contacts, "impact")
    refuse_compliance(chosen, "impact", NO_LAW)
    e = read_restitution(restitution, "impact")
    if not isinstance(law, str) or law not in LAWS:
        raise GyrostatError(f"impact: there is no law {clipped(law)}. Hint: {nearest(str(law), LAWS)}")
    if friction is not None or any(c.friction is not None for c in chosen):
        return frictional_impact(model, q, v, with_friction(chosen, friction), e, law, options)
    return cached_solver(model, Impact, contacts=chosen, restitution=e)(q, v, **options)
