"""The PID law with output limits and anti-windup, analogue or digital.

    w = kp e + z + kd e' + f,   u = min(max(w, lower), upper),
    dz/dt = ki e + (u - w) / T_t      (back-calculation, T_t the tracking time), or
    dz/dt = ki e, but 0 while w is beyond a limit and ki e would drive it further      (clamping).

z is the integral in the units of u, f a feedforward. Digital: the same with z_(k+1) = z_k + T dz/dt and u_k held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.choose import maximum, sign
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import (
    Numbers,
    above_zero,
    at_least_zero,
    choice,
    limits,
    numbers,
    period,
    refuse,
    same_size,
    spread,
)
from gyrostat.simulate.blocks.shaping import clipped_to

ANTI_WINDUP = ("back-calculation", "clamping", "none")
SIGN = "the law is u = kp (reference - measured): put a sign into Gain"


@dataclass(frozen=True)
class PID(Block):
    """u from the ``error`` e and its ``rate`` e' (read if kd > 0) and a ``feedforward`` signal, if named.

    Gains are one number or one for each entry; ``size`` entries. ``limit``: None, a magnitude, or (lower, upper).
    ``tracking_time`` T_t [s]: sqrt(kd / ki) when not given, kp / ki without kd. ``initial``: z at the start."""

    kind: ClassVar[str] = "PID"
    kp: Any
    ki: Any = (0.0,)
    kd: Any = (0.0,)
    limit: Any = None
    anti_windup: str = "back-calculation"
    tracking_time: Any = None
    initial: Any = (0.0,)
    size: int | None = None
    sample_time: float | None = None
    error: str = "e"
    rate: str = "e_rate"
    feedforward: str = ""
    target: str = "u"
    name: str = ""

    def __post_init__(self) -> None:
        who = self.who
        gains = {key: at_least_zero(getattr(self, key), who, key, SIGN) for key in ("kp", "ki", "kd")}
        lower, upper = limits(self.limit, who)
        initial = numbers(self.initial, who, "initial")
        given = {} if self.tracking_time is None else {"tracking_time": self._tracking(who)}
        n = same_size(who, self.size, **gains, lower=lower, upper=upper, initial=initial, **given)
        fixed = n > 1 or self.size is not None or self.integrates(gains["ki"]) or self.sample_time is not None
        if fixed:
            gains = {key: spread(value, n) for key, value in gains.items()}
        for key, value in gains.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "limit", (spread(lower, n), spread(upper, n)))
        object.__setattr__(self, "initial", spread(initial, n))
        object.__setattr__(self, "size", n if fixed else None)
        object.__setattr__(self, "sample_time", period(self.sample_time, who))
        choice(self.anti_windup, who, "anti_windup", ANTI_WINDUP)
        object.__setattr__(self, "tracking_time", spread(given["tracking_time"], n) if given else self._usual(n))

    @staticmethod
    def integrates(ki: Numbers) -> bool:
        """Whether there is an integral at all."""
        return any(ki)

    def _tracking(self, who: str) -> Numbers:
        return above_zero(self.tracking_time, who, "tracking_time", "about the time constant of the integral [s]")

    def _usual(self, n: int) -> Numbers:
        """sqrt(Ti Td) = sqrt(kd / ki), or Ti = kp / ki without a derivative [Astrom, Hagglund 1995, 3.5]."""
        if self.anti_windup != "back-calculation" or not self._limited() or not self.integrates(self.ki):
            return (1.0,) * n
        gains = []
        for kp, ki, kd in zip(self.kp, self.ki, self.kd, strict=True):
            if ki > 0.0 and kp == 0.0 and kd == 0.0:
                message = "there is no usual tracking_time for an integral alone, got None"
                raise refuse(self.who, "tracking_time", message, "give tracking_time [s], or anti_windup='clamping'")
            gains.append(1.0 if ki == 0.0 else math.sqrt(kd / ki) if kd > 0.0 else kp / ki)
        return tuple(gains)

    def _limited(self) -> bool:
        return any(math.isfinite(x) for side in self.limit for x in side)

    # ------------------------------------------------------------------ ports and states
    @property
    def inputs(self) -> tuple[str, ...]:
        rate = (self.rate,) if any(self.kd) else ()
        return (self.error, *rate, *((self.feedforward,) if self.feedforward else ()))

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    @property
    def _integral(self) -> Numbers:
        return self.initial if self.integrates(self.ki) else ()

    @property
    def states(self) -> Numbers:
        return self._integral if self.sample_time is None else ()

    @property
    def memory(self) -> Numbers:
        """z_k, then u_k that is held."""
        return () if self.sample_time is None else (*self._integral, *((0.0,) * len(self.initial)))

    # ------------------------------------------------------------------ the law
    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        if self.sample_time is not None:
            return {self.target: m[len(self._integral) :]}
        return {self.target: clipped_to(self._wanted(x, p), *self.limit)}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        return self._change(x, p) if self.states else np.zeros(0)

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is None:
            return m
        z = m[: len(self._integral)]
        u = clipped_to(self._wanted(x, z), *self.limit)
        return np.concatenate([z + self.sample_time * self._change(x, z), u]) if len(z) else u

    def _wanted(self, x: Signals, z: Any) -> Any:
        """w: the output before it is limited."""
        e = self.take(x, self.error, self.size)
        w = np.array(self.kp) * e
        if len(self._integral):
            w = w + z
        if any(self.kd):
            w = w + np.array(self.kd) * self.take(x, self.rate, len(e))
        return w + self.take(x, self.feedforward, len(e)) if self.feedforward else w

    def _change(self, x: Signals, z: Any) -> Any:
        """dz/dt."""
        drive = np.array(self.ki) * self.take(x, self.error, self.size)
        if not self._limited() or self.anti_windup == "none":
            return drive
        w = self._wanted(x, z)
        excess = w - clipped_to(w, *self.limit)
        if self.anti_windup == "clamping":
            return drive * (1.0 - maximum(sign(excess) * sign(drive), 0.0))
        integrating = (np.array(self.ki) > 0.0).astype(float)
        return drive - integrating * excess / np.array(self.tracking_time)
