"""An algorithm is a protocol (what travels through ports) and a table of rows, one for each kind of component (H04
3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gyrostat.errors import RowError
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Representation

Row = TypeVar("Row", bound=Callable[..., Any])


@dataclass(frozen=True)
class Setting:
    """What every row may ask for: the coordinate representation, gravity, and the time (for driven bases)."""

    representation: Representation
    gravity: Gravity
    t: Any = 0.0


class Algorithm(Generic[Row]):
    """A named table of rows. ``@algorithm.row(Kind)`` adds one; a new component needs nothing else."""

    def __init__(self, name: str):
        self.name = name
        self.rows: dict[type, Row] = {}

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
                return self.rows[kind]
        raise RowError(
            f"{self.name} has no row for '{component.name}' of kind {component.kind.__name__}. "
            f"Hint: write a function and register it with row({component.kind.__name__})"
        )

    def table(self, network: Network) -> dict[str, Row]:
        """The row of every component, looked up once."""
        return {c.name: self.of(c) for c in network.components}
