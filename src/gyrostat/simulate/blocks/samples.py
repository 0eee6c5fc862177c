"""Values that were measured or computed at equal intervals, as a signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import ShapeError
from gyrostat.simulate.blocks.block import Array, Block, Signals
from gyrostat.simulate.blocks.given import choice, refuse

FORMS = ("linear", "hold")
UNEQUAL = 1e-6
"""Part of an interval by which instants may be off: they were computed, or read from a file."""


@dataclass(frozen=True, eq=False)
class Samples(Block):
    """The signal ``target`` through the values ``y`` (T, n) at the instants ``t`` (T,) [s], whole multiples of their
    interval: ``"linear"`` between them, or ``"hold"`` until the next. Before the first and after the last one it keeps
    their values. Steps of a run end at every instant, so that no jump or corner is passed over."""

    kind: ClassVar[str] = "samples"
    t: Any
    y: Any
    form: str = "linear"
    target: str = "tau"
    name: str = ""

    def __post_init__(self) -> None:
        t, y = real_array(self.t, self.who, "t"), real_array(self.y, self.who, "y")
        if t.ndim != 1 or len(t) < 2 or y.ndim != 2 or len(y) != len(t):
            raise ShapeError(f"{self.who}: t has shape {t.shape}, y has {y.shape}, expected (T,) and (T, n), T > 1")
        if not (np.isfinite(t).all() and np.isfinite(y).all()):
            raise refuse(self.who, "y", "t and y must be finite", "leave out or fill gaps of a measurement")
        choice(self.form, self.who, "form", FORMS)
        T = (t[-1] - t[0]) / (len(t) - 1)
        off = np.abs(t - T * np.round(t / T)) if T > 0.0 else np.array([np.inf])
        if off.max() > UNEQUAL * T or np.any(np.diff(np.round(t / T)) != 1.0):
            message = f"instants must be whole multiples of one interval, these are about {T:g} s apart"
            raise refuse(self.who, "t", message, "np.interp brings values to np.arange(n) * T")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "_first", round(t[0] / T))
        object.__setattr__(self, "sample_time", float(T))

    _first: ClassVar[int] = 0

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    @property
    def memory(self) -> tuple[float, ...]:
        """The instant, the values there, and their slopes."""
        return (0.0, *self.y[0].tolist(), *np.zeros(self.y.shape[1]))

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        n = self.y.shape[1]
        return {self.target: m[1 : 1 + n] + m[1 + n :] * (t - m[0])}

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Array:
        T = float(self.sample_time or 0.0)
        k = int(np.floor(float(t) / T + UNEQUAL)) - self._first
        inside = 0 <= k < len(self.y) - 1 and self.form == "linear"
        now = self.y[min(max(k, 0), len(self.y) - 1)]
        slope = (self.y[k + 1] - now) / T if inside else 0.0 * now
        return np.array([(k + self._first) * T, *now, *slope])
