"""A small loop that runs blocks, for tests: classical Runge-Kutta steps between sampling instants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray


class Run(NamedTuple):
    """At all ends of steps t (N,): states of the plant y, of the block p, its memory m, and its outputs (lists)."""

    t: Array
    y: Array
    p: Array
    m: Array
    out: dict[str, Array]


def run(
    block: Any,
    signals: Callable[[float, Array], dict[str, Any]],
    t_end: float,
    dt: float,
    plant: Callable[[float, Array, dict[str, Any]], Any] | None = None,
    y0: Any = (),
) -> Run:
    """``signals(t, y)`` are the block's inputs, ``plant(t, y, outputs)`` is dy/dt. Steps are at most ``dt`` long."""
    y, p, m = np.array(y0, dtype=float), np.array(block.states), np.array(block.memory)
    ny = len(y)

    def rate(t: float, z: Array) -> Array:
        x = signals(t, z[:ny])
        change = block.derivative(t, x, z[ny:], m)
        own = np.zeros(0) if plant is None else plant(t, z[:ny], block.output(t, x, z[ny:], m))
        return np.concatenate([own, change])

    T = block.sample_time
    count = 0 if T is None else math.floor(t_end / T + 1e-9)
    marks = [0.0, t_end] if T is None else [k * T for k in range(count + 1)]
    marks = marks if marks[-1] >= t_end * (1.0 - 1e-12) else [*marks, t_end]
    rows: list[tuple[Any, ...]] = []
    z = np.concatenate([y, p])
    for k, start in enumerate(marks):
        if T is not None:
            m = np.asarray(block.update(start, signals(start, z[:ny]), z[ny:], m), dtype=float)
        rows.append((start, z, m, block.output(start, signals(start, z[:ny]), z[ny:], m)))
        if k + 1 == len(marks):
            break
        steps = max(1, math.ceil((marks[k + 1] - start) / dt - 1e-9))
        h = (marks[k + 1] - start) / steps
        for i in range(steps):
            t = start + i * h
            k1 = rate(t, z)
            k2 = rate(t + h / 2, z + h / 2 * k1)
            k3 = rate(t + h / 2, z + h / 2 * k2)
            k4 = rate(t + h, z + h * k3)
            z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            if i + 1 < steps:
                x = signals(t + h, z[:ny])
                rows.append((t + h, z, m, block.output(t + h, x, z[ny:], m)))
    out = {key: np.array([row[3][key] for row in rows]) for key in rows[0][3]}
    whole = np.array([row[1] for row in rows])
    return Run(np.array([r[0] for r in rows]), whole[:, :ny], whole[:, ny:], np.array([r[2] for r in rows]), out)


def answer(block: Any, u: Callable[[float], Any], t_end: float, dt: float) -> Run:
    """A block with one input, driven by u(t)."""
    return run(block, lambda t, y: {block.inputs[0]: np.atleast_1d(u(t))}, t_end, dt)
