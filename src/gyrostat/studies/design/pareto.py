"""Fronts of trade-offs: designs of which none is better in every respect.

Objectives f_1 .. f_m are scaled by what the best designs for each of them alone reach (0 the best, 1 the worst of
those). From points of the plane through these best designs the search goes along n = (-1, ..., -1):

    max t  over x, t   with  f(x) <= b_k + t n,   c(x) <= 0,   0 <= x <= 1

(normal-boundary intersection, Das and Dennis 1998, with inequalities as Pascoletti and Serafini have them, so that
every solution is a point of the front). SciPy's SLSQP solves each; neighbours start from each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.spec.model import Model
from gyrostat.studies.design.objective import Judge, Objective, judged, read_judges
from gyrostat.studies.design.parameters import DesignParameters
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 1e-4
"""Step of the differences, in parameters scaled to [0, 1]."""


@dataclass(frozen=True, eq=False)
class ParetoFront(StudyData):
    """Designs (k) of which none is better than another in all objectives (m).

    ``parameters`` (k, n) in their units; ``values`` (k, m) of the objectives, sorted by the first; ``violations`` (k,):
    greatest constraint, <= 0 where all hold; ``evaluations``: how many designs were judged."""

    model: Model
    paths: tuple[str, ...]
    objectives: tuple[str, ...]
    parameters: np.ndarray
    values: np.ndarray
    violations: np.ndarray
    evaluations: int
    finished: bool = True
    message: str = "finished"

    def design(self, k: int) -> Model:
        """The robot of point k."""
        return self.model.replace(dict(zip(self.paths, self.parameters[k].tolist(), strict=True)))

    def figure(self) -> Figure:
        """The front: each pair of objectives."""
        from matplotlib.figure import Figure

        pairs = list(itertools.combinations(range(len(self.objectives)), 2))
        fig = Figure(figsize=(4.2 * len(pairs), 3.4), layout="constrained")
        for axes, (i, j) in zip(fig.subplots(1, len(pairs), squeeze=False)[0], pairs, strict=True):
            axes.plot(self.values[:, i], self.values[:, j], "o-" if len(self.objectives) == 2 else "o", color="#2563a8")
            axes.set_xlabel(self.objectives[i])
            axes.set_ylabel(self.objectives[j])
            axes.grid(alpha=0.3)
        return fig

    def report(self) -> Report:
        """The front as figure and table."""
        report = Report(f"Designs of {self.model.name}")
        report.text(f"{len(self.values)} designs, {self.evaluations} judged. {self.message}.")
        rows = [(*map(float, f), *map(float, p)) for f, p in zip(self.values, self.parameters, strict=True)]
        return report.figure(self.figure(), "No design is better in all respects").table(
            (*self.objectives, *self.paths), rows
        )


@dataclass(frozen=True, eq=False)
class Pareto(StudyData):
    """Data of :func:`pareto`; ``run`` finds the front."""

    model: Model
    parameters: dict[str, Any]
    objectives: dict[str, Any]
    constraints: dict[str, Any] = field(default_factory=dict)
    points: int = 11
    starts: int = 1
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        DesignParameters.read(self.model, self.parameters, "pareto")
        read_judges(self.objectives, "pareto: objectives", 2)
        read_judges(self.constraints, "pareto: constraints", 0)
        for name in ("points", "starts"):
            number, least = getattr(self, name), 2 if name == "points" else 1
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise GyrostatError(f"pareto: {name} must be a whole number of at least {least}, got {number}.")

    def run(self, progress: Any = None) -> ParetoFront:
        """The front; what was found so far if interrupted."""
        return _Search(self).front(progress)


class _Search:
    """All designs that were judged, and the programs that look for better ones."""

    def __init__(self, study: Pareto):
        self.study = study
        self.parameters = DesignParameters.read(study.model, study.parameters, "pareto")
        self.judges = {**study.objectives, **study.constraints}
        self.m = len(study.objectives)
        self.known: dict[bytes, np.ndarray] = {}
        self.found: list[np.ndarray] = []

    def judged(self, x: np.ndarray) -> np.ndarray:
        """(m + c,): objectives and constraints at x."""
        key = x.tobytes()
        if key not in self.known:
            model, base = self.parameters.changed(x), self.study.model
            self.known[key] = np.array([judged(judge, name, base, model) for name, judge in self.judges.items()])
        return self.known[key]

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """(m + c, n): differences inside the bounds, central where there is room."""
        rows = []
        for k in range(len(x)):
            up, down = x.copy(), x.copy()
            up[k], down[k] = min(1.0, x[k] + STEP), max(0.0, x[k] - STEP)
            rows.append((self.judged(up) - self.judged(down)) / (up[k] - down[k]))
        return np.stack(rows, axis=1)

    def front(self, progress: Any) -> ParetoFront:
        weights = lattice(self.m, self.study.points)
        finished, message = True, "finished"
        try:
            with Progress(progress, "pareto", self.m + len(weights)) as shown:
                best = []
                for i, name in enumerate(self.study.objectives):
                    best.append(self.alone(i))
                    self.found.append(best[-1])
                    shown.step(1, f"best {name}")
                payoff = np.array([self.judged(x)[: self.m] for x in best])  # (m, m): row i is best in i
                ideal, worst = payoff.min(axis=0), payoff.max(axis=0)
                span = np.where(worst > ideal, worst - ideal, 1.0)
                corners = (payoff - ideal) / span
                for w in weights:
                    start = best[0] if np.argmax(w) == 0 and w.max() == 1.0 else self.found[-1]
                    self.found.append(self.along(w @ corners, ideal, span, [start, w @ np.array(best)]))
                    shown.step(1, ", ".join(f"{name} {v:.4g}" for name, v in self.named(self.found[-1])))
        except KeyboardInterrupt:
            finished, message = False, "interrupted: the front so far"
        return self.result(finished, message)

    def named(self, x: np.ndarray) -> list[tuple[str, float]]:
        return list(zip(self.study.objectives, self.judged(x)[: self.m], strict=True))

    def alone(self, i: int) -> np.ndarray:
        """The best design for one objective."""
        n = len(self.parameters.paths)
        scale = abs(self.judged(self.parameters.start)[i]) or 1.0
        starts = [self.parameters.start]
        if self.study.starts > 1:
            from scipy.stats import qmc

            starts += list(qmc.Sobol(n, scramble=False).random(self.study.starts)[1:])
        return self.best_of(
            [(s, None) for s in starts],
            lambda z: self.judged(z)[i] / scale,
            lambda z: self.slopes(z)[i] / scale,
            lambda z: -self.judged(z)[self.m :],
            lambda z: -self.slopes(z)[self.m :],
        )

    def along(self, b: np.ndarray, ideal: np.ndarray, span: np.ndarray, starts: list[np.ndarray]) -> np.ndarray:
        """The point of the front on the line b - t (1, ..., 1)."""

        def room(z: np.ndarray) -> np.ndarray:
            f = self.judged(z[:-1])
            return np.concatenate([b - z[-1] - (f[: self.m] - ideal) / span, -f[self.m :]])

        def room_slopes(z: np.ndarray) -> np.ndarray:
            J = self.slopes(z[:-1])
            top = np.hstack([-J[: self.m] / span[:, None], -np.ones((self.m, 1))])
            return np.vstack([top, np.hstack([-J[self.m :], np.zeros((len(J) - self.m, 1))])])

        down = np.zeros(len(starts[0]) + 1)
        down[-1] = -1.0
        begun: list[tuple[np.ndarray, float | None]] = [
            (x, float(np.min(b - (self.judged(x)[: self.m] - ideal) / span))) for x in starts
        ]
        return self.best_of(begun, lambda z: -z[-1], lambda z: down, room, room_slopes)

    def best_of(
        self,
        starts: list[tuple[np.ndarray, float | None]],
        f: Callable[[np.ndarray], Any],
        df: Callable[[np.ndarray], Any],
        room: Callable[[np.ndarray], np.ndarray],
        room_slopes: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """The best of SLSQP's solutions from several starts; refused if none satisfies the constraints."""
        from scipy.optimize import minimize

        n, best = len(self.parameters.paths), None
        for x, t in starts:
            z0 = x if t is None else np.append(x, t)
            bounds = [(0.0, 1.0)] * n + [(None, None)] * (len(z0) - n)
            rows = {"type": "ineq", "fun": room, "jac": room_slopes}
            constraints = [rows] if len(room(z0)) else []
            options = {"ftol": self.study.tolerance, "maxiter": 200}
            found = minimize(f, z0, jac=df, bounds=bounds, constraints=constraints, method="SLSQP", options=options)
            z = np.concatenate([np.clip(found.x[:n], 0.0, 1.0), found.x[n:]])
            if np.all(room(z) >= -1e-5) and (best is None or f(z) < f(best)):
                best = z
        if best is None:
            worst = max(
                zip(self.study.constraints, self.judged(starts[0][0])[self.m :], strict=True), key=lambda c: c[1]
            )
            raise GyrostatError(
                f"pareto: no design satisfies the constraints; '{worst[0]}' is {worst[1]:.4g} at the start. "
                "Hint: constraints are functions that are <= 0; widen the bounds, or give starts=8."
            )
        return best[:n]

    def result(self, finished: bool, message: str) -> ParetoFront:
        study = self.study
        x = np.array(self.found).reshape(len(self.found), len(self.parameters.paths))
        f = np.array([self.judged(row) for row in x]).reshape(len(x), len(self.judges))
        keep = not_dominated(f[:, : self.m], study.tolerance)
        order = np.array([k for k in np.lexsort(f[:, : self.m].T[::-1]) if keep[k]], dtype=int)
        worst = f[:, self.m :].max(axis=1, initial=-np.inf)
        p = np.array([self.parameters.values(row) for row in x]).reshape(x.shape)
        names = tuple(study.objectives)
        return ParetoFront(
            study.model, self.parameters.paths, names, p[order], f[order, : self.m], worst[order], len(self.known),
            finished, message,
        )  # fmt: skip


