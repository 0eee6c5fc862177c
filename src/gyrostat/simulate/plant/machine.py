"""A plant as drivers see it: the words of its environment, kept true to what changes at events and samples."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.block import Block
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.errors import NonFiniteError
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.callback import Callback
from gyrostat.simulate.kernels.discrete_mechanics import momentum
from gyrostat.simulate.kernels.law_kernels import shared_code
from gyrostat.simulate.kernels.loop_margins import margin_memory_size
from gyrostat.simulate.kernels.loop_projection import K1, K2, closed_rows, loop_memory_size
from gyrostat.simulate.kernels.loop_projector import loop_work_size
from gyrostat.simulate.kernels.stage import applied_rows, one_place, one_stage
from gyrostat.simulate.plant.contact_memory import ContactMemory
from gyrostat.simulate.plant.rigid_contacts import contact_code
from gyrostat.solvers.functions import aba, coriolis, crba, rnea, rnea_derivatives

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"
OF_LOOPS = {
    at.CLOSE: "close", at.CLOSED_RATES: "closed_rates", at.LOOP_ROWS: "loop_rows", at.MARGINS: "margins",
}  # fmt: skip
OF_THE_MANIFOLD = {at.CHART: "chart", at.RETRACT: "retract", at.CARRIED: "carried", at.ARRIVAL: "arrival"}
"""Kernels that do nothing where q and v are alike."""


def address(x: Array) -> int:
    """Of the first element of an array."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(x))  # type: ignore[arg-type]  # a seventh of the time
    except (TypeError, ValueError):  # read-only, empty or not contiguous
        return int(x.__array_interface__["data"][0])


def places_of(block: Block) -> tuple[int, int, int, int]:
    """Of a rotation: first places of its quaternion and its position in q, of its angular and linear rates in v."""
    moves = block.moves
    return (
        block.quaternion.start,
        block.position.start if moves else -1,
        block.angular.start,
        block.linear.start if moves else -1,
    )


