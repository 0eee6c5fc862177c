"""States of a method at many instants, one step after the other, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.simulate.methods.newmark import State, cubic
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
STORED = ("q", "v", "p", "a", "w", "f", "tau")


class Series:
    """``times`` (k + 1,) [s], the start first, and rows (k + 1, n) of q, v, p, a, w, f, tau, ``before``, and of
    each step the ``residual`` and how many Newton steps were ``tried``."""

    def __init__(self, times: Array, rows: Mapping[str, Array]):
        self.times, self.rows = times, rows

    @classmethod
    def of(cls, x: State, y: State) -> Series:
        """A single step, solved; ``before`` of what follows is the acceleration at its start."""
        rows = {name: np.array([getattr(x, name), getattr(y, name)]) for name in STORED}
        rows |= {"before": np.array([x.a, x.a]), "residual": np.zeros((2, len(x.a) + len(x.p))), "tried": np.zeros(2)}
        return cls(np.array([x.t, y.t]), rows)

    @classmethod
    def joined(cls, parts: Sequence[Series]) -> Series:
        """One after the other; each begins where the one before ends."""
        first, *rest = parts
        return cls(
            np.concatenate([first.times, *(x.times[1:] for x in rest)]),
            {name: np.concatenate([rows, *(x[name][1:] for x in rest)]) for name, rows in first.rows.items()},
        )

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, name: str) -> Array:
        return self.rows[name]

    def state(self, k: int) -> State:
        """One of the states."""
        return State(float(self.times[k]), *(self.rows[name][k] for name in STORED))

    def cut(self, steps: int, t_limit: float) -> tuple[Series, Series | None]:
        """The first steps, not beyond a limit; and what follows, which begins where these end."""
        steps = min(steps, len(self) - 1, max(1, int(np.searchsorted(self.times, t_limit, side="right")) - 1))
        if steps == len(self) - 1:
            return self, None
        one = Series(self.times[: steps + 1], {name: x[: steps + 1] for name, x in self.rows.items()})
        return one, Series(self.times[steps:], {name: x[steps:] for name, x in self.rows.items()})


def between_rows(plant: Plant, x: Series) -> Callable[[Any], tuple[Array, Array, Array]]:
    """q, v, p at times inside a series: cubics from state to state, with the rates at both."""

    def dense(t: Any) -> tuple[Array, Array, Array]:
        t = np.asarray(t, dtype=float)
        k = np.clip(np.searchsorted(x.times, t, side="right") - 1, 0, len(x) - 2)
        h = (x.times[k + 1] - x.times[k])[..., None]
        s = (t - x.times[k])[..., None] / h
        way = plant.difference(x["q"][k], x["q"][k + 1])
        q = plant.retract(x["q"][k], cubic(s, h, np.zeros_like(way), way, x["v"][k], x["v"][k + 1]))
        v, p = (
            cubic(s, h, x[name][k], x[name][k + 1], x[rate][k], x[rate][k + 1])
            for name, rate in (("v", "a"), ("p", "f"))
        )
        return q, v, p

    return dense


def work_of_rows(x: Series) -> Callable[[Any], Array]:
    """Work [J] of the efforts since the beginning, for a power that changes linearly from state to state."""
    power, h = np.sum(x["tau"] * x["v"], axis=1), np.diff(x.times)
    total = np.concatenate([[0.0], np.cumsum(0.5 * h * (power[1:] + power[:-1]))])

    def done(t: Any) -> Array:
        t = np.asarray(t, dtype=float)
        k = np.clip(np.searchsorted(x.times, t, side="right") - 1, 0, len(x) - 2)
        s = t - x.times[k]
        return total[k] + s * (power[k] + 0.5 * s / h[k] * (power[k + 1] - power[k]))

    return done
