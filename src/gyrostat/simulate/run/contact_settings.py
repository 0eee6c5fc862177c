"""How contacts are treated in a run, as users say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gyrostat.algorithms.contact.impact_laws import LAWS
from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.plant.rigid_contacts import rigid_candidates
from gyrostat.simulate.run.settings import spelt
from gyrostat.spec.model import Model

WHO = "simulate"
NAMES = ("impact",)
UNFIT = {
    "variational": "its discrete momenta know no forces of contact",
    **dict.fromkeys(
        ("newmark", "trapezoid", "generalised-alpha", "dina"),
        "the equations of its steps know no force that follows the slip of a contact",
    ),
}
"""Methods that cannot treat closed contacts, and why."""


def expect_method(model: Model, method: Any) -> None:
    """Refuse a method that cannot treat closed contacts, for a model that has rigid ones."""
    name = spelt(method)
    if name in UNFIT and rigid_candidates(model):
        raise GyrostatError(
            f"{WHO}: method '{name}' does not serve '{model.name}', which has rigid contacts: {UNFIT[name]}. Hint: "
            "'dopri5', 'dop853', 'rk4', 'bdf', 'radau', or 'moreau'; or a stiffness of the contacts"
        )


def by_events(method: Any) -> bool:
    """Whether contacts of a method, given by its name, are treated by events; others treat them in their steps."""
    known = METHODS.get(spelt(method)) if isinstance(method, str) else None
    return known is None or not known.treats_contacts


def expect_impact(model: Model, options: Mapping[str, Any], events: bool) -> None:
    """Refuse a law of impact that there is not, or that nobody asks for."""
    if "impact" not in options or not events:
        return
    law = options["impact"]
    if law not in LAWS:
        raise GyrostatError(f"{WHO}: there is no impact law {clipped(law)}. Hint: {nearest(str(law), LAWS)}")
    if not rigid_candidates(model):
        raise GyrostatError(
            f"{WHO}: impact={law!r} is about rigid contacts, and '{model.name}' has none. Hint: leave it out; joint "
            "limits have JointLimits(restitution=...)"
        )
