"""Efforts that are told from outside and held during a step, beside a source of efforts: tau + held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.spec.model import Model

Array = np.ndarray
HELD = "held efforts"
"""Their name among the gains: that of no argument of a function."""


class HeldEfforts(TorqueSource):
    """``inner`` and ``held`` (nv,) together. Those that are held are gains, hence inputs of the machine code."""

    def __init__(self, model: Model, inner: TorqueSource):
        self.inner, self.held = inner, np.zeros(model.nv)
        self.p0, self.m0, self.sizes, self.sample_times = inner.p0, inner.m0, inner.sizes, inner.sample_times
        self.told, self.users = inner.told, inner.users
        self.gains = {**inner.gains, HELD: self.held}

    @contextmanager
    def with_gains(self, values: Array) -> Iterator[None]:
        before, first = self.held, len(values) - len(self.held)
        self.held = values[first:]
        try:
            with self.inner.with_gains(values[:first]):
                yield
        finally:
            self.held = before

    def twin(self, gains: Mapping[str, Any]) -> HeldEfforts:
        twin = copy(self)
        twin.inner = self.inner.twin({})
        twin.give(gains)
        return twin

    def give(self, gains: Mapping[str, Any]) -> None:
        self.held = np.array(gains[HELD])
        self.inner.give({name: x for name, x in gains.items() if name != HELD})
        self.gains = {**self.inner.gains, HELD: self.held}

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        tau, p_rate = self.inner.evaluate(t, q, v, p, m)
        return tau + self.held, p_rate

    def recorded(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array, Any]:
        tau, p_rate, guard = self.inner.recorded(t, q, v, p, m)
        return tau + self.held, p_rate, guard

    def update(self, t: float, q: Array, v: Array, p: Array, m: Array, due: Sequence[float] | None = None) -> Array:
        return self.inner.update(t, q, v, p, m, due)

    def next_memory(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        return self.inner.next_memory(t, q, v, p, m)

    def change_model(self, model: Model) -> None:
        self.inner.change_model(model)

    def trouble(self, t: float, q: Array, v: Array, p: Array, m: Array) -> str:
        return self.inner.trouble(t, q, v, p, m)
