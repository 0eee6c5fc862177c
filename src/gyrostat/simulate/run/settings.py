"""What ``gs.simulate`` is told: times, tolerances, method; checked, with sentences for what does not fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint import constraints
from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, clipped, nearest
from gyrostat.simulate.blocks.samples import Samples
from gyrostat.simulate.constraints.stops import JointLimits
from gyrostat.simulate.events.event import Event
from gyrostat.simulate.methods.method import Method
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.run.loop_methods import for_loops

Array = np.ndarray
WHO = "simulate"


def number(value: Any, name: str, least: float, hint: str) -> float:
    """A number above ``least``; infinity is allowed for a largest step only."""
    ok = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not ok or not float(value) > least or (math.isinf(value) and name != "max_step"):
        raise GyrostatError(f"{WHO}: {name} must be a number above {least:g}, got {clipped(value)}. Hint: {hint}")
    return float(value)


INSTANTS, WITHIN_A_STEP = 1e6, 100.0
"""How many instants that doubles can tell apart a run must have at least, and a fixed step."""


def given_numbers(t_start: Any, t_end: Any, dt: Any = None) -> tuple[float, float]:
    """Start and end of a run, long enough for the resolution of time there."""
    t0 = number(t_start, "t_start", -math.inf, "t_start=0.0")
    t1 = number(t_end, "t_end", t0, "t_end=2.0 simulates two seconds")
    between = float(np.spacing(max(abs(t0), abs(t1))))
    hint = "shift the time: t_start=0.0, and the offset in the functions of time"
    if t1 - t0 < INSTANTS * between:
        raise GyrostatError(
            f"{WHO}: the run from t_start = {t0:.17g} s takes {t1 - t0:.3g} s, and doubles are {between:.1g} s apart "
            f"there, expected {INSTANTS:g} times as long at least. Hint: {hint}"
        )
    if dt is not None and number(dt, "dt", 0.0, "dt=0.001") < WITHIN_A_STEP * between:
        raise GyrostatError(
            f"{WHO}: dt = {float(dt):.3g} s is too short for t = {t1:.9g} s, where doubles are {between:.1g} s apart, "
            f"expected {WITHIN_A_STEP * between:.1g} s at least. Hint: {hint}"
        )
    return t0, t1


def last_of(t_end: Any, t_eval: Any) -> Any:
    """The end of a run: the last instant to keep, if nothing else is said."""
    return np.ravel(t_eval)[-1] if t_end is None and t_eval is not None and np.size(t_eval) else t_end


def given_times(t_eval: Any, t0: float, t1: float) -> Array | None:
    """Instants to keep, ascending, within the run."""
    if t_eval is None:
        return None
    times = real_array(t_eval, WHO, "t_eval")
    if times.ndim != 1:
        raise ShapeError(f"{WHO}: t_eval has shape {times.shape}, expected (T,). Hint: np.linspace(0, t_end, 201)")
    if not np.isfinite(times).all():
        raise NonFiniteError(f"{WHO}: t_eval holds numbers that are not finite")
    if np.any(np.diff(times) <= 0.0):
        raise GyrostatError(f"{WHO}: t_eval must be ascending, each instant once. Hint: np.unique(t_eval)")
    slack = 1e-12 * max(abs(t0), abs(t1))
    if len(times) and (times[0] < t0 - slack or times[-1] > t1 + slack):
        raise GyrostatError(
            f"{WHO}: t_eval goes from {times[0]:g} to {times[-1]:g} s, the run from {t0:g} to {t1:g} s. "
            "Hint: ask for instants within the run"
        )
    return np.clip(times, t0, t1)


def sampled(torque: Any, times: Array | None) -> Any:
    """Efforts (T, nv) at the instants to keep as a block; anything else as it is."""
    if times is not None and isinstance(torque, np.ndarray | list | tuple) and np.shape(torque)[:1] == (len(times),):
        return Samples(times, torque, name="torque") if np.ndim(torque) == 2 and len(times) > 1 else torque
    return torque


OTHERS = {"semi-implicit": "semi-implicit-euler", "rk45": "dopri5", "ode45": "dopri5", "rk23": "ode23"}
"""What gs.rollout, SciPy and Matlab call these methods."""


def spelt(name: Any) -> Any:
    """A method's name as we write it: generalised-alpha for Generalized_Alpha."""
    if not isinstance(name, str):
        return name
    name = name.lower().replace("_", "-").replace("generalized", "generalised")
    return OTHERS.get(name, name)


def made_method(
    methods: Mapping[str, type[Method]],
    name: Any,
    plant: Plant,
    rtol: Any,
    atol: Any,
    max_step: Any,
    dt: Any,
    options: Mapping[str, Any],
) -> Method:
    """The method for a plant."""
    name = spelt(name)
    if not isinstance(name, str) or name not in methods:
        raise GyrostatError(f"{WHO}: there is no method {clipped(name)}. Hint: {nearest(str(name), methods)}")
    cls = for_loops(methods[name], plant)
    unknown = [key for key in options if key not in cls.options]
    if unknown:
        known = ", ".join(cls.options) or "none"
        if unknown[0] == "live":
            raise GyrostatError(
                f"{WHO}: there is no argument 'live', which solvers have. Hint: parameters={{'arm.mass': 2.0}}: "
                "numbers that are given there can change without new machine code"
            )
        raise GyrostatError(f"{WHO}: method '{name}' has no option '{unknown[0]}'. Hint: its options are: {known}")
    given = dict(options)
    if "dt" in cls.options:
        if dt is None and not cls.adaptive:
            raise GyrostatError(f"{WHO}: method '{name}' takes fixed steps. Hint: give dt=0.001")
        if dt is not None:
            given["dt"] = number(dt, "dt", 0.0, "dt=0.001")
    elif dt is not None:
        raise GyrostatError(f"{WHO}: method '{name}' chooses its steps itself, dt is not used. Hint: max_step, t_eval")
    if not cls.adaptive and max_step != math.inf:
        raise GyrostatError(f"{WHO}: method '{name}' takes steps of dt, max_step is not used. Hint: a smaller dt")
    limits = number(rtol, "rtol", 0.0, "1e-6"), number(atol, "atol", 0.0, "1e-9")
    if cls.adaptive and limits[0] < 1e-13:
        raise GyrostatError(f"{WHO}: rtol = {limits[0]:g} is below what doubles can say. Hint: rtol=1e-12")
    return cls(plant, *limits, number(max_step, "max_step", 0.0, "0.01"), **given)


def given_events(events: Any) -> tuple[list[Event], list[Any]]:
    """Events of the user, and constraints: what happens at joint limits, and other kinds that have a row."""
    given = [events] if isinstance(events, Event) or constraints.serves(events) or callable(events) else events
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise StateError(f"{WHO}: events must be a list of Event and JointLimits, got {clipped(events)}")
    users: list[Event] = []
    rows: list[Any] = []
    for item in given:
        if constraints.serves(item) and not (isinstance(item, JointLimits) and _limited(rows)):
            rows.append(item)
        elif isinstance(item, Event):
            users.append(item)
        elif callable(item) and not isinstance(item, type | JointLimits):
            users.append(Event(item))
        else:
            raise StateError(
                f"{WHO}: {clipped(item)} is no event. Hint: Event(lambda t, q, v: q[0]), one JointLimits(), "
                "an object whose class has a row in gs.constraints"
            )
    return users, rows


def _limited(rows: list[Any]) -> bool:
    return any(isinstance(x, JointLimits) for x in rows)
