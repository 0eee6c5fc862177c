"""Loops on plain numbers: how far they are open, and configurations in which they are closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.graph.data_flow import Network
from gyrostat.graph.loops.ways import Closure, Step, follow, plain_step
from gyrostat.spatial import so3
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

CLOSED = 1e-12
"""Residuals of closed loops [m, or of directions], relative to the size of the loop."""
FACING = 0.5
"""Cosine between axes below which they do not coincide, whatever the equations say."""
TURNS = 60
LONGEST = 0.5
"""Greatest step of one iteration: rad, or parts of the size of the loop."""


@dataclass(frozen=True)
class LoopNumbers:
    """The equations of some loops of a network as functions of q (nq,)."""

    network: Network
    closures: Sequence[Closure]
    step: Step = plain_step

    def residuals(self, q: Array) -> list[Array]:
        """g (m,) of each loop."""
        every = self.network.transmission.coordinates(q)
        return [closure.rows(every, None, self.step).g.astype(float) for closure in self.closures]

    def jacobian(self, q: Array) -> tuple[Array, Array]:
        """g (m,) of all loops, and J (m, nv)."""
        net = self.network.at(q)
        moved, n = net.transmission, net.transmission.n
        every = moved.coordinates(q)
        g, J = [np.zeros(0)], [np.zeros((0, n))]
        for closure in self.closures:
            rows = closure.rows(every, None, self.step)
            part = np.zeros((len(rows.g), n))
            for rate, column in rows.J.items():
                for k, factor in moved.ties(rate):
                    part[:, k] += column.astype(float) * float(factor)
            g.append(rows.g.astype(float))
            J.append(part)
        return np.concatenate(g), np.concatenate(J)

    def turned_over(self, q: Array) -> float:
        """2 where axes of a loop point against each other although its equations hold, else 0."""
        every = self.network.transmission.coordinates(q)
        cosines = [float(x) for closure in self.closures for x in closure.facing(every, self.step)]
        return 2.0 if min(cosines, default=1.0) < FACING else 0.0

    def size(self, q: Array) -> float:
        """A length of the mechanism [m]: how far closing frames are from where their ways part, or from a plane."""
        every = self.network.transmission.coordinates(q)
        lengths = [
            float(np.linalg.norm(follow(way, every, None, self.step).p.astype(float)))
            for closure in self.closures
            for way in closure.ways
        ]
        radii = [float(closure.props["radius"]) for closure in self.closures if closure.rolls]
        return max([*lengths, *radii, 1e-6])


def moved_along(model: Model, q: Array, dv: Array) -> Array:
    """q (nq,) displaced along rates dv (nv,), to first order for positions."""
    new = q.copy()
    for block in model.layout:
        own, d = q[block.q], dv[block.v]
        if not block.turns:
            new[block.q] = own + d
        else:
            angular, quaternion = d[:3], own[-4:]
            turned = so3.normalised(so3.product(quaternion, so3.quaternion_exp(angular)))
            new[block.q] = np.concatenate([own[:3] + so3.rotate(quaternion, d[3:]), turned]) if block.moves else turned
    return new


def close(numbers: LoopNumbers, q: Array, mobility: Array, size: float | None = None) -> tuple[Array, float]:
    """The nearest configuration in which the loops are closed, by least-norm Gauss-Newton steps that are shortened
    while they do not help; and how far they are open there. ``mobility`` (nv,): how readily each coordinate moves; 0
    keeps it."""
    model = numbers.network.model
    size = size or numbers.size(q)
    lengths = length_rates(model)
    weight = mobility * np.where(lengths, size, 1.0)
    g, J = numbers.jacobian(q)
    error, damping = float(np.abs(g).max(initial=0.0)), 0.0
    for _ in range(TURNS):
        if error <= CLOSED * size:
            break
        said = np.abs(J).max(axis=1, initial=0.0) > 1e-14  # planar loops have three equations that say nothing
        W, g_said = J[said] * weight, g[said]
        u, s, vt = np.linalg.svd(W, full_matrices=False)
        good = s > 1e-9 * max(s.max(initial=0.0), 1e-300)
        step = -weight * (vt[good].T @ ((u.T @ g_said)[good] * s[good] / (s[good] ** 2 + damping)))
        longest = float(np.abs(step / np.where(lengths, size, 1.0)).max(initial=0.0))
        if longest == 0.0:
            break
        step = step * min(1.0, LONGEST / longest)
        for shorter in (1.0, 0.5, 0.25, 0.1, 0.01):
            new = moved_along(model, q, step * shorter)
            g_new, J_new = numbers.jacobian(new)
            if np.linalg.norm(g_new) < np.linalg.norm(g) or float(np.abs(g_new).max()) <= CLOSED * size:
                q, g, J = new, g_new, J_new
                damping *= 0.1
                break
        else:
            damping = max(10.0 * damping, 1e-6 * float(s.max(initial=1.0)) ** 2)
            if damping > 1e3 * float(s.max(initial=1.0)) ** 2:
                break
        error = float(np.abs(g).max(initial=0.0))
    return q, max(error, numbers.turned_over(q))


def length_rates(model: Model) -> Array:
    """Rates (nv,) of what is measured in metres."""
    flags = np.zeros(model.nv, dtype=bool)
    for block in model.layout:
        if block.turns:
            flags[block.v.start + 3 : block.v.stop] = True
        else:
            flags[block.v] = block.lengths
    return flags
