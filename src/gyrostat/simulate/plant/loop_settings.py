"""How loops that are constraints are kept closed along a run, as users say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.graph.network import kept_network
from gyrostat.spec.model import Model

WHO = "simulate"
STABILISATIONS = ("projection", "baumgarte")
NAMES = ("stabilisation", "k1", "k2", "index")
DEFAULT_K = 20.0
"""k1 [1/s] that is taken if it is not said: loops close with a time constant of 0.1 s."""


@dataclass(frozen=True)
class LoopSettings:
    """``stabilisation``: "projection" or "baumgarte" with ``k1`` [1/s], ``k2`` [1/s^2]; ``index`` of the equations that
    implicit methods solve, None for that of the method."""

    stabilisation: str = "projection"
    k1: float = 0.0
    k2: float = 0.0
    index: int | None = None

    @property
    def projects(self) -> bool:
        return self.stabilisation == "projection"


def loop_settings(model: Model, method: Any, options: Mapping[str, Any]) -> LoopSettings:
    """What ``options`` say about loops, checked; refused for models that have none."""
    given = {name: options[name] for name in NAMES if name in options}
    if not given:
        return LoopSettings()
    if not kept_network(model).closures:
        closed = "its loops are solved in closed form and never open" if model.wiring.tree.loops else "it has none"
        raise GyrostatError(
            f"{WHO}: {next(iter(given))} is about loops that are constraints, and '{model.name}' has no such loops: "
            f"{closed}. Hint: leave it out, or assemble(..., loops='constraints')"
        )
    return _settings(method, **given)


def _settings(
    method: Any, stabilisation: Any = "projection", k1: Any = None, k2: Any = None, index: Any = None
) -> LoopSettings:
    if stabilisation not in STABILISATIONS:
        hint = nearest(str(stabilisation), STABILISATIONS)
        raise GyrostatError(f"{WHO}: there is no stabilisation {clipped(stabilisation)}. Hint: {hint}")
    if index is not None and (isinstance(index, bool) or index not in (2, 3)):
        raise GyrostatError(f"{WHO}: index must be 3 or 2, got {clipped(index)}. Hint: leave it out")
    if stabilisation == "projection":
        if k1 is not None or k2 is not None:
            raise GyrostatError(
                f"{WHO}: k1 and k2 are of stabilisation='baumgarte', and loops are projected. Hint: leave them out"
            )
        return LoopSettings(index=index)
    if index is not None:
        raise GyrostatError(
            f"{WHO}: stabilisation='baumgarte' is the index-1 form [AS (3b)], index={index} contradicts it. "
            "Hint: leave one of them out"
        )
    first = DEFAULT_K if k1 is None else _factor(k1, "k1")
    return LoopSettings(stabilisation, first, 0.25 * first * first if k2 is None else _factor(k2, "k2"))


def _factor(value: Any, name: str) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < math.inf
    if not ok:
        raise GyrostatError(
            f"{WHO}: {name} must be a number from 0 on, got {clipped(value)}. Hint: k1=20.0 [1/s], k2=100.0 [1/s^2]; "
            "k2 = k1^2/4 closes loops fastest"
        )
    return float(value)
