"""The recorded rigid motion, as the nominal motion of the flexible model: its deflections are zero [AS 2.2,
"Decomposition of motion"].

Entities with coordinates that the rigid model has, too, move as recorded; all others of the flexible model, beams and
in-cut joints, stand in their undeformed place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.errors import ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.spec.model import Model

Array = np.ndarray
EVEN = 1e-9
"""Share of a step by which recorded instants may miss an even grid."""


@dataclass(frozen=True, eq=False)
class Nominal:
    """``t`` (T,) [s]; ``q`` (T, nq), ``v``, ``a`` (T, nv) of the flexible model, undeformed.

    ``rigid``: the model whose coordinates were recorded, with ``rigid_q`` (T, nq'), ``rigid_v`` (T, nv'), and ``tau``
    (T, nv'), the recorded efforts, if there are any. ``places`` (nv',): where its rates are among those of the
    flexible model."""

    model: Model
    rigid: Model
    t: Array
    q: Array
    v: Array
    a: Array
    rigid_q: Array
    rigid_v: Array
    tau: Array | None
    places: Array

    @property
    def step(self) -> float:
        """[s] between two samples."""
        return float(self.t[1] - self.t[0])

    @property
    def elastic(self) -> list[int]:
        """Rates that the rigid model does not have."""
        rigid = set(self.places.tolist())
        return [k for k in range(self.model.nv) if k not in rigid]


def nominal(model: Model, motion: Any, rigid: Model | None, dt: float | None, who: str) -> Nominal:
    """The undeformed motion of ``model`` along a :class:`Result` of the rigid model, or a trajectory of its joints.

    ``dt`` [s] between samples: needed for a trajectory; the samples of a result by default, which are then evenly
    spaced."""
    if isinstance(motion, Result):
        recorded = motion.model
        t, q, v, a, tau = _sampled(motion, dt, who)
    elif isinstance(motion, Trajectory):
        if rigid is None:
            hint = "rigid=..., the model whose coordinates they are"
            raise StateError(f"{who}: a trajectory does not tell whose joints move. Hint: {hint}")
        recorded = rigid
        t, q, v, a = _along(motion, rigid, dt, who)
        tau = None
    else:
        raise StateError(
            f"{who}: the rigid motion is {type(motion).__name__}, expected a gs.Result or a trajectory. "
            "Hint: gs.simulate(rigid, torque, t_eval=np.linspace(0.0, 5.0, 1001))"
        )
    at_q, at_v = _places(model, recorded, who)
    whole_q = np.tile(neutral(model), (len(t), 1))
    whole_v, whole_a = np.zeros((2, len(t), model.nv))
    whole_q[:, at_q], whole_v[:, at_v], whole_a[:, at_v] = q, v, a
    return Nominal(model, recorded, t, whole_q, whole_v, whole_a, q, v, tau, at_v)


def _places(model: Model, rigid: Model, who: str) -> tuple[Array, Array]:
    """Where q and v of the rigid model are in those of the flexible one: the same entities, by name."""
    known = model.layout.of
    for block in rigid.layout:
        other = known.get(block.entity)
        if other is None or (other.nq, other.nv) != (block.nq, block.nv):
            what = "is not in" if other is None else f"has {other.nv} rates, not {block.nv}, in"
            raise SpecError.one(
                who, "rigid-motion", f"'{block.entity}' moves in '{rigid.name}' and {what} '{model.name}'",
                f"joints of both models have the same names; {nearest(block.entity, known)}", block.entity,
            )  # fmt: skip
    return model.layout.places(rigid.layout.entities)


def _grid(start: float, end: float, dt: float | None, who: str) -> Array:
    """An even number of steps: those of fourth order take two samples each."""
    if not isinstance(dt, float | int) or isinstance(dt, bool) or not 0.0 < dt < end - start:
        raise StateError(f"{who}: dt must be a time [s] below the {end - start:g} s of the motion, got {clipped(dt)}")
    count = 2 * max(1, round((end - start) / dt / 2.0))
    return np.linspace(start, end, count + 1)


def _along(motion: Trajectory, rigid: Model, dt: float | None, who: str) -> tuple[Array, Array, Array, Array]:
    """t, q, v, a of a trajectory with a coordinate for each of the rigid model's, in its order or by its names."""
    order = motion.names or rigid.coordinates
    if rigid.nq != rigid.nv or sorted(order) != sorted(rigid.coordinates) or motion.n != rigid.nq:
        raise ShapeError(
            f"{who}: the trajectory has {motion.n} coordinates ({', '.join(map(str, order))}), expected those of "
            f"'{rigid.name}': {', '.join(rigid.coordinates)}"
        )
    t = _grid(0.0, motion.duration, dt, who)
    rows = motion.derivatives(t, 2)[:, :, [order.index(name) for name in rigid.coordinates]]
    return t, rows[:, 0], rows[:, 1], rows[:, 2]


def _sampled(run: Result, dt: float | None, who: str) -> tuple[Array, Array, Array, Array, Array | None]:
    """t, q, v, a at evenly spaced instants, and tau if they are those of the run."""
    t = run.t
    if len(run.parts) > 1 or np.any(np.diff(t) <= 0.0) or len(t) < 3:
        raise StateError(
            f"{who}: the recorded motion has {len(t)} samples, jumps or changes of structure; small vibrations are "
            "superposed on a smooth one. Hint: record it without impacts, with three samples at least"
        )
    steps = np.diff(t)
    even = len(t) % 2 == 1 and np.ptp(steps) <= EVEN * steps.mean()
    if dt is None and even:
        return t, run.q, run.v, run.a, run.tau
    if run.model.nq != run.model.nv:
        raise StateError(
            f"{who}: '{run.model.name}' has quaternions, which are not interpolated. Hint: record the motion at an odd "
            "number of evenly spaced instants, t_eval=np.linspace(0.0, 5.0, 1001), and leave dt out"
        )
    if dt is None:
        raise StateError(
            f"{who}: the recorded motion has {len(t)} samples from {steps.min():g} to {steps.max():g} s apart, "
            "expected an odd number, evenly spaced. Hint: dt=..., or record with t_eval=np.linspace(0.0, 5.0, 1001)"
        )
    grid = _grid(float(t[0]), float(t[-1]), dt, who)
    return grid, *_between(t, run, grid), None


def _between(t: Array, run: Result, grid: Array) -> tuple[Array, Array, Array]:
    """q, v, a of polynomials of degree five that meet q, v and a at all samples, and their derivatives."""
    k = np.clip(np.searchsorted(t, grid, side="right") - 1, 0, len(t) - 2)
    h = np.diff(t)[k][:, None]
    x = (grid - t[k])[:, None] / h
    (q0, v0, a0), (q1, v1, a1) = ([y[i] for y in (run.q, run.v, run.a)] for i in (k, k + 1))
    left = q0, q0 + h / 5.0 * v0, q0 + 2.0 * h / 5.0 * v0 + h * h / 20.0 * a0
    right = q1 - 2.0 * h / 5.0 * v1 + h * h / 20.0 * a1, q1 - h / 5.0 * v1, q1
    points = np.array([*left, *right])  # of Bernstein's polynomials
    motion: list[Array] = []
    for factor in (1.0, 5.0 / h, 20.0 / (h * h)):
        inner = points
        while len(inner) > 1:
            inner = (1.0 - x) * inner[:-1] + x * inner[1:]
        motion.append(factor * inner[0])
        points = np.diff(points, axis=0)
    return motion[0], motion[1], motion[2]
