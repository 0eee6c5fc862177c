"""Solvers that are one function of a state: recorded and compiled, or interpreted, with one way of calling them all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.singular_inertia import expect_inertia
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import coordinates, packed, rates
from gyrostat.engine.arguments import check_nonfinite, check_out, check_threads, refuse_overlap
from gyrostat.engine.kernel import Kernel
from gyrostat.errors import GyrostatError, RecordError, ShapeError, nearest
from gyrostat.graph.loops.explain import refuse_unsolved
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery import differentiation
from gyrostat.solvers.machinery.call_signatures import name_call
from gyrostat.solvers.machinery.derivative import Derivative
from gyrostat.solvers.machinery.export import c_files, casadi_function, entry_names, example_input, wasm_files
from gyrostat.solvers.machinery.interpreter import expect_finite, interpreted
from gyrostat.solvers.machinery.joint_order import JointOrder, read_joints
from gyrostat.solvers.machinery.loop_treatment import PivotError, expect_all_joints, expect_held
from gyrostat.solvers.machinery.machine_call import default_options, install_machine_call, written_class
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.solvers.machinery.wrench import Application, loads, read_wrenches
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    import casadi as ca

Array = np.ndarray


class StateSolver(Solver):
    """Abstract: a function of parts of the state. Subclasses name them in ``state``, take a ``__call__`` from
    ``call_signatures`` and say in :meth:`compute` what comes out.

    Several outputs are returned as a named tuple of class ``Result``."""

    state: tuple[str, ...] = ("q",)
    result: str = "result"
    Result: Any = None
    takes_wrenches: bool = False
    inverts: bool = False
    """Whether the mass matrix must be regular."""
    algorithms: ClassVar[Iterable[str]] = ()
    rate_axes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Axes of the outputs that run over rates; all of them where an output is not named."""
    order: tuple[str, ...] | None = None
    _joints: JointOrder | None = None

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
        algorithm: str | None = None,
    ):
        known = list(self.algorithms)
        if algorithm is None:
            algorithm = known[0] if known else ""
        elif algorithm not in known:
            hint = nearest(str(algorithm), known) if known else "leave it out"
            raise GyrostatError(f"{type(self).__name__}: there is no algorithm {algorithm!r}. Hint: {hint}")
        self.algorithm = algorithm
        super().__init__(model, representation, rules, live, mode)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name_call(cls)

    @abstractmethod
    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        """Outputs by name, for the arrays x of the state; ``given`` are external wrenches."""

    def options(self) -> dict[str, Any]:
        chosen = {"algorithm": self.algorithm} if self.algorithm else {}
        return super().options() | chosen | ({} if self.order is None else {"order": self.order})

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what comes out."""
        return (self.result,) if self.Result is None else self.Result._fields

    # ------------------------------------------------------------------ order of joints
    def in_order(self, joints: Sequence[str]) -> Self:
        """A solver like this one whose arrays have the joints in another order, or only some of them (H04 4.3.1,
        resortExteriorPorts: a new ordering or a selection of states).

        ``joints``: names of joints with coordinates, each once; a free base has the name of the reference frame.
        q, v, a, tau and the axes of the results that belong to rates follow it; dicts by name give these joints.

        Joints that are left out are neutral (:func:`neutral`) and at rest, v = a = 0, *locked* by whatever that takes:
        the mass matrix is M_ss, its inverse is the inverse of M_ss, and forward dynamics, by any algorithm, solves
        M_ss a_s = tau_s - b_s. Wrenches act as before."""
        names = read_joints(self.model, joints, f"{self.name}.in_order")
        expect_all_joints(self.network, names, f"{self.name}.in_order")
        twin = written_class(self)(self.model, **{k: v for k, v in self.options().items() if k != "order"})
        twin.order, twin._joints = names, JointOrder(self.model, names)
        return twin

    @property
    def locked(self) -> tuple[int, ...]:
        """Numbers of rates whose joints :meth:`in_order` left out: they are at rest."""
        return () if self._joints is None else self._joints.locked

    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the state's parts."""
        nq, nv = (self.model.nq, self.model.nv) if self._joints is None else self._joints.sizes
        return {name: (nq if name == "q" else nv,) for name in self.state}

    def _by_model(self, x: Any, name: str) -> Any:
        """An array or dict of this solver's joints as an array of all of them, in the order of the model."""
        return x if self._joints is None else self._joints.whole(self.model, x, name, self.name)

    # ------------------------------------------------------------------ calls
    def serve(
        self,
        state: Sequence[Any],
        wrenches: Any = None,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Any:
        """Answer a call: by machine code from the first plain one on. Where a loop is not singular, and only the order
        of elimination fails that was chosen for few operations, a solver with an order that cannot fail answers."""
        try:
            return self._answered(state, wrenches, t, out, threads, nonfinite)
        except PivotError:
            return self._with_safe_order._answered(state, wrenches, t, out, threads, nonfinite)

    @cached_property
    def _with_safe_order(self) -> Self:
        twin = written_class(self)(self.model, **{k: v for k, v in self.options().items() if k != "order"})
        twin = twin if self.order is None else twin.in_order(self.order)
        twin.safe = True
        return twin

    def refresh(self, model: Model) -> None:
        super().refresh(model)
        self.__dict__.pop("_with_safe_order", None)

    def _answered(self, state: Sequence[Any], wrenches: Any, t: Any, out: Any, threads: int, nonfinite: str) -> Any:
        if wrenches is not None and not self.takes_wrenches:
            raise ShapeError(f"{self.name}: takes no wrenches, got {type(wrenches).__name__}. Hint: leave them out")
        plain = wrenches is None and t is None and out is None and default_options(threads, nonfinite)
        first = type(self) is written_class(self) and isinstance(state[0], np.ndarray) and state[0].ndim in (1, 2)
        if plain and first and self._install():
            return self(*state)  # type: ignore[operator]  # by the builtin, now and from now on
        if self._compiled():
            try:
                places, values = read_wrenches(self.network, wrenches, self.name)
                kernel = self.serving_kernel(tuple(places))
            except RecordError as error:
                self._fall_back(error)
            else:
                outputs = kernel.call(
                    *self._packed(state),
                    *values,
                    *self._base_inputs(t),
                    *self._live.values(),
                    out=None if out is None else self._targets(out, [slot.name for slot in kernel.program.outputs]),
                    threads=threads,
                    nonfinite=nonfinite,
                    explain=lambda: self.examine(state, nonfinite),
                )
                return self.returned(outputs)
        check_threads(threads, self.name)
        check_nonfinite(nonfinite, self.name)
        return self._interpreted(state, wrenches, t, out, nonfinite)

    def _install(self) -> bool:
        """Make plain calls go straight into machine code, if that is possible."""
        if not self._compiled() or not isinstance(self.model.context.base, str):
            return False
        try:
            kernel = self.serving_kernel(())
        except RecordError as error:
            self._fall_back(error)
            return False
        general = MethodType(written_class(self).__call__, self)
        return install_machine_call(self, kernel, list(self._live.values()), general, self.Result)

    def _interpreted(self, state: Sequence[Any], wrenches: Any, t: Any, out: Any, nonfinite: str) -> Any:
        outputs, shape = interpreted(self, state, wrenches, t, nonfinite)
        return self._handed_over(outputs, shape, out, nonfinite, lambda: self.examine(state, nonfinite))

    # ------------------------------------------------------------------ inputs
    def expect(self, state: Sequence[Any]) -> None:
        """Refuse a state with more or fewer parts than this solver has."""
        if len(state) != len(self.state):
            raise ShapeError(
                f"{self.name}: got {len(state)} arguments, expected {len(self.state)}: {', '.join(self.state)}"
            )

    def _packed(self, state: Sequence[Any]) -> list[Array]:
        self.expect(state)
        return [packed(self.model, x, name, self.name, self.order) for x, name in zip(state, self.state, strict=True)]

    def arguments(self, state: Sequence[Any], t: Any) -> list[Array]:
        """Inputs of the main program for the state."""
        return [*self._packed(state), *self._base_inputs(t), *self._live.values()]

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        """Raise what is wrong with a state, in the words of the model."""
        for x, name in zip(state, self.state, strict=False):
            read = self._read(self._by_model(x, name), name, nonfinite)
            if name == "q" and nonfinite == "raise":
                refuse_unsolved(self.network, read, self.name)
            if name == "q" and self.network.closures:
                self.examine_loops(read)

    def examine_loops(self, q: Array) -> None:
        """Raise what is wrong with the loops at q (..., nq), in words."""
        self.loop_treatment.examine(q)

    def _read(self, x: Any, name: str, nonfinite: str) -> Array:
        if name == "q":
            return coordinates(self.model, x, self.name, nonfinite)
        return rates(self.model, x, self.name, name, nonfinite)

    # ------------------------------------------------------------------ outputs
    def returned(self, outputs: Mapping[str, Array]) -> Any:
        """Outputs as the caller gets them."""
        if self.Result is None:
            (value,) = outputs.values()
            return value
        return self.Result(**outputs)

    def _targets(self, out: Any, names: Sequence[str]) -> dict[str, Any]:
        """Arrays to write into, by output."""
        if self.Result is None:
            return {names[0]: out}
        if not isinstance(out, tuple | list) or len(out) != len(names):
            raise ShapeError(f"{self.name}: out must be a tuple of {len(names)} arrays: {', '.join(names)}")
        refuse_overlap([x for x in out if isinstance(x, np.ndarray)], self.name)
        return dict(zip(names, out, strict=True))

    def _handed_over(
        self,
        outputs: dict[str, Array],
        shape: tuple[int, ...],
        out: Any,
        nonfinite: str,
        explain: Callable[[], None],
    ) -> Any:
        """Outputs of interpreted states with their leading shape, looked at, and in ``out`` if it is given."""
        if nonfinite == "raise":
            if not all(np.isfinite(value).all() for value in outputs.values()):
                explain()
            for name, value in outputs.items():
                expect_finite(value, shape, self.name, name)
        if out is None:
            return self.returned(outputs)
        targets = self._targets(out, list(outputs))
        for name, target in targets.items():
            if target is not None:
                check_out(target, outputs[name].shape, self.name)
                target[...] = outputs[name]
                outputs[name] = target
        return out if self.Result is None else self.returned(outputs)

    # ------------------------------------------------------------------ programs
    def main_kernel(self) -> Kernel:
        """The kernel of the plain call, whose program has derivatives and exports."""
        return self.for_wrenches(())

    def serving_kernel(self, places: tuple[Application, ...]) -> Kernel:
        """What answers calls with wrenches at these places."""
        return self.for_wrenches(places)

    def for_wrenches(self, places: tuple[Application, ...]) -> Kernel:
        """Code for wrenches at these places."""
        key = (self.name, places)
        if key in self._kernels:
            return self._kernels[key]
        self._expect_inertia()

        def function(**x: Any) -> Mapping[str, Any]:
            net, on = self._scene(x)
            w = [x[f"wrench{k}"] for k in range(len(places))]
            return self._evaluated(net, on, x, places, w)

        return self._kernel(key, function, self.inputs() | {f"wrench{k}": (6,) for k in range(len(places))})

    def _evaluated(
        self, net: Network, on: Setting, x: Mapping[str, Any], places: Sequence[Application], w: Sequence[Any]
    ) -> Mapping[str, Any]:
        """Outputs for arrays of this solver's order, with the wrenches w at their places."""
        given = loads(net, on, places, w)
        if self._joints is None:
            return self.compute(net, on, x, given)
        whole = {**x, **{name: self._by_model(x[name], name) for name in self.state}}
        return self._joints.outputs(self.compute(net, on, whole, given), self.rate_axes)

    def _expect_inertia(self) -> None:
        """Where the mass matrix must be regular: once, before the first answer."""
        if self.inverts and self.model.nv and not self.__dict__.get("_regular"):
            if self.network.closures:
                expect_held(self.network, self.name)
            else:
                q = example_input(self.model, "q", (self.model.nq,), np.random.default_rng(0))
                expect_inertia(self.network, q, self.name)
            self._regular = True

    # ------------------------------------------------------------------ derivatives and exports
    def jacobian(self, of: str, wrt: str) -> Derivative:
        """d of / d wrt, a function of the same arguments: ``solver.jacobian("tau", "q")(q, v, a)`` is (..., nv, nq).

        ``wrt`` may be a live property. Coordinates count as independent numbers, those of quaternions too.
        """
        return differentiation.jacobian(self, of, wrt)

    def hessian(self, of: str, wrt: str, and_wrt: str | None = None) -> Derivative:
        """Second derivatives, shape of + wrt + and_wrt (by default wrt twice)."""
        return differentiation.hessian(self, of, wrt, and_wrt)

    def directional(self, of: str, wrt: Sequence[str]) -> Derivative:
        """Derivative along directions: ``solver.directional("tau", ["q", "v"])(q, v, a, dq, dv)``, without any
        matrix."""
        return differentiation.directional(self, of, wrt)

    @cached_property
    def _derivatives(self) -> dict[Any, Derivative]:
        return {}

    def casadi(self) -> ca.Function:
        """The same function for CasADi, with matrices as matrices, see
        :func:`~gyrostat.engine.tracing.casadi_functions.to_casadi`.

        Inputs are the parts of the state in the order of a call, then time or motion of the base where it is driven,
        then live properties. That a quaternion has unit length is not looked at there."""
        return casadi_function(self)

    def export_c(
        self,
        folder: str | Path,
        name: str | None = None,
        vectors: int = 16,
        makefile: bool = False,
        simulink: bool = False,
    ) -> list[Path]:
        """Write the function as C99 with a header, test vectors and a ``main`` that checks them; returns the files.

        ``makefile``: also a Makefile for all functions that are exported into the folder (``make test``).
        ``simulink``: also a level-2 S-function for MATLAB, and the Makefile (``make mex``)."""
        return c_files(self, folder, name, vectors, makefile, simulink)

    def export_wasm(self, folder: str | Path, name: str | None = None, vectors: int = 16) -> list[Path]:
        """Write the function as WebAssembly: the module, a script for web pages and node that holds it, and test
        vectors that ``node <name>_test.js`` checks; returns the files. No compiler is needed."""
        return wasm_files(self, folder, name, vectors)

    def _entries(self) -> dict[str, Sequence[str]]:
        """Names of the entries of inputs and outputs, for comments in C."""
        names = entry_names(self.model)
        joints = self._joints
        if joints is None:
            return names
        return {name: tuple(str(every[k]) for k in joints.of(name)) for name, every in names.items()}

    def _example(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Numbers for an input of the main program."""
        if name in self._live:
            return self._live[name]
        if self._joints is None or name not in self.state:
            return example_input(self.model, name, shape, rng)
        whole = example_input(self.model, name, (self.model.nq if name == "q" else self.model.nv,), rng)
        return np.take(whole, self._joints.of(name))
