"""The nonlinear program of a whole motion: min f(x), low <= g(x) <= high, lower <= x <= upper, with sparse exact
derivatives. Variables: points of all phases in order of time, free numbers, impulses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.links import Link
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations, PhaseSlopes

Array = np.ndarray


@dataclass(eq=False)
class NonlinearProgram:
    """What a solver of nonlinear programs asks for."""

    phases: Sequence[PhaseEquations]
    links: Sequence[Link]
    theta_at: Array
    lower: Array
    upper: Array
    low: Array
    high: Array
    linear: tuple[Array, Array, Array]
    """Rows, columns and values of linear rows, which come last."""
    _kept: tuple[bytes, Any] | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        return len(self.lower)

    @property
    def m(self) -> int:
        return len(self.low)

    # ------------------------------------------------------------------ values
    def cost(self, x: Array) -> float:
        return self._values(x)[0]

    def constraints(self, x: Array) -> Array:
        return self._values(x)[1]

    def _values(self, x: Array) -> tuple[float, Array]:
        key = x.tobytes()
        if self._kept is None or self._kept[0] != key:
            theta, cost, rows = x[self.theta_at], 0.0, []
            for p in self.phases:
                one, g = p.values(p.z(x, theta), theta)
                cost += one
                rows.append(g)
            rows += [link.function.value(z[None], *data)[0] for link, (z, _, data) in self._linked(x)]
            last = np.zeros(self.m - sum(map(len, rows)))
            np.add.at(last, self.linear[0], self.linear[2] * x[self.linear[1]])
            self._kept = key, (cost, _joined([*rows, last]))
        return self._kept[1]

    # ------------------------------------------------------------------ derivatives
    def _slopes(self, x: Array) -> list[PhaseSlopes]:
        key = x.tobytes()
        if getattr(self, "_slopes_key", None) != key:
            theta = x[self.theta_at]
            self._slopes_of = [p.slopes(p.z(x, theta), theta) for p in self.phases]
            self._slopes_key = key
        return self._slopes_of

    def gradient(self, x: Array) -> Array:
        """(n,)."""
        out = np.zeros(self.n)
        for p, s in zip(self.phases, self._slopes(x), strict=True):
            p.gradient(s, out, self.theta_at)
        return out

    @cached_property
    def jacobian_pattern(self) -> tuple[Array, Array]:
        rows, cols, row = [], [], 0
        for p in self.phases:
            i, j = p.jacobian_pattern(row, self.theta_at)
            rows.append(i)
            cols.append(j)
            row += p.rows
        for link, at in zip(self.links, self._link_variables, strict=True):
            i, j = link.function.first_pattern
            rows.append(row + i)
            cols.append(at[j])
            row += link.function.rows
        rows.append(row + self.linear[0])
        cols.append(self.linear[1])
        return np.concatenate(rows).astype(np.int32), np.concatenate(cols).astype(np.int32)

    def jacobian(self, x: Array) -> Array:
        """Entries of the Jacobian of the rows."""
        parts = [p.jacobian(s) for p, s in zip(self.phases, self._slopes(x), strict=True)]
        parts += [link.function.first(z[None], *data)[0] for link, (z, _, data) in self._linked(x)]
        return _joined([*parts, self.linear[2]])

    @cached_property
    def hessian_pattern(self) -> tuple[Array, Array]:
        found = [p.hessian_pattern(self.theta_at) for p in self.phases]
        for at in self._link_variables:
            i, j = np.tril_indices(len(at))
            found.append((np.maximum(at[i], at[j]), np.minimum(at[i], at[j])))
        return tuple(np.concatenate(x).astype(np.int32) for x in zip(*found, strict=True))  # type: ignore[return-value]

    def hessian(self, x: Array, sigma: float, weights: Array) -> Array:
        """Entries of the second derivatives of sigma f + weights . g."""
        theta, at, parts = x[self.theta_at], 0, []
        for p, s in zip(self.phases, self._slopes(x), strict=True):
            parts.append(p.hessian(s, sigma, weights[at : at + p.rows], theta))
            at += p.rows
        for link, (z, _, data) in self._linked(x):
            H = link.function.hessian(z[None], weights[None, at : at + link.function.rows], *data)[0]
            i, j = np.tril_indices(len(z))
            parts.append(H[i, j])
            at += link.function.rows
        return _joined(parts)

    # ------------------------------------------------------------------ links
    @cached_property
    def _link_variables(self) -> list[Array]:
        """Numbers of the variables of each link."""
        found, impulse = [], int(self.theta_at[-1]) + 1 if len(self.theta_at) else sum(p.size for p in self.phases)
        for link in self.links:
            a, b = self.phases[link.before], self.phases[link.after]
            ends = a.first + a.size - a.nw + np.arange(a.nw), b.first + np.arange(b.nw)
            found.append(np.concatenate([*ends, self.theta_at, impulse + np.arange(link.impulses)]).astype(int))
            impulse += link.impulses
        return found

    def _linked(self, x: Array) -> list[tuple[Link, tuple[Array, Array, list[Array]]]]:
        found = []
        for link, at in zip(self.links, self._link_variables, strict=True):
            a, b = self.phases[link.before], self.phases[link.after]
            data = [*(d[-1:] for d in a.data), *(d[:1] for d in b.data)]
            found.append((link, (x[at], at, data)))
        return found


def _joined(parts: list[Array]) -> Array:
    """One after the other; a single one as it is."""
    full = [x for x in parts if len(x)]
    return full[0] if len(full) == 1 else np.concatenate([np.zeros(0), *full])
