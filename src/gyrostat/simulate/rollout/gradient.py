"""Gradients of a rollout by the adjoint method: for every block of W robots a forward sweep that keeps the records of
its steps, and a sweep backwards over them.

If the records of all steps take more memory than :data:`LARGEST`, states are kept at checkpoints, and the stretches
between them are computed once more, the last one first: the same numbers to the bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.llvm.target import host
from gyrostat.errors import NonFiniteError, ShapeError, StateError, nearest
from gyrostat.simulate.kernels.law_kernels import shared_pullback
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.rollout import lane_adjoint as of
from gyrostat.simulate.rollout import loop
from gyrostat.simulate.rollout.control_law import parts
from gyrostat.simulate.rollout.kernel import RolloutKernel
from gyrostat.simulate.rollout.lane_memory import FROM, Columns, LaneMemory, Rows

Array = np.ndarray
WHO = "rollout.vjp"
TOTALS = of.TOTAL_Q, of.TOTAL_V, of.TOTAL_PARAMETERS, of.TOTAL_LIVE
LARGEST = 2**26
"""Bytes of records that one thread keeps; with more of them there are checkpoints."""


class Gradient:
    """Of a run: ``given`` are the arrays as they were handed over, by name, ``sizes`` the axes of one robot's;
    ``first_row``: the first row of the result."""

    def __init__(
        self,
        kernel: RolloutKernel,
        rows: Rows,
        given: Mapping[str, Array],
        sizes: Mapping[str, int],
        lead: tuple[int, ...],
        first_row: int,
        threads: int,
    ):
        self.kernel, self.rows, self.given, self.sizes = kernel, rows, given, sizes
        self.lead, self.first_row, self.threads = lead, first_row, threads
        self.start = tuple(x[0].copy() for x in rows.states)  # the result's own memory is the user's

    def __call__(self, weights: Any) -> dict[str, Array]:
        """Derivatives of sum(w_q q) + sum(w_v v) by name, shaped as given; those by q0 along the rates."""
        self._expect_finite_run()
        self._expect_no_bounce()
        w_q, w_v = self._weights(weights)
        kernel, robots = self.kernel, self.rows.robots
        sizes = {of.SUM_Q: kernel.model.nq, of.SUM_V: kernel.model.nv}
        sizes |= {of.SUM_PARAMETERS: kernel.source.size, of.SUM_LIVE: kernel.kernels.live_size}
        totals = {word: np.zeros((robots, size)) for word, size in sizes.items()}
        if self.rows.steps and robots:
            self._sweeps(w_q, w_v, totals)
        if not self.first_row:  # the start is a row, too
            for word, w in ((of.SUM_Q, w_q), (of.SUM_V, w_v)):
                totals[word] += 0.0 if w is None else w[0]
        return self._named(totals)

    # ------------------------------------------------------------------ what is given
    def _expect_finite_run(self) -> None:
        bad = np.flatnonzero(self.rows.first_bad >= 0)
        if len(bad):
            raise StateError(
                f"{WHO}: robot {bad[0]} diverged in step {int(self.rows.first_bad[bad[0]])}, it has no derivatives. "
                "Hint: leave such robots out, or take a smaller dt"
            )

    def _expect_no_bounce(self) -> None:
        contact = self.kernel.contact
        name = None if contact is None else contact.step.bouncing
        if name is not None:
            raise StateError(
                f"{WHO}: contact '{name}' has a restitution, and impacts that bounce have no derivatives here. "
                "Hint: restitution=0.0, or compliant contact (stiffness=...)"
            )

    def _weights(self, weights: Any) -> tuple[Array | None, Array | None]:
        """Of q and v, (rows, N, n) each; None is zero."""
        if isinstance(weights, Mapping):
            unknown = [name for name in weights if name not in ("q", "v")]
            if unknown:
                raise StateError(
                    f"{WHO}: there are no weights of '{unknown[0]}'. Hint: {nearest(str(unknown[0]), 'qv')}"
                )
            pair = weights.get("q"), weights.get("v")
        elif isinstance(weights, Sequence) and len(weights) == 2:
            pair = weights[0], weights[1]
        else:
            raise StateError(
                f"{WHO}: weights are a {type(weights).__name__}, expected a pair (w_q, w_v) or a mapping. "
                "Hint: run.vjp((np.ones_like(run.q), None))"
            )
        w_q, w_v = (self._weight(w, name) for w, name in zip(pair, "qv", strict=True))
        return w_q, w_v

    def _weight(self, given: Any, name: str) -> Array | None:
        if given is None:
            return None
        rows, model = len(self.rows.q) - self.first_row, self.kernel.model
        expected = (rows, *self.lead, model.nq if name == "q" else model.nv)
        w = real_array(given, WHO, f"weights of {name}")
        if w.shape != expected:
            raise ShapeError(f"{WHO}: weights of {name} have shape {w.shape}, expected {expected} like run.{name}")
        if not np.isfinite(w).all():
            raise NonFiniteError(f"{WHO}: weights of {name} are not finite everywhere")
        return np.ascontiguousarray(w, dtype=float).reshape(rows, self.rows.robots, expected[-1])

    # ------------------------------------------------------------------ sweeps
    def _sweeps(self, w_q: Array | None, w_v: Array | None, totals: Mapping[int, Array]) -> None:
        robots = self.rows.robots
        lanes = 1 if robots == 1 else host().lanes
        codes = adjoint_codes(self.kernel, lanes)  # before any thread needs them

        def work(first: int, last: int, stop: list[bool]) -> None:
            memory = AdjointMemory(self.kernel, self.rows, self.start, lanes, codes)
            memory.set_weights(w_q, w_v, self.first_row)
            memory.sweeps(first, last, totals, stop)

        loop.shared_out(work, robots, lanes, self.threads)

    # ------------------------------------------------------------------ what comes out
    def _named(self, totals: Mapping[int, Array]) -> dict[str, Array]:
        kernel = self.kernel
        each = {"q0": along_rates(kernel, self.start[0], totals[of.SUM_Q]), "v0": totals[of.SUM_V]}
        each |= parts(totals[of.SUM_PARAMETERS], kernel.source.slots)
        for name, x in parts(totals[of.SUM_LIVE], kernel.kernels.live).items():
            each[name] = x + each[name] if name in each else x
        return {name: self._as_given(each[name], name) for name in each if name not in kernel.wrenches.inputs}

    def _as_given(self, x: Array, name: str) -> Array:
        """Numbers that several robots share have the sum of their derivatives."""
        given, size = self.given[name], self.sizes[name]
        robots = given.shape[: given.ndim - size]
        if robots == x.shape[:1]:
            return x
        total = x.sum(axis=0)
        return total[None] if robots else total


def along_rates(kernel: RolloutKernel, q: Array, bar_q: Array) -> Array:
    """Weights (N, nv) of displacements along the rates from those of the coordinates q (N, nq)."""
    if kernel.plain:
        return bar_q
    model = kernel.model
    units = np.eye(model.nv)
    T = np.array([[coordinate_rates(model, row, unit) for unit in units] for row in q]).reshape(len(q), model.nv, -1)
    return np.einsum("nij,nj->ni", T, bar_q)


def adjoint_codes(kernel: RolloutKernel, lanes: int) -> dict[int, KernelCode]:
    """Kernels of the sweep backwards, by their words."""
    source = kernel.source
    if kernel.contact is not None:
        codes = {of.CONTACT_ADJOINT: kernel.contact.code("adjoint", lanes)}
    else:
        codes = {of.FORWARD_ADJOINT: kernel.kernels.code("forward_adjoint", lanes)}
    wrt = ["q", "v", "p", "m", "parameters"]
    codes[of.LAW_ADJOINT] = shared_pullback(source.lifted.program, ["tau", "p_rate"], wrt, lanes)
    if source.update is not None:
        codes[of.UPDATE_ADJOINT] = shared_pullback(source.update.program, ["m"], wrt, lanes)
    if not kernel.plain:
        word, name = (of.CHART_ADJOINT, "chart_adjoint") if kernel.stages else (of.RETRACT_ADJOINT, "retract_adjoint")
        codes[word] = kernel.kernels.code(name, lanes)
    return codes


class AdjointMemory:
    """Words and columns of the sweeps of one thread; ``stretch``: steps between two checkpoints."""

    def __init__(
        self,
        kernel: RolloutKernel,
        rows: Rows,
        start: Sequence[Array],
        lanes: int,
        codes: Mapping[int, KernelCode],
    ):
        self.rows, self.start, self.lanes = rows, start, lanes
        self.blocks = max(1, loop.BUDGET // (4 * kernel.operations * rows.steps))
        most = min(LARGEST // (8 * lanes * kernel.record), loop.BUDGET // (4 * kernel.operations))
        self.stretch = min(rows.steps, max(1, most))
        self.memory = LaneMemory(kernel, rows, lanes, self.stretch, max(code.work for code in codes.values()))
        n, nq, np_, nm = kernel.model.nv, kernel.model.nq, len(kernel.source.p0), len(kernel.source.m0)
        size, par, live = 2 * n + np_, kernel.source.size, kernel.kernels.live_size
        self.sums = Columns(dict(zip(of.SUMS, (nq, n, np_, nm, par, live), strict=True)), lanes)
        scratch = {
            of.BAR_K: max(1, kernel.stages) * size, of.BAR_Y: size, of.BAR_Q: nq, of.BAR_TAU: nq, of.MORE_Q: nq,
            of.MORE_V: n, of.MORE_P: np_, of.MORE_M: nm, of.MORE_PARAMETERS: par, of.MORE_LIVE: live, of.ZEROS: n,
        }  # fmt: skip
        self.scratch = Columns(scratch, lanes)
        self.words = np.zeros(of.WORDS_OF_AN_ADJOINT, dtype=np.int64)
        self.sums.tell(self.words)
        self.scratch.tell(self.words)
        for word, code in codes.items():
            self.words[word] = code.address
        self.words[of.SUM_SIZE] = len(self.sums.numbers) // lanes
        env, run, table = self.memory.addresses
        self.addresses = env, run, address(self.words), table, rows.h

    def set_weights(self, w_q: Array | None, w_v: Array | None, first_row: int) -> None:
        """Of the rows from ``first_row`` on, (rows, N, n) each."""
        self.words[of.W_Q], self.words[of.W_V] = (0 if w is None else address(w) for w in (w_q, w_v))
        self.words[of.FIRST_ROW], self.words[of.IN_A_ROW] = first_row, self.rows.robots

    def sweeps(self, first: int, last: int, totals: Mapping[int, Array], stop: list[bool]) -> None:
        """Robots from first to last; ``totals`` (N, size) by the words of their sums."""
        whole = self.stretch == self.rows.steps
        many = self.lanes * (self.blocks if whole else 1)
        for robot in range(first, last, many):
            if stop:
                return
            (self._at_once if whole else self._with_checkpoints)(robot, min(many, last - robot), totals, stop)

    def _at_once(self, first: int, here: int, totals: Mapping[int, Array], stop: list[bool]) -> None:
        """Robots from ``first`` on, as many as there are ``here``: the records of all steps have room."""
        self.memory.set_robots(self.rows, first, first + here)
        self.memory.set_states(FROM, self.start, first)
        self.words[of.FIRST_STEP], self.words[of.STEPS] = 0, self.rows.steps
        for place, total in zip(TOTALS, totals.values(), strict=True):
            self.words[place] = address(total)
        block = driver(of.gradient_blocks, self.lanes).call(*self.addresses, first)
        if block:
            begin = (block - 1) * self.lanes
            raise _not_finite(first + begin, min(self.lanes, here - begin), 0)

    def _with_checkpoints(self, first: int, here: int, totals: Mapping[int, Array], stop: list[bool]) -> None:
        """One block of robots, with as many records as there is room for."""
        self.words[of.FIRST_ROBOT], self.words[of.HERE] = first, here
        self.memory.begin(self.start, self.rows, np.minimum(np.arange(self.lanes), here - 1) + first)
        self.sums.numbers[:] = 0.0
        stretches = [(k, min(self.stretch, self.rows.steps - k)) for k in range(0, self.rows.steps, self.stretch)]
        states = [self.memory.state]
        for stretch in stretches[:-1]:
            if stop:
                return
            self._run(*stretch, 0)
            states.append(self.memory.state)
        for stretch, state in zip(reversed(stretches), reversed(states), strict=True):
            if stop:
                return
            self.memory.state = state
            self._run(*stretch, 1)
            if driver(of.backward_stretch, self.lanes).call(*self.addresses):
                raise _not_finite(first, here, stretch[0])
        for word, total in totals.items():
            total[first : first + here] = self.sums[word].T[:here]

    def _run(self, step: int, count: int, keep: int) -> None:
        self.words[of.FIRST_STEP], self.words[of.STEPS] = step, count
        driver(of.forward_stretch, self.lanes).call(*self.addresses, keep)


def _not_finite(first: int, here: int, step: int) -> NonFiniteError:
    who = f"robot {first}" if here == 1 else f"a robot from {first} to {first + here - 1}"
    return NonFiniteError(
        f"{WHO}: the derivatives of {who} are not finite in a step from {step} on. "
        "Hint: the controller, or the model, has no derivative in a state that it comes through"
    )
