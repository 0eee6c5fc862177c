"""How far shapes of a robot are apart, where they are nearest, and how that changes as it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates
from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.collision.collision_program import Gap, collision_program
from gyrostat.solvers.collision.pair_choice import chosen_pairs
from gyrostat.solvers.collision.touching import touching
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class Distances:
    """Of k ``pairs`` (names of both shapes): ``distance`` (..., k) [m], negative inside each other; ``normal``
    (..., k, 3) from b to a in the world; nearest points ``on_a``, ``on_b`` (..., k, 3) [m]; ``gradient`` (..., k, nv):
    d distance/dt = gradient . v; ``near`` (..., k): False where only a lower bound was needed (``within``)."""

    pairs: tuple[tuple[str, str], ...]
    distance: Array
    normal: Array
    on_a: Array
    on_b: Array
    gradient: Array
    near: Array

    @property
    def closest(self) -> tuple[str, str]:
        """The pair that is nearest, over all states."""
        if not self.pairs:
            raise GyrostatError("distances: there are no pairs. Hint: shapes with role='collision'; gs.collision_pairs")
        return self.pairs[int(np.argmin(self.distance.reshape(-1, len(self.pairs)).min(axis=0)))]

    def __repr__(self) -> str:
        if not self.pairs or not self.distance.size:
            return f"<distances of {len(self.pairs)} pairs>"
        return f"<distances of {len(self.pairs)} pairs: least {self.distance.min():.4g} m, {' | '.join(self.closest)}>"


def distances(model: Model, q: Any, pairs: Any = None, within: float = np.inf) -> Distances:
    """Distances at q (..., nq) of ``pairs`` of shapes, bodies or grounds by name; by default those of
    :func:`collision_pairs`.

    Spheres, capsules and points with each other, and what has one lowest point on a plane, in closed form; all others,
    meshes as their convex hulls, by coal (extra ``collision``): to 1e-10 m apart, 1e-6 m inside each other. Of pairs
    whose bounding spheres are more than ``within`` [m] apart, the distance of the spheres is told."""
    expect_model(model, "distances")
    chosen = chosen_pairs(model, pairs, "distances")
    reach = _length(within, "distances", "within")
    states = coordinates(model, q, "distances")
    program = collision_program(model, chosen)
    lead = states.shape[:-1]
    flat = states.reshape(-1, model.nq)
    out = program.kernel.call(flat) if chosen else {}
    found = [
        _of_pairs(program.pairs, program.gaps_of({name: value[k] for name, value in out.items()}, reach))
        for k in range(len(flat))
    ]
    parts = {
        name: np.array([[getattr(gap, name) for gap in row] for row in found], dtype=kind).reshape(
            *lead, len(chosen), *shape
        )
        for name, kind, shape in (
            ("gap", float, ()),
            ("normal", float, (3,)),
            ("on_a", float, (3,)),
            ("on_b", float, (3,)),
            ("gradient", float, (model.nv,)),
            ("near", bool, ()),
        )
    }
    names = tuple((pair.a, pair.b) for pair in chosen)
    return Distances(names, parts.pop("gap"), **parts)


def _of_pairs(pairs: Any, gaps: list[Gap]) -> list[Gap]:
    """Of each pair its least gap."""
    source = iter(gaps)
    return [min((next(source) for _ in pair.candidates), key=lambda gap: gap.gap) for pair in pairs]


def in_collision(model: Model, q: Any, pairs: Any = None, margin: float = 0.0) -> Any:
    """Whether any of the ``pairs`` (by default those of :func:`collision_pairs`) is at most ``margin`` [m] apart, for
    q (..., nq): one answer, or an array of them."""
    expect_model(model, "in_collision")
    chosen = chosen_pairs(model, pairs, "in_collision")
    states = coordinates(model, q, "in_collision")
    flat = states.reshape(-1, model.nq)
    met = np.asarray(touching(model, flat, chosen, _length(margin, "in_collision", "margin")).any(axis=1))
    return bool(met[0]) if states.ndim == 1 else met.reshape(states.shape[:-1])


def _length(value: Any, who: str, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value >= 0.0:
        raise GyrostatError(f"{who}: {what} must be a length >= 0 [m], got {clipped(value)}. Hint: leave it out")
    return float(value)
