"""Machine code of a rollout: kernels of the model and of what drives it, for one lane or W, and their memory.

Kernels and formulas are those of ``gs.simulate``; the steps are :mod:`~gyrostat.simulate.rollout.lane_steps`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.matrices.singular_inertia import expect_inertia
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import in_threads, shares
from gyrostat.errors import StateError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.law_kernels import shared_code
from gyrostat.simulate.kernels.model_kernels import ModelKernels, kept_kernels
from gyrostat.simulate.methods.rk4 import ClassicalRungeKutta
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.rollout import lane_steps as of
from gyrostat.simulate.rollout.control_law import WHO, Law
from gyrostat.simulate.rollout.source import RolloutSource, Shapes
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.spec.context import MovingBase
from gyrostat.spec.model import Model

Array = np.ndarray
METHODS = {"rk4": ClassicalRungeKutta.table, "semi-implicit": None}
"""Tables of the explicit methods; semi-implicit Euler has none."""
BUDGET = 400_000_000
"""Operations (of W lanes) in one call of machine code, about 0.2 s: Python listens to Ctrl-C between two of them."""


@dataclass(frozen=True)
class Rows:
    """Arrays of a run: ``q``, ``v``, ``p``, ``m`` (rows + 1, N, size), the start, then a row after every ``every``
    steps of h [s]; ``parameters`` and ``live`` (N, size) or (1, size); ``sample``: steps between two samples;
    ``first_bad`` (N,): the first step that is not finite, or -1."""

    q: Array
    v: Array
    p: Array
    m: Array
    parameters: Array
    live: Array
    h: float
    every: int
    sample: int
    first_bad: Array

    @property
    def robots(self) -> int:
        return self.q.shape[1]

    @property
    def steps(self) -> int:
        return (len(self.q) - 1) * self.every


class RolloutKernel:
    """A model with one method, law and wrenches; ``live``: shapes of properties that are inputs, by path."""

    def __init__(self, model: Model, method: str, law: Law | None, live: Shapes, wrenches: RolloutWrenches):
        if isinstance(model.context.base, MovingBase):
            raise StateError(
                f"{WHO}: the base of '{model.name}' moves by a Python function, which cannot be compiled. "
                "Hint: gs.HarmonicMotion can; gs.simulate takes any function"
            )
        self.model, self.method, self.law, self.wrenches = model, method, law, wrenches
        self.table = METHODS[method]
        self.stages = 0 if self.table is None else self.table.stages - 1
        self.source = RolloutSource(model, law, wrenches, live).looked_at()
        self.kernels = _of_model(model, live)

    @property
    def plain(self) -> bool:
        return self.model.nq == self.model.nv

    @property
    def operations(self) -> int:
        """In one step."""
        each = len(self.kernels.forward.nodes) + len(self.source.lifted.program.nodes) + 8 * self.model.nv
        return max(1, self.stages) * each

    @cached_property
    def weights(self) -> Array:
        """The table as steps read it: a (S, S), b (S,), c (S,)."""
        if self.table is None:
            return np.zeros(1)
        s = self.stages
        rows = np.zeros((s + 2, s))
        for i, row in enumerate(self.table.a, start=1):
            rows[i, : len(row)] = row
        rows[s + 1] = self.table.c[:s]
        return rows.ravel()

    def codes(self, lanes: int) -> dict[int, KernelCode]:
        """Kernels by the words of the environment."""
        named = {at.FORWARD: "forward"} | ({} if self.plain else {at.CHART: "chart", at.RETRACT: "retract"})
        if self.stages:
            named.pop(at.RETRACT, None)
        else:
            named.pop(at.CHART, None)
        codes = {word: self.kernels.code(name, lanes) for word, name in named.items()}
        codes[at.LAW] = shared_code(self.source.lifted.program, lanes)
        if self.source.update is not None:
            codes[at.UPDATE] = shared_code(self.source.update.program, lanes)
        return codes

    def run(self, rows: Rows, threads: int = 1) -> None:
        """All steps of all robots; the first rows hold the start."""
        count = len(rows.q) - 1
        if not count or not rows.robots:
            return
        lanes = 1 if rows.robots == 1 else host().lanes
        call = driver(of.lane_rows, lanes).call
        self.codes(lanes)  # before any thread needs them

        def work(first: int, last: int, stop: list[bool]) -> None:
            memory = LaneMemory(self, rows, lanes)
            blocks = -(-(last - first) // lanes)
            for source, target, many, every, begin in spans(count, rows.every, max(1, BUDGET // (blocks * self.operations))):
                if stop:
                    return
                memory.set_rows(rows, first, last, source, target)
                memory.words[[of.ROWS, of.EVERY, of.BEGIN]] = many, every, begin
                call(memory.env, memory.run, memory.table, rows.h)

        shared_out(work, rows.robots, lanes, threads)


def shared_out(work: Any, count: int, lanes: int, threads: int) -> None:
    """``work(first, last, stop)`` for stretches of robots, in threads; Ctrl-C ends them after their present call."""
    threads = min(threads, -(-count // lanes))
    pieces, stop = shares(count, lanes, threads), []

    def each(supply: Iterable[tuple[int, int]]) -> None:
        for first, last in supply:
            work(first, last, stop)

    if threads == 1:
        each(pieces)
        return
    try:
        for _ in in_threads(each, pieces, threads):
            pass
    except BaseException:
        stop.append(True)
        raise


def _of_model(model: Model, live: Shapes) -> ModelKernels:
    """Kernels of the model, which must have something to move, and a regular inertia."""
    if not model.nv:
        raise StateError(f"{WHO}: nothing in '{model.name}' can move. Hint: it has no joints with coordinates")
    net, kept = kept_network(model), cached_on(model)
    net.refuse_loops(WHO)
    if "regular inertia" not in kept:
        expect_inertia(net, neutral(model), WHO)
        kept["regular inertia"] = True
    return kept_kernels(model, net, live)


class LaneMemory:
    """Words and columns of one thread. ``env``, ``run``, ``table``: addresses that drivers take; ``records``: how many
    records of steps there is room for."""

    def __init__(self, kernel: RolloutKernel, rows: Rows, lanes: int, records: int = 1):
        model, source = kernel.model, kernel.source
        self.kernel, self.lanes = kernel, lanes
        self.sizes = n, nq, np_, nm = model.nv, model.nq, len(source.p0), len(source.m0)
        stages, size = max(1, kernel.stages), 2 * n + np_
        self.record = stages * (2 * size + nq) + size + nq + 2 * nm
        codes = kernel.codes(lanes)
        update = np.zeros(0) if source.update is None else source.update.constants
        spaces = {
            at.MEMORY: nm, at.NEW_MEMORY: nm, at.PARAMETERS: source.size, at.LIVE: kernel.kernels.live_size, at.TIME: 1,
            at.CONSTANTS: len(source.lifted.constants), at.UPDATE_CONSTANTS: len(update), at.DIRECTIONS: 0,
            "table": len(kernel.weights), "tau": max(n, nq), "bad": 1, "record": self.record * records,
        }  # fmt: skip
        work = max(code.work for code in codes.values())
        ends = np.cumsum([max(1, size) * lanes for size in spaces.values()])
        self.columns = np.zeros(int(ends[-1]) + work)
        places = dict(zip(spaces, [0, *ends.tolist()], strict=False))
        self.places, base = places, address(self.columns)
        for name, numbers in ((at.CONSTANTS, source.lifted.constants), (at.UPDATE_CONSTANTS, update), ("table", kernel.weights)):
            self.columns[places[name] : places[name] + lanes * len(numbers)] = np.repeat(numbers, lanes)
        self.environment = np.zeros(at.WORDS_OF_A_PLANT, dtype=np.int64)
        self.angular = np.array([] if kernel.plain else [row[0] for row in model.layout.angular], dtype=np.int64)
        env = self.environment
        env[[at.NQ, at.NV, at.NP, at.NM, at.PLAIN, at.TURNING]] = nq, n, np_, nm, kernel.plain, len(self.angular)
        env[at.ANGULAR], env[at.WORK] = address(self.angular), base + 8 * int(ends[-1])
        for word, code in codes.items():
            env[word] = code.address
        for name, place in places.items():
            if isinstance(name, int):
                env[name] = base + 8 * place
        self.words = np.zeros(of.WORDS_OF_A_ROLLOUT, dtype=np.int64)
        self.words[[of.STAGES, of.SAMPLE, of.RECORD_SIZE]] = kernel.stages, rows.sample, self.record
        self.words[[of.TAU, of.BAD, of.RECORD]] = [base + 8 * places[name] for name in ("tau", "bad", "record")]
        self.env, self.run, self.table = address(env), address(self.words), base + 8 * places["table"]

    def set_rows(self, rows: Rows, first: int, last: int, source: int, target: int) -> None:
        """Robots from first to last, the row to begin from, and the first row to write."""
        words, count = self.words, rows.robots
        words[[of.ROBOTS, of.ALL]] = last - first, count
        words[of.FIRST_BAD] = address(rows.first_bad) + 8 * first
        words[[of.Q_FROM, of.V_FROM, of.P_FROM, of.M_FROM]] = [_row(x, source, first) for x in _states(rows)]
        words[[of.Q_TO, of.V_TO, of.P_TO, of.M_TO]] = [_row(x, target, first) for x in _states(rows)]
        for array, size, at_rows, stride in (
            (rows.parameters, of.PARAMETER_SIZE, of.PARAMETER_ROWS, of.PARAMETER_STRIDE),
            (rows.live, of.LIVE_SIZE, of.LIVE_ROWS, of.LIVE_STRIDE),
        ):
            words[size] = array.shape[1]
            words[stride] = array.shape[1] if len(array) > 1 else 0
            words[at_rows] = address(array) + 8 * first * int(words[stride])


def _states(rows: Rows) -> tuple[Array, Array, Array, Array]:
    return rows.q, rows.v, rows.p, rows.m


def _row(x: Array, row: int, first: int) -> int:
    """Address of a robot's entry in a row of (rows, N, size)."""
    return address(x) + 8 * x.shape[2] * (row * x.shape[1] + first)


def spans(rows: int, every: int, most: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(row to begin from, first row to write, rows, steps between them, first step), of at most ``most`` steps each."""
    done = 0
    while done < rows:
        if every <= most:
            count = min(rows - done, most // every)
            yield done, done + 1, count, every, done * every
            done += count
            continue
        for part in range(0, every, most):  # a row in several parts, each from where the one before ended
            yield done + (part > 0), done + 1, 1, min(most, every - part), done * every + part
        done += 1
