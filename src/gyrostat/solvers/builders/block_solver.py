"""A function of the user behind the interface of a solver (H04 4.2.1, BlockSolver), checked against the general one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.manifold import generator, random_configuration
from gyrostat.configuration.packing import real_array
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import DisagreementError, GyrostatError, RecordError, ShapeError
from gyrostat.graph.network import Network
from gyrostat.solvers.builders.agreement import Agreement, agreement
from gyrostat.solvers.builders.block_checks import (
    TOLERANCE,
    USUAL_SAMPLES,
    WHO,
    expect_function,
    given_samples,
    given_tolerance,
)
from gyrostat.solvers.builders.block_kinematics import BlockKinematics
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import inverse_kinematics
from gyrostat.solvers.kinematics.recorded_kinematics import RecordedKinematics
from gyrostat.solvers.machinery.call_signatures import by_name
from gyrostat.solvers.machinery.interpreter import read_states
from gyrostat.solvers.machinery.machine_call import written_class
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.base_motion import BaseState
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.solver_spec import SolverSpec


class BlockSolver(StateSolver):
    """A function behind the interface of a solver: a closed form, generated code, a library of somebody else's.

    ``gs.BlockSolver(model, function, like=gs.InverseDynamics)``: ``function(q, v, a)`` gets what the solver ``like`` is
    called with, as arrays (nq,) and (nv,) in the order of the model, and returns its result, (nv,) here; several
    results as a tuple or by name. With ``batched=True`` it gets and returns arrays with one more, leading axis. Where
    the base is driven it also gets ``t=``. ``like`` is a class, whose ``options`` follow (``frame="hand"``), a
    specification, or a solver of the model; or :func:`inverse_kinematics`, see :class:`BlockKinematics`.

    The block is called like that solver: batches, dicts, ``out``, ``nonfinite``, shapes and results are the same, but
    for wrenches and live properties, which it does not have. A function of plain NumPy arithmetic is recorded and
    compiled, has derivatives, ``casadi()`` and ``export_c()``; any other is called for each state (``mode`` and
    ``explain()`` tell; ``mode="interpret"`` never records).

    It is compared with the general solver in ``check`` random states when it is built (0 or False: not at all), and
    by :meth:`check` again."""

    def __new__(cls, model: Any = None, function: Any = None, like: Any = None, **options: Any) -> Any:
        if like is inverse_kinematics:
            return BlockKinematics(model, function, **options)
        return super().__new__(cls)

    def __init__(
        self,
        model: Model,
        function: Callable[..., Any],
        like: Any,
        *,
        check: int = USUAL_SAMPLES,
        tolerance: float = TOLERANCE,
        batched: bool = False,
        mode: str = "auto",
        **options: Any,
    ):
        expect_model(model, WHO)
        expect_function(function)
        self.like = general_solver(model, like, options)
        self.name = self.like.name
        super().__init__(model, "body", None, (), "interpret" if batched else mode)
        self._asked = mode
        self.function, self.batched, self.tolerance = function, bool(batched), given_tolerance(tolerance)
        self.samples = given_samples(check)
        if batched:
            self.why_interpreted = "the function takes batches"
        self.state, self.Result, self.result = self.like.state, self.like.Result, self.like.result
        self.rate_axes = self.like.rate_axes
        example = self.like._interpreted(
            self._random(generator(0, WHO), ()), None, self._some_time(None), None, "return"
        )
        self.shapes = {name: x.shape for name, x in self._by_output(example).items()}
        if self.samples:
            self.check(self.samples)

    @property
    def called(self) -> str:
        """How messages call the function."""
        return f"'{getattr(self.function, '__name__', type(self.function).__name__)}'"

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.like.outputs

    def options(self) -> dict[str, Any]:
        order = {} if self.order is None else {"order": self.order}
        own = {"check": self.samples, "tolerance": self.tolerance, "batched": self.batched, "mode": self._asked}
        its = {k: v for k, v in self.like.options().items() if k not in ("live", "mode", "order")}
        return {"function": self.function, "like": written_class(self.like)} | own | its | order

    def in_order(self, joints: Sequence[str]) -> Self:
        untouched, self.samples = self.samples, 0  # nothing is recorded before the order is known
        try:
            twin = super().in_order(joints)
        finally:
            self.samples = untouched
        if twin.locked and self.like.inverts:
            raise GyrostatError(
                f"{self.name}.in_order: {self.called} does not know that the other joints are held. "
                "Hint: name all joints, or write the block for a model in which they are fixed"
            )
        twin.samples = untouched
        return twin

    def __call__(
        self,
        *state: Any,
        wrenches: Any = None,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
        **named: Any,
    ) -> Any:
        """The result for what the general solver is called with, by position or by name."""
        given = by_name(self.name, self.state, state, named) if named else state
        return self.serve(given, wrenches, t, out, threads, nonfinite)

    def returned(self, outputs: Mapping[str, Array]) -> Any:
        return self.like.returned(outputs)

    # ------------------------------------------------------------------ the function
    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return self._outputs(self.function(*(np.array(x[name]) for name in self.state), **self._time(on)), ())

    def _time(self, on: Setting) -> dict[str, Any]:
        if isinstance(self.model.context.base, str):
            return {}
        if isinstance(on.t, BaseState):
            raise RecordError("the base follows a Python function of time")
        return {"t": on.t}

    def _outputs(self, value: Any, lead: tuple[int, ...]) -> dict[str, Any]:
        """What the function returned as arrays by name, with the shapes that the general solver has."""
        names = self.outputs
        if isinstance(value, Mapping):
            missing = [name for name in names if name not in value]
            if missing or len(value) > len(names):
                raise ShapeError(
                    f"{self.name}: {self.called} returned {', '.join(map(str, value))}, expected {', '.join(names)}"
                )
            values = [value[name] for name in names]
        elif len(names) == 1:
            values = [value]
        elif isinstance(value, tuple | list) and len(value) == len(names):
            values = list(value)
        else:
            raise ShapeError(f"{self.name}: {self.called} must return {len(names)} arrays: {', '.join(names)}")
        return {name: self._array(x, name, lead) for name, x in zip(names, values, strict=True)}

    def _array(self, value: Any, name: str, lead: tuple[int, ...]) -> Array:
        what = f"{name} that {self.called} returned"
        some = np.asarray(value, dtype=object)
        if any(type(x) is Recorded for x in some.flat):
            array = some
        else:  # an array of objects may hold plain numbers, where a function is written for both
            numbers = some.size and all(isinstance(x, Real) for x in some.flat)
            array = real_array(some.astype(float) if numbers else value, self.name, what)
        expected = (*lead, *self.shapes[name])
        if array.shape != expected:
            raise ShapeError(f"{self.name}: {what} has shape {array.shape}, expected {expected}")
        return array

    def _recorded(self, function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, tuple[int, ...]]) -> Program:
        try:
            return super()._recorded(function, inputs)
        except Exception as error:  # a function of the user may fail in any way on recorded values
            why = str(error) if isinstance(error, RecordError) else f"{type(error).__name__}: {error}"
            raise RecordError(f"{self.called} cannot be recorded, {why}") from error

    def can_be_recorded(self) -> bool:
        """Whether calls are served by machine code; ``why_interpreted`` tells why not."""
        if self._compiled():
            try:
                self.main_kernel()
            except RecordError as error:
                self._fall_back(error)
        return self._compiled()

    def _fall_back(self, error: RecordError) -> None:
        if self._asked == "compile":
            raise error
        self.mode, self.why_interpreted = "interpret", str(error)

    def _interpreted(self, state: Sequence[Any], wrenches: Any, t: Any, out: Any, nonfinite: str) -> Any:
        if not self.batched:
            return super()._interpreted(state, wrenches, t, out, nonfinite)
        _, lead, states = read_states(self, self.network, state, None, t, nonfinite)
        n, count = len(self.state), len(states[0])
        time = {} if isinstance(self.model.context.base, str) else {"t": states[n].copy()}
        with np.errstate(all="ignore"):  # what is not finite is found below
            outputs = self._outputs(self.function(*(np.array(x) for x in states[:n]), **time), (count,))
        chosen = {name: np.array(self._selected(array, name), dtype=float) for name, array in outputs.items()}
        shaped = {name: array.reshape(*lead, *array.shape[1:]) for name, array in chosen.items()}
        return self._handed_over(shaped, lead, out, nonfinite, lambda: self.examine(state, nonfinite))

    # ------------------------------------------------------------------ agreement
    def check(self, samples: int = 64, rng: Any = 0, tolerance: float | None = None) -> Agreement:
        """Compare with the general solver in random states; the worst difference, or a :class:`DisagreementError` with
        the state where it is more than the tolerance. States: :func:`random_configuration`, rates and the like
        between -1 and 1, times from 0 to 1 s; ``rng`` is a seed or a generator."""
        count, limit = given_samples(samples), self.tolerance if tolerance is None else given_tolerance(tolerance)
        random = generator(rng, f"{WHO}.check")
        state = self._random(random, (max(1, count),))
        t = None if isinstance(self.model.context.base, str) else random.uniform(0.0, 1.0, max(1, count))
        own = self._own(state)
        expected = self._general(*state, t=t)
        served = self._by_output(self(*own, t=t))
        direct = served if self.mode == "interpret" else self._directly(state, t)
        general = {name: self._selected(expected[name], name) for name in self.outputs}
        worst = agreement(general, (served, direct), state, count, limit)
        if not worst.difference <= limit:
            raise DisagreementError(
                f"{self.name} by {self.called}: '{worst.output}' differs from that of {type(self.like).__name__} by "
                f"{worst.difference:.3g} in one of {count} random states of '{self.model.name}', tolerance {limit:g}. "
                "Hint: .state of this exception holds it; check=False builds the block all the same",
                worst.state,
                worst.difference,
            )
        return worst

    def _some_time(self, t: Any) -> Any:
        return 0.0 if t is None and not isinstance(self.model.context.base, str) else t

    def _random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> list[Array]:
        """States of the whole model."""
        draw = {"q": lambda: random_configuration(self.model, rng, shape)}
        return [draw.get(name, lambda: rng.uniform(-1.0, 1.0, (*shape, self.model.nv)))() for name in self.state]

    def _own(self, state: Sequence[Array]) -> list[Array]:
        """The joints of this solver's order; what it leaves out becomes neutral and at rest in ``state``, too."""
        if self._joints is None:
            return list(state)
        own = [np.take(x, self._joints.of(n), axis=-1) for x, n in zip(state, self.state, strict=True)]
        for x, mine, name in zip(state, own, self.state, strict=True):
            x[...] = self._by_model(mine, name)
        return own

    def _selected(self, array: Array, name: str) -> Array:
        """Outputs (N, ...) of the whole model in this solver's order."""
        return array if self._joints is None else self._joints.chosen(array, name, self.rate_axes, lead=1)

    def _general(self, *state: Any, t: Any = None) -> dict[str, Array]:
        return self._by_output(self.like(*state, t=self._some_time(t)))  # type: ignore[operator]

    def _by_output(self, result: Any) -> dict[str, Array]:
        if isinstance(self.like, RecordedKinematics):
            every = [result[frame] for frame in self.like.frames]
            return {k: np.stack([getattr(m, k) for m in every], axis=-2 - (k == "R")) for k in self.outputs}
        values = [result] if self.Result is None else list(result)
        return {name: np.asarray(x) for name, x in zip(self.outputs, values, strict=True)}

    def _directly(self, state: Sequence[Array], t: Any) -> dict[str, Array]:
        """The function itself on numbers, state by state: what was recorded must do the same."""
        rows = [
            self._outputs(self.function(*(np.array(x) for x in row), **({} if t is None else {"t": float(t[k])})), ())
            for k, row in enumerate(zip(*state, strict=True))
        ]
        arrays = {name: np.array([row[name] for row in rows], dtype=float) for name in self.outputs}
        return {name: self._selected(x, name) for name, x in arrays.items()}

    def explain(self) -> str:
        return f"{super().explain()}\n  computed by {self.called}, like {self.like!r}"

    def __repr__(self) -> str:
        return f"<BlockSolver of '{self.model.name}': {self.called} like {type(self.like).__name__}>"


