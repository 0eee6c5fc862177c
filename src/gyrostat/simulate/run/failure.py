"""What is said about a run that cannot go on: the time, the joint, the cause, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gyrostat.errors import ContactError, GyrostatError, NonFiniteError, SimulationError
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.plant_loops import WORKSPACE, trouble_with_loops
from gyrostat.simulate.plant.torque_source import trouble_ahead
from gyrostat.simulate.plant.user_memory import Remembers
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.runaway import FASTEST

Array = np.ndarray
State = tuple[float, Array, Array, Array]
WHO = "simulate"
PASS = "a larger tolerance passes it, or a step that does not end there; closed forms, loops='auto', may have none"
KEPT = "; what was computed is in .result of this error"


def failed(
    error: Exception,
    plant: Plant,
    state: State,
    t_end: float,
    dt: float | None,
    result: Callable[[str], Result | None],
    kept: str = KEPT,
) -> SimulationError:
    """The error with time, joint and cause; ``dt`` [s]: of a method with fixed steps; ``result(message)`` is the run up
    to there, and ``kept`` says where that is."""
    t, _, v, _ = state
    cause, hint, dof = str(error), "", getattr(error, "dof", None)
    too_large = None if isinstance(error, Remembers) else overwhelming(plant, state, t_end)
    if too_large is not None:
        cause, hint, dof = too_large
    elif isinstance(error, StepFailure):
        cause, hint, dof = looked_into(plant, state, error, dt)
    elif isinstance(error, ContactError):
        cause, _, hint = cause.partition(". Hint: ")
    elif not isinstance(error, GyrostatError):
        cause = f"{type(error).__name__}: {error}"
    if loops := trouble_with_loops(plant, state[1]):
        cause = f"{loops}; {cause}" if plant.loops is not None else loops
        hint = PASS if plant.loops is not None else WORKSPACE
    joint = plant.model.dofs[int(np.argmax(np.abs(v))) if dof is None else dof]
    rate = float(v[plant.model.dofs.index(joint)])
    message = (
        f"{WHO}: stopped at t = {t:.9g} s of {t_end:g} s, joint '{joint}' (rate {rate:.3g}): {cause.rstrip('.')}. "
        f"Hint: {hint or 'look at the efforts and the state there'}{kept}"
    )
    return SimulationError(message, result(message), t, joint, cause)


def overwhelming(plant: Plant, state: State, t_end: float) -> tuple[str, str, int] | None:
    """Cause, hint and rate to blame, if an acceleration at the last state, or shortly after it, is beyond what the
    shortest step can follow: it would be too fast one instant of doubles later."""
    t, q, v, p = state
    most = FASTEST / float(np.spacing(max(abs(t), abs(t_end))))
    try:
        with np.errstate(all="ignore"):
            accelerations = [plant.acceleration(at, q, v, p) for at in (t, t + max(1e-6, 1e-9 * abs(t)))]
    except Exception:  # something else is wrong, and others tell it
        return None
    for a, _, tau in accelerations:
        k = int(np.argmax(np.abs(a)))
        if abs(a[k]) > most:
            cause = (
                f"efforts up to {np.abs(tau).max():.3g} give it an acceleration of {a[k]:.3g}, which no step can follow"
            )
            return cause, "look at the size of the efforts, and of the inertias", k
    return None


def looked_into(plant: Plant, state: State, error: StepFailure, dt: float | None) -> tuple[str, str, int | None]:
    """Cause, hint and rate to blame: what the source of the efforts itself has to say shortly after the last state, if
    that is the reason; otherwise what the method says."""
    t, q, v, p = state
    soon = max(1e-6, 1e-9 * abs(t))
    try:
        plant.torque(t + soon, q, v, p)
        if words := trouble_ahead(plant.source, plant.model, t, (q, v, p, plant.memory), max(soon, dt or 0.0)):
            cause, _, hint = words.partition(". Hint: ")
            return cause, hint, None
    except NonFiniteError as trouble:
        return str(trouble), "look at the efforts there", trouble.dof
    except GyrostatError as trouble:
        return str(trouble), "see what drives the model there", error.dof
    except Exception as trouble:
        return f"{type(trouble).__name__}: {trouble}", "look at the efforts there", error.dof
    return error.cause, error.hint, error.dof
