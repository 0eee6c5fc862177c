"""A robot in the picture and its motion: that of the viewer, one beside it, or the ghost of a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.configuration.manifold import difference, integrate
from gyrostat.errors import GyrostatError
from gyrostat.solvers.functions import center_of_mass
from gyrostat.spec.model import Model
from gyrostat.view.scene.scene import Scene

Array = np.ndarray


@dataclass(frozen=True)
class Actor:
    """``q`` (nq,), or with ``t`` (T,) [s] q (T, nq). A ``ghost`` is drawn translucent, and has no centre of mass."""

    scene: Scene
    q: Array
    t: Array | None = None
    name: str = ""
    ghost: bool = False

    def configurations(self, times: Array) -> Array:
        """q (N, nq) at times (N,): before the first and after the last sample it rests there."""
        if self.t is None:
            return np.broadcast_to(self.q, (len(times), self.q.shape[-1]))
        return all_between(self.scene.model, self.t, self.q, times)

    def placements(self, q: Array, times: Array) -> tuple[Array, Array]:
        """R (N, nodes, 3, 3) and p (N, nodes, 3): the links, then, unless this is a ghost, the centre of mass twice."""
        R, p = self.scene.placements(q, times)
        if self.ghost:
            return R, p
        com = self._whole(q, times)
        more = np.broadcast_to(np.eye(3), (len(R), 2, 3, 3))
        return np.concatenate([R, more], axis=1), np.concatenate([p, com[:, None], com[:, None]], axis=1)

    def _whole(self, q: Array, times: Array) -> Array:
        """Centre of mass (N, 3); of what has no mass, the first link."""
        model = self.scene.model
        try:
            return np.asarray(center_of_mass(model, q, t=None if isinstance(model.context.base, str) else times))
        except GyrostatError:
            return self.scene.placements(q, times)[1][:, 0]


def between(model: Model, t: Array, q: Array, now: float) -> Array:
    """q (nq,) at a time, between samples along the shortest way on the manifold."""
    k = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, len(t) - 1))
    if k == len(t) - 1 or t[k + 1] <= t[k] or now <= t[k]:
        return q[k]
    share = (now - t[k]) / (t[k + 1] - t[k])
    return integrate(model, q[k], difference(model, q[k], q[k + 1]), share)


def all_between(model: Model, t: Array, q: Array, times: Array) -> Array:
    """:func:`between` for many times (N,): q (N, nq)."""
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    share = np.clip((times - t[k]) / np.maximum(t[k + 1] - t[k], 1e-300), 0.0, 1.0)
    return integrate(model, q[k], share[:, None] * difference(model, q[k], q[k + 1]))
