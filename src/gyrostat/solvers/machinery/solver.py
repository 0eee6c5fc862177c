"""What all solvers share: recorded once, compiled, called with states; or interpreted, for debugging (H04 4.2.1,
4.3.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.user_components.requirements import examined, refuse
from gyrostat.configuration.packing import quaternion_guard
from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, RecordError, nearest
from gyrostat.graph.network import Network, network
from gyrostat.solvers.machinery.attributes import Attributes, Origin, attributes, origin
from gyrostat.solvers.machinery.base_inputs import base_arrays, base_shapes, read_times, recorded_time
from gyrostat.solvers.machinery.explanation import explanation
from gyrostat.solvers.machinery.live_properties import expect_only_live_differences, live_value
from gyrostat.solvers.machinery.loop_treatment import LoopTreatment, expect_treatment
from gyrostat.solvers.machinery.machine_call import written_class
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation as known_representation
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import GravityField
from gyrostat.spec.facts import facts_html
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
    """Abstract base of the solvers.

    ``representation``: ``"body"``, ``"inertial"`` or ``"absolute"``. ``live``: paths of physical properties that stay
    inputs of the compiled code; everything else is folded into it. ``mode``: ``"compile"``, ``"interpret"`` to run
    the plain NumPy code, or ``"auto"``: the first up to 1000 rates, then the second. ``rules``: rewriting rules of
    the network, all by default."""

    name = "solver"
    needs: tuple[str, ...] = ()
    """What every component must be able to give, see :data:`~gyrostat.algorithms.user_components.requirements.WHY`."""
    loops: str = "refused"
    """How loops that stay constraints are treated, see :mod:`~gyrostat.solvers.machinery.loop_treatment`."""
    loops_hint: str = ""
    """What to do instead where they are refused."""
    loop_way: str | None = "kkt"
    safe: bool = False
    """How loops are solved, see :class:`~gyrostat.solvers.machinery.loop_treatment.LoopTreatment`."""

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
        why = "asked for" if mode == "interpret" else f"{model.nv} rates; mode='compile' insists on machine code"
        self.why_interpreted = why if self.mode == "interpret" else ""
        self._representation = known_representation(representation)
        self._rules = None if rules is None else tuple(rules)
        self.network = network(model, self._rules)
        expect_treatment(self.network, self.name, self.loops, self.loops_hint)
        examined(self.network)
        refuse(self.network, self.name, self.needs)
        self._live = {path: live_value(model, path) for path in self.live}
        self._kernels: dict[Any, Kernel] = {}
        self._seconds: dict[str, float] = {}

    # ------------------------------------------------------------------ as data
    def options(self) -> dict[str, Any]:
        """What a solver like this one is made from, besides the model."""
        return {"representation": self.representation, "rules": self._rules, "live": self.live, "mode": self._asked}

    @property
    def spec(self) -> SolverSpec:
        """This solver as data: ``solver.spec.build(model)`` makes one like it; names are in full."""
        name = written_class(self).__name__
        if name not in KINDS:
            raise GyrostatError(
                f"{self.name}: {name} has no specification. Hint: a file can hold {', '.join(list(KINDS)[:3])}, ..."
            )
        options = {key: value for key, value in self._spec_options().items() if value is not None}
        usual = self._usual_rules()
        if usual is not None and options.get("rules") == tuple(usual):
            del options["rules"]
        if "frame" in options:
            options["frames"] = (options.pop("frame"),)
        return SolverSpec(name, **options)

    def _spec_options(self) -> dict[str, Any]:
        """Options as a specification has them."""
        return self.options()

    def _usual_rules(self) -> Iterable[str] | None:
        """Rules that are taken when none are asked for; None for those of the network."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (written_class(self), self.model, self.options())  # copies and pickles compile for themselves

    # ------------------------------------------------------------------ recording
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Inputs that every program of this solver ends with: time or motion of the base, then live properties."""
        return base_shapes(self.model) | {path: value.shape for path, value in self._live.items()}

    def _scene(self, arrays: Mapping[str, Any]) -> tuple[Network, Setting]:
        """Network and setting for recording arrays, which include those of :meth:`_shapes`."""
        live = {path: arrays[path] for path in self.live}
        net = network(self.model, self._rules, live=live) if live else self.network
        law = gravity(self.model.context.gravity, live.get("context.gravity"))
        return net, Setting(self._representation, law, recorded_time(arrays))

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
                outputs = dict(function(**arrays))
                q = self._by_model(arrays["q"], "q")
                guards = quaternion_guard(self.model, q)
                if self.network.closures:
                    guards = [*guards, *self.loop_guards(*self._scene(arrays), q)]
                return outputs | {"guard": guards}

            program = self._recorded(guarded, {**inputs, **self._shapes()})
            self._seconds["trace"] = time.perf_counter() - start
            if len(self._kernels) >= VARIANTS:
                self._kernels.pop(next(iter(self._kernels)), None)
            known = self._kernels[key] = Kernel(program, self.name)
        return known

    def _by_model(self, x: Any, name: str) -> Any:
        """A part of the state in the order of the model; solvers may have another."""
        return x

    def loop_guards(self, net: Network, on: Setting, q: Array) -> list[Any]:
        """Numbers that are NaN where q does not close the loops, if it has to, or where they are singular."""
        return self.loop_treatment.guards(net, on, q)

    @property
    def loop_treatment(self) -> LoopTreatment:
        return LoopTreatment(self.network, self.name, self.loops, self.loop_way, self.safe)

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
        return base_arrays(self.model, t, self.name)

    def times(self, t: Any) -> Array:
        """t as an array of any shape; needed only where the base moves as a function of time."""
        return read_times(self.model, t, self.name)

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
        expect_only_live_differences(self.model, model, self.live, self.name)
        fresh = network(model, self._rules)
        values = {path: live_value(model, path) for path in self.live}
        for path, value in values.items():
            self._live[path][...] = value
        self.model, self.network = model, fresh
        self.__dict__.pop("_whole", None)

    def reconfigure(self, model: Model) -> None:
        """Take a model of any structure: everything is built anew, with the same options. If that fails, nothing has
        changed."""
        fresh = _rebuilt(written_class(self), model, self.options())
        retired = [*self.__dict__.get("_retired", []), type(self)]  # another thread may still be in its code
        self.__class__ = written_class(self)
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
        return explanation(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of '{self.model.name}', {self.representation} representation>"

    def _repr_html_(self) -> str:
        told = next(iter((type(self).__doc__ or "").splitlines()), "")
        model = self.model
        rows = (("computes", told), ("of", f"{model.name}, nq {model.nq}, nv {model.nv}"))
        return facts_html(type(self).__name__, (*rows, ("representation", self.representation)))


def _rebuilt(cls: Any, model: Model, options: Mapping[str, Any]) -> Solver:
    order = options.get("order")
    solver = cls(model, **{k: v for k, v in options.items() if k != "order"})
    return solver if order is None else solver.in_order(order)
