"""Contacts of frames with the world: which components of a frame's velocity a contact holds (H04 3.2.4.2).

A contact is bilateral: it pushes and pulls. What it holds is a selector Q on the velocity (angular, linear) of the
frame in its own axes; the force on the robot is Q^T f in the same axes, about the frame's origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gyrostat.configuration.packing import names_of
from gyrostat.errors import FrameError, ShapeError, clipped, nearest
from gyrostat.graph.network import Network

Array = np.ndarray
KINDS = ("fixed", "point", "normal")
SELECTORS = {"fixed": np.eye(6), "point": np.eye(6)[3:]}
"""Selectors (m, 6) that are the same wherever the frame is."""
Contacts = Iterable["FrameContact | str"] | Mapping[str, Any]
"""What every ``contacts=`` takes: contacts, frames (held fixed), or frames with what is held."""


@dataclass(frozen=True)
class FrameContact:
    """A frame in contact with the world.

    ``frame``: any port or entity. ``kind``: ``"fixed"`` holds all six components of its velocity, ``"point"`` the
    velocity of its origin, ``"normal"`` the component of that velocity along ``normal`` alone (it slides), or rows
    (m, 6): a selector Q on (angular, linear) velocity in the frame's own axes.

    ``normal`` is a direction in the axes of the **world**: the normal of the ground. It stays where it is when the foot
    turns, so that the row of a sliding contact changes with q; a direction that turns with the frame is a row, such as
    ``[[0, 0, 0, 0, 0, 1]]``. It is also the axis of the friction cone, ``friction`` its coefficient mu >= 0 (None:
    bilateral, without a cone). ``compliance`` >= 0 [1/kg, 1/(kg m^2)] is added to the diagonal of Lambda^-1: what is
    held yields by that much to its force, and redundant contacts share as springs would; 0: with least norm."""

    frame: str
    kind: Any = "fixed"
    normal: Any = (0.0, 0.0, 1.0)
    friction: float | None = None
    compliance: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise FrameError(f"FrameContact: frame must be a name, got {clipped(self.frame)}. Hint: 'left_foot.sole'")
        who = f"FrameContact '{self.frame}'"
        kind = self.kind if isinstance(self.kind, str) else _rows(self.kind, who)
        if isinstance(kind, str) and kind not in KINDS:
            raise ShapeError(
                f"{who}: there is no kind {kind!r}, expected {', '.join(KINDS)} or rows (m, 6). "
                f"Hint: {nearest(kind, KINDS)}"
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "normal", _direction(self.normal, who))
        if self.friction is not None:
            object.__setattr__(self, "friction", _not_negative(self.friction, "friction", who))
        object.__setattr__(self, "compliance", _not_negative(self.compliance, "compliance", who))

    @property
    def rows(self) -> int:
        """How many components are held."""
        return 1 if self.kind == "normal" else len(self.selector)

    def data(self) -> Any:
        """What follows the name of the frame in plain data: the kind, or all that is not as usual."""
        usual = {f.name: f.default for f in fields(self) if f.name != "frame"}
        said = {name: getattr(self, name) for name, value in usual.items() if getattr(self, name) != value}
        kind = self.kind if isinstance(self.kind, str) else [list(row) for row in self.kind]
        return kind if set(said) <= {"kind"} else said | {"kind": kind}

    @property
    def selector(self) -> Array:
        """Q (m, 6) of a contact whose selector does not depend on where the frame is."""
        return SELECTORS[self.kind] if isinstance(self.kind, str) else np.array(self.kind)


def _rows(given: Any, who: str) -> tuple[tuple[float, ...], ...]:
    try:
        Q = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(
            f"{who}: kind must be one of {', '.join(KINDS)} or rows (m, 6), got {clipped(given)}"
        ) from None
    Q = Q[None, :] if Q.ndim == 1 else Q
    if Q.ndim != 2 or Q.shape[1] != 6 or not len(Q) or not np.all(np.isfinite(Q)):
        raise ShapeError(f"{who}: its rows have shape {Q.shape}, expected (m, 6), finite. Hint: angular part first")
    return tuple(tuple(map(float, row)) for row in Q)


def _direction(given: Any, who: str) -> tuple[float, ...]:
    try:
        n = np.array(given, dtype=float)
    except (TypeError, ValueError):
        n = np.zeros(0)
    length = float(np.sqrt(n @ n)) if n.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 1e-12):
        raise ShapeError(f"{who}: normal must be a direction (3,), got {clipped(given)}. Hint: (0, 0, 1)")
    return tuple(map(float, n / length))


def _not_negative(given: Any, name: str, who: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        raise ShapeError(f"{who}: {name} must be a number, got {clipped(given)}")
    value = float(given)
    if not (np.isfinite(value) and value >= 0.0):
        raise ShapeError(f"{who}: {name} must be finite and not negative, got {value:g}")
    return value


def _named(frame: Any, held: Any, who: str) -> FrameContact:
    """A contact of a mapping: what is held, or the properties of a contact as plain data."""
    if not isinstance(held, Mapping):
        return FrameContact(frame, held)
    known = [f.name for f in fields(FrameContact)][1:]
    for name in held:
        if name not in known:
            raise ShapeError(f"{who}: a contact has no property {name!r}. Hint: {nearest(str(name), known)}")
    return FrameContact(frame, **held)


def as_contacts(contacts: Any, who: str) -> tuple[FrameContact, ...]:
    """Contacts in any of the forms of :data:`Contacts`."""
    if isinstance(contacts, FrameContact):
        contacts = (contacts,)
    if isinstance(contacts, Mapping):
        found = tuple(_named(frame, held, who) for frame, held in contacts.items())
    elif isinstance(contacts, list | tuple):
        found = tuple(c if isinstance(c, FrameContact) else FrameContact(c) for c in contacts)
    else:
        found = tuple(FrameContact(name) for name in names_of(contacts, who, "contacts"))
    if not found:
        raise FrameError(f"{who}: no contacts are named. Hint: contacts=['left_foot.sole']")
    return found


def refuse_compliance(contacts: Iterable[FrameContact], who: str, why: str) -> None:
    """Refuse contacts that yield, by name."""
    for c in contacts:
        if c.compliance:
            raise ShapeError(f"{who}: '{c.frame}' has compliance = {c.compliance:g}, and {why}. Hint: compliance=0")


def read_contacts(network: Network, contacts: Any, who: str) -> tuple[FrameContact, ...]:
    """Contacts in any of the forms of :data:`Contacts`; every frame is there, and named once."""
    found = as_contacts(contacts, who)
    ports = [network.port(c.frame) for c in found]
    for k, port in enumerate(ports):
        if port in ports[:k]:
            raise FrameError(
                f"{who}: the frame '{port}' is in contact twice. Hint: name it once, with all its rows (m, 6)"
            )
    return found
