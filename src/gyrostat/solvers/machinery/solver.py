"""What all solvers share: recorded once, compiled, called with states; or interpreted, for debugging (H04 4.2.1,
4.3.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.foreign.requirements import examined, refuse
from gyrostat.configuration.packing import quaternion_guard, real_array
from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, RecordError, ShapeError, SpecError, StateError, nearest
from gyrostat.graph.network import Network, network
from gyrostat.solvers.machinery.interface import Attributes, Origin, attributes, origin
from gyrostat.solvers.machinery.machine_call import plain_class
from gyrostat.spatial.base_motion import BaseState, base_state
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation as known_representation
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import GravityField, HarmonicMotion, MovingBase
from gyrostat.spec.model import Model
from gyrostat.spec.solver_kinds import KINDS
from gyrostat.spec.solver_spec import SolverSpec

Array = np.ndarray
MODES = ("auto", "compile", "interpret")

LARGE = 1000
"""Models with more rates are interpreted, unless machine code is asked for: it would take tens of seconds to make."""
VARIANTS = 64
"""Programs that one solver keeps, for example for different places of wrenches."""


class Solver(Direct):
    """Base of the solvers.

    ``representation``: ``"body"``, ``"inertial"`` or ``"absolute"``. ``live``: paths of physical properties that stay
    inputs of the compiled code; everything else is folded into it. ``mode``: ``"compile"``, ``"interpret"`` to run
    the plain NumPy code, or ``"auto"``: the first up to 1000 rates, then the second. ``rules``: rewriting rules of
    the network, all by default."""

    name = "solver"
    needs: tuple[str, ...] = ()
    """What every component must be able to give, see :data:`~gyrostat.algorithms.foreign.requirements.WHY`."""

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        expect_model(model, self.name)
        if mode not in MODES:
            raise GyrostatError(
                f"{self.name}: mode must be one of {', '.join(MODES)}, got {mode!r}. Hint: {nearest(str(mode), MODES)}"
            )
        self.model = model
        self.representation = representation
        given = (live,) if isinstance(live, str) else tuple(live)
        self.live = tuple(model.canonical(path) if isinstance(path, str) else path for path in given)
        self._asked = mode
        self.mode = "interpret" if mode == "interpret" or (mode == "auto" and model.nv > LARGE) else "compile"
        told = "asked for" if mode == "interpret" else f"{model.nv} rates; mode='compile' insists on machine code"
        self.why_interpreted = told if self.mode == "interpret" else ""
        self._representation = known_representation(representation)
        self._rules = None if rules is None else tuple(rules)
        self.network = network(model, self._rules)
        self.network.refuse_loops(self.name)
        examined(self.network)
        refuse(self.network, self.name, self.needs)
        self._live = {path: live_value(model, path) for path in self.live}
        self._kernels: dict[Any, Kernel] = {}
        self._seconds: dict[str, float] = {}

    def options(self) -> dict[str, Any]:
        """What a solver like this one is made from, besides the model."""
        return {"representation": self.representation, "rules": self._rules, "live": self.live, "mode": self._asked}

    @property
    def spec(self) -> SolverSpec:
        """This solver as data: ``solver.spec.build(model)`` makes one like it; names are in full."""
        name = plain_class(self).__name__
        if name not in KINDS:
            raise GyrostatError(
                f"{self.name}: {name} has no specification. Hint: a file can hold {', '.join(list(KINDS)[:3])}, ..."
            )
        said = {key: value for key, value in self._said().items() if value is not None}
        usual = self._usual_rules()
        if usual is not None and said.get("rules") == tuple(usual):
            del said["rules"]
        if "frame" in said:
            said["frames"] = (said.pop("frame"),)
        return SolverSpec(name, **said)

    def _said(self) -> dict[str, Any]:
        """Options as a specification has them."""
        return self.options()

    def _usual_rules(self) -> Iterable[str] | None:
        """Rules that are taken when none are asked for; None for those of the network."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (plain_class(self), self.model, self.options())  # copies and pickles compile for themselves

    # ------------------------------------------------------------------ recording
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Inputs that every program of this solver ends with: time or motion of the base, then live properties."""
        base = self.model.context.base
        shapes: dict[str, tuple[int, ...]] = {}
        if isinstance(base, HarmonicMotion):
            shapes["t"] = ()
        elif isinstance(base, MovingBase):
            shapes |= {"base_R": (3, 3), "base_p": (3,), "base_V": (6,), "base_A": (6,)}
        return shapes | {path: value.shape for path, value in self._live.items()}

    def _scene(self, arrays: Mapping[str, Any]) -> tuple[Network, Setting]:
        """Network and setting for recording arrays, which include those of :meth:`_shapes`."""
        live = {path: arrays[path] for path in self.live}
        net = network(self.model, self._rules, live=live) if live else self.network
        t: Any = arrays["t"][()] if "t" in arrays else 0.0
        if "base_R" in arrays:
            t = BaseState(*(arrays[f"base_{k}"] for k in "RpVA"))
        given = live.get("context.gravity")
        return net, Setting(self._representation, gravity(self.model.context.gravity, given), t)

    def setting(self, t: Any) -> Setting:
        """Setting for plain numbers."""
        return Setting(self._representation, gravity(self.model.context.gravity), t)

    def _kernel(
        self, key: Any, function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, tuple[int, ...]]
    ) -> Kernel:
        """The kernel of a variant, recorded when first needed."""
        known = self._kernels.get(key)
        if known is None:
            start = time.perf_counter()

            def guarded(**arrays: Array) -> Mapping[str, Any]:
                return dict(function(**arrays)) | {
                    "guard": quaternion_guard(self.model, self._by_model(arrays["q"], "q"))
                }

            program = self._recorded(guarded, {**inputs, **self._shapes()})
            self._seconds["trace"] = time.perf_counter() - start
            if len(self._kernels) >= VARIANTS:
                self._kernels.pop(next(iter(self._kernels)), None)
            known = self._kernels[key] = Kernel(program, self.name)
        return known

    def _by_model(self, x: Any, name: str) -> Any:
        """A part of the state in the order of the model; solvers may have another."""
        return x

    def _recorded(self, function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, tuple[int, ...]]) -> Program:
        try:
            with np.errstate(all="ignore"):  # what is not finite is found when it is computed
                return record(function, inputs, f"{self.model.name}_{self.name}")
        except GyrostatError:
            raise
        except (
            Exception
        ) as error:  # a field of gravity is the user's function and may fail in any way on recorded values
            if not self._has_field():
                raise
            raise RecordError(f"the field of gravity cannot be recorded, {type(error).__name__}: {error}") from error

    def _has_field(self) -> bool:
        return isinstance(self.model.context.gravity, GravityField)

    def _base_inputs(self, t: Any) -> list[Array]:
        """Arrays for the time or the motion of the base."""
        base = self.model.context.base
        if t is None and isinstance(base, str):
            return []
        times = self.times(t)
        if isinstance(base, HarmonicMotion):
            return [times]
        if isinstance(base, MovingBase):
            states = [base_state(base, float(x)) for x in times.ravel()]
            return [
                np.array([s[k] for s in states]).reshape((*times.shape, *shape))
                for k, shape in enumerate(((3, 3), (3,), (6,), (6,)))
            ]
        return []

    def times(self, t: Any) -> Array:
        """t as an array of any shape; needed only where the base moves as a function of time."""
        if t is None:
            if not isinstance(self.model.context.base, str):
                raise StateError(f"{self.name}: the base of '{self.model.name}' moves with time. Hint: give t=...")
            t = 0.0
        array = real_array(t, self.name, "t")
        if not np.all(np.isfinite(array)):
            raise StateError(f"{self.name}: t must be finite, got {array}")
        return np.zeros(()) if isinstance(self.model.context.base, str) else array

    def _compiled(self) -> bool:
        """Whether calls are served by machine code."""
        return self.mode == "compile"

    def _fall_back(self, error: RecordError) -> None:
        """A context with a Python function that cannot be recorded is interpreted; anything else is a fault."""
        if not self._has_field():
            raise error
        self.mode, self.why_interpreted = "interpret", str(error)

    # ------------------------------------------------------------------ H04 4.3.1
    def refresh(self, model: Model) -> None:
        """Take the live properties of a model that is otherwise the same; nothing is rebuilt."""
        expect_model(model, f"{self.name}.refresh")
        changed = differing(self.model, model, self.live)
        if changed:
            raise SpecError.one(
                f"{self.name} of '{self.model.name}'",
                "refresh",
                _why_not(changed[0], self.live) + (f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""),
                "build a new solver"
                if changed[0] in ("structure", *self.live)
                else f"build the solver with live=[{changed[0]!r}, ...], or build a new one",
                changed[0],
            )
        fresh = network(model, self._rules)
        values = {path: live_value(model, path) for path in self.live}
        for path, value in values.items():
            self._live[path][...] = value
        self.model, self.network = model, fresh
        self.__dict__.pop("_whole", None)

    def reconfigure(self, model: Model) -> None:
        """Take a model of any structure: everything is built anew, with the same options. If that fails, nothing has
        changed."""
        fresh = _rebuilt(plain_class(self), model, self.options())
        retired = [*self.__dict__.get("_retired", []), type(self)]  # another thread may still be in its code
        self.__class__ = plain_class(self)
        self.__dict__.clear()
        self.__dict__.update(fresh.__dict__)
        self._retired = retired

    @property
    def attributes(self) -> Attributes:
        """Names of coordinates, rates, frames, bodies and live properties."""
        return attributes(self.model, self.network, self.live)

    def mapping(self, name: str) -> Origin:
        """Where a coordinate, rate, frame, body or property comes from in the specification."""
        return origin(self.model, self.network, name)

    def explain(self) -> str:
        """Operations before and after simplification, times of the passes, code size, what was folded, cache hit or
        miss."""
        lines = [
            f"{type(self).__name__} of '{self.model.name}' in {self.representation} representation, mode {self.mode}"
        ]
        if self.mode == "interpret":
            lines.append(f"  interpreted: {self.why_interpreted}")
        if self.mode == "compile" and available():
            lines.append(f"  single calls take the general path: {available()}")
        lines.append(f"  live inputs: {', '.join(self.live) or 'none, every property is folded into the code'}")
        for kernel in self._kernels.values():
            lines += _told(kernel)
        if "trace" in self._seconds:
            lines.append(f"  trace {self._seconds['trace'] * 1e3:.1f} ms")
        return "\n".join([*lines, self.network.explain()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of '{self.model.name}', {self.representation} representation>"


def _rebuilt(cls: Any, model: Model, options: Mapping[str, Any]) -> Solver:
    order = options.get("order")
    found = cls(model, **{k: v for k, v in options.items() if k != "order"})
    return found if order is None else found.in_order(order)


def _told(kernel: Kernel) -> list[str]:
    program: Program = kernel.program
    inputs = ", ".join(f"{s.name}{list(s.shape)}" for s in program.inputs)
    asked, kept = program.recorded, program.counts()
    lines = [
        f"  program {program.name}({inputs}) -> {', '.join(s.name for s in program.outputs)}",
        f"    operations recorded: {sum(asked.values())} ({', '.join(f'{k} {v}' for k, v in asked.items())})",
        f"    operations kept: {sum(kept.values())} ({', '.join(f'{k} {v}' for k, v in kept.items())})",
    ]
    for what, code in kernel.codes().items():
        times = ", ".join(f"{k} {s * 1e3:.1f} ms" for k, s in code.seconds.items())
        lines.append(f"    code for {what}: {code.size} bytes, cache {code.cache_note}, {times}")
    return lines


def live_value(model: Model, path: str) -> Array:
    """The numbers of a property, as an array of their own."""
    value = model[path]
    if path == "context.gravity":
        value = getattr(value, "g", value)
    elif path.startswith("context."):
        value = None  # no row asks for it as a number
    if isinstance(value, float | tuple):
        array = np.array(value)
        if array.dtype == float:
            return array
    raise SpecError.one(
        "live", "live-property", f"'{path}' is {value!r}, which is no number, vector or matrix",
        "list paths such as 'payload.mass' or 'elbow.axis'", path,
    )  # fmt: skip


def differing(one: Model, two: Model, live: Sequence[str] = ()) -> list[str]:
    """Paths of properties in which two models differ, but for live ones; 'structure' if their parts are not the
    same."""
    shape = [(m.connections, [(n, type(e)) for n, e in m.wiring.entities.items()]) for m in (one, two)]
    paths = [list(m.paths()) for m in (one, two)]
    if shape[0] != shape[1] or paths[0] != paths[1]:
        return ["structure"]
    return [path for path in paths[0] if one[path] != two[path] and not _is_live(one, two, path, live)]


def _why_not(path: str, live: Sequence[str]) -> str:
    if path == "structure":
        return "the model is made of other parts"
    return (
        f"'{path}' differs in its kind, not only in its numbers"
        if path in live
        else f"'{path}' differs but is not live"
    )


def _is_live(one: Model, two: Model, path: str, live: Sequence[str]) -> bool:
    """Whether two models differ at a path in live numbers only."""
    if path == "context.gravity":
        kinds = [(type(m[path]), getattr(m[path], "treat_as", None)) for m in (one, two)]
        return path in live and kinds[0] == kinds[1]
    if path in live:
        return _first_direction(one, path) == _first_direction(two, path)
    inside = [p for p in live if p.startswith(f"{path}.")]
    if not inside or type(one[path]) is not type(two[path]):
        return False
    return one.replace({p: two[p] for p in inside})[path] == two[path]


def _first_direction(model: Model, path: str) -> int:
    """Which coordinate axis a planar joint takes its first direction from: a choice that was recorded."""
    owner, _, prop = path.rpartition(".")
    entity = model[owner]
    if prop != "axis" or getattr(entity, "kind", None) != "planar" or entity.second_axis is not None:
        return 0
    return int(np.argmax(np.abs(np.array(entity.axis))))


__all__ = ["Array", "ShapeError", "Solver", "differing", "live_value"]
