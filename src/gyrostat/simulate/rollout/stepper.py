"""Robots that go on step by step under efforts from outside: the loop of a rollout, kept between calls."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.arguments import check_threads
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.llvm.target import host
from gyrostat.simulate.rollout import lane_steps as of
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.simulate.rollout.kernel import RolloutKernel
from gyrostat.simulate.rollout.lane_memory import FROM, TO, LaneMemory, Rows
from gyrostat.simulate.rollout.loop import run
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.spec.model import Model

Array = np.ndarray


class Stepper:
    """``robots`` copies of a model, ``steps`` steps of ``dt`` [s] at a time with constant efforts: the numbers of
    :func:`rollout`, impulses of contacts carried on from call to call."""

    def __init__(self, model: Model, robots: int, dt: float, steps: int = 1, method: str = "moreau", threads: int = 1):
        self.model, self.threads = model, check_threads(threads, WHO)
        self.kernel = RolloutKernel(model, method, None, {}, RolloutWrenches(model, None))
        sizes = {"q": model.nq, "v": model.nv, "p": 0, "m": len(self.kernel.m0)}
        arrays = {name: np.zeros((2, robots, size)) for name, size in sizes.items()}
        self.rows = Rows(
            **arrays, parameters=np.zeros((robots, model.nv)), live=np.zeros((1, 0)), h=dt, every=steps, sample=1,
            first_bad=np.full(robots, -1.0),
        )  # fmt: skip

    @cached_property
    def _alone(self) -> tuple[Any, LaneMemory]:
        """The loop of one thread, and its memory."""
        rows, lanes = self.rows, 1 if self.rows.robots == 1 else host().lanes
        memory = LaneMemory(self.kernel, rows, lanes)
        memory.set_robots(rows, 0, rows.robots)
        memory.set_states(FROM, [x[0] for x in rows.states], 0)
        memory.set_states(TO, [x[1] for x in rows.states], 0)
        memory.words[of.ROWS], memory.words[of.EVERY], memory.words[of.BEGIN] = 1, rows.every, 0
        return driver(of.lane_rows, lanes).call, memory

    @property
    def q(self) -> Array:
        """(N, nq), as it is now."""
        return self.rows.q[0]

    @property
    def v(self) -> Array:
        """(N, nv)."""
        return self.rows.v[0]

    def put(self, which: Any, q: Array, v: Array) -> None:
        """New states of some of the robots, which forget their impulses."""
        self.rows.q[0][which], self.rows.v[0][which], self.rows.m[0][which] = q, v, self.kernel.m0

    def advance(self, tau: Array) -> Array:
        """Whether (N,) the robots are still finite after the steps, with efforts tau (N, nv); those that are not stay
        where they were."""
        rows = self.rows
        rows.parameters[:] = tau
        rows.first_bad[:] = -1.0
        if self.threads > 1:
            run(self.kernel, rows, self.threads)
        else:
            call, memory = self._alone
            call(*memory.addresses, rows.h)
        fine = rows.first_bad < 0.0
        for x in rows.states:
            x[0][fine] = x[1][fine]
        return fine
