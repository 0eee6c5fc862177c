"""A model with its torque source as a first-order system on the configuration manifold, in machine code where that is
possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.singular_inertia import expect_inertia
from gyrostat.algorithms.recursions.articulated_dynamics import forward_dynamics
from gyrostat.algorithms.recursions.rne import no_loads
from gyrostat.configuration.chart import local_rates, moved
from gyrostat.configuration.manifold import difference, integrate, neutral
from gyrostat.configuration.packing import quaternion_guard
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, NonFiniteError, StateError
from gyrostat.graph.network import network
from gyrostat.simulate.constraints.friction_law import DirectedSource
from gyrostat.simulate.plant.derivatives import PlantDerivatives
from gyrostat.simulate.plant.torque_source import TorqueSource, torque_source
from gyrostat.simulate.plant.user_dynamics import expected_block
from gyrostat.simulate.plant.wrench_source import LoadedSource, with_wrenches
from gyrostat.solvers.functions import aba, rnea
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
CHANGED = "a sampled function changes what another one reads between the samples"


class Stage(NamedTuple):
    """Right-hand side in local coordinates: dy (2 nv + np + 1,), and q (nq,), tau (nv,) there."""

    dy: Array
    q: Array
    tau: Array


@dataclass
class Counters:
    """What a run has cost: ``rhs_evaluations`` of the forward dynamics with the torque source, ``residual_evaluations``
    of inverse dynamics, ``jacobian_evaluations``; ``output_evaluations`` of a and tau at samples that are kept, which
    the integration itself does not need."""

    rhs_evaluations: int = 0
    jacobian_evaluations: int = 0
    residual_evaluations: int = 0
    output_evaluations: int = 0


class Plant(PlantDerivatives):
    """A model with its torque source. State: q (nq,), v (nv,), p (np,), the source's own states; ``memory`` (nm,) of
    digital parts stays the same between sampling instants, see :meth:`sample`.

    ``compiled``: None tries to record the torque source together with the forward dynamics as one kernel, False does
    not. ``why_not_compiled`` tells why a plant calls Python in every evaluation, "" if it does not. ``forward``: a
    :class:`BlockSolver` in the place of the articulated-body algorithm."""

    def __init__(
        self,
        model: Model,
        torque: Any = None,
        compiled: bool | None = None,
        wrenches: Any = None,
        times: Any = None,
        forward: Any = None,
    ):
        expect_model(model, WHO)
        if not model.nv:
            raise StateError(f"{WHO}: nothing in '{model.name}' can move. Hint: it has no joints with coordinates")
        self.model = self.moving = model
        self.network = network(model)
        self.network.refuse_loops(WHO)
        expect_inertia(self.network, neutral(model), WHO)
        self.source: TorqueSource = with_wrenches(model, torque_source(model, torque), wrenches, times)
        self.places = self.source.places if isinstance(self.source, LoadedSource) else ()
        self.nq, self.nv, self.np = model.nq, model.nv, len(self.source.p0)
        self.memory = self.source.m0.copy()
        self.counters = Counters()
        self.forward = expected_block(forward, model)
        self.held: dict[int, int] = {}
        self._asked = compiled
        self.plain = self.nq == self.nv
        self.why_not_compiled = self._why_not()
        if compiled and self.why_not_compiled:
            raise GyrostatError(
                f"{WHO}: {self.source.told} cannot be compiled: {self.why_not_compiled}. Hint: leave compiled=True out"
            )

    # ------------------------------------------------------------------ what others call
    def acceleration(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """a (nv,), dp/dt (np,) and tau (nv,): forward dynamics with the torque source."""
        n = self.nv
        dy, _, tau = self.stage(t, q, np.concatenate([np.zeros(n), v, p, [0.0]]))
        return dy[n : 2 * n], dy[2 * n : -1], tau

    def observe(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """The same as :meth:`acceleration`, counted as an output."""
        rhs = self.counters.rhs_evaluations
        found = self.acceleration(t, q, v, p)
        self.counters.rhs_evaluations = rhs
        self.counters.output_evaluations += 1
        return found

    def torque(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """tau (nv,) and dp/dt (np,) of the source alone."""
        return self._plainly(t, q, v, p)

    def applied(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """External wrenches (k, 6), and the efforts (nv,) beside them."""
        source = self.source.inner if isinstance(self.source, DirectedSource) else self.source
        if not isinstance(source, LoadedSource):
            return np.zeros((0, 6)), self.torque(t, q, v, p)[0]
        return source.apart(t, q, v, p, self.memory[: len(source.m0)])

    def residual(self, t: float, q: Array, v: Array, a: Array, p: Array) -> Array:
        """H(q, v, a, p, t) = rnea(q, v, a) - tau (nv,): one Newton-Euler pass [AS (1)]; see :meth:`Hold.residual` for
        what is held."""
        self.counters.residual_evaluations += 1
        r = rnea(self.moving, q, v, a, **self._time(t)) - self.torque(t, q, v, p)[0] - self.rubbing(v, self.memory)
        return r if self.hold is None else self.hold.residual(r, a)

    def retract(self, q: Array, dv: Array) -> Array:
        """q (nq,) reached from q along dv (nv,), ``gs.integrate``."""
        return q + dv if self.plain else integrate(self.model, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """dv (nv,) that leads from q0 to q1, ``gs.difference``."""
        return q1 - q0 if self.plain else difference(self.model, q0, q1)

    def sample(self, t: float, q: Array, v: Array, p: Array, due: Sequence[float] | None = None) -> None:
        """A sampling instant of the sample times ``due``, None for all: digital parts read the state and set what they
        hold until the next one."""
        shared = self.user_memory if self.user_memory is not None and self.user_memory.written_by_samples else None
        before = "" if shared is None or self.why_not_compiled else self._source_program.digest
        if shared is not None and self.why_not_compiled:
            shared.watched()
        self.memory = self.source.update(t, q, v, p, self.memory, due)
        if shared is not None and shared.renewed() and before:
            self._expect_program(before)

    def _expect_program(self, before: str) -> None:
        """What a sampled function has changed may be read by others that were recorded: those are called then."""
        del self.__dict__["_source_program"]
        if not self._recording_problem() and self._source_program.digest == before:
            return
        self.why_not_compiled = CHANGED
        if self._asked:
            raise GyrostatError(
                f"{WHO}: {self.source.told} cannot be compiled: {CHANGED}. Hint: leave compiled=True out"
            )
        self.source = copy(self.source)
        for name in ("_stage", "_source_program", "_source_jacobians"):
            self.__dict__.pop(name, None)

    def renew(self) -> None:
        """What users' functions read may have been changed, by the reset of an event: they are recorded anew then."""
        if self.user_memory is not None and self.user_memory.renewed():
            self.source = copy(self.source)
            for name in ("_stage", "_source_program", "_source_jacobians"):
                self.__dict__.pop(name, None)

    def change_model(self, model: Model) -> None:
        """Another model with the same coordinates takes over: everything is recorded anew, the counters go on."""
        if self.forward is not None:
            raise StateError(
                f"{WHO}: the model changes, and the block {self.forward.called} is of the one before. "
                "Hint: leave forward_dynamics out"
            )
        self.model = self.moving = model
        self.network = network(model)
        self.network.refuse_loops(WHO)
        expect_inertia(self.network, neutral(model), WHO)
        self.source.change_model(model)
        for name in ("_stage", "_chart", "_source_program", "_source_jacobians"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ local coordinates
    def stage(self, t: float, q0: Array, y: Array) -> Stage:
        """Right-hand side for y = (x, v, p, work) around q0: x (nv,) local coordinates of :mod:`chart`, work [J] of tau
        so far. Raises :class:`NonFiniteError` where a result is not finite."""
        self.counters.rhs_evaluations += 1
        found = self._stage(t, q0, y)
        hold = self.hold
        return found if hold is None else self._with_hold(found, hold)

    def move(self, q0: Array, x: Array) -> Array:
        """q (..., nq) at the local coordinates x (..., nv) around q0."""
        return q0 + x if self.plain else self._chart.call(q0, x, np.zeros(self.nv))["q"]

    @cached_property
    def _chart(self) -> Kernel:
        def function(q0: Array, x: Array, v: Array) -> Mapping[str, Array]:
            return {"q": moved(self.model, q0, x), "x_rate": local_rates(self.model, x, v)}

        shapes = {"q0": (self.nq,), "x": (self.nv,), "v": (self.nv,)}
        return Kernel(record(function, shapes, f"{self.model.name}_chart"), WHO)

    @cached_property
    def _stage(self) -> Callable[[float, Array, Array], Stage]:
        if self.why_not_compiled:
            return self._stage_in_python
        try:
            program = record(self._recorded_stage, self._shapes(), f"{self.model.name}_stage")
        except GyrostatError as error:
            self.why_not_compiled = str(error)
            return self._stage_in_python
        kernel = Kernel(program, WHO)
        general = lambda *arrays: Stage(**kernel.call(*arrays))  # noqa: E731
        call = general if available() else kernel.builtin(general, [], WHO, "right-hand side", Stage)
        if len(self.memory):
            return lambda t, q0, y: call(np.array([t]), q0, y, self.memory)
        return lambda t, q0, y: call(np.array([t]), q0, y)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = {"t": (1,), "q0": (self.nq,), "y": (2 * self.nv + self.np + 1,)}
        return shapes | ({"m": (len(self.memory),)} if len(self.memory) else {})

    def _recorded_stage(self, t: Array, q0: Array, y: Array, m: Any = ()) -> Mapping[str, Any]:
        n = self.nv
        x, v, p = y[:n], y[n : 2 * n], y[2 * n : -1]
        q = moved(self.model, q0, x)
        tau, p_rate = self.source.evaluate(t[0], q, v, p, np.asarray(m))
        law = gravity(self.model.context.gravity)
        on = Setting(representation("body"), law, t[0] if isinstance(self.model.context.base, HarmonicMotion) else 0.0)
        if self.forward is None:
            a = forward_dynamics(self.network, on, q, v, tau + self.rubbing(v, np.asarray(m)))
        else:
            a = self.forward.compute(self.network, on, {"q": q, "v": v, "tau": tau}, no_loads)["a"]
        dy = np.concatenate([local_rates(self.model, x, v), a, p_rate, [tau @ v]])
        return {"dy": dy, "q": q, "tau": tau, "guard": quaternion_guard(self.model, q0)}

    def _stage_in_python(self, t: float, q0: Array, y: Array) -> Stage:
        n = self.nv
        x, v, p = y[:n], y[n : 2 * n], y[2 * n : -1]
        if not np.isfinite(y).all():
            raise NonFiniteError(f"{WHO}: the state is not finite")
        if self.plain:
            q, rate = q0 + x, v
        else:
            chart = self._chart.call(q0, x, v)
            q, rate = chart["q"], chart["x_rate"]
        tau, p_rate = self._plainly(t, q, v, p)
        if self.forward is None:
            a = aba(self.moving, q, v, tau + self.rubbing(v, self.memory), **self._time(t))
        else:
            a = self.forward(q, v, tau, **self._time(t))
        return Stage(np.concatenate([rate, a, p_rate, [tau @ v]]), q, tau)

    def _plainly(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """The source on numbers. What a user's function raises comes through as it is."""
        tau, p_rate = self.source.evaluate(float(t), q, v, p, self.memory)
        if not np.isfinite(tau).all():
            if words := self.source.trouble(float(t), q, v, p, self.memory):
                raise NonFiniteError(f"{WHO}: {words}")
            k = int(np.flatnonzero(~np.isfinite(tau))[0])
            error = NonFiniteError(f"{WHO}: {self.source.told} returned {tau[k]} for '{self.model.dofs[k]}'")
            error.dof = k
            raise error
        if p_rate.shape != (self.np,) or not np.isfinite(p_rate).all():
            raise NonFiniteError(
                f"{WHO}: {self.source.told} has rates of its states that are not {self.np} finite numbers"
            )
        return tau, p_rate

    # ------------------------------------------------------------------ whether it can be recorded
    @property
    def asked_for_python(self) -> bool:
        """Whether functions are to be called as they are, whatever they do."""
        return self._asked is False

    @property
    def falls_back(self) -> str:
        """What is said of a source that could not be compiled though that was meant; "" if there is nothing to say."""
        why = self.why_not_compiled
        if not why or self.asked_for_python or not self.source.users or self.source.constant is not None:
            return ""
        why = why.split(" Hint: ")[0].rstrip(".")
        hint = "np.where, np.clip, np.sign and the like choose without 'if'"
        if why == CHANGED:
            hint = "a block hands on what it returns, gs.blocks.series"
        return (
            f"{self.source.told} runs in Python at every evaluation, which is slower: {why}. Hint: {hint}; "
            "compiled=False says that it is to be called"
        )

    def _why_not(self) -> str:
        """Empty if everything about the plant can be recorded, else the reason why not."""
        context = self.model.context
        if self._asked is False:
            return "not asked for"
        reason = ""
        if self.forward is not None and not self.forward.can_be_recorded():
            reason = self.forward.why_interpreted
        elif self.nv > LARGE:
            reason = f"{self.nv} rates are too many for machine code"
        elif not isinstance(context.base, str | HarmonicMotion):
            reason = "the base follows a Python function"
        if self.source.constant is not None:
            return reason
        problem = self._source_problem(recorded=not reason)
        return reason or problem
