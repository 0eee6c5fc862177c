"""Events of users: a function of (t, q, v) that changes its sign, and what its reset makes of the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, ShapeError, clipped
from gyrostat.simulate.plant.torque_source import expect_arguments
from gyrostat.simulate.plant.user_memory import LATE, Remembers, UserMemory, probes
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
REMEMBERING = "reset is called once for every event and may remember; compiled=False calls it as it is"


@dataclass(frozen=True)
class Event:
    """``function(t, q, v)`` changes its sign; ``direction``: 1 from below, -1 from above, 0 both.

    ``terminal`` ends the run. ``reset(t, q, v)`` returns the state (q, v) from which it goes on; or (model, q, v) with
    another model; or a model alone, which goes on from where the robot is; or None, if nothing changes. A model with
    the same coordinates keeps q and v, whatever its masses are. Where coordinates, closed loops or wheels that roll are
    others (grasp and release, dock, lock), bodies stay where they are, and rates follow from the impact
    (:mod:`~gyrostat.simulate.events.structure_change`); q and v that are None are found so, too. Events of one instant
    all happen, in the order given, each from the state that the one before has left, until one ends the run."""

    function: Callable[[float, Array, Array], Any]
    direction: int = 0
    terminal: bool = False
    reset: Callable[[float, Array, Array], Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function) or not (self.reset is None or callable(self.reset)):
            raise GyrostatError(
                "Event: function and reset are functions of (t, q, v). Hint: Event(lambda t, q, v: q[0])"
            )
        for function in (self.function, self.reset):
            if function is not None:
                expect_arguments(function, "Event: its function", "Event(lambda t, q, v: q[0])")
        if self.direction not in (-1, 0, 1):
            raise GyrostatError(f"Event: direction must be -1, 0 or 1, got {clipped(self.direction)}. Hint: 0 for both")
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))


def event_value(event: Event, t: float, q: Array, v: Array) -> float:
    """Of the function, if it is one finite number."""
    given = event.function(t, q.copy(), v.copy())
    if isinstance(given, bool | np.bool_):
        raise ShapeError(
            f"{WHO}: event '{event.name}' returned {given}, expected a number that changes its sign there. "
            "Hint: q[0] - 0.5 in the place of q[0] < 0.5"
        )
    value = np.asarray(given, dtype=float)
    if value.size != 1 or not np.isfinite(value).all():
        raise ShapeError(f"{WHO}: event '{event.name}' returned {clipped(value)}, expected one finite number")
    return float(value.reshape(()))


def event_memory(event: Event, model: Model) -> UserMemory:
    """Refuse the function of an event that keeps something between its calls. A reset may: it is called once."""
    memory = UserMemory(WHO, f"event '{event.name}'", (event.function,), REMEMBERING)

    def value(t: float, q: Array, v: Array) -> Array:
        return np.asarray(event.function(t, q.copy(), v.copy()), dtype=float).ravel()

    for late in LATE:
        try:
            with np.errstate(all="ignore"):
                memory.numbers([lambda x=x: value(*x) for x in probes(model, late)])
            break
        except Remembers:
            raise
        except Exception:  # it may fail at some states; what it does along the run is told there
            memory.start.restore()
    return memory


def reset_state(event: Event, model: Model, t: float, q: Array, v: Array) -> tuple[Model, Any, Any]:
    """What an event's ``reset`` makes of the state; q and v are None where another model finds them itself."""
    q_given, v_given = q.copy(), v.copy()
    given = None if event.reset is None else event.reset(t, q_given, v_given)
    if given is None:
        if not (np.array_equal(q, q_given) and np.array_equal(v, v_given)):
            raise ShapeError(f"{WHO}: reset of '{event.name}' changed its arguments and returned nothing, which has no "
                             "effect. Hint: return q, v")  # fmt: skip
        return model, q, v
    if isinstance(given, Model):
        given = given, None, None
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise ShapeError(
            f"{WHO}: reset of '{event.name}' returned {clipped(given)}, expected (q, v), a model or (model, q, v)"
        )
    if len(given) == 2:
        return model, *given
    if not isinstance(given[0], Model):
        raise ShapeError(
            f"{WHO}: reset of '{event.name}' returned {clipped(given[0])} in the place of a model. Hint: model.attach, "
            "model.detach, model.replace and gs.grasp make one"
        )
    return given
