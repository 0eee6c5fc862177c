"""Where the generalised forces of a simulation come from: nothing, numbers, a Python function, or a block."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.configuration.packing import rates
from gyrostat.engine.tracing.signals import handed
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, clipped, nearest
from gyrostat.simulate.blocks.block import Block
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


class TorqueSource:
    """tau (nv,) and rates of the source's own states p (np,), as functions of t, q, v, p and a memory m (nm,) that
    changes only at sampling instants.

    ``p0``, ``m0``: their values at the start; ``sizes`` (np,): what counts as one for each state, see ``Block``;
    ``sample_times`` [s] of digital parts: instants are whole multiples. ``constant``: tau if it never changes."""

    p0: Array = np.zeros(0)
    sizes: Array = np.zeros(0)
    m0: Array = np.zeros(0)
    sample_times: tuple[float, ...] = ()
    constant: Array | None = None
    told = "no torque"
    users: tuple[Any, ...] = ()
    """Functions and blocks that others have written."""
    gains: Mapping[str, Any] = MappingProxyType({})
    """Values of further arguments of a function, by name."""

    @contextmanager
    def with_gains(self, values: Array) -> Iterator[None]:
        """Other values of the gains, all of them one behind the other; numbers, or recorded ones."""
        before, start, given = self.gains, 0, {}
        for name, x in before.items():
            size = int(np.size(x))
            part = values[start : start + size].reshape(np.shape(x))
            given[name] = part[()] if part.ndim == 0 else part
            start += size
        self.gains = given
        try:
            yield
        finally:
            self.gains = before

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """tau (nv,) and dp/dt (np,); on numbers, and on recorded values if the source can be recorded."""
        raise NotImplementedError

    def recorded(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array, Any]:
        """tau, dp/dt on recorded values, and what must be finite besides."""
        return *self.evaluate(t, q, v, p, m), ()

    def update(self, t: float, q: Array, v: Array, p: Array, m: Array, due: Sequence[float] | None = None) -> Array:
        """The memory after the sampling instant t of the sample times ``due``; None is all of them."""
        return m

    def next_memory(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        """The memory after a sampling instant, on recorded values."""
        return m

    def change_model(self, model: Model) -> None:
        """Another model with the same coordinates takes over."""
        return None

    def twin(self, gains: Mapping[str, Any]) -> TorqueSource:
        """The same source for another run, with gains of its own."""
        twin = copy(self)
        if gains:
            twin.give(gains)
        return twin

    def give(self, gains: Mapping[str, Any]) -> None:
        """Other gains of the same names and shapes."""
        self.gains = dict(gains)

    def trouble(self, t: float, q: Array, v: Array, p: Array, m: Array) -> str:
        """Why the source has no answer in this state, "" if it has one."""
        return ""


class ConstantSource(TorqueSource):
    """The same tau (nv,) at all times."""

    def __init__(self, tau: Array):
        self.tau = self.constant = tau
        self.told = "a constant torque"

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        return self.tau, self.p0


class FunctionSource(TorqueSource):
    """A Python function f(t, q, v) that returns tau: (nv,) numbers, or a mapping of joint names to numbers."""

    def __init__(self, model: Model, function: Any, gains: Mapping[str, Array] | None = None):
        self.model, self.function, self.gains = model, function, dict(gains or {})
        self.told = f"the function {getattr(function, '__name__', type(function).__name__)}"
        self.users = (function,)
        expect_arguments(function, f"{WHO}: {self.told}", "lambda t, q, v: -2.0 * v", self.gains)

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        if not self.gains:
            return self.checked(self.function(t, handed(q), handed(v))), self.p0
        gains = {name: handed(x) for name, x in self.gains.items()}
        try:
            return self.checked(self.function(t, handed(q), handed(v), **gains)), self.p0
        except Exception as error:
            shapes = ", ".join(f"{name} {np.shape(x)}" for name, x in gains.items())
            error.add_note(
                f"{WHO}: {self.told} was called with the parameters {shapes}, q {np.shape(q)}, v {np.shape(v)}"
            )
            raise

    def checked(self, given: Any) -> Array:
        """What was returned, as an array."""
        return forces(self.model, given, self.told)


class BlockSource(TorqueSource):
    """A controller: a block whose output "tau" is (nv,), with continuous states, memory and sample time."""

    signal = "tau"
    rates: tuple[str, ...] = ()
    """Names of what it gives; the rates of the model by default."""

    def __init__(self, model: Model, block: Any):
        self.given = block
        self.change_model(model)
        block, self.users = self.block, (self.block,)
        self.told = f"the block {type(block).__name__}"
        self.p0, self.m0 = initial(getattr(block, "states", ())), initial(getattr(block, "memory", ()))
        self.sizes = np.array(block.sizes) if isinstance(block, Block) else np.ones(len(self.p0))
        times = getattr(block, "sample_time", None)
        sample_times = () if times is None else tuple(np.atleast_1d(np.asarray(times, dtype=float)).tolist())
        if not all(0.0 < x < np.inf for x in sample_times):
            raise GyrostatError(
                f"{WHO}: sample_time of {self.told} must be positive, got {clipped(times)}. Hint: 0.001"
            )
        self.sample_times = tuple(sorted(set(sample_times)))

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        x = {"q": handed(q), "v": handed(v)}  # a block may write into what it gets
        p, m = handed(p), handed(m)
        outputs = self.block.output(t, x, p, m)
        if self.rates and isinstance(outputs, Mapping) and len(outputs) == 1:
            outputs = {self.signal: next(iter(outputs.values()))}
        if not isinstance(outputs, Mapping) or self.signal not in outputs:
            raise GyrostatError(
                f"{WHO}: {self.told} has no output '{self.signal}'. Hint: end it with the joints' efforts"
            )
        change = np.asarray(self.block.derivative(t, x, p, m)) if len(self.p0) else self.p0
        return self.checked(outputs[self.signal]), change

    def checked(self, given: Any) -> Array:
        """What was given, as an array."""
        return forces(self.model, given, self.told)

    def update(self, t: float, q: Array, v: Array, p: Array, m: Array, due: Sequence[float] | None = None) -> Array:
        memory = np.asarray(self.block.update(t, {"q": q.copy(), "v": v.copy()}, p.copy(), m.copy()), dtype=float)
        if memory.shape != self.m0.shape or not np.isfinite(memory).all():
            raise NonFiniteError(f"{WHO}: the memory of {self.told} became {clipped(memory)}, expected {self.m0.shape}")
        return memory

    def next_memory(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        return np.asarray(self.block.update(t, {"q": handed(q), "v": handed(v)}, handed(p), handed(m)))

    def change_model(self, model: Model) -> None:
        self.model, self.block = model, self.given
        if isinstance(self.given, Block):
            self.block = self.given.within(model).sized(self.rates or tuple(model.dofs))

    def trouble(self, t: float, q: Array, v: Array, p: Array, m: Array) -> str:
        return self.block.trouble(t, {"q": q, "v": v}, p, m) if isinstance(self.block, Block) else ""


def trouble_ahead(
    source: TorqueSource, model: Model, t: float, state: tuple[Array, Array, Array, Array], h: float
) -> str:
    """What the source has to say about a state q, v, p, m, or about the one that a straight way leads to within h [s]:
    a method that cannot go on stands just before it."""
    q, v, p, m = state
    if words := source.trouble(t, q, v, p, m):
        return words
    change = source.evaluate(t, q, v, p, m)[1]
    return source.trouble(t + h, integrate(model, q, h * v), v, p + h * change, m)


def expect_arguments(function: Any, who: str, example: str, gains: Iterable[str] = ()) -> None:
    """Refuse a function that cannot be called with (t, q, v), and gains by name."""
    if not gains and _takes_three(function):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # something built in
        return
    try:
        signature.bind(0.0, 0.0, 0.0, **dict.fromkeys(gains, 0.0))
    except TypeError:
        told, more = ", ".join(["t", "q", "v", *gains]), [*signature.parameters][3:]
        missing = [name for name in more if name not in gains]
        if missing and set(gains) <= set(more):
            example = f"parameters={{'{missing[0]}': 2.0}} gives its further arguments"
        message = f"{who} takes {signature}, and is called with ({told}). Hint: {example}"
        raise GyrostatError(message) from None


def _takes_three(function: Any) -> bool:
    """Whether a function plainly has the arguments (t, q, v)."""
    code = getattr(function, "__code__", None)
    plain = isinstance(function, FunctionType) and isinstance(code, CodeType) and not hasattr(function, "__wrapped__")
    return plain and code.co_argcount == 3 and not code.co_kwonlyargcount  # type: ignore[union-attr]


def initial(given: Any) -> Array:
    """States of a block at the start: their values, or how many (all zero)."""
    return np.zeros(given) if isinstance(given, int) else np.array(given, dtype=float).ravel()


def torque_source(model: Model, torque: Any, gains: Mapping[str, Array] | None = None) -> TorqueSource:
    """The source that ``torque`` of ``gs.simulate`` stands for; ``gains``: further arguments of a function."""
    if torque is None:
        return ConstantSource(np.zeros(model.nv))
    if isinstance(torque, TorqueSource):
        return torque
    if isinstance(torque, type):
        raise GyrostatError(f"{WHO}: torque is the class {torque.__name__}. Hint: {torque.__name__}(...)")
    if callable(getattr(torque, "output", None)):
        return BlockSource(model, torque)
    if callable(torque):
        return FunctionSource(model, torque, gains)
    given = filled(model, torque) if isinstance(torque, Mapping) else torque
    tau = np.array(rates(model, given, WHO, "torque"))
    if tau.shape != (model.nv,):
        raise ShapeError(
            f"{WHO}: torque has shape {tau.shape}, expected ({model.nv},), or a row for each of t_eval. Hint: efforts "
            "that change in time are a function f(t, q, v), or gs.blocks.Samples(t, tau)"
        )
    return ConstantSource(tau)


def filled(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Joints that are not named get no torque."""
    efforts = dict(given)
    for block in model.layout:
        keys = [block.entity] if block.nv == 1 else block.rate_names
        if block.entity not in given:
            efforts |= {key: 0.0 for key in keys if key not in given}
    return efforts


def forces(model: Model, given: Any, who: str) -> Array:
    """tau (nv,) that a function or block returned; its numbers may be recorded ones."""
    if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == (model.nv,):
        return given.copy()  # theirs may change later
    if isinstance(given, Mapping):
        given = [given.get(name, 0.0) for name in _known(model, given, who)]
    array = np.asarray(given)
    if array.shape != (model.nv,):
        raise ShapeError(f"{WHO}: {who} returned shape {array.shape}, expected ({model.nv},) = nv of '{model.name}'")
    if array.dtype.kind not in "fiuO":
        raise ShapeError(f"{WHO}: {who} returned {array.dtype}, expected real numbers")
    return np.array(array, dtype=object if array.dtype == object else float)  # theirs may change later


def _known(model: Model, given: Mapping[str, Any], who: str) -> tuple[str, ...]:
    unknown = [name for name in given if name not in model.dofs]
    if unknown:
        raise ShapeError(f"{WHO}: {who} names '{unknown[0]}'. Hint: {nearest(str(unknown[0]), model.dofs)}")
    return tuple(model.dofs)
