"""Linear systems of other libraries (python-control, SciPy), read by their attributes; nothing is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import clipped
from gyrostat.simulate.blocks.given import refuse

REMEDY = "state_space(A, B, C, D) or transfer_function(numerator, denominator)"


def sample_time_of(system: Any, who: str) -> float | None:
    """Its dt: None and 0 are analogue."""
    dt = getattr(system, "dt", None)
    if dt is True:
        message = "the system is digital but has no sample time (dt is True)"
        raise refuse(who, "dt", message, "give sample_time=... to the system", dt)
    return None if dt is None or dt == 0 else dt


def matrices_of(system: Any) -> tuple[tuple[Any, Any, Any, Any], float | None]:
    """A, B, C, D and the sample time of a foreign state space, or of a foreign transfer function."""
    who = "state space"
    if all(hasattr(system, key) for key in "ABCD"):
        A, B, C, D = (getattr(system, key) for key in "ABCD")
        return (A, B, C, D), sample_time_of(system, who)
    if hasattr(system, "num"):
        from gyrostat.simulate.blocks.linear import canonical

        (numerator, denominator), dt = polynomials_of(system, who)
        return canonical(tuple(numerator.tolist()), tuple(denominator.tolist()), who), dt
    raise refuse(who, "system", f"{clipped(system)} has neither A, B, C, D nor num, den", REMEDY, type(system))


def polynomials_of(system: Any, who: str) -> tuple[tuple[Any, Any], float | None]:
    """Numerator, denominator and the sample time of a foreign transfer function with one input and output."""
    if not (hasattr(system, "num") and hasattr(system, "den")):
        raise refuse(who, "system", f"{clipped(system)} has no num and den", REMEDY, type(system))
    polynomials = []
    for what in ("num", "den"):
        value = getattr(system, what)
        while isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 1):  # [[coefficients]]
            if len(value) != 1:
                message = f"{what} belongs to several inputs or outputs, {clipped(value)}"
                raise refuse(who, what, message, "one channel at a time, or its state space", value)
            value = value[0]
        polynomials.append(np.atleast_1d(np.asarray(value, dtype=float)))
    return (polynomials[0], polynomials[1]), sample_time_of(system, who)
