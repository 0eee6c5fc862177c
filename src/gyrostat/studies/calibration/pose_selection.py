"""Poses that show most of what is unknown: exchange of candidates until none makes the set better.

Begins with the poses that raise det M most, one after the other (M = J^T J in the directions that all candidates
together identify), then exchanges single poses for better ones [Fedorov]. For D,

    det(M + J_i^T J_i) = det M det(1 + J_i M^-1 J_i^T)

makes an exchange of all candidates cheap; the other criteria need singular values and look at a part of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.errors import GyrostatError, clipped
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.equations import Equations
from gyrostat.studies.calibration.identifiability import open_directions
from gyrostat.studies.calibration.measurement import Measurement
from gyrostat.studies.calibration.observability import Observability, judged, read_criterion, value
from gyrostat.studies.calibration.static_poses import StaticPoses
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "select_poses"
PART = 64
"""Candidates that are looked at for one exchange where each needs singular values."""
PASSES, STARTS = 20, 4


@dataclass(frozen=True, eq=False)
class PoseSelection(StudyData):
    """``q`` (k, c): commands of the chosen poses, among ``candidates`` that were allowed; ``observability`` of them, of
    as many random candidates (``random``), both in the directions that all candidates together identify, and
    ``exchanges`` made."""

    q: Array
    candidates: int
    criterion: str
    observability: Observability
    random: Observability
    exchanges: int
    finished: bool = True
    message: str = "no exchange makes it better"


def select_poses(
    model: Model,
    measurement: Measurement,
    parameters: Sequence[str] | Mapping[str, Any],
    count: int,
    *,
    candidates: int | Any = 1000,
    criterion: str = "D",
    allowed: Callable[[Array, Array], bool] | None = None,
    seed: int = 0,
    progress: Any = None,
) -> PoseSelection:
    """``count`` poses at which ``measurement`` (planned: its own q and numbers do not count) tells most.

    ``candidates``: how many random ones within the limits of the joints (angles without limits: half a turn to both
    sides), or commands (n, c). ``criterion``: "D" (as "O1") or "O2" ... "O5". ``allowed(q, T)``: whether a candidate,
    commands (c,) with the measured frame at T (4, 4), can be measured: visibility, collisions, reach; a planned camera
    refuses those at which its markers are behind it or outside its picture by itself."""
    criterion = read_criterion(criterion, WHO)
    if not isinstance(measurement, Measurement):
        raise GyrostatError(
            f"{WHO}: measurement is {clipped(measurement)}. Hint: gs.studies.Points(frame, q, std=5e-5)."
        )
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise GyrostatError(f"{WHO}: count must be a whole number from 1 on, got {clipped(count)}.")
    q = _candidates(model, measurement, candidates, allowed, seed)
    if len(q) < count:
        raise GyrostatError(f"{WHO}: {len(q)} candidates can be measured, {count} are wanted. Hint: more candidates.")
    whole = Equations(model, [at_poses(measurement, q)], parameters, WHO)
    J = whole.jacobian(whole.start())
    N, _ = open_directions(J)
    B = np.linalg.svd(N.T, full_matrices=True)[2][N.shape[1] :].T if N.shape[1] else np.eye(J.shape[1])
    search = _Exchange((J @ B).reshape(len(q), -1, B.shape[1]), criterion, np.random.default_rng(seed))
    chosen, finished, message = search.chosen(count, progress)
    rest = np.sort(np.random.default_rng(seed).permutation(len(q))[:count])
    ours, others = (judged(Equations(model, [at_poses(measurement, q[k])], parameters, WHO), B) for k in (chosen, rest))
    return PoseSelection(q[chosen], len(q), criterion, ours, others, search.exchanges, finished, message)


def at_poses(measurement: Measurement, q: Array) -> Measurement:
    """The same measurement, planned at other poses."""
    cleared = {name: None for name in ("points", "poses", "distances", "pixels", "seen") if hasattr(measurement, name)}
    per_pose = measurement.covariance is not None and np.ndim(measurement.covariance) == 3
    if per_pose or any(
        np.ndim(v) and len(np.atleast_1d(v)) == measurement.count > 3 for v in measurement.properties.values()
    ):
        raise GyrostatError(
            f"{WHO}: '{measurement.name}' has numbers for each of its poses. Hint: one for all of them."
        )
    return replace(measurement, q=q, **cleared)  # type: ignore[type-var]


def _candidates(model: Model, measurement: Measurement, given: Any, allowed: Any, seed: int) -> Array:
    kinematics = StaticPoses(model, measurement.frames, (), WHO)
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        at = list(kinematics.coordinates.commanded)
        low, high = (np.array(x)[at] for x in limits_of(model, "model", WHO))
        turning = np.isin(at, model.layout.periodic_q)
        low, high = np.where(turning & np.isinf(low), -np.pi, low), np.where(turning & np.isinf(high), np.pi, high)
        if not np.all(np.isfinite([low, high])):
            name = kinematics.joints[int(np.argmax(~np.isfinite(low) | ~np.isfinite(high)))]
            raise GyrostatError(f"{WHO}: '{name}' has no limits. Hint: give its joint lower and upper, or candidates.")
        q = np.random.default_rng(seed).uniform(low, high, (given, len(at)))
    else:
        q = kinematics.read(given)
    placed, _ = kinematics.rest(q)
    keep = np.ones(len(q), dtype=bool)
    in_view = getattr(measurement, "in_view", None)
    if in_view is not None:
        keep &= in_view(
            [placed.R[:, k] for k in range(placed.R.shape[1])], [placed.p[:, k] for k in range(placed.p.shape[1])]
        )
    if allowed is not None:
        if not callable(allowed):
            raise GyrostatError(f"{WHO}: allowed must be a function of (q, T), got {clipped(allowed)}.")
        T = np.zeros((len(q), 4, 4))
        T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = placed.R[:, 0], placed.p[:, 0], 1.0
        keep &= np.array([bool(allowed(c, t)) for c, t in zip(q, T, strict=True)])
    return q[keep]


class _Exchange:
    """Among candidates with Jacobians J (n, k, r)."""

    def __init__(self, J: Array, criterion: str, rng: np.random.Generator):
        self.J, self.criterion, self.rng, self.exchanges = J, criterion, rng, 0
        self.M = np.einsum("nki,nkj->nij", J, J) if criterion not in ("D", "O1") else np.empty(0)

    def chosen(self, count: int, progress: Any) -> tuple[Array, bool, str]:
        begun = np.sort(self.rng.permutation(len(self.J))[:count])
        try:
            with Progress(progress, WHO, None) as shown:
                begun = self._improved(self._greedy(count), shown)
                for _ in range(0 if self.criterion in ("D", "O1") else STARTS):  # these have many local optima
                    other = self._improved(self.rng.permutation(len(self.J))[:count], shown)
                    begun = max(begun, other, key=self._judged)
        except KeyboardInterrupt:
            return np.sort(begun), False, "interrupted: the poses so far"
        return np.sort(begun), True, "no exchange makes it better"

    def _judged(self, chosen: Array) -> float:
        s = np.linalg.svd(self.J[chosen].reshape(-1, self.J.shape[2]), compute_uv=False)
        return float(value(self.criterion, s[None], len(chosen))[0])

    def _greedy(self, count: int) -> Array:
        """One pose after the other, each the one that raises det M most."""
        chosen: list[int] = []
        M = np.eye(self.J.shape[2])  # an error of each unknown as large as may be, without any pose
        for _ in range(count):
            gain = self._gains(M)
            gain[chosen] = -np.inf
            chosen.append(int(np.argmax(gain)))
            M = M + self.J[chosen[-1]].T @ self.J[chosen[-1]]
        return np.array(chosen)

    def _improved(self, begun: Array, shown: Progress) -> Array:
        """Passes of exchanges until one changes nothing."""
        chosen = begun.tolist()
        for _ in range(PASSES):
            M = np.eye(self.J.shape[2]) + sum(self.J[k].T @ self.J[k] for k in chosen)
            if not self._pass(chosen, M, shown):
                break
        return np.array(chosen)

    def _gains(self, M: Array) -> Array:
        """log det(1 + J_i M^-1 J_i^T) (n,)."""
        L = np.linalg.cholesky(M)
        white = np.linalg.solve(L, self.J.reshape(-1, len(M)).T).T.reshape(self.J.shape)
        return np.linalg.slogdet(np.eye(self.J.shape[1]) + white @ np.swapaxes(white, 1, 2))[1]

    def _pass(self, chosen: list[int], M: Array, shown: Progress) -> bool:
        """Try to exchange each pose once; whether any was."""
        before = self.exchanges
        for place in range(len(chosen)):
            one = chosen[place]
            rest = M - self.J[one].T @ self.J[one]
            better = (
                self._better_d(rest, one, chosen) if self.criterion in ("D", "O1") else self._better(rest, one, chosen)
            )
            if better != one:
                chosen[place] = better
                M = rest + self.J[better].T @ self.J[better]
                self.exchanges += 1
            shown.step(1, f"{self.exchanges} exchanges")
        return self.exchanges > before

    def _better_d(self, rest: Array, one: int, chosen: list[int]) -> int:
        gain = self._gains(rest)
        now = gain[one]
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        return best if gain[best] > now + 1e-9 else one

    def _better(self, rest: Array, one: int, chosen: list[int]) -> int:
        taken = set(chosen)
        others = [int(k) for k in self.rng.permutation(len(self.J))[: 2 * PART] if k not in taken][:PART]
        tried = np.array([one, *others])
        squares = np.linalg.eigvalsh(rest - np.eye(len(rest)) + self.M[tried])[:, ::-1]
        values = value(self.criterion, np.sqrt(np.maximum(squares, 0.0)), len(chosen))
        best = int(np.argmax(values))
        return int(tried[best]) if values[best] > values[0] * (1.0 + 1e-9) else one
