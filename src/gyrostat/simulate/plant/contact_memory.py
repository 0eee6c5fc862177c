"""Closed contacts as drivers see them: words and memory of :mod:`~gyrostat.simulate.kernels.closed_contacts`."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.simulate.kernels import closed_contacts as at
from gyrostat.simulate.plant.contact_phases import SLIDE, ContactPhases, ContactRules

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
FREE = 1e300
"""Limit of forces that have none."""


class ContactMemory:
    """Of a plant with contacts; ``code``: the kernel (q, v | M, g, J, b)."""

    def __init__(self, plant: Plant, rules: ContactRules, code: KernelCode):
        self.plant, self.code = plant, code
        k, n, loops = len(rules), plant.nv, 0 if plant.loops is None else plant.loops.count
        m = len(plant.constraints) + loops + 3 * k
        self.words = np.zeros(at.WORDS_OF_CONTACTS, dtype=np.int64)
        self.numbers, self.sizes, self.rough = np.zeros((3, k + 1), dtype=np.int64)
        self.mu, self.mu_static, self.reference = np.zeros(k + 1), np.zeros(k + 1), np.zeros((k + 1, 2))
        self.fixed, self.places = np.zeros((m + 1, n)), np.zeros(m + 1, dtype=np.int64)
        self.low, self.high = np.zeros((2, m + 1))
        self.values = np.zeros(4)
        self._arrays = {
            at.NUMBERS: self.numbers, at.SIZES: self.sizes, at.ROUGH: self.rough, at.MU: self.mu,
            at.MU_STATIC: self.mu_static, at.REFERENCE: self.reference, at.FIXED_ROWS: self.fixed,
            at.FIXED_PLACES: self.places, at.MASS: np.zeros(n * n), at.GAPS: np.zeros(k + 1),
            at.ROWS: np.zeros(3 * k * n + 1), at.BIASES: np.zeros(3 * k + 1), at.LOOP_GAPS: np.zeros(loops + 1),
            at.B: np.zeros(m * n + 1), at.F: np.zeros(m * n + 1), at.C: np.zeros(m + 1), at.X_: np.zeros(m * n + 1),
            at.A: np.zeros(m * m + 1), at.SOLUTION: np.zeros(m + 1), at.SPARE: np.zeros(2 * m * m + 2 * m + 1),
            at.ORDER: np.zeros(m + 1, dtype=np.int64), at.STILL: np.zeros(n), at.FREE: np.zeros(n),
            at.EFFORTS: np.zeros(n + plant.np + 1), at.VALUES: self.values, at.WEIGHT: np.zeros(m + 1),
            at.LOWEST: self.low, at.HIGHEST: self.high,
        }  # fmt: skip
        for word, array in self._arrays.items():
            self.words[word] = array.ctypes.data
        self.words[at.KINEMATICS] = code.address

    @property
    def address(self) -> int:
        """Of the words."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self.words))  # type: ignore[arg-type]

    def serves(self) -> bool:
        """Whether all that is active is known to the drivers: rows beside contacts are constant, or close loops."""
        plant = self.plant
        others = plant.active.on & ~plant.of_loops
        return bool(plant.constraints.constant[others].all())

    def take(self, phases: ContactPhases) -> None:
        """Contacts in these phases, and the rows of the plant that are active."""
        plant, rules = self.plant, phases.rules
        closed = list(phases.closed)
        c = len(closed)
        self.words[at.CLOSED] = c
        self.numbers[:c], self.sizes[:c], self.rough[:c] = closed, phases.sizes, rules.rough[closed]
        slides = phases.phase[closed] == SLIDE
        self.mu[:c] = np.where(slides, rules.mu_dynamic[closed], 0.0)
        self.mu_static[:c], self.reference[:c] = rules.mu_static[closed], phases.reference[closed]
        others = np.flatnonzero(plant.active.on & ~plant.of_loops)
        self.words[at.FIXED] = len(others)
        self.fixed[: len(others)] = plant.constraints.constant_jacobian[others]
        self.places[: len(others)] = plant.constraints.on_position[others]
        speed = ~plant.constraints.on_position[others]  # stops have an event of their own
        self.low[: len(others)] = np.where(speed, plant.constraints.low[others], -FREE)
        self.high[: len(others)] = np.where(speed, plant.constraints.high[others], FREE)
        self.words[at.LOOPED] = int(plant.active.on[plant.of_loops].any())
