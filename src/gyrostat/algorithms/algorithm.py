"""An algorithm is a protocol (what travels through ports) and a table of rows, one for each kind of component (H04
3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from gyrostat.errors import GyrostatError, RecordError, RowError
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Representation


def watched(function: Callable[..., Any], who: str) -> Callable[..., Any]:
    """The function, whose mistakes are told as a :class:`RowError`."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except GyrostatError as error:
            if isinstance(error, RecordError):
                raise RowError(f"{who} fails, {error}") from error
            raise
        except Exception as error:
            hint = "see the signature of rows"
            if isinstance(error, TypeError):
                hint = "rows also run on recorded numbers: np.sin, np.where instead of math.sin, if"
            raise RowError(f"{who} fails, {type(error).__name__}: {error}. Hint: {hint}") from error

    return call


def expect_shape(value: Any, shape: tuple[int, ...], what: str) -> None:
    """For what rows from elsewhere return."""
    got = np.shape(value)
    if got != shape:
        raise RowError(f"{what} has shape {got}, expected {shape}. Hint: angular part first, one array")


Row = TypeVar("Row", bound=Callable[..., Any])


@dataclass(frozen=True)
class Setting:
    """What every row may ask for: the coordinate representation, gravity, and the time (for driven bases)."""

    representation: Representation
    gravity: Gravity
    t: Any = 0.0


class Algorithm(Generic[Row]):
    """A named table of rows. ``@algorithm.row(Kind)`` adds one; a new component needs nothing else.

    ``defining``: the rows say what a component is (kinematics and Newton-Euler); those of other algorithms follow from
    them, see :mod:`~gyrostat.algorithms.user_components.component_equations`."""

    defining: ClassVar[list[Algorithm[Any]]] = []

    def __init__(self, name: str, examine: Callable[[Component, Any], Any] | None = None, defining: bool = False):
        self.name = name
        self.rows: dict[type, Row] = {}
        self._examine = examine or (lambda c, answer: answer)
        if defining:
            Algorithm.defining.append(self)

    def row(self, *kinds: type) -> Callable[[Row], Row]:
        """Register the row for these kinds of components (and for kinds derived from them)."""

        def register(function: Row) -> Row:
            self.rows.update(dict.fromkeys(kinds, function))
            return function

        return register

    def of(self, component: Component) -> Row:
        """The row that serves a component."""
        for kind in component.kind.__mro__:
            if kind in self.rows:
                row = self.rows[kind]
                ours = str(getattr(row, "__module__", "")).startswith("gyrostat.")
                return row if ours else self._watched(row, component)
        raise RowError(
            f"{self.name} has no row for '{component.name}' of kind {component.kind.__name__}. "
            f"Hint: write a function and register it with row({component.kind.__name__})"
        )

    def serves(self, component: Component) -> bool:
        """Whether there is a row for a component as it is: one of a more general kind does not know what a more special
        one redefines."""
        line = component.kind.__mro__
        own = next((k for k, kind in enumerate(line) if kind in self.rows), None)
        return own is not None and own <= line.index(defined_by(component))

    def _watched(self, row: Any, component: Component) -> Any:
        """A row from elsewhere: what goes wrong in it, and what it returns wrongly, is told with its name."""

        def examined(*arguments: Any) -> Any:
            return self._examine(component, row(*arguments))

        return watched(examined, f"{self.name}: the row '{getattr(row, '__name__', row)}' for '{component.name}'")

    def table(self, network: Network) -> dict[str, Row]:
        """The row of every component, looked up once."""
        return {c.name: self.of(c) for c in network.components}


def defined_by(component: Component) -> type:
    """The kind whose rows of kinematics and Newton-Euler say what a component is: its own, or one that it derives
    from."""
    for kind in component.kind.__mro__:
        if any(kind in algorithm.rows for algorithm in Algorithm.defining):
            return kind
    return object
