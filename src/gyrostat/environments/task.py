"""A task as data: what is done to a robot, what is seen of it, what counts, and when it is over.

Functions take all robots at once: q (N, nq), v (N, nv), actions (N, k); observations are (N, size), rewards (N,), ends
(N,)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Moment:
    """One step of an environment: states before (``q0``, ``v0``) and after it (``q``, ``v``), ``action`` (N, k) from -1
    to 1, ``dt`` [s] between them."""

    q0: Array
    v0: Array
    q: Array
    v: Array
    action: Array
    dt: float


def everything(q: Array, v: Array) -> Array:
    """q and v."""
    return np.concatenate([q, v], axis=-1)


def nothing_ends(q: Array, v: Array) -> Array:
    """No robot is ever done."""
    return np.zeros(len(q), dtype=bool)


@dataclass(frozen=True)
class GymTask:
    """``reward(moment)``: (N,), or a dict of parts (N,) that are summed and told in ``info``. ``actions``: joints that
    are driven, by default all with an effort limit; ``efforts`` (k,) [N m, N] for an action of one, by default those
    limits. ``dt`` [s] of a step of the simulation, ``frame_skip`` of which are one step of the environment.

    ``observation(q, v)``; ``terminated(q, v)``; ``start(rng, n)`` gives q (n, nq), v (n, nv), by default the reference
    with uniform noise of ``noise`` on both; ``max_steps``: then an episode is truncated, None: never."""

    name: str
    reward: Callable[[Moment], Array | dict[str, Array]]
    observation: Callable[[Array, Array], Array] = everything
    terminated: Callable[[Array, Array], Array] = nothing_ends
    actions: Sequence[str] | None = None
    efforts: Sequence[float] | None = None
    start: Callable[[np.random.Generator, int], tuple[Array, Array]] | None = None
    noise: float = 5e-3
    dt: float = 5e-3
    frame_skip: int = 4
    max_steps: int | None = 1000