def lattice(m: int, points: int) -> np.ndarray:
    """(k, m) weights >= 0 with sum 1, evenly spaced, k <= points or the corners; corners themselves are left out."""
    steps = 1
    while _lattice_size(m, steps + 1) <= max(points, m):
        steps += 1
    grid = [w for w in itertools.product(range(steps + 1), repeat=m) if sum(w) == steps and max(w) < steps]
    return np.array(sorted(grid, reverse=True), dtype=float).reshape(len(grid), m) / steps


def _lattice_size(m: int, steps: int) -> int:
    from math import comb

    return comb(steps + m - 1, m - 1)


def not_dominated(values: np.ndarray, tolerance: float) -> np.ndarray:
    """(k,): rows that no other row beats or repeats, up to ``tolerance`` of the range of each objective."""
    span = np.ptp(values, axis=0) if len(values) else np.ones(values.shape[1])
    eps = 10.0 * tolerance * np.where(span > 0.0, span, 1.0)
    keep = np.ones(len(values), dtype=bool)
    for k, row in enumerate(values):
        others = keep.copy()
        others[k] = False
        beaten = np.all(values <= row + eps, axis=1) & np.any(values < row - eps, axis=1)
        same = np.all(np.abs(values - row) <= eps, axis=1) & (np.arange(len(values)) < k)
        keep[k] = not np.any((beaten | same) & others)
    return keep


def pareto(
    model: Model,
    parameters: Mapping[str, Any],
    objectives: Mapping[str, Judge | Objective],
    *,
    constraints: Mapping[str, Judge | Objective] | None = None,
    points: int = 11,
    starts: int = 1,
    tolerance: float = 1e-6,
    progress: Any = None,
) -> ParetoFront:
    """Designs of which none is better than another in all ``objectives`` (name -> function of the model that is to be
    small, or :class:`Objective`).

    ``parameters``: path -> (low, high). ``constraints``: functions of the model that must be <= 0. ``points``: about
    how many designs; ``starts``: from how many places the best design for one objective is searched (more where there
    are several valleys)."""
    study = Pareto(model, dict(parameters), dict(objectives), dict(constraints or {}), points, starts, tolerance)
    return study.run(progress)
