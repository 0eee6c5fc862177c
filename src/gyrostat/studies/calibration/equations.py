"""All measurements of a calibration as one system of whitened residuals e(x), with the exact Jacobian.

x has no units: every unknown in parts of how large an error of it may be, first those of the robot, then those of the
measuring systems. Poses of all measurements are computed in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.machinery.live_properties import live_value
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.measurement import Measurement, OwnUnknown
from gyrostat.studies.calibration.static_poses import Placements, StaticPoses
from gyrostat.studies.calibration.unknowns import RobotUnknowns, read_unknowns

Array = np.ndarray


@dataclass(frozen=True)
class Column:
    """One unknown of the whole system: its name, unit, start, bounds of x (in units), and the size of an error."""

    name: str
    unit: str
    scale: float
    low: float
    high: float


class Equations:
    """``evaluate(x)``, ``jacobian(x)`` of a model, unknown parameters and measurements."""

    def __init__(self, model: Model, measurements: Sequence[Measurement], parameters: Any, who: str = "calibrate"):
        self.measurements, self.who = tuple(measurements), who
        frames = tuple(dict.fromkeys(f for m in self.measurements for f in m.frames))
        changed = tuple(dict.fromkeys(_canonical(model, p) for m in self.measurements for p in m.properties))
        self.robot: RobotUnknowns = read_unknowns(model, parameters, frames, who, changed)
        for path in changed:
            if any(c.path == path for c in self.robot.columns):
                raise GyrostatError(f"{who}: '{path}' is unknown and given by a measurement. Hint: one of both.")
        self.kinematics = shared_poses(model, self.robot, frames, who)
        self.frames = {f: k for k, f in enumerate(frames)}
        names = [m.name for m in self.measurements]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise GyrostatError(f"{who}: two measurements are called '{twice}'. Hint: Points(..., name='second day').")
        self.commands = np.concatenate([self.kinematics.read(m.q) for m in self.measurements])
        _expect_units(model, self.kinematics.joints, self.commands, who)
        ends = np.cumsum([m.count for m in self.measurements])
        self.spans = [slice(int(e) - m.count, int(e)) for e, m in zip(ends, self.measurements, strict=True)]
        self.varied = self._varied(changed)
        self.own: list[list[OwnUnknown]] = [m.own_unknowns() for m in self.measurements]
        self.columns = self._columns()
        self.scale = np.array([c.scale for c in self.columns])
        self.white = [m.whitening() for m in self.measurements]
        self.visible = [m.visible() for m in self.measurements]
        self.kept = np.concatenate([v.ravel() for v in self.visible])
        self.deflections: Array | None = None
        self._last: tuple[bytes, Placements] | None = None

    # ------------------------------------------------------------------ what there is
    def _varied(self, paths: Sequence[str]) -> dict[str, Array]:
        """Properties that measurements change: a value for every pose."""
        varied = {}
        for path in paths:
            base = live_value(self.robot.model, path)
            whole = np.broadcast_to(base, (len(self.commands), *base.shape)).copy()
            for m, span in zip(self.measurements, self.spans, strict=True):
                for given, value in m.properties.items():
                    if _canonical(self.robot.model, given) != path:
                        continue
                    x = np.asarray(value, dtype=float)
                    if x.shape not in (base.shape, (m.count, *base.shape)) or not np.all(np.isfinite(x)):
                        raise m.refused(f"'{given}' is {clipped(value)}", f"shape {base.shape}, or one for each pose")
                    whole[span] = x
            varied[path] = whole
        return varied

    def _columns(self) -> list[Column]:
        columns = [Column(c.name, c.unit, c.expected, *c.limits()) for c in self.robot.columns]
        for c in columns:
            if not c.low <= 0.0 <= c.high:
                raise GyrostatError(f"{self.who}: '{c.name}' begins outside its bounds. Hint: widen them.")
        columns += [Column(o.name, o.unit, o.expected, -np.inf, np.inf) for own in self.own for o in own]
        names = [c.name for c in columns]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise GyrostatError(f"{self.who}: two unknowns are called '{twice}'. Hint: other names for measurements.")
        return columns

    def split(self, x: Array) -> tuple[Array, list[Array]]:
        """Changes of the robot, and the numbers of each measuring system, in their units."""
        d, at, own = x * self.scale, len(self.robot.columns), []
        for unknowns in self.own:
            own.append(np.array([o.start for o in unknowns]) + d[at : at + len(unknowns)])
            at += len(unknowns)
        return d[: len(self.robot.columns)], own

    def values(self, x: Array) -> dict[str, Array]:
        return self.robot.values(self.split(x)[0]) | self.varied

    # ------------------------------------------------------------------ residuals
    def placements(self, x: Array) -> Placements:
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            placed, self.deflections = self.kinematics.rest(self.commands, self.values(x), self.deflections)
            self._last = key, placed
        return self._last[1]

    def raw(self, x: Array) -> list[Array]:
        """Predicted minus measured, in their units: (n, k) of each measurement."""
        placed, (_, own) = self.placements(x), self.split(x)
        return [
            m.rows(*self._of(m, placed, span), y).r
            for m, span, y in zip(self.measurements, self.spans, own, strict=True)
        ]

    def _of(self, m: Measurement, placed: Placements, span: slice) -> tuple[list[Array], list[Array]]:
        at = [self.frames[f] for f in m.frames]
        return [placed.R[span, k] for k in at], [placed.p[span, k] for k in at]

    def evaluate(self, x: Array) -> Array:
        """e (rows,) of what was seen."""
        parts = [_white(W, r[..., None])[..., 0] for W, r in zip(self.white, self.raw(x), strict=True)]
        return np.concatenate([part.ravel() for part in parts])[self.kept]

    def jacobian(self, x: Array) -> Array:
        """de/dx (rows, unknowns)."""
        placed, (d, own) = self.placements(x), self.split(x)
        twists = self.kinematics.sensitivities(self.commands, placed.q, self.values(x), self.robot.slopes(d))
        robot, at, parts = len(self.robot.columns), len(self.robot.columns), []
        for m, span, y, W in zip(self.measurements, self.spans, own, self.white, strict=True):
            rows = m.rows(*self._of(m, placed, span), y)
            J = np.zeros((*rows.r.shape, len(self.columns)))
            for frame, D in zip(m.frames, rows.frames, strict=True):
                J[..., :robot] += D @ twists[span, self.frames[frame]]
            J[..., at : at + len(y)] = rows.own
            at += len(y)
            parts.append((_white(W, J) * self.scale).reshape(-1, len(self.columns)))
        return np.concatenate(parts)[self.kept]

    def pose_numbers(self) -> Array:
        """(rows,): which pose each row belongs to."""
        numbers = [
            np.repeat(np.arange(s.start, s.stop), v.shape[1]) for s, v in zip(self.spans, self.visible, strict=True)
        ]
        return np.concatenate(numbers)[self.kept]

    def group_numbers(self) -> Array:
        """(rows,): which measurement each row belongs to."""
        return np.concatenate([np.full(v.size, k) for k, v in enumerate(self.visible)])[self.kept]

    def native(self, x: Array) -> Array:
        """All unknowns as numbers of their own."""
        d, own = self.split(x)
        robot = [c.native(v) for c, v in zip(self.robot.columns, d, strict=True)]
        return np.concatenate([robot, *own])

    def native_slopes(self, x: Array) -> Array:
        """d native / dx."""
        d, _ = self.split(x)
        robot = [c.slope(v) for c, v in zip(self.robot.columns, d, strict=True)]
        return np.concatenate([robot, np.ones(len(self.columns) - len(robot))]) * self.scale

    def start(self) -> Array:
        """x where the search begins: the model as it is. Points of the world that nobody told are put amidst what is
        predicted."""
        x = np.zeros(len(self.columns))
        placed, at = self.placements(x), len(self.robot.columns)
        for m, span, own in zip(self.measurements, self.spans, self.own, strict=True):
            guess = getattr(m, "guessed", None)
            if own and guess is not None:
                y = guess(*self._of(m, placed, span))
                x[at : at + len(own)] = (y - [o.start for o in own]) / self.scale[at : at + len(own)]
            at += len(own)
        return x


def shared_poses(model: Model, robot: RobotUnknowns, frames: tuple[str, ...], who: str) -> StaticPoses:
    """The compiled placements for these unknowns, made once for each model."""
    known = cached_on(model).setdefault("static poses", {})
    key = frames, robot.live, tuple(c.name for c in robot.columns)
    if key not in known:
        known[key] = StaticPoses(robot.model, frames, robot.live, who)
    return known[key]


def _white(W: Array, r: Array) -> Array:
    return W @ r if W.ndim == 3 else np.einsum("ij,nj...->ni...", W, r)


def _expect_units(model: Model, joints: Sequence[str], commands: Array, who: str) -> None:
    """Degrees and millimetres, which go far beyond the limits of the joints, are told, not fitted."""
    for name, c in zip(joints, commands.T, strict=True):
        entity = model.wiring.entities.get(name)
        low, high = getattr(entity, "lower", None), getattr(entity, "upper", None)
        if low is None or high is None or not 0.0 < high - low < np.inf:
            continue
        far = float(np.abs(c - 0.5 * (low + high)).max(initial=0.0))
        if far > 3.0 * (high - low):
            raise GyrostatError(
                f"{who}: q of '{name}' goes {far:.4g} from the middle of its range, {low:.4g} to {high:.4g}. "
                "Hint: angles are in radians, np.radians(q), and lengths in metres; columns are in the order of "
                f"{', '.join(joints)}."
            )


def _canonical(model: Model, path: Any) -> str:
    if not isinstance(path, str):
        raise GyrostatError(f"calibrate: properties have paths, got {clipped(path)}. Hint: 'payload.mass'.")
    model[path]
    return model.canonical(path)
