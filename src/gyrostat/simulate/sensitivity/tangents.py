"""Sensitivities along a run: its accepted steps come in, rows of derivatives come out."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.llvm.target import host
from gyrostat.simulate.methods.method import Method
from gyrostat.simulate.methods.runge_kutta import RungeKutta
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.results.sensitivity import Sensitivity
from gyrostat.simulate.sensitivity import tangent_steps as at
from gyrostat.simulate.sensitivity.asked import Asked
from gyrostat.simulate.sensitivity.refusals import expect_no_constraint, expect_no_friction, expect_plant, not_finite
from gyrostat.simulate.sensitivity.tangent_kernels import tangent_kernels

Array = np.ndarray


class Tangents:
    """Derivatives of a run by what is ``asked``, at ``t_eval`` (T,) or at the end of every step. The steps are those of
    the run: :meth:`start`, then :meth:`follow` for ends of steps, :meth:`cut` for one that an event ends."""

    def __init__(self, plant: Plant, method: Method, asked: Asked, t_eval: Array | None, dt: float | None):
        expect_plant(plant, asked)
        self.plant, self.asked, self.t_eval = plant, asked, t_eval
        euler = not isinstance(method, RungeKutta)
        self.kernels = tangent_kernels(plant, asked.live, asked.wrt, euler)
        self.width, self.words, self.clock = host().lanes, np.zeros(at.WORDS, dtype=np.int64), np.zeros(5)
        self.blocks = -(-asked.count // self.width)
        self.size = 2 * plant.nv + plant.np
        self.table = np.zeros(1) if euler else method.table.memory
        stages, extra, degree = 1, 0, 0
        if not euler:
            stages, extra, degree = method.table.stages, len(method.table.extra), method.table.polynomials.shape[1]
        self._tell({at.BLOCKS: self.blocks, at.WIDTH: self.width, at.STAGES: stages, at.EXTRA: extra})
        self._tell({at.DEGREE: degree, at.EULER: euler, at.KEEP: t_eval is None})
        self._memory(stages + extra)
        self._code()
        self.clock[at.DT] = dt or 0.0
        self.chunks: list[Array] = []
        self.samples = np.empty((0 if t_eval is None else len(t_eval), self.blocks * self.size * self.width))
        self.instants = np.zeros(1) if t_eval is None else np.ascontiguousarray(t_eval, dtype=float)
        self._place({at.SAMPLES: self.samples, at.INSTANTS: self.instants})
        self.words[at.INSTANT_COUNT] = len(self.samples)

    # ------------------------------------------------------------------ memory
    def _tell(self, words: dict[int, Any]) -> None:
        for word, value in words.items():
            self.words[word] = value

    def _place(self, arrays: dict[int, Array]) -> None:
        self._tell({word: address(array) for word, array in arrays.items()})

    def _memory(self, stages: int) -> None:
        """What a step works on; columns (..., entries, W) of blocks."""
        plant, n, W, B = self.plant, self.plant.nv, self.width, self.blocks
        live = np.concatenate([np.zeros(0), *(np.ravel(x) for x in self.asked.live.values())])
        nm, sizes = len(plant.memory), {"e": n, "v": n, "parameters": len(plant.parameters), "live": len(live)}
        seeds = {name: self._blocks(x) for name, x in self.asked.seeds(sizes, B * W).items()}
        self.q, self.y, self.e, self.memory = np.zeros(plant.nq), np.zeros(self.size), seeds["e"], np.zeros(nm + 1)
        self.dot_y, self.dot_m = np.zeros((B, self.size, W)), np.zeros((B, nm, W))
        self.dot_y[:, n : 2 * n] = seeds["v"]
        dot_x, e1, dot_k = np.zeros_like(self.dot_y), np.zeros_like(self.e), np.zeros((B, stages, self.size, W))
        self.e1, self.dot_x = e1, dot_x
        self.arrays = {
            at.Q: self.q, at.Y: self.y, at.K: np.zeros((stages, self.size)), at.X: np.zeros(self.size), at.E: self.e,
            at.E1: e1, at.DOT_Y: self.dot_y, at.DOT_K: dot_k, at.DOT_X: dot_x, at.WEIGHTS: np.zeros(stages),
            at.TABLE: self.table, at.MEMORY: self.memory, at.NEW_MEMORY: np.zeros(nm + 1), at.DOT_MEMORY: self.dot_m,
            at.NEW_DOT_MEMORY: np.zeros_like(self.dot_m), at.DOT_PARAMETERS: seeds["parameters"],
            at.DOT_LIVE: seeds["live"], at.PARAMETERS: np.append(plant.parameters, 0.0), at.LIVE: np.append(live, 0.0),
            at.CONSTANTS: plant.recording.kernels.constants, at.WORK: np.zeros(self.kernels.work),
        }  # fmt: skip
        self._place(self.arrays)
        self._tell({at.PARAMETER_COUNT: sizes["parameters"], at.LIVE_COUNT: sizes["live"]})

    def _code(self) -> None:
        """Addresses of the kernels."""
        kernels = self.kernels
        self._tell({at.STAGE_COMMON: kernels.stage.common, at.STAGE_COLUMNS: kernels.stage.columns})
        if kernels.place is not None:
            self._tell({at.PLACE_COMMON: kernels.place.common, at.PLACE_COLUMNS: kernels.place.columns})
        if kernels.update is not None:
            self._tell({at.UPDATE_COMMON: kernels.update.common, at.UPDATE_COLUMNS: kernels.update.columns})

    def _blocks(self, columns: Array) -> Array:
        """(size, B W) as (B, size, W)."""
        return np.ascontiguousarray(columns.reshape(len(columns), self.blocks, self.width).transpose(1, 0, 2))

    # ------------------------------------------------------------------ along the run
    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The run begins here, after the sampling instant there."""
        plant, n = self.plant, self.plant.nv
        expect_no_friction(plant)
        expect_no_constraint(plant, t)
        if self.kernels.update is not None:
            plant.machine.need_update()
            (T,) = plant.source.sample_times
            self.clock[at.PERIOD], self.clock[at.INSTANT] = T, np.floor(t / T + 1e-9) + 1
        self.clock[at.T] = t
        self.q[:], self.y[n : 2 * n], self.y[2 * n :] = q, v, p
        if self.kernels.update is not None:
            self.memory[:-1] = plant.source.m0
            self._checked(driver(at.sampled_first).call(*self._given))
        self.memory[:-1] = plant.memory
        row = np.concatenate([self.e, self.dot_y[:, n:]], axis=1).ravel()
        if self.t_eval is None:
            self.chunks.append(row[None])
        elif len(self.t_eval) and self.t_eval[0] <= t:
            self.samples[0], self.words[at.NEXT] = row, 1

    @property
    def _given(self) -> tuple[int, int, int]:
        return self.plant.machine.env, address(self.words), address(self.clock)

    def follow(self, rows: Array) -> None:
        """Accepted steps, whose ends are rows (t, q, v, p, ...)."""
        if self.t_eval is None:
            self.chunks.append(np.empty((len(rows), self.samples.shape[1])))
            self._place({at.ROWS: self.chunks[-1]})
            self.words[at.ROW] = 0
        rows = np.ascontiguousarray(rows)
        self._checked(driver(at.tangent_steps).call(*self._given, address(rows), len(rows), rows.shape[1]))

    def cut(self, row: Array, t: float) -> None:
        """The last step, to a row, of which only the part up to the event at t counts."""
        if self.t_eval is not None:
            self.words[at.INSTANT_COUNT] = np.searchsorted(self.t_eval, t, side="right")
            self.follow(row[None])
            return
        self.samples, self.instants = np.empty((1, self.samples.shape[1])), np.array([t])
        self._place({at.SAMPLES: self.samples, at.INSTANTS: self.instants})
        self._tell({at.KEEP: 0, at.NEXT: 0, at.INSTANT_COUNT: 1})
        rows = np.ascontiguousarray(row[None])
        self._checked(driver(at.tangent_steps).call(*self._given, address(rows), 1, rows.shape[1]))
        self.chunks.append(self.samples)

    def reached(self) -> None:
        """An instant that is so close that there is no step to it."""
        if self.t_eval is not None:
            here = np.concatenate([self.e, self.dot_y[:, self.plant.nv :]], axis=1).ravel()
            self.samples[self.words[at.NEXT]] = here
            self.words[at.NEXT] += 1

    def _checked(self, status: int) -> None:
        if status == at.DONE:
            return
        first = np.flatnonzero(~np.isfinite(np.concatenate([self.e1, self.dot_x], axis=1)).all(axis=1).ravel())
        bad = int(first[0]) if len(first) else 0
        names = [name for name, (start, count) in self.asked.columns.items() if start <= bad < start + count]
        raise not_finite(names[0] if names else next(iter(self.asked.columns)), float(self.clock[at.T]))

    # ------------------------------------------------------------------ what came out
    def result(self, count: int) -> dict[str, Sensitivity]:
        """By name, for the first ``count`` samples."""
        rows = self.samples if self.t_eval is not None else np.concatenate([self.samples[:0], *self.chunks])
        n = self.plant.nv
        shape = len(rows), self.blocks, self.size, self.width
        S = rows.reshape(shape).transpose(0, 2, 1, 3).reshape(len(rows), self.size, self.blocks * self.width)[:count]
        named: dict[str, Sensitivity] = {}
        for name, (first, k) in self.asked.columns.items():
            parts = (S[:, part, first : first + k] for part in (slice(n), slice(n, 2 * n), slice(2 * n, None)))
            named[name] = Sensitivity(*(np.ascontiguousarray(x) for x in parts))
        return named