# ------------------------------------------------------------------------------------------------ what users give
def general_solver(model: Model, like: Any, options: Mapping[str, Any]) -> StateSolver:
    """The solver that a block stands for."""
    if isinstance(like, SolverSpec):
        like = like.build(model)
    if isinstance(like, StateSolver) and not isinstance(like, BlockSolver):
        if options or like.model != model:
            why = f"{next(iter(options))!r} is an option of its class" if options else "it is of another model"
            raise GyrostatError(f"{WHO}: like is a solver already, and {why}. Hint: like={type(like).__name__}, ...")
        solver = like
    else:
        kind = RecordedKinematics if like is ForwardKinematics else like
        if not isinstance(kind, type) or not issubclass(kind, StateSolver) or issubclass(kind, BlockSolver):
            told = getattr(like, "__name__", type(like).__name__)
            raise GyrostatError(
                f"{WHO}: like must be a solver of a state, got {told}. Hint: like=gs.InverseDynamics, or "
                "gs.inverse_kinematics for a closed form of that"
            )
        if options.get("live"):
            raise GyrostatError(f"{WHO}: a function knows no live properties. Hint: build a block for each model")
        solver = kind(model, **options)
    if solver.order is not None:
        raise GyrostatError(f"{WHO}: like has an order of its own. Hint: the block's in_order(joints)")
    if solver.live and not hasattr(solver, "parameters"):
        raise GyrostatError(f"{WHO}: like has live properties, which a function does not know. Hint: leave them out")
    if solver.state[0] != "q" or type(solver).inputs is not StateSolver.inputs:
        raise GyrostatError(
            f"{WHO}: {type(solver).__name__} is no function of a state of the model. Hint: a plain call"
        )
    return solver
