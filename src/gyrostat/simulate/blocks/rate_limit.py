"""A signal whose rate is limited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.blocks.block import Signals, Through
from gyrostat.simulate.blocks.given import Numbers, above_zero, limits, numbers, period, refuse, same_size, spread
from gyrostat.simulate.blocks.shaping import clipped_to


@dataclass(frozen=True)
class RateLimit(Through):
    """y follows u no faster than ``limit`` [1/s]: a magnitude, or (falling, rising).

    Digital, with a ``sample_time`` T: y_k = y_(k-1) + min(max(u_k - y_(k-1), lower T), upper T), exact. Analogue, with
    a ``time_constant`` tau [s]: dy/dt = min(max((u - y) / tau, lower), upper), a lag where the rate is not limited.
    ``initial``: y at the start."""

    kind: ClassVar[str] = "rate limit"
    limit: Any
    time_constant: Any = None
    sample_time: float | None = None
    initial: Any = (0.0,)
    size: int | None = None

    def __post_init__(self) -> None:
        who = self.who
        object.__setattr__(self, "sample_time", period(self.sample_time, who))
        if (self.time_constant is None) == (self.sample_time is None):
            message = "give either time_constant (analogue) or sample_time (digital)"
            raise refuse(who, "time_constant", message, "a time_constant well below what matters, such as 1e-3 s")
        lower, upper = limits(self.limit, who)
        if max(lower) > 0.0 or min(upper) < 0.0:
            message = f"zero must be between the limits, got {max(lower):g} to {min(upper):g}"
            raise refuse(who, "limit", message, "limit=2 means rates from -2 to 2", self.limit)
        initial = numbers(self.initial, who, "initial")
        lag = (1.0,) if self.time_constant is None else self._lag(who)
        n = same_size(who, self.size, lower=lower, upper=upper, initial=initial, time_constant=lag)
        object.__setattr__(self, "limit", (spread(lower, n), spread(upper, n)))
        object.__setattr__(self, "initial", spread(initial, n))
        object.__setattr__(self, "size", n)
        if self.time_constant is not None:
            object.__setattr__(self, "time_constant", spread(lag, n))

    def _lag(self, who: str) -> Numbers:
        return above_zero(self.time_constant, who, "time_constant", "how fast y follows where it may [s]")

    @property
    def states(self) -> Numbers:
        return self.initial if self.sample_time is None else ()

    @property
    def memory(self) -> Numbers:
        return () if self.sample_time is None else self.initial

    @property
    def feedthrough(self) -> bool:
        return self.sample_time is not None

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: p if self.sample_time is None else m}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is not None:
            return np.zeros(0)
        return clipped_to((self.take(x, self.source, self.size) - p) / np.array(self.time_constant), *self.limit)

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is None:
            return m
        lower, upper = (tuple(self.sample_time * rate for rate in side) for side in self.limit)
        return m + clipped_to(self.take(x, self.source, self.size) - m, lower, upper)
