"""Periodic and mirrored motions: how the state at the start follows from that at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, nearest
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Periodicity(StudyData):
    """start[k] = sign[k] end[partner(k)] for the local coordinates and the rates of ``model.dofs``.

    ``exchange``: {"left_hip": "right_hip"}, both ways; also names of contact frames, for impacts at the end.
    ``negate``: rates whose sign changes (lateral shifts, roll and yaw of the base). ``free``: coordinates that need not
    come back, such as the way that is walked; their rates do."""

    free: tuple[str, ...] = ()
    exchange: dict[str, str] = field(default_factory=dict)
    negate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("free", "negate"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if not isinstance(self.exchange, Mapping):
            raise GyrostatError("Periodicity: exchange must map names to names. Hint: {'left_hip': 'right_hip'}")
        both = {**self.exchange, **{b: a for a, b in self.exchange.items()}}
        for a, b in [*self.exchange.items(), *both.items()]:
            if both[b] != a:
                raise GyrostatError(f"Periodicity: '{b}' is exchanged with '{a}' and with '{both[b]}'.")
        object.__setattr__(self, "exchange", dict(self.exchange))

    @property
    def partners(self) -> dict[str, str]:
        return {**self.exchange, **{b: a for a, b in self.exchange.items()}}

    def matrix(self, model: Model) -> Array:
        """S (nv, nv): start = S end."""
        dofs, both = list(model.dofs), self.partners
        for name in (*self.free, *self.negate):
            if name not in dofs:
                raise GyrostatError(f"Periodicity: no rate '{name}'. Hint: {nearest(name, dofs)}")
        S = np.zeros((len(dofs), len(dofs)))
        for k, name in enumerate(dofs):
            partner = both.get(name, name)
            if partner not in dofs:
                raise GyrostatError(f"Periodicity: no rate '{partner}'. Hint: {nearest(partner, dofs)}")
            S[k, dofs.index(partner)] = -1.0 if name in self.negate else 1.0
        for name in self.negate:
            if both.get(name, name) not in self.negate:
                raise GyrostatError(f"Periodicity: '{name}' is negated, its partner '{both[name]}' is not.")
        return S

    def kept(self, model: Model) -> list[int]:
        """Coordinates that come back."""
        return [k for k, name in enumerate(model.dofs) if name not in self.free]


def read_periodicity(given: Any) -> Periodicity | None:
    """True for a motion that simply comes back."""
    if given is None or given is False:
        return None
    if given is True:
        return Periodicity()
    if isinstance(given, Periodicity):
        return given
    raise GyrostatError("optimal_control: periodic must be True, False or a Periodicity.")
