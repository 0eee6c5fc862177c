"""Patterns of gaits: which feet stand when, by duty factors and relative phases.

The duty factor beta of a foot is the part of a stride during which it stands; its relative phase phi is the part of the
stride by which it touches down later than the first foot [Alexander 1984]. Foot i stands while

    (s - phi_i) mod 1 < beta_i,     s = t / stride,                                                            (1)

so that touch-downs at phi_i and lift-offs at phi_i + beta_i cut a stride into phases with the same feet on the ground.
A gait whose second half is the mirror image of the first is known by phi_left + 1/2 = phi_right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
BIPED, QUADRUPED = ("left", "right"), ("front_left", "front_right", "rear_left", "rear_right")
SAME = 1e-9
"""Parts of a stride that count as one instant."""

PATTERNS: dict[str, tuple[tuple[str, ...], float, tuple[float, ...]]] = {
    "biped walk": (BIPED, 0.6, (0.0, 0.5)),
    "biped run": (BIPED, 0.35, (0.0, 0.5)),
    "walk": (QUADRUPED, 0.75, (0.5, 0.0, 0.25, 0.75)),
    "trot": (QUADRUPED, 0.5, (0.0, 0.5, 0.5, 0.0)),
    "pace": (QUADRUPED, 0.5, (0.0, 0.5, 0.0, 0.5)),
    "rack": (QUADRUPED, 0.4, (0.5, 0.0, 0.25, 0.75)),
    "bound": (QUADRUPED, 0.4, (0.0, 0.0, 0.5, 0.5)),
    "canter": (QUADRUPED, 0.45, (0.7, 0.0, 0.3, 0.7)),
    "transverse gallop": (QUADRUPED, 0.3, (0.1, 0.0, 0.6, 0.5)),
    "rotary gallop": (QUADRUPED, 0.3, (0.1, 0.0, 0.5, 0.6)),
}
"""Feet, duty factor and relative phases. Walk: lateral sequence, each foot a quarter of a stride after the last one;
rack: the same order with less than half of the stride on the ground, a running walk."""


@dataclass(frozen=True)
class StancePhase(StudyData):
    """From ``start`` to ``end``, parts of a stride, ``feet`` stand; ``landing`` touch down at its start, ``lifting``
    leave the ground at its end."""

    start: float
    end: float
    feet: tuple[str, ...]
    landing: tuple[str, ...]
    lifting: tuple[str, ...]


@dataclass(frozen=True)
class GaitPattern(StudyData):
    """``duty`` (n,) and ``phase`` (n,) of the ``feet`` (n,), see (1)."""

    feet: tuple[str, ...]
    duty: tuple[float, ...]
    phase: tuple[float, ...]
    name: str = ""

    def __post_init__(self) -> None:
        who = f"gait '{self.name}'" if self.name else "gait"
        if not self.feet or len(set(self.feet)) != len(self.feet):
            raise GyrostatError(
                f"{who}: feet must be different names, got {clipped(self.feet)}. Hint: ('left', 'right')"
            )
        for what in ("duty", "phase"):
            numbers = np.asarray(getattr(self, what), dtype=float)
            if numbers.shape != (len(self.feet),) or not np.isfinite(numbers).all():
                raise GyrostatError(f"{who}: {what} has shape {numbers.shape}, expected one number for each foot")
            object.__setattr__(self, what, tuple(float(x) for x in numbers))
        if min(self.duty) <= 0.0 or max(self.duty) >= 1.0:
            raise GyrostatError(f"{who}: duty factors lie between 0 and 1, got {self.duty}. Hint: 0.6 is a walk")
        object.__setattr__(self, "phase", tuple(p % 1.0 for p in self.phase))

    def stands(self, s: float) -> tuple[str, ...]:
        """Feet on the ground at the part s of a stride."""
        each = zip(self.feet, self.duty, self.phase, strict=True)
        return tuple(foot for foot, beta, phi in each if (s - phi + SAME) % 1.0 < beta)

    @property
    def phases(self) -> tuple[StancePhase, ...]:
        """Of a whole stride, from the touch-down of the first foot on."""
        first = self.phase[0]
        cuts = {0.0}
        for beta, phi in zip(self.duty, self.phase, strict=True):
            cuts |= {_part(phi - first), _part(phi + beta - first)}
        ends = [x for x in sorted(cuts) if not any(0.0 < x - y < SAME for y in cuts)]
        spans = list(zip(ends, [*ends[1:], 1.0], strict=True))
        standing = [self.stands(first + 0.5 * (a + b)) for a, b in spans]
        n = len(spans)
        return tuple(
            StancePhase(
                a,
                b,
                standing[k],
                tuple(f for f in standing[k] if f not in standing[k - 1]),
                tuple(f for f in standing[k] if f not in standing[(k + 1) % n]),
            )
            for k, (a, b) in enumerate(spans)
        )

    def mirrored(self, exchange: Mapping[str, str]) -> bool:
        """Whether the second half of a stride is the mirror image of the first; ``exchange``: left foot -> right."""
        at = {foot: (b, p) for foot, b, p in zip(self.feet, self.duty, self.phase, strict=True)}
        for left, right in exchange.items():
            (b1, p1), (b2, p2) = at[left], at[right]
            if abs(b1 - b2) > SAME or abs(_part(p1 + 0.5 - p2)) > SAME:
                return False
        return True

    def half(self, exchange: Mapping[str, str]) -> tuple[StancePhase, ...]:
        """The phases of the first half of a stride, of a gait that is its own mirror image."""
        if not self.mirrored(exchange):
            raise GyrostatError(
                f"gait '{self.name}': its second half is no mirror image of the first. Hint: compute a whole stride"
            )
        return tuple(p for p in self.phases if p.start < 0.5 - SAME)


def _part(x: float) -> float:
    """x mod 1, what is one to rounding being zero."""
    y = x % 1.0
    return 0.0 if 1.0 - y < SAME else y


def gait_pattern(
    gait: str | GaitPattern | Sequence[float],
    feet: Sequence[str] | None = None,
    duty: Any = None,
    phase: Any = None,
) -> GaitPattern:
    """A pattern by name (``PATTERNS``), with other duty factors or phases; or one of its own, by ``feet``, ``duty``
    (a number for all, or one each) and ``phase``."""
    if isinstance(gait, GaitPattern):
        return gait
    if not isinstance(gait, str):
        raise GyrostatError(f"gait: expected a name or a GaitPattern, got {clipped(gait)}. Hint: 'trot'")
    if gait not in PATTERNS and (feet is None or duty is None or phase is None):
        raise GyrostatError(f"gait: there is no pattern {gait!r}. Hint: {nearest(gait, PATTERNS)}")
    known_feet, known_duty, known_phase = PATTERNS.get(gait, ((), 0.0, ()))
    chosen = tuple(feet) if feet is not None else known_feet
    beta = known_duty if duty is None else duty
    each = tuple(np.broadcast_to(np.asarray(beta, dtype=float), (len(chosen),)).tolist())
    phi = tuple(known_phase) if phase is None else tuple(phase)
    return GaitPattern(chosen, each, phi, gait)


def gait_phases(gait: str | GaitPattern, **options: Any) -> tuple[StancePhase, ...]:
    """The phases of one stride of a gait: ``gait_phases("trot")``, ``gait_phases("biped walk", duty=0.7)``."""
    return gait_pattern(gait, **options).phases
