"""A model with its torque source as a first-order system on the configuration manifold.

A plant has parts: the torque source and its recording, the right-hand side (one kernel where that is possible), its
derivatives, and constraints. Which of these are active is one value, ``active``, that changes at events only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import Active, ConstraintSet
from gyrostat.algorithms.matrices.singular_inertia import expect_inertia
from gyrostat.configuration.manifold import difference, integrate, neutral
from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.kernels.callback import Callback
from gyrostat.simulate.kernels.law_kernels import LawKernels
from gyrostat.simulate.kernels.loop_programs import margin_count
from gyrostat.simulate.kernels.model_kernels import ModelKernels, kept_kernels
from gyrostat.simulate.plant.contact_phases import ContactPhases, ContactRules
from gyrostat.simulate.plant.derivatives import PlantDerivatives
from gyrostat.simulate.plant.loop_settings import LoopSettings
from gyrostat.simulate.plant.machine import Machine
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant_loops import PlantLoops
from gyrostat.simulate.plant.source_recording import SourceRecording
from gyrostat.simulate.plant.source_trial import tried
from gyrostat.simulate.plant.torque_source import BlockSource, FunctionSource, TorqueSource, torque_source
from gyrostat.simulate.plant.trusted_laws import known, made_of, numbers_of, trust, trusted
from gyrostat.simulate.plant.user_dynamics import expected_block
from gyrostat.simulate.plant.user_memory import UserMemory
from gyrostat.simulate.plant.wrench_source import LoadedSource, with_wrenches
from gyrostat.solvers.functions import crba, inverse_mass_matrix, rnea
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
LAWS = 16
"""Recorded laws that stay with a model."""
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


class Plant:
    """A model with its torque source. State: q (nq,), v (nv,), p (np,), the source's own states; ``memory`` (nm,) of
    digital parts stays the same between sampling instants, see :meth:`sample`.

    ``compiled``: None tries to record the torque source together with the forward dynamics as one kernel, False does
    not. ``why_not_compiled`` tells why a plant calls Python in every evaluation, "" if it does not. ``forward``: a
    :class:`BlockSolver` in the place of the articulated-body algorithm.

    ``callbacks``: parts that machine code calls in Python, each with the calls and seconds that it took.
    ``constraints``: rows that may act, of which ``active`` do, see :meth:`constrain`. ``moving``: the model whose
    equations are used, that is ``model`` without the friction that is among the constraints."""

    def __init__(
        self,
        model: Model,
        torque: Any = None,
        compiled: bool | None = None,
        wrenches: Any = None,
        times: Any = None,
        forward: Any = None,
        parameters: Parameters | None = None,
        base: Model | None = None,
        stabilisation: LoopSettings | None = None,
    ):
        expect_model(model, WHO)
        if not model.nv:
            raise StateError(f"{WHO}: nothing in '{model.name}' can move. Hint: it has no joints with coordinates")
        parameters = parameters or Parameters()
        self.stabilisation = stabilisation or LoopSettings()
        self.base, self._machine = model if base is None else base, None
        self._give(parameters)
        self._take(model)
        self.source: TorqueSource = with_wrenches(
            model, torque_source(model, torque, parameters.gains), wrenches, times
        )
        self.places = self.source.places if isinstance(self.source, LoadedSource) else ()
        self.nq, self.nv, self.np = model.nq, model.nv, len(self.source.p0)
        self.plain = self.nq == self.nv
        self.memory = self.source.m0.copy()
        self.counters = Counters()
        self.callbacks: list[tuple[str, Callback]] = []
        self.forward = expected_block(forward, model)
        self.constraints = ConstraintSet((), self.nv)
        self.active = Active.none(self.constraints)
        self.of_loops = np.zeros(0, dtype=bool)
        self.contacts: ContactRules | None = None
        self.derivatives = PlantDerivatives(self)
        self.user_memory: UserMemory | None = None
        self.samples = 0, 0.0
        """Sampling instants of functions in Python, and the seconds they took."""
        self._asked = compiled
        self._record_anew()
        self.model_in_python = self.law_in_python = ""
        self.why_not_compiled = self._why_not()
        if compiled and self.why_not_compiled:
            raise self._refusal(self.why_not_compiled)

    def _give(self, parameters: Parameters) -> None:
        self.live_values = parameters.live
        self.live = np.concatenate([np.zeros(0), *(np.ravel(x) for x in parameters.live.values())])
        self.parameters = np.concatenate([np.zeros(0), *(np.ravel(x) for x in parameters.gains.values())])

    def twin(self, parameters: Parameters) -> Plant:
        """The same plant for another run, with parameters of its own of the same names and shapes: nothing is recorded
        or checked anew. This one must not have run: events may change what a plant is."""
        twin = copy(self)
        twin._give(parameters)
        twin.source = self.source.twin(parameters.gains)
        twin.recording = self.recording.of(twin.source)
        twin._machine, twin.memory = None, twin.source.m0.copy()
        twin.counters, twin.callbacks = Counters(), []
        twin.derivatives = PlantDerivatives(twin)
        twin.loops = None if self.loops is None else PlantLoops(twin, self.stabilisation)
        return twin

    def numbered(self, parameters: Parameters) -> None:
        """Other parameters of the same names and shapes, in the same memory."""
        if parameters:
            self._give(parameters)
            self.machine.numbered()
        if parameters.gains:
            self.source.give(parameters.gains)
        self.machine.refresh()

    def again(self, parameters: Parameters) -> None:
        """From the beginning, with other parameters; not if events have changed what it is."""
        self.memory, self.counters = self.source.m0.copy(), Counters()
        self.numbered(parameters)

    def _take(self, model: Model) -> None:
        self.model = self.moving = model
        self.network = kept_network(model)
        self.loops = PlantLoops(self, self.stabilisation) if self.network.closures else None
        self.margins = margin_count(self.network, neutral(model))
        """Roots in the closed forms of loops."""
        kept = cached_on(model)
        if "regular inertia" not in kept:
            expect_inertia(self.network, neutral(model), WHO)
            kept["regular inertia"] = True

    def _record_anew(self) -> None:
        """The source is recorded when it is next needed; who keeps programs of the plant sees it by another
        ``recording``."""
        self.recording = SourceRecording(self.model, self.source)
        self._machine = None

    # ------------------------------------------------------------------ machine code
    @property
    def kernels(self) -> ModelKernels:
        """Of the model alone; they stay with it. Of properties that are inputs, it is the one they are given for."""
        live = {path: np.shape(x) for path, x in self.live_values.items()}
        sliding = [part.sliding for part in self.constraints.parts if part.sliding is not None]
        if any(getattr(law, "smooth", None) is not self.moving for law in sliding):  # a law of the user's
            return ModelKernels(self.moving, self.network, self.constraints, live, self.forward)
        keeper = self.base if live else self.moving
        return kept_kernels(keeper, self.moving, self.network, live, self.constraints, self.forward)

    @property
    def law(self) -> LawKernels | None:
        """Machine code of the source; None where it is called in Python."""
        return None if self.law_in_python else self.recording.kernels

    @property
    def machine(self) -> Machine:
        """The plant as drivers see it."""
        if self._machine is None:
            self._machine = Machine(self)
        return self._machine

    # ------------------------------------------------------------------ forces and accelerations
    def acceleration(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """a (nv,), dp/dt (np,) and tau (nv,): forward dynamics with the torque source."""
        return self._parts(self.stage(t, q, self._joined(v, p)))

    def observe(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """The same as :meth:`acceleration`, counted as an output."""
        rhs = self.counters.rhs_evaluations
        accelerations = self.acceleration(t, q, v, p)
        self.counters.rhs_evaluations = rhs
        self.counters.output_evaluations += 1
        return accelerations

    def free_acceleration(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """a (nv,) without active constraints, counted as an output."""
        active, self.active = self.active, self.none_active.with_directions(self.active.directions)
        try:
            return self.observe(t, q, v, p)[0]
        finally:
            self.active = active
            self.machine.refresh()

    def _joined(self, v: Array, p: Array) -> Array:
        return np.concatenate([np.zeros(self.nv), v, p, [0.0]])

    def _parts(self, stage: Stage) -> tuple[Array, Array, Array]:
        n, dy = self.nv, stage.dy
        return dy[n : 2 * n], dy[2 * n : -1], stage.tau

    def torque(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """tau (nv,) and dp/dt (np,) of the source alone."""
        return self.recording.numbers(t, q, v, p, self.memory)

    def applied(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """External wrenches (k, 6), and the efforts (nv,) beside them."""
        if not isinstance(self.source, LoadedSource):
            return np.zeros((0, 6)), self.torque(t, q, v, p)[0]
        return self.source.apart(t, q, v, p, self.memory)

    def residual(self, t: float, q: Array, v: Array, a: Array, p: Array) -> Array:
        """H(q, v, a, p, t) = rnea(q, v, a) - tau (nv,): one Newton-Euler pass [AS (1)]; see
        :meth:`ActiveRows.residual` for active constraints."""
        self.counters.residual_evaluations += 1
        r = rnea(self.moving, q, v, a, **self.time(t)) - self.torque(t, q, v, p)[0] - self.sliding_efforts(v)
        active = self.active.rows(q, v)
        return r if active is None else active.residual(r, a)

    def time(self, t: float) -> dict[str, Any]:
        """What solvers are told of the time: nothing, unless the base moves."""
        return {} if isinstance(self.model.context.base, str) else {"t": t}

    # ------------------------------------------------------------------ the configuration
    def retract(self, q: Array, dv: Array) -> Array:
        """q (nq,) reached from q along dv (nv,), ``gs.integrate``."""
        return q + dv if self.plain else integrate(self.model, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """dv (nv,) that leads from q0 to q1, ``gs.difference``."""
        return q1 - q0 if self.plain else difference(self.model, q0, q1)

    def move(self, q0: Array, x: Array) -> Array:
        """q (..., nq) at the local coordinates x (..., nv) around q0."""
        return q0 + x if self.plain else self.machine.move(q0, x)

    def stage(self, t: float, q0: Array, y: Array) -> Stage:
        """Right-hand side for y = (x, v, p, work) around q0: x (nv,) local coordinates of :mod:`chart`, work [J] of tau
        so far. Raises :class:`NonFiniteError` where a result is not finite."""
        machine = self.machine
        machine.refresh()
        stage = Stage(*machine.stage(t, q0, y))
        machine.counted()
        return stage

    # ------------------------------------------------------------------ constraints
    def constrain(
        self,
        constraints: ConstraintSet,
        moving: Model,
        of_loops: Array | None = None,
        contacts: ContactRules | None = None,
    ) -> None:
        """From now on these rows may act, beside the equations of ``moving``; none is active yet. ``of_loops`` (rows,)
        bool: those that close loops, which the equations know themselves. ``contacts``: rigid ones."""
        if constraints.on_speed and self.forward is not None:
            raise StateError(
                f"{WHO}: dry friction of '{self.model.name}' sticks and slips, which the block "
                f"{self.forward.called} does not know. Hint: Friction(smooth=0.01), or leave forward_dynamics out"
            )
        same = moving is self.moving and not self.constraints.on_speed and not constraints.on_speed
        self.constraints, self.contacts = constraints, contacts
        self.active = self.none_active
        self.of_loops = np.zeros(len(constraints), dtype=bool) if of_loops is None else of_loops
        if not same:
            self.moving, self.network = moving, kept_network(moving)
        self._machine = None

    @property
    def none_active(self) -> Active:
        """Nothing is active: contacts are open."""
        contacts = None if self.contacts is None else ContactPhases.all_open(self.contacts)
        return Active.none(self.constraints).with_contacts(contacts)

    @property
    def others_active(self) -> bool:
        """Whether constraints beside loops are active."""
        return self.active.touching or bool((self.active.on & ~self.of_loops).any())

    def closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """States (..., nq), (..., nv) on closed loops and contacts; as they are where states are not projected."""
        if self.active.touching:
            return self.machine.closed(q, v)
        return (q, v) if self.loops is None else self.loops.closed(q, v)

    @property
    def projected(self) -> bool:
        """Whether states are projected onto loops or contacts."""
        return self.loops is not None or self.active.touching

    def sliding_efforts(self, v: Array) -> Any:
        """Efforts (nv,) of the friction that slides."""
        return self.constraints.sliding_efforts(v, self.active.directions)

    def sliding_slopes(self, v: Array) -> Any:
        """Their derivative (nv, nv) by v."""
        return self.constraints.sliding_slopes(v, self.active.directions)

    def inverse_inertia(self, q: Array) -> Array:
        """M^-1 (nv, nv), which does not depend on the time, even if the base moves."""
        driven = not isinstance(self.moving.context.base, str)
        if self.loops is not None:  # of the tree
            return np.linalg.inv(crba(self.moving, q, t=0.0) if driven else crba(self.moving, q))
        return inverse_mass_matrix(self.moving, q, t=0.0) if driven else inverse_mass_matrix(self.moving, q)

    # ------------------------------------------------------------------ what changes on the way
    def sample(self, t: float, q: Array, v: Array, p: Array, due: Sequence[float] | None = None) -> None:
        """A sampling instant of the sample times ``due``, None for all: digital parts read the state and set what they
        hold until the next one."""
        shared = self.user_memory if self.user_memory is not None and self.user_memory.written_by_samples else None
        before = "" if shared is None or self.why_not_compiled else self.recording.program.digest
        if shared is not None and self.why_not_compiled:
            shared.watched()
        began = time.perf_counter()
        self.memory = self.source.update(t, q, v, p, self.memory, due)
        if self.user_memory is not None and self.user_memory.start.sampled:
            calls, seconds = self.samples
            self.samples = calls + 1, seconds + time.perf_counter() - began
        if shared is not None and shared.renewed() and before:
            self._expect_program(before)

    def _expect_program(self, before: str) -> None:
        """What a sampled function has changed may be read by others that were recorded: those are called then."""
        recording = SourceRecording(self.model, self.source)
        if not recording.problem() and recording.program.digest == before:
            return
        self.why_not_compiled = self.law_in_python = CHANGED
        if self._asked:
            raise self._refusal(CHANGED)
        self._record_anew()

    def renew(self) -> None:
        """What users' functions read may have been changed, by the reset of an event: they are recorded anew then."""
        if self.user_memory is None or self.user_memory.renewed():
            self._record_anew()

    def change_model(self, model: Model) -> None:
        """Another model with the same coordinates takes over: everything is recorded anew, the counters go on."""
        if self.forward is not None:
            raise StateError(
                f"{WHO}: the model changes, and the block {self.forward.called} is of the one before. "
                "Hint: leave forward_dynamics out"
            )
        self._take(model)
        self.base, self.live_values, self.live = model, {}, np.zeros(0)
        self.source.change_model(model)
        self._record_anew()

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

    def _refusal(self, why: str) -> GyrostatError:
        return GyrostatError(f"{WHO}: {self.source.told} cannot be compiled: {why}. Hint: leave compiled=True out")

    def _why_not(self) -> str:
        """Empty if everything about the plant can be recorded, else the reason why not."""
        context, reason = self.model.context, ""
        if self.forward is not None and not self.forward.can_be_recorded():
            reason = self.forward.why_interpreted
        elif self.nv > LARGE:
            reason = f"{self.nv} rates are too many for machine code"
        elif not isinstance(context.base, str | HarmonicMotion):
            reason = "the base follows a Python function"
        self.model_in_python = reason
        if self._asked is False:
            self.law_in_python = "not asked for"
            return self.law_in_python
        if self.source.constant is not None:
            return reason
        code = made_of(self.source.users)
        if not self._trusted(code):
            self.recording = SourceRecording(self.model, self.source)
            self.law_in_python, self.user_memory = tried(self.recording)
            if not self.law_in_python:
                trust(code, self.recording.kernels.program)
        return reason or self.law_in_python

    def _trusted(self, code: Any) -> bool:
        """Whether the law was looked at before; code that never was is not run."""
        if not known(code):
            return False
        alone = type(self.source) in (FunctionSource, BlockSource)  # wrenches beside it are numbers of another kind
        gains = tuple((name, np.shape(x)) for name, x in self.source.gains.items())
        key = code, numbers_of(self.source.users), gains, tuple(self.live_values), self.live.tobytes()
        kept = cached_on(self.base).setdefault("laws", {})
        if alone and key in kept:  # the same code with the same numbers
            self.recording.kernels = kept[key]
            return True
        try:
            fine = trusted(code, self.recording.kernels.program)
        except Exception:  # it cannot be recorded, which is told by whoever tries it
            return False
        if fine and alone:
            while len(kept) >= LAWS:
                kept.pop(next(iter(kept)))
            kept[key] = self.recording.kernels
        return fine
