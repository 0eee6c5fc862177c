"""A phase of a motion as data: which robot, what it stands on, how long, what it costs, what must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.frame_contact import FrameContact, as_contacts
from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.optimal_control.joined_conditions import joined_conditions
from gyrostat.studies.study_data import StudyData

COSTS = ("torque", "effort", "velocity", "acceleration", "time")
"""Words for running costs: u.u, u.u + v.v [H04 (5.4)], v.v, a.a, 1."""


@dataclass(frozen=True, eq=False)
class Phase(StudyData):
    """A part of a motion with the same contacts throughout.

    ``contacts``: frames that stand, in any form of :class:`gs.ContactDynamics`; none: the robot is free, or fixed by
    its base. ``duration`` [s]: a number, or (low, high) where it is free. ``nodes``: points of the grid.

    ``cost``: what is integrated over time, a function of the point (:class:`Point`), one of ``COSTS``, or a mapping
    {word: weight}; ``end_cost``: a function of the point at the end, added once. ``path``: conditions that hold at
    every point; ``start``, ``end``: at its ends, functions of the point or data {"q": ..., "v": ...} in which nan is
    free; each may be a list of functions, such as :func:`friction_cone`. A bare array that a function returns is >= 0
    in ``path`` and == 0 in ``start`` and ``end``; others are :func:`at_least`, :func:`at_most`, :func:`between`,
    :func:`equal`.

    ``reset``: how the state goes on into the next phase: None without change, ``"impact"`` with the impulses that
    bring the contacts of the next phase to rest, or a function (end, start) of conditions that are zero.
    ``limits``: ``"model"`` for those of joints and motors, None, or a mapping with "q", "v" or "u": bounds (low, high)
    or, of v and u, a greatest magnitude. ``controls``: names of the driven rates, by default all but those of a free
    base, of passive joints and of joints behind springs (their rotors are driven)."""

    model: Model
    contacts: Any = ()
    duration: Any = 1.0
    nodes: int = 31
    cost: Any = None
    path: Any = None
    start: Any = None
    end: Any = None
    reset: Any = None
    end_cost: Any = None
    limits: Any = "model"
    controls: tuple[str, ...] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        who = f"Phase '{self.name}'" if self.name else "Phase"
        expect_model(self.model, who)
        none = not isinstance(self.contacts, str) and hasattr(self.contacts, "__len__") and len(self.contacts) == 0
        contacts = () if none else as_contacts(_as_given(self.contacts), who)
        object.__setattr__(self, "contacts", tuple(plain_contact(c) for c in contacts))
        object.__setattr__(self, "duration", _duration(self.duration, who))
        if isinstance(self.nodes, bool) or not isinstance(self.nodes, int | np.integer) or self.nodes < 2:
            raise GyrostatError(f"{who}: nodes must be a whole number of at least 2, got {clipped(self.nodes)}.")
        if not (self.cost is None or callable(self.cost)):
            _expect_words(self.cost, who)
        if not (self.end_cost is None or callable(self.end_cost)):
            raise GyrostatError(f"{who}: end_cost must be a function of the point, got {clipped(self.end_cost)}.")
        for name in ("path", "start", "end"):
            object.__setattr__(self, name, joined_conditions(getattr(self, name)))
        if not (self.path is None or callable(self.path)):
            raise GyrostatError(f"{who}: path must be a function of the point, got {clipped(self.path)}.")
        for name in ("start", "end"):
            given = getattr(self, name)
            if not (given is None or callable(given) or isinstance(given, Mapping)):
                raise GyrostatError(
                    f"{who}: {name} must be a function of the point or a mapping with q and v, got {clipped(given)}."
                )
            if isinstance(given, Mapping):
                for key in given:
                    if key not in ("q", "v"):
                        raise GyrostatError(f"{who}: {name} has no {key!r}. Hint: {nearest(str(key), ('q', 'v'))}")
        if not (self.reset is None or self.reset == "impact" or callable(self.reset)):
            raise GyrostatError(f"{who}: reset must be None, 'impact' or a function, got {clipped(self.reset)}.")
        if isinstance(self.limits, Mapping):
            for key in self.limits:
                if key not in ("q", "v", "u"):
                    raise GyrostatError(f"{who}: limits has no {key!r}. Hint: {nearest(str(key), ('q', 'v', 'u'))}")
        elif not (self.limits is None or self.limits == "model"):
            raise GyrostatError(f"{who}: limits must be 'model', None or a mapping, got {clipped(self.limits)}.")
        if self.controls is not None:
            names = (self.controls,) if isinstance(self.controls, str) else tuple(self.controls)
            for name in names:
                if name not in self.model.dofs:
                    raise GyrostatError(f"{who}: no rate '{name}'. Hint: {nearest(str(name), self.model.dofs)}")
            if len(set(names)) < len(names):
                raise GyrostatError(f"{who}: controls names a rate twice. Hint: name it once")
            object.__setattr__(self, "controls", names)

    @property
    def free_duration(self) -> bool:
        """Whether the duration is to be found."""
        return isinstance(self.duration, tuple)

    @property
    def frame_contacts(self) -> tuple[FrameContact, ...]:
        """The contacts."""
        return tuple(FrameContact(**dict(c)) for c in self.contacts)


def _as_given(contacts: Any) -> Any:
    """Contacts; those that are plain data, as a phase keeps them, by frame."""
    if isinstance(contacts, list | tuple) and all(isinstance(c, Mapping) and "frame" in c for c in contacts):
        return {c["frame"]: {k: x for k, x in c.items() if k != "frame"} for c in contacts}
    return contacts


def plain_contact(c: FrameContact) -> dict[str, Any]:
    """A contact as data."""
    kind = c.kind if isinstance(c.kind, str) else [list(row) for row in c.kind]
    return {
        "frame": c.frame,
        "kind": kind,
        "normal": list(c.normal),
        "friction": c.friction,
        "compliance": c.compliance,
    }


def _duration(given: Any, who: str) -> float | tuple[float, float]:
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    good = bool(np.all(np.isfinite(numbers)) and np.all(numbers > 0.0))
    if numbers.shape == () and good:
        return float(numbers)
    if numbers.shape == (2,) and good and numbers[0] < numbers[1]:
        return float(numbers[0]), float(numbers[1])
    raise GyrostatError(
        f"{who}: duration must be a time > 0 s, or (low, high) with 0 < low < high, got {clipped(given)}."
    )


def _expect_words(cost: Any, who: str) -> None:
    weights = {cost: 1.0} if isinstance(cost, str) else cost
    if not isinstance(weights, Mapping):
        raise GyrostatError(f"{who}: cost must be a function, a word or weights of words, got {clipped(cost)}.")
    for word, weight in weights.items():
        if word not in COSTS:
            raise GyrostatError(f"{who}: there is no cost {word!r}. Hint: {nearest(str(word), COSTS)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not np.isfinite(weight):
            raise GyrostatError(f"{who}: the weight of '{word}' must be a number, got {clipped(weight)}.")


def running_cost(phase: Phase) -> Callable[[Any], Any] | None:
    """The cost as a function of the point."""
    if phase.cost is None or callable(phase.cost):
        return phase.cost
    weights = {phase.cost: 1.0} if isinstance(phase.cost, str) else dict(phase.cost)

    def cost(s: Any) -> Any:
        terms = {"torque": lambda: s.u @ s.u, "effort": lambda: s.u @ s.u + s.v @ s.v, "velocity": lambda: s.v @ s.v,
                 "acceleration": lambda: s.a @ s.a, "time": lambda: 1.0}  # fmt: skip
        return sum(weight * terms[word]() for word, weight in weights.items())

    return cost