class Machine:
    """The environment of a plant. Kernels are looked up when a method asks for them (:meth:`need`); ``callbacks`` are
    those that are Python functions. :meth:`refresh` after whatever changes memory, directions or constraints."""

    def __init__(self, plant: Plant):
        self.plant = plant
        self.words = np.zeros(at.WORDS_OF_A_PLANT, dtype=np.int64)
        self.env = address(self.words)
        self.callbacks: dict[str, Callback] = {}
        layout, model = plant.model.layout, plant.model
        sizes = {at.NQ: plant.nq, at.NV: plant.nv, at.NP: plant.np, at.NM: len(plant.memory), at.PLAIN: plant.plain}
        for word, value in sizes.items():
            self.words[word] = value
        self.angular = np.array([] if plant.plain else [row[0] for row in layout.angular], dtype=np.int64)
        size_of = np.full(plant.nv, -1, dtype=np.int64)
        size_of[layout.number_v], size_of[layout.linear.ravel()] = layout.number_q, layout.positions.ravel()
        self.size_of = size_of
        self.words[at.TURNING] = len(self.angular)
        self.numbers = np.stack([layout.number_q, layout.number_v], axis=1).astype(np.int64)
        self.turns = np.array([places_of(block) for block in layout.turning], dtype=np.int64).reshape(-1, 4)
        self.words[at.NUMBER_COUNT], self.words[at.BY_ACCELERATIONS] = len(self.numbers), plant.forward is not None
        self.memory, self.new_memory = np.zeros((2, max(1, len(plant.memory))))
        self.directions = np.zeros(max(1, len(plant.active.directions)))
        self.parameters = np.concatenate([plant.parameters, [0.0]])
        self.live = np.concatenate([plant.live, [0.0]])
        self.constants = plant.law.constants if plant.law is not None else np.zeros(1)
        self.time = np.zeros(1)
        self._work = np.zeros(64)
        arrays = {
            at.MEMORY: self.memory, at.NEW_MEMORY: self.new_memory, at.DIRECTIONS: self.directions, at.LIVE: self.live,
            at.PARAMETERS: self.parameters, at.CONSTANTS: self.constants, at.TIME: self.time, at.WORK: self._work,
            at.ANGULAR: self.angular, at.SIZE_OF: self.size_of, at.NUMBERS: self.numbers, at.TURNS: self.turns,
        }  # fmt: skip
        for word, array in arrays.items():
            self.words[word] = address(array)
        self.projector, self.projector_bias = np.zeros((plant.nv, plant.nv)), np.zeros(plant.nv)
        self._needed: dict[int, Any] = {}
        self._contacts: ContactMemory | None = None
        self._taken: Any = None
        self._loop_work: Array | None = None
        self._y, self._dy = np.zeros((2, 2 * plant.nv + plant.np + 1))
        self._q, self._tau = np.zeros(model.nq), np.zeros(model.nv)
        self.need(at.LAW, at.FORWARD, at.CHART)
        self._take_loops(plant)
        self.refresh()

    # ------------------------------------------------------------------ kernels
    def need(self, *kernels: int) -> None:
        """These kernels will be called."""
        for word in kernels:
            if word in self._needed:
                continue
            made = self._kernel(word)
            if made is not None:
                self.install(word, made)
            if word == at.INVERSE and self.plant.loops is not None:
                self._loops_in_residuals()

    def install(self, word: int, made: KernelCode | Callback) -> None:
        """A kernel by its word."""
        self._needed[word] = made
        self.words[word] = made.address
        if isinstance(made, KernelCode):
            self.need_work(made.work)

    def need_work(self, doubles: int) -> None:
        """Scratch of a kernel that will be called."""
        if doubles > len(self._work):
            self._work = np.zeros(doubles + 64)
            self.words[at.WORK] = address(self._work)

    @property
    def work_size(self) -> int:
        """Doubles of scratch that the kernels need."""
        return len(self._work)

    def code(self, word: int) -> KernelCode | Callback | None:
        """What is behind a word that was needed."""
        return self._needed.get(word)

    @staticmethod
    def place_of(x: Array) -> int:
        """Address of an array that machine code may read and write."""
        return address(x)

    def _take_loops(self, plant: Plant) -> None:
        """Kernels and memory of loops."""
        if plant.margins:
            self.need(at.MARGINS)
            self.margin_memory = np.zeros(margin_memory_size(plant.margins))
            self.words[at.MARGIN_MEMORY], self.words[at.MARGIN_COUNT] = address(self.margin_memory), plant.margins
        if plant.loops is None and plant.contacts is None:
            return
        self.need(at.RETRACT)
        self.loop_memory = np.zeros(loop_memory_size(plant.nq, plant.nv))
        self.words[at.LOOPS] = address(self.loop_memory)
        if plant.loops is None:
            return
        self.need(at.CLOSE, at.CLOSED_RATES)
        self.loop_memory[K1], self.loop_memory[K2] = plant.loops.settings.k1, plant.loops.settings.k2
        self.words[at.LOOP_COUNT] = plant.loops.count

    def _loops_in_residuals(self) -> None:
        """Residuals of inverse dynamics are along the motions that loops leave."""
        if self.plant.loops is not None and self._loop_work is None:
            self.need(at.LOOP_ROWS)
            self._loop_work = np.zeros(loop_work_size(self.plant.nv, self.plant.loops.count))
            self.words[at.LOOP_WORK] = address(self._loop_work)
            self.refresh()

    def _stabilise(self, plant: Plant) -> None:
        """Whether states are projected, or accelerations draw loops together; beside other constraints in Python, and
        where contacts are closed."""
        self.words[at.CONTACTS] = 0
        if plant.active.touching:
            self.words[at.BAUMGARTE] = 0
            if self._contacts_in_machine_code():
                self.words[at.CLOSE] = 1
            else:
                self.words[at.CLOSE], self.words[at.CLOSED_RATES] = self._closing()
            return
        if plant.loops is None:
            self.words[at.CLOSE] = 0
            return
        close, rates = (self._needed[word].address for word in (at.CLOSE, at.CLOSED_RATES))
        if plant.others_active:
            close, rates = self._closing()
        projects = plant.loops.settings.projects
        self.words[at.CLOSE], self.words[at.BAUMGARTE] = (close, 0) if projects else (0, close)
        self.words[at.CLOSED_RATES] = rates

    def _contacts_in_machine_code(self) -> bool:
        """Whether drivers find the forces of closed contacts."""
        plant = self.plant
        if plant.contacts is None or plant.model_in_python:
            return False
        if self._contacts is None:
            code = contact_code(plant.moving)
            if code.work > len(self._work):
                self._work = np.zeros(code.work + 64)
                self.words[at.WORK] = address(self._work)
            self._contacts = ContactMemory(plant, plant.contacts, code)
            if plant.loops is not None:
                self.need(at.LOOP_ROWS)
        if not self._contacts.serves():
            return False
        if self._taken is not plant.active:
            self._contacts.take(plant.active.contacts)  # type: ignore[arg-type]
            self._taken = plant.active
        self.words[at.CONTACTS] = self._contacts.address
        return True

    @property
    def watches_contacts(self) -> bool:
        """Whether drivers watch closed contacts."""
        self.refresh()
        return bool(self.words[at.CONTACTS])

    def _closing(self) -> tuple[int, int]:
        """Projections that leave other active constraints as they are."""
        if "close" not in self.callbacks:
            nq, n, live = self.plant.nq, self.plant.nv, len(self.plant.live)
            self._callback("close", self._close, (1, nq, live), (n,))
            self._callback("closed_rates", self._closed_rates, (1, nq, n, live), (n,))
        return self.callbacks["close"].address, self.callbacks["closed_rates"].address

    def need_update(self) -> bool:
        """Digital parts are sampled in machine code; False if that is not possible."""
        plant = self.plant
        update = None if plant.law_in_python else plant.recording.lifted_update
        if update is None:
            return False
        if at.UPDATE not in self._needed:
            lifted, self.update_constants = update
            self.install(at.UPDATE, shared_code(lifted))
            self.words[at.UPDATE_CONSTANTS] = address(self.update_constants)
        return True

    def _kernel(self, word: int) -> KernelCode | Callback | None:
        plant, model = self.plant, self.plant.kernels
        n, nq, np_, m = plant.nv, plant.nq, plant.np, len(plant.memory)
        d, par, live = len(plant.active.directions), len(plant.parameters), len(plant.live)
        if word in OF_THE_MANIFOLD:
            return None if plant.plain else model.code(OF_THE_MANIFOLD[word])
        if word in OF_LOOPS:
            return model.code(OF_LOOPS[word])
        if word in (at.MOMENTUM, at.RATES):
            name, inputs, outputs = "momentum", (1, nq, n, d, live), (n, n, n * n, n * n)
            if word == at.RATES:
                name, inputs, outputs = "rates", (1, nq, n, live), (n,)
            if not plant.model_in_python:
                return model.code(name)
            return self._callback(name, getattr(self, f"_{name}"), inputs, outputs)
        if word in (at.LAW, at.LAW_SLOPES):
            if plant.law is not None:
                return plant.law.code if word == at.LAW else plant.law.slopes
            given = (1, nq, n, np_, m, par, 0)
            if word == at.LAW:
                return self._callback("law", self._law, given, (n, np_))
            return self._callback(
                "law_slopes", self._law_slopes, given, (n * n, n * n, n * np_, np_ * n, np_ * n, np_ * np_)
            )
        if word == at.MASS:
            if not plant.model_in_python:
                return model.code("mass")
            return self._callback("mass", self._mass, (1, nq, live), (n * n,))
        names = {at.FORWARD: "forward", at.INVERSE: "inverse", at.SLOPES: "slopes"}
        if word in names:
            if not plant.model_in_python:
                return model.code(names[word])
            function: Callable[..., Any] = getattr(self, f"_{names[word]}")
            sizes = (n * n,) * 3 if word == at.SLOPES else (n,)
            return self._callback(names[word], function, (1, nq, n, n, d, live), sizes)
        raise KeyError(word)

    def _callback(self, name: str, function: Any, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Callback:
        abort = self.words[at.ABORT : at.ABORT + 1]
        self.callbacks[name] = Callback(function, inputs, outputs, abort, checked=name == "law")
        self.plant.callbacks.append((name, self.callbacks[name]))
        return self.callbacks[name]

    # ------------------------------------------------------------------ in Python
    def _law(
        self, t: Array, q: Array, v: Array, p: Array, m: Array, par: Array, constants: Array
    ) -> tuple[Array, Array]:
        return self.plant.recording.numbers(float(t[0]), q, v, p, m)

    def _law_slopes(self, t: Array, q: Array, v: Array, p: Array, *_: Array) -> tuple[Array, ...]:
        if self.plant.source.constant is not None:
            n, k = self.plant.nv, self.plant.np
            return tuple(np.zeros(i * j) for i in (n, k) for j in (n, n, k))
        return tuple(self.plant.derivatives.source_differences(float(t[0]), q, v, p))

    def _forward(self, t: Array, q: Array, v: Array, tau: Array, directions: Array, live: Array) -> tuple[Array]:
        plant = self.plant
        if plant.forward is not None:
            return (plant.forward(q, v, tau, **plant.time(float(t[0]))),)
        return (aba(plant.moving, q, v, tau + plant.sliding_efforts(v), **plant.time(float(t[0]))),)

    def _inverse(self, t: Array, q: Array, v: Array, a: Array, directions: Array, live: Array) -> tuple[Array]:
        plant = self.plant
        return (rnea(plant.moving, q, v, a, **plant.time(float(t[0]))) - plant.sliding_efforts(v),)

    def _slopes(self, t: Array, q: Array, v: Array, a: Array, directions: Array, live: Array) -> tuple[Array, ...]:
        plant = self.plant
        d = rnea_derivatives(plant.moving, q, v, a, **plant.time(float(t[0])))
        return d.dtau_dq, d.dtau_dv - plant.sliding_slopes(v), d.dtau_da

    def _momentum(self, t: Array, q: Array, v: Array, directions: Array, live: Array) -> tuple[Array, ...]:
        plant, on = self.plant, self.plant.time(float(t[0]))
        f = rnea(plant.moving, q, v, np.zeros(plant.nv), **on) - plant.sliding_efforts(v)
        return momentum(plant.moving, crba(plant.moving, q, **on), coriolis(plant.moving, q, v, **on), f, v)

    def _rates(self, t: Array, q: Array, p: Array, live: Array) -> tuple[Array]:
        return (np.linalg.solve(crba(self.plant.moving, q, **self.plant.time(float(t[0]))), p),)

    def _mass(self, t: Array, q: Array, live: Array) -> tuple[Array]:
        return (crba(self.plant.moving, q, **self.plant.time(float(t[0]))),)

    def _close(self, t: Array, q: Array, live: Array) -> tuple[Array]:
        g, rows = self.plant.active.position_rows(q)
        return (rows.least(self.plant.inverse_inertia(q), -g),)

    def _closed_rates(self, t: Array, q: Array, v: Array, live: Array) -> tuple[Array]:
        rows = self.plant.active.rows(q, v)
        return (v + rows.least(self.plant.inverse_inertia(q), -(rows.J @ v)),)  # type: ignore[union-attr]

    def _project(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        rows = self.plant.active.rows(q, v)
        n = self.plant.nv
        if rows is None:
            return np.eye(n), np.zeros(n)
        return rows.oblique, np.zeros(n) if rows.bias is None else rows.lift @ rows.bias

    def _constrain(self, t: Array, q: Array, v: Array, a: Array) -> tuple[()]:
        plant = self.plant
        rows = plant.active.rows(q, v)
        if rows is not None:
            a[:] = rows.accelerations(plant.inverse_inertia(q), a)
            if not np.isfinite(a).all():
                raise NonFiniteError(f"{WHO}: accelerations within the constraints are not finite")
        return ()

    # ------------------------------------------------------------------ what changes at events and samples
    def refresh(self) -> None:
        """Memory, directions of sliding and constraints as the plant has them now."""
        plant = self.plant
        if plant.margins:
            self.margin_memory[-2] = 0.0  # of no step
        self.memory[: len(plant.memory)] = plant.memory
        self.directions[: len(plant.active.directions)] = plant.active.directions
        self._stabilise(plant)
        if plant.active.empty:
            self.words[at.CONSTRAIN] = self.words[at.PROJECT] = self.words[at.PROJECTOR] = 0
        else:
            self._projects(plant)
            self.words[at.CONSTRAIN] = 0
            if plant.others_active and not self.words[at.CONTACTS]:
                known = self.callbacks.get("constrain")
                if known is None:
                    known = self._callback("constrain", self._constrain, (1, plant.nq, plant.nv, plant.nv), ())
                self.words[at.CONSTRAIN] = known.address
        alone = plant.loops is not None and not plant.others_active
        self.words[at.LOOP_PROJECTOR] = alone and self._loop_work is not None
        if alone:
            self.words[at.PROJECT] = self.words[at.PROJECTOR] = 0
        if self.words[at.LOOP_PROJECTOR]:
            self.words[at.PROJECTOR] = address(self.projector)
            self.words[at.PROJECTOR_BIAS] = address(self.projector_bias)

    def numbered(self) -> None:
        """The plant has other parameters."""
        self.parameters[:-1], self.live[:-1] = self.plant.parameters, self.plant.live

    def _projects(self, plant: Plant) -> None:
        """N and b of active constraints: numbers where their rows are constant, else a kernel."""
        n, projector = plant.nv, plant.active.constant_projector
        self.words[at.PROJECTOR], self.words[at.PROJECTOR_BIAS] = address(self.projector), address(self.projector_bias)
        if projector is not None:
            self.projector[...], self.projector_bias[...], self.words[at.PROJECT] = projector, 0.0, 0
            return
        known = self.callbacks.get("project")
        if known is None:
            known = self._callback("project", self._project, (1, plant.nq, n), (n * n, n))
        self.words[at.PROJECT] = known.address

    def counted(self) -> None:
        """Hand the evaluations over to the plant's counters."""
        counters, words = self.plant.counters, self.words
        for word, name in COUNTS.items():
            if count := int(words[word]):
                setattr(counters, name, getattr(counters, name) + count)
                words[word] = 0

    def failure(self) -> BaseException | None:
        """What a Python function has raised last, once."""
        for callback in self.callbacks.values():
            if callback.error is not None:
                error, callback.error = callback.error, None
                return error
        return None

    def expect_no_abort(self) -> None:
        """Raise what ended the loop in a Python function."""
        if self.words[at.ABORT]:
            self.words[at.ABORT] = 0
            error = self.failure()
            if error is not None:
                raise error

    # ------------------------------------------------------------------ single evaluations
    @cached_property
    def _one_stage(self) -> Any:
        return driver(one_stage).call

    def stage(self, t: float, q0: Array, y: Array) -> tuple[Array, Array, Array]:
        """dy, q, tau at a state; NonFiniteError where they are not finite."""
        q0 = np.ascontiguousarray(q0, dtype=float)
        self._y[:] = y
        bad = self._one_stage(
            self.env, t, address(q0), address(self._y), address(self._dy), address(self._q), address(self._tau)
        )
        if bad:
            self.expect_no_abort()
            raise self.not_finite(t)
        return self._dy.copy(), self._q.copy(), self._tau.copy()

    def law_slopes(self, t: float, q: Array, v: Array, p: Array) -> list[Array]:
        """tau_q, tau_v, tau_p, p_q, p_v, p_p at a state, flat."""
        self.need(at.LAW_SLOPES)
        n, k = self.plant.nv, self.plant.np
        blocks = [np.zeros(i * j) for i in (n, k) for j in (n, n, k)]
        self.time[0] = t
        inputs = [self.time, *(np.ascontiguousarray(x, dtype=float) for x in (q, v, p))]
        fixed = [self.memory, self.parameters, self.constants]
        kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 14)
        bad = kind(int(self.words[at.LAW_SLOPES]))(*map(address, [*inputs, *fixed, *blocks, self._work]))
        if bad != 0.0:
            self.expect_no_abort()
            raise self.not_finite(t)
        return blocks

    def not_finite(self, t: float) -> NonFiniteError:
        """What is said of an evaluation that is not finite."""
        error = self.failure()
        if isinstance(error, NonFiniteError):
            return error
        return NonFiniteError(
            f"{WHO}: accelerations, or efforts, are not finite at t = {t:.9g} s although the state is. Hint: numbers "
            "are too large, or the state is singular"
        )

    def applied(self, rows: Array) -> Array:
        """Wrenches (T, 6 k) of rows (T, width), whose efforts become those beside the wrenches."""
        plant, (program, constants) = self.plant, self.plant.recording.apart
        code, entries = shared_code(program), 6 * len(plant.places)
        work, W = np.zeros(code.work), np.empty((len(rows), entries))
        before, self.words[at.WORK] = int(self.words[at.WORK]), address(work)
        sizes = len(rows), rows.shape[1], address(rows), address(W), entries
        driver(applied_rows).call(self.env, code.address, address(constants), *sizes)
        self.words[at.WORK] = before
        return W

    def closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """States (..., nq), (..., nv) projected onto closed loops and contacts."""
        self.refresh()
        rows = np.array(q, dtype=float, order="C").reshape(-1, self.plant.nq)
        rates = np.array(v, dtype=float, order="C").reshape(-1, self.plant.nv)
        done = driver(closed_rows).call(self.env, len(rows), address(rows), address(rates))
        self.expect_no_abort()
        if done < len(rows):
            raise NonFiniteError(f"{WHO}: closed contacts cannot be kept closed at q = {rows[done]}")
        return rows.reshape(np.shape(q)), rates.reshape(np.shape(v))

    def move(self, q0: Array, x: Array) -> Array:
        """q (..., nq) at the local coordinates x (..., nv) around q0."""
        rows = np.ascontiguousarray(x, dtype=float).reshape(-1, self.plant.nv)
        q0 = np.ascontiguousarray(q0, dtype=float)
        q, v, rate = np.empty((len(rows), self.plant.nq)), np.zeros(self.plant.nv), np.zeros(self.plant.nv)
        driver(one_place).call(self.env, len(rows), address(q0), address(rows), address(v), address(q), address(rate))
        return q.reshape(*np.shape(x)[:-1], self.plant.nq)


COUNTS = {
    at.RHS_COUNT: "rhs_evaluations", at.RESIDUAL_COUNT: "residual_evaluations",
    at.JACOBIAN_COUNT: "jacobian_evaluations", at.OUTPUT_COUNT: "output_evaluations",
}  # fmt: skip
