"""Several answers of one state from one recorded program (H04 4.2.1, MasterSolver): shared work is done once."""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, Self

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.engine.cpython.layout import available
from gyrostat.errors import GyrostatError, RecordError, ShapeError
from gyrostat.graph.network import Network, network
from gyrostat.solvers.builders.answers import WHO, answering_solver
from gyrostat.solvers.machinery.call_signatures import by_name
from gyrostat.solvers.machinery.machine_call import default_options
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.solvers.machinery.wrench import Application
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

ORDER = ("q", "v", "a", "tau", "v_r", "a_r", "dq", "dv", "dtau")
"""In which order a call takes what its answers are functions of."""


class Solvers(StateSolver):
    """Several answers of one state: ``gs.Solvers(model, rnea={}, crba={}, com={})``.

    Each keyword is the name of an answer, that of the one-line function (``com`` is ``center_of_mass``; ``fk`` has the
    option ``derivatives``, 0 to 2); its value has the options of that solver. A name of your own says which one it is:
    ``left={"solver": "jacobian", "frame": "left.foot"}``. ``live`` and ``mode`` are those of all.

    Called with the union of what the answers are functions of, in the order q, v, a, tau, v_r, a_r, dq, dv, dtau
    (``state`` lists it), by position or by name. Returns a named tuple with one field for each answer, as its own
    solver returns it. ``wrenches`` act in the answers that take them.

    One program is recorded for all, in which equal operations are done once: the placements, velocities and inertias
    that several answers need. ``jacobian``, ``casadi``, ``export_c`` are of this program; its outputs have the
    names of the answers, or ``com.p``, ``com.v`` for an answer with several."""

    name = "solvers"
    loops = "any"  # each answer treats them as its own solver does

    def __init__(
        self, model: Model, *, live: Sequence[str] = (), mode: str = "auto", **answers: Mapping[str, Any] | Any
    ):
        expect_model(model, WHO)
        if not answers:
            raise GyrostatError(f"{WHO}: no answer is named. Hint: gs.Solvers(model, rnea={{}}, crba={{}}) gives two")
        super().__init__(model, "body", None, live, mode)
        self.answers = {_field(name): _options(options) for name, options in answers.items()}
        self.parts = {
            name: answering_solver(model, name, options, self.live, mode) for name, options in self.answers.items()
        }
        for solver in self.parts.values():
            solver.safe = True  # no other order of elimination can be tried for one answer alone
        used = {name for solver in self.parts.values() for name in solver.state}
        self.state = tuple(name for name in ORDER if name in used)
        self.inverts = any(solver.inverts for solver in self.parts.values())
        self.takes_wrenches = any(solver.takes_wrenches for solver in self.parts.values())
        self.Result = answers_class(tuple(self.parts))

    def loop_guards(self, net: Network, on: Setting, q: Array) -> list[Any]:
        return [x for solver in self.parts.values() for x in solver.loop_guards(net, on, q)]

    def examine_loops(self, q: Array) -> None:
        for solver in self.parts.values():
            solver.examine_loops(q)

    def options(self) -> dict[str, Any]:
        order = {} if self.order is None else {"order": self.order}
        return {"live": self.live, "mode": self._asked, **self.answers, **order}

    def _spec_options(self) -> dict[str, Any]:
        return {"live": self.live, "mode": self._asked, "order": self.order, "answers": self.answers}

    def in_order(self, joints: Sequence[str]) -> Self:
        twin = super().in_order(joints)
        twin.parts = {name: solver.in_order(joints) for name, solver in self.parts.items()}
        for solver in twin.parts.values():
            solver.safe = True
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
        """The answers for the parts of the state that ``state`` lists, by position or by name."""
        if wrenches is None and t is None and out is None and not named and default_options(threads, nonfinite):
            direct = self._direct
            if direct is not None:
                return self._joined(direct(*state))
        given = by_name(WHO, self.state, state, named) if named else state
        return self.serve(given, wrenches, t, out, threads, nonfinite)

    # ------------------------------------------------------------------ one program
    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return self._evaluated(net, on, x, (), ())

    def _evaluated(
        self, net: Network, on: Setting, x: Mapping[str, Any], places: Sequence[Application], w: Sequence[Any]
    ) -> Mapping[str, Any]:
        """Every answer from its own rules and representation, on the same numbers: what is equal is recorded once."""
        outputs: dict[str, Any] = {}
        live = {path: x[path] for path in self.live if path in x}
        networks: dict[Any, Network] = {}
        for name, solver in self.parts.items():
            rules = solver._rules
            if rules not in networks:
                networks[rules] = network(self.model, rules, live=live) if live else solver.network
            its = Setting(solver._representation, on.gravity, on.t)
            acting = (places, w) if solver.takes_wrenches else ((), ())
            answer = solver._evaluated(networks[rules], its, x, *acting)
            single = len(solver.outputs) == 1
            outputs |= {name if single else f"{name}.{output}": answer[output] for output in solver.outputs}
        return outputs

    def returned(self, outputs: Mapping[str, Array]) -> Any:
        return self._joined(tuple(outputs.values()))

    def _joined(self, arrays: tuple[Array, ...]) -> Any:
        """Outputs of the program as the answers have them."""
        return tuple.__new__(self.Result, [arrays[at] if make is None else make(arrays[at]) for make, at in self._plan])

    @cached_property
    def _plan(self) -> list[tuple[Callable[[Any], Any] | None, int | slice]]:
        """For each answer its outputs, and what is made of several."""
        plan: list[tuple[Callable[[Any], Any] | None, int | slice]] = []
        at = 0
        for solver in self.parts.values():
            count = len(solver.outputs)
            named = type(solver).returned is StateSolver.returned
            if named and solver.Result is None:
                plan.append((None, at))
            else:
                make = partial(tuple.__new__, solver.Result) if named else partial(_returned, solver)
                plan.append((make, slice(at, at + count)))
            at += count
        return plan

    @cached_property
    def _direct(self) -> Any:
        """Machine code for plain calls, which returns the outputs in a row; None where there is none."""
        if self._flat or available() or not self._compiled() or not isinstance(self.model.context.base, str):
            return None
        try:
            kernel = self.main_kernel()
        except RecordError as error:
            self._fall_back(error)
            return None

        def general(*state: Any) -> tuple[Array, ...]:
            return tuple(kernel.call(*self.arguments(state, None), explain=lambda: self.examine(state)).values())

        return kernel.builtin(
            general, list(self._live.values()), type(self).__name__, self.__call__.__doc__ or "", tuple
        )

    @property
    def _flat(self) -> bool:
        """Whether every answer is one array, as the program returns it."""
        return all(make is None for make, _ in self._plan)

    def _install(self) -> bool:
        return self._flat and super()._install()

    def _targets(self, out: Any, names: Sequence[str]) -> dict[str, Any]:
        """Arrays to write into: a tuple like the result, with a tuple for an answer that is one."""
        expected = f"{self.name}: out must be a tuple like the result, with arrays for {', '.join(names)}"
        if not isinstance(out, tuple | list) or len(out) != len(self.parts):
            raise ShapeError(expected)
        flat: list[Any] = []
        for name, given in zip(self.parts, out, strict=True):
            count = sum(1 for key in names if key.partition(".")[0] == name)
            single = name in names
            values = [None] * count if given is None else [given] if single else given
            if not isinstance(values, tuple | list) or len(values) != count:
                raise ShapeError(expected)
            flat += values
        return super()._targets(flat, names)

    def __repr__(self) -> str:
        return f"<Solvers of '{self.model.name}': {', '.join(self.parts)} of ({', '.join(self.state)})>"


def _returned(solver: StateSolver, arrays: tuple[Array, ...]) -> Any:
    return solver.returned(dict(zip(solver.outputs, arrays, strict=True)))


def _field(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise GyrostatError(f"{WHO}: an answer is called {name!r}, which is no name of a field. Hint: use letters")
    return name


def _options(given: Any) -> Any:
    """Options as a plain mapping; a :class:`SolverSpec` has some."""
    return given.keywords() if hasattr(given, "keywords") else given


@cache
def answers_class(fields: tuple[str, ...]) -> Any:
    """The named tuple of these answers; it can be pickled."""
    cls = namedtuple("Answers", fields)
    cls.__doc__ = f"Answers of one state: {', '.join(fields)}."
    cls.__reduce__ = lambda self: (_answers, (fields, tuple(self)))  # type: ignore[assignment,method-assign]
    return cls


def _answers(fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return answers_class(fields)(*values)
