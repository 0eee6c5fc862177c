"""How wrong a run with fixed steps is: once more with steps of twice the length, and compared.

    e = |q_h - q_2h|

Steps of a fixed length say nothing about themselves: a residual shows that a step is solved, not that it is short
enough, and vibrations that are not resolved, or that a method makes grow, end somewhere without a word. They do not end
at the same place with other steps. Where steps resolve the motion a method of order p is wrong by e / (2^p - 1) only
[Richardson]; where they do not, that would be too little, by up to 70 times in runs of undamped beams, and so e itself
is told. That is no bound: it was 0.2 to 145 times the error of 72 such runs. It takes half as long again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import difference
from gyrostat.errors import GyrostatError, SimulationError, clipped
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.results.result import Result

WHO = "simulate"
HINT = "a smaller dt, or a method with steps of its own (bdf, radau)"


def expect_fixed_steps(method: Any) -> None:
    """Refuse methods that choose their steps."""
    cls = METHODS.get(method) if isinstance(method, str) else None
    if cls is None or cls.adaptive:
        fixed = ", ".join(sorted(name for name, x in METHODS.items() if not x.adaptive))
        raise GyrostatError(
            f"{WHO}: error is for methods with fixed steps, got method {clipped(method)}. Hint: {fixed}; rtol and atol "
            "of the others"
        )


def within_error(error: Any, method: str, dt: Any, run: Callable[..., Any]) -> Result:
    """``run(dt)``, if its error of all coordinates [rad, m] is within ``error``; ``run(dt, t_eval)`` runs once more.
    ``statistics`` tell the estimate as ``error``. :class:`SimulationError` else: its result is the run."""
    expect_fixed_steps(method)
    if isinstance(error, bool) or not isinstance(error, float | int) or not 0.0 < error < np.inf:
        raise GyrostatError(f"{WHO}: error must be a positive number [rad, m], got {clipped(error)}. Hint: error=1e-4")
    result = run(dt, None)
    if not isinstance(result, Result):
        raise GyrostatError(f"{WHO}: error is for one run, got {len(result)}. Hint: run them one by one")
    t, rows = np.unique(result.t, return_index=True)
    if result.status != "finished" or len(result.phases) > 1 or len(t) < 2:
        return result
    try:
        other = run(2.0 * dt, t)
        count = min(len(t), len(other.t))  # an event may end it
        far = np.abs(difference(result.model, result.q[rows][:count], other.q[:count]))
    except SimulationError as failure:
        raise _refused(result, dt, f"steps of {2.0 * dt:g} s end otherwise: {failure.cause}", failure.t, 0) from failure
    at, worst = np.unravel_index(np.argmax(far), far.shape)
    if not far[at, worst] <= error:
        joint = result.model.dofs[worst]
        cause = (
            f"steps of {2.0 * dt:g} s lead elsewhere: '{joint}' differs by {far[at, worst]:.2g}, more than {error:g}"
        )
        raise _refused(result, dt, cause, float(t[at]), int(worst))
    told = {**result.counters.statistics, "error": float(far[at, worst])}
    return replace(result, counters=replace(result.counters, statistics=told))


def _refused(result: Result, dt: float, cause: str, t: float, worst: int) -> SimulationError:
    message = f"{WHO}: steps of {dt:g} s, at t = {t:.6g} s: {cause}. Hint: {HINT}; the result is that of the run"
    return SimulationError(message, result, t, result.model.dofs[worst], cause)
