"""What the plan of a model with closed loops says, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.spec.model import Model

Array = np.ndarray
Rate = tuple[str, int]
"""An entity, and the number of its rate."""


@dataclass(frozen=True)
class ConstantTie:
    """coordinate = offset + sum of factor x coordinate of others: a parallelogram."""

    offset: float
    factors: Mapping[Rate, float]


@dataclass(frozen=True)
class Solved:
    """A loop that is solved for ``unknowns`` by one of its closed forms: the ``form``-th candidate, with the signs of
    its roots; ``rows``: equations that give the rates; ``depends``: rates of the model that they depend on.
    ``constant``: ties that are the same everywhere, if they are."""

    loop: int
    unknowns: tuple[Rate, ...]
    form: int
    name: str
    signs: tuple[float, ...]
    rows: tuple[int, ...]
    depends: tuple[Rate, ...]
    constant: Mapping[Rate, ConstantTie] | None = None


@dataclass(frozen=True)
class LoopReport:
    """What became of one loop. ``entities``: round the loop; ``cut``: where it was cut; ``closer``: the joint or rod
    that closes it; ``equations``: how many, of which ``redundant`` say nothing new; ``mobility``: degrees of freedom of
    the loop by itself; ``treatment``: "closed form", "constant tie", "constraints" or "redundant"; ``unknowns`` it is
    solved for, in ``order`` (1, 2, ...); ``why``."""

    entities: tuple[str, ...]
    cut: tuple[str, str]
    closer: str | None
    equations: int
    redundant: int
    mobility: int
    treatment: str
    unknowns: tuple[str, ...] = ()
    order: int | None = None
    why: str = ""

    def __str__(self) -> str:
        how = self.treatment
        if self.unknowns:
            how += f" for {', '.join(self.unknowns)}" + (f" (step {self.order})" if self.order else "")
        by = f"closed by {self.closer}" if self.closer else f"cut between {' and '.join(self.cut)}"
        more = f", {self.redundant} of them redundant" if self.redundant else ""
        return (
            f"loop {' - '.join(self.entities)}, {by}: {self.equations} equations{more}, mobility {self.mobility}; "
            f"{how}: {self.why}"
        )


@dataclass(frozen=True)
class LoopPlan:
    """``tree``: the model with the coordinates of its whole tree; ``reference``, ``samples`` (nq,) of that model,
    closed; ``dependents``: rates that follow from others; ``solved``: in order; ``constrained``: numbers of the loops
    that stay constraints; ``independent``: rates that are kept among those in loops; ``near``: coordinates of every
    component at the reference."""

    tree: Model
    reference: Array
    samples: tuple[Array, ...] = ()
    dependents: tuple[Rate, ...] = ()
    solved: tuple[Solved, ...] = ()
    constrained: tuple[int, ...] = ()
    independent: tuple[Rate, ...] = ()
    mobility: int = 0
    near: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    reports: tuple[LoopReport, ...] = ()
    error: GyrostatError | None = field(default=None, compare=False)
