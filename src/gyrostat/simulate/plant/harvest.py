"""What compiled steps hand over to a run: rows and samples, in memory that the run owns; and which functions are
watched on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.simulate.kernels import harvest as at
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
DEGREES = 8
"""Highest degree of a polynomial between two ends of a step, and one."""
ROWS, MOST_ROWS = 1024, 8192
"""Rows of the first buffer, and of the largest one."""
ENDLESS = 2**62


class Harvest:
    """``t_eval`` (T,): instants of samples, None for the end of every step. A row is (t, q, v, p, a, tau, work).
    ``steps``: ends of steps are handed over beside samples too.

    ``watched``: (signs, lasts) of the functions in the kernel GUARDS; ``always``: every step is looked at in Python."""

    def __init__(self, plant: Plant, t_eval: Array | None, steps: bool = False):
        self.plant, n = plant, plant.nv
        self.width = 2 + plant.nq + 3 * n + plant.np
        self.words = np.zeros(at.WORDS_OF_A_HARVEST, dtype=np.int64)
        self.io = address(self.words)
        self.keep = t_eval is None or steps
        self.instants = np.zeros(1) if t_eval is None else np.ascontiguousarray(t_eval, dtype=float)
        self.samples = np.empty((0 if t_eval is None else len(t_eval), self.width))
        self.size = plant.nq + n + plant.np + 1
        self.polynomial = np.zeros((DEGREES + 1, self.size))
        self.scratch = np.zeros(self.size + plant.nq + 4 * n + plant.np + 8)
        self.done_work, self.t_end = np.zeros(1), np.full(1, np.inf)
        layout = plant.model.layout
        self.quaternions = np.array([] if plant.plain else [row[0] for row in layout.quaternions], dtype=np.int64)
        self._place({at.INSTANTS: self.instants, at.SAMPLES: self.samples, at.POLYNOMIAL: self.polynomial})
        self._place({at.SCRATCH: self.scratch, at.DONE_WORK: self.done_work, at.QUATERNIONS: self.quaternions})
        self._place({at.END_TIME: self.t_end})
        self.words[at.QUATERNION_COUNT], self.words[at.KEEP] = len(self.quaternions), self.keep
        self.words[at.INSTANT_COUNT] = len(self.samples)
        self.words[at.MOST] = ENDLESS
        self._fresh = ROWS
        self.rows = np.empty((0, self.width))
        self.watch(np.zeros(0), np.zeros(0))
        if self.keep:
            self._buffer()

    def again(self) -> None:
        """Another run begins; the rows and samples of the last one belong to its result."""
        self.words[at.ROW] = self.words[at.NEXT] = self.words[at.TAKEN] = 0
        self.done_work[0] = 0.0
        if len(self.rows) > ROWS:
            self._fresh = ROWS
            self._buffer()
        if len(self.samples):
            self.samples = np.empty(self.samples.shape)
            self._place({at.SAMPLES: self.samples})

    def _place(self, arrays: dict[int, Array]) -> None:
        for word, array in arrays.items():
            self.words[word] = address(array)

    def _buffer(self) -> None:
        self.rows = np.empty((self._fresh, self.width))
        self.words[at.ROWS], self.words[at.MOST] = address(self.rows), len(self.rows)

    @property
    def next(self) -> int:
        """Number of the next sample."""
        return int(self.words[at.NEXT])

    @next.setter
    def next(self, value: int) -> None:
        self.words[at.NEXT] = value

    @property
    def always(self) -> bool:
        """Whether every step is looked at in Python."""
        return bool(self.words[at.ALWAYS])

    @always.setter
    def always(self, value: bool) -> None:
        self.words[at.ALWAYS] = value

    @property
    def look_at_the_end(self) -> bool:
        """Whether the step that ends the run is looked at in Python."""
        return bool(self.words[at.LOOK_AT_END])

    @look_at_the_end.setter
    def look_at_the_end(self, value: bool) -> None:
        self.words[at.LOOK_AT_END] = value

    @property
    def later(self) -> bool:
        """Whether a and tau of rows may stay unknown."""
        return bool(self.words[at.LATER])

    @later.setter
    def later(self, value: bool) -> None:
        self.words[at.LATER] = value

    @property
    def work(self) -> float:
        """Of the efforts so far [J]."""
        return float(self.done_work[0])

    @work.setter
    def work(self, value: float) -> None:
        self.done_work[0] = value

    def watch(self, signs: Array, lasts: Array) -> None:
        """Functions in the kernel GUARDS, with the signs that they have."""
        self.signs, self.lasts, self.values = (np.array(x, dtype=float) for x in (signs, lasts, lasts))
        self.words[at.WATCHES] = len(self.signs)
        self._place({at.SIGNS: self.signs, at.LASTS: self.lasts, at.VALUES: self.values})

    def take(self) -> tuple[int, Array | None]:
        """Steps since the last time, and the rows of their ends if those are kept."""
        steps, count = int(self.words[at.TAKEN]), int(self.words[at.ROW])
        self.words[at.TAKEN] = self.words[at.ROW] = 0
        if not self.keep or not count:
            return steps, None
        if 2 * count < len(self.rows):
            return steps, self.rows[:count].copy()
        rows = self.rows[:count]
        self._fresh = min(2 * self._fresh, MOST_ROWS)
        self._buffer()
        return steps, rows

    def handed_over(self) -> Array:
        """All rows, in memory that belongs to whoever gets them. The next run begins with as many places as this
        one."""
        count = int(self.words[at.ROW])
        if 2 * count < len(self.rows):
            return self.rows[:count].copy()
        rows = self.rows[:count]
        self._fresh = ROWS
        self._buffer()
        return rows

    # ------------------------------------------------------------------ a step that is looked at
    def dense(self, t0: float, t1: float, q0: Array, degree: int, way: int, size: int) -> Callable[[Any], Array]:
        """The polynomial of the last step as a function of the time: rows (..., size) of coordinates, v, p, work."""
        C = self.polynomial.ravel()[: (degree + 1) * size].reshape(degree + 1, size).copy()

        def state(t: Any) -> Array:
            s = ((np.asarray(t, dtype=float) - t0) / (t1 - t0))[..., None]
            y = C[degree] + 0.0 * s
            for d in range(degree - 1, -1, -1):
                y = y * s + C[d]
            return y

        return state
