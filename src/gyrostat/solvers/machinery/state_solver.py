"""Solvers that are one function of a state: recorded and compiled, or interpreted, with one way of calling them all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, ClassVar, Self

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, names_of, packed, rates, together
from gyrostat.engine.arguments import check_nonfinite, check_out, check_threads, refuse_overlap
from gyrostat.engine.kernel import Kernel
from gyrostat.errors import GyrostatError, NonFiniteError, RecordError, ShapeError, StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.singular_inertia import expect_inertia
from gyrostat.solvers.machinery.differentiable import Differentiable
from gyrostat.solvers.machinery.machine_call import install, plain_class, usual
from gyrostat.solvers.machinery.wrench import Application, loads, read_wrenches
from gyrostat.spec.model import Model

Array = np.ndarray


class StateSolver(Differentiable):
    """A function of parts of the state. Subclasses name them in ``state`` and say in :meth:`compute` what comes out.

    Several outputs are returned as a named tuple of class ``Result``."""

    state: tuple[str, ...] = ("q",)
    Result: Any = None
    takes_wrenches: bool = False
    inverts: bool = False
    """Whether the mass matrix must be regular."""
    algorithms: ClassVar[Iterable[str]] = ()
    rate_axes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Axes of the outputs that run over rates; all of them where an output is not named."""
    order: tuple[str, ...] | None = None
    _places: tuple[Array, Array]

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
            told = nearest(str(algorithm), known) if known else "leave it out"
            raise GyrostatError(f"{type(self).__name__}: there is no algorithm {algorithm!r}. Hint: {told}")
        self.algorithm = algorithm
        super().__init__(model, representation, rules, live, mode)

    def options(self) -> dict[str, Any]:
        chosen = {"algorithm": self.algorithm} if self.algorithm else {}
        return super().options() | chosen | ({} if self.order is None else {"order": self.order})

    def in_order(self, joints: Sequence[str]) -> Self:
        """A solver like this one whose arrays have the joints in another order, or only some of them (H04 4.3.1,
        resortExteriorPorts: a new ordering or a selection of states).

        ``joints``: names of joints with coordinates, each once; a free base has the name of the reference frame.
        q, v, a, tau and the axes of the results that belong to rates follow it; dicts by name give these joints.

        Joints that are left out are neutral (:func:`neutral`) and at rest, v = a = 0, *held* by whatever that takes:
        the mass matrix is M_ss, its inverse is the inverse of M_ss, and forward dynamics, by any algorithm, solves
        M_ss a_s = tau_s - b_s. Wrenches act as before."""
        names = names_of(joints, f"{self.name}.in_order", "joints")
        owners = self.model.layout.entities
        for name in names:
            if name not in owners:
                raise StateError(
                    f"{self.name}.in_order: '{name}' is no joint with coordinates. Hint: {nearest(str(name), owners)}"
                )
        if owners and not names:
            raise StateError(f"{self.name}.in_order: no joint is named. Hint: name some of {', '.join(owners[:8])}")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise StateError(
                f"{self.name}.in_order: '{twice}' is named twice, got {', '.join(names)}. Hint: name every joint once"
            )
        options = {k: v for k, v in self.options().items() if k != "order"}
        twin = plain_class(self)(self.model, **options)
        twin.order = names
        twin._places = self.model.layout.places(names)
        return twin

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what comes out."""
        return (self.result,) if self.Result is None else self.Result._fields

    @property
    def held(self) -> tuple[int, ...]:
        """Numbers of rates whose joints :meth:`in_order` left out: they are at rest."""
        if self.order is None:
            return ()
        return tuple(k for k in range(self.model.nv) if k not in set(self._places[1].tolist()))

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        call = cls.__call__
        if "__call__" not in cls.__dict__ and isinstance(call, FunctionType):  # Python names it in its own messages
            own = FunctionType(call.__code__, call.__globals__, cls.__name__, call.__defaults__, call.__closure__)
            own.__kwdefaults__, own.__doc__, own.__annotations__ = (
                call.__kwdefaults__,
                call.__doc__,
                call.__annotations__,
            )
            own.__qualname__ = cls.__name__
            cls.__call__ = own  # type: ignore[method-assign]

    @abstractmethod
    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        """Outputs by name, for the arrays x of the state; ``given`` are external wrenches."""

    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the state's parts."""
        sizes = (self.model.nq, self.model.nv) if self.order is None else [len(places) for places in self._places]
        return {name: (sizes[0 if name == "q" else 1],) for name in self.state}

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
        """Answer a call: by machine code from the first plain one on."""
        if wrenches is not None and not self.takes_wrenches:
            raise ShapeError(f"{self.name}: takes no wrenches, got {type(wrenches).__name__}. Hint: leave them out")
        plain = wrenches is None and t is None and out is None and usual(threads, nonfinite)
        first = type(self) is plain_class(self) and isinstance(state[0], np.ndarray) and state[0].ndim in (1, 2)
        if plain and first and self._fast():
            return self(*state)  # type: ignore[operator]  # by the builtin, now and from now on
        if self._compiled():
            try:
                places, values = read_wrenches(self.network, wrenches, self.name)
                kernel = self.for_wrenches(tuple(places))
            except RecordError as error:
                self._fall_back(error)
            else:
                found = kernel.call(
                    *self._packed(state),
                    *values,
                    *self._base_inputs(t),
                    *self._live.values(),
                    out=self._targets(out, kernel),
                    threads=threads,
                    nonfinite=nonfinite,
                    explain=lambda: self.examine(state, nonfinite),
                )
                return self.returned(found)
        check_threads(threads, self.name)
        check_nonfinite(nonfinite, self.name)
        return self._interpreted(state, wrenches, t, out, nonfinite)

    def _fast(self) -> bool:
        """Make plain calls go straight into machine code, if that is possible."""
        if not self._compiled() or not isinstance(self.model.context.base, str):
            return False
        try:
            kernel = self.main_kernel()
        except RecordError as error:
            self._fall_back(error)
            return False
        general = MethodType(plain_class(self).__call__, self)
        return install(self, kernel, list(self._live.values()), general, self.Result)

    def returned(self, found: Mapping[str, Array]) -> Any:
        """Outputs as the caller gets them."""
        if self.Result is None:
            (value,) = found.values()
            return value
        return self.Result(**found)

    def _targets(self, out: Any, kernel: Kernel) -> dict[str, Any] | None:
        return None if out is None else self._given_targets(out, [slot.name for slot in kernel.program.outputs])

    def _given_targets(self, out: Any, names: Sequence[str]) -> dict[str, Any]:
        """Arrays to write into, by output."""
        if self.Result is None:
            return {names[0]: out}
        if not isinstance(out, tuple | list) or len(out) != len(names):
            raise ShapeError(f"{self.name}: out must be a tuple of {len(names)} arrays: {', '.join(names)}")
        refuse_overlap([x for x in out if isinstance(x, np.ndarray)], self.name)
        return dict(zip(names, out, strict=True))

    # ------------------------------------------------------------------ programs
    def main_kernel(self) -> Kernel:
        return self.for_wrenches(())

    def for_wrenches(self, places: tuple[Application, ...]) -> Kernel:
        """Code for wrenches at these places."""
        key = (self.name, places)
        if key in self._kernels:
            return self._kernels[key]

        if self.inverts:
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
        return self._ordered(self.compute, net, on, x, loads(net, on, places, w))

    def _ordered(
        self, compute: Any, net: Network, on: Setting, x: Mapping[str, Any], given: Loads
    ) -> Mapping[str, Any]:
        """Compute with arrays in the order of this solver."""
        if self.order is None:
            return compute(net, on, x, given)
        found = compute(net, on, {**x, **{name: self._by_model(x[name], name) for name in self.state}}, given)
        _, rates = self._places
        ordered: dict[str, Any] = {}
        for name, value in found.items():
            array = np.asarray(value)
            for axis in dict(self.rate_axes).get(name, range(array.ndim)):
                array = np.take(array, rates, axis=axis)
            ordered[name] = array
        return ordered

    def _by_model(self, x: Any, name: str) -> Any:
        """An array or dict of this solver's joints as an array of all of them, in the order of the model."""
        if self.order is None:
            return x
        array = packed(self.model, x, name, self.name, self.order)
        rest = neutral(self.model) if name == "q" else np.zeros(self.model.nv)
        whole = np.empty((*array.shape[:-1], len(rest)), dtype=array.dtype)
        whole[...] = rest
        whole[..., self._places[0 if name == "q" else 1]] = array
        return whole

    def _example(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        if self.order is None or name not in self.state:
            return super()._example(name, shape, rng)
        whole = super()._example(name, (self.model.nq if name == "q" else self.model.nv,), rng)
        return np.take(whole, self._places[0 if name == "q" else 1])

    def _entries(self) -> dict[str, Sequence[str]]:
        found = super()._entries()
        if self.order is None:
            return found
        places = {name: self._places[0 if name == "q" else 1] for name in found}
        return {name: tuple(str(names[k]) for k in places[name]) for name, names in found.items()}

    def _expect_inertia(self) -> None:
        """Once, before the first answer."""
        if self.model.nv and not self.__dict__.get("_regular"):
            q = super()._example("q", (self.model.nq,), np.random.default_rng(0))
            expect_inertia(self.network, q, self.name)
            self._regular = True

    def _packed(self, state: Sequence[Any]) -> list[Array]:
        self.expect(state, self.state)
        return [packed(self.model, x, name, self.name, self.order) for x, name in zip(state, self.state, strict=True)]

    def arguments(self, state: Sequence[Any], t: Any) -> list[Array]:
        """Inputs of the main program for the state."""
        return [*self._packed(state), *self._base_inputs(t), *self._live.values()]

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        """Raise what is wrong with a state, in the words of the model."""
        for x, name in zip(state, self.state, strict=False):
            self._read(self._by_model(x, name), name, nonfinite)

    def _read(self, x: Any, name: str, nonfinite: str) -> Array:
        if name == "q":
            return coordinates(self.model, x, self.name, nonfinite)
        return rates(self.model, x, self.name, name, nonfinite)

    # ------------------------------------------------------------------ interpreted
    def _states(
        self, net: Network, state: Sequence[Any], wrenches: Any, t: Any, nonfinite: str = "raise"
    ) -> tuple[list[Application], tuple[int, ...], list[Array]]:
        """Places of the wrenches; leading shape; arrays of the state, of t and of the wrenches, one row a state."""
        self.expect(state, self.state)
        places, values = read_wrenches(net, wrenches, self.name)
        arrays = {
            name: (self._read(self._by_model(x, name), name, nonfinite), 1)
            for x, name in zip(state, self.state, strict=True)
        }
        arrays["t"] = (self.times(t), 0)
        for name, value in zip(wrenches or (), values, strict=True):
            arrays[f"wrench at '{name}'"] = (value, 1)
        shape, states = together(self.name, **arrays)
        return places, shape, states

    def _interpreted(self, state: Sequence[Any], wrenches: Any, t: Any, out: Any, nonfinite: str) -> Any:
        places, shape, states = self._states(self.network, state, wrenches, t, nonfinite)
        n = len(self.state)
        if self.inverts:
            self._expect_inertia()

        def one(row: Sequence[Array]) -> Mapping[str, Any]:
            on = self.setting(row[n])
            x = dict(zip(self.state, row[:n], strict=True))
            if self.order is not None:  # the rows are in the order of the model here
                x = {name: np.take(value, self._places[0 if name == "q" else 1]) for name, value in x.items()}
            return self._evaluated(self.network, on, x, places, row[n + 1 :])

        with np.errstate(all="ignore"):  # what is not finite is found below
            rows = [one(row) for row in zip(*states, strict=True)]
            shapes = rows[0] if rows else one(self._example_row(states))
        found = {
            name: np.array([row[name] for row in rows], dtype=float).reshape((*shape, *np.shape(shapes[name])))
            for name in shapes
        }
        return self._handed_over(found, shape, out, nonfinite)

    def _handed_over(self, found: dict[str, Array], shape: tuple[int, ...], out: Any, nonfinite: str) -> Any:
        """Outputs of interpreted states with their leading shape, looked at, and in ``out`` if it is given."""
        if nonfinite == "raise":
            for name, value in found.items():
                self.finite(value, shape, name)
        if out is None:
            return self.returned(found)
        targets = tuple(self._given_targets(out, list(found)).values())
        results = [value if target is None else target for target, value in zip(targets, found.values(), strict=True)]
        for target, value in zip(targets, found.values(), strict=True):
            if target is not None:
                check_out(target, value.shape, self.name)
                target[...] = value
        return out if self.Result is None else self.returned(dict(zip(found, results, strict=True)))

    def _example_row(self, states: Sequence[Array]) -> list[Array]:
        """A state for finding out shapes."""
        row = [np.zeros(x.shape[1:]) for x in states]
        if self.state[:1] == ("q",):
            row[0] = super()._example("q", (self.model.nq,), np.random.default_rng(0))
        return row

    def finite(self, result: Array, shape: tuple[int, ...], name: str = "result") -> Array:
        """Refuse results that are not finite, naming the state."""
        bad = np.argwhere(~np.isfinite(result))
        if len(bad):
            where = tuple(int(i) for i in bad[0][: len(shape)])
            state = f" in state {where}" if where else ""
            raise NonFiniteError(
                f"{self.name}: the {name}{state} is not finite. Hint: the numbers of the state or model are too large, "
                "or something without inertia can move"
            )
        return result
