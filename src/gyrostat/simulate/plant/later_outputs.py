"""Accelerations and efforts that nobody needed during a run: found when its result is asked for them."""

from __future__ import annotations

import threading

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.errors import NonFiniteError
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.observed_rows import observed_rows
from gyrostat.simulate.plant.machine import Machine, address

Array = np.ndarray


class LaterOutputs:
    """a and tau (T, nv) of rows (t, q, v, p, a, tau, work), which it fills. It keeps copies of all numbers that the
    kernels of a machine read, so that later runs in the same memory change nothing; for runs without Python functions,
    samples and constraints."""

    def __init__(self, machine: Machine, rows: Array):
        self._rows, self._nv, self._lock = rows, machine.plant.nv, threading.Lock()
        self._words = machine.words.copy()
        inputs = {
            at.MEMORY: machine.memory, at.DIRECTIONS: machine.directions, at.LIVE: machine.live,
            at.PARAMETERS: machine.parameters, at.CONSTANTS: machine.constants,
        }  # fmt: skip
        self._kept = {word: np.array(array) for word, array in inputs.items()}
        self._code = [machine.code(word) for word in (at.LAW, at.FORWARD)]
        self._work = machine.work_size

    def of(self, rows: Array) -> LaterOutputs:
        """The same for the rows of another run, whose machine had the same numbers."""
        other = LaterOutputs.__new__(LaterOutputs)
        other.__dict__ |= self.__dict__ | {"_rows": rows, "_lock": threading.Lock()}
        return other

    def __call__(self) -> tuple[Array, Array]:
        rows, n = self._rows, self._nv
        with self._lock:
            words, rate = self._words.copy(), np.zeros(int(self._words[at.NP]) + 1)
            own = {at.WORK: np.zeros(self._work), at.TIME: np.zeros(1)}  # inputs may serve others too
            for word, array in (self._kept | own).items():
                words[word] = address(array)
            sound = driver(observed_rows).call(address(words), *rows.shape, address(rows), address(rate))
            if sound < len(rows):
                raise NonFiniteError(
                    f"result: accelerations, or efforts, are not finite at t = {rows[sound, 0]:.9g} s although the "
                    "state is. Hint: numbers are too large, or the state is singular"
                )
            return rows[:, -2 * n - 1 : -n - 1].copy(), rows[:, -n - 1 : -1].copy()
