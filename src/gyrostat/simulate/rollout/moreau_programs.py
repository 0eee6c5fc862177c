"""A step with contacts as programs of a model: what is known before its impulses, a round of the search for them, the
state after them, and all of it at known impulses, for derivatives.

Every candidate and every stop is in every step, so that W robots do the same: no branches, no lists of those that
touch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.whitened_cones import WhitenedCones
from gyrostat.configuration.chart import along, moved
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.derivative import pullback
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.simulate.rollout.moreau_rows import ContactStep, Pattern, coloured, contact_step
from gyrostat.spec.model import Model

Array = np.ndarray
FIRST, AFTER = 3, 2
"""Sweeps before the first Newton step, and after each."""
MOST = 30
"""Rounds of a Newton step and sweeps in one step."""
TOLERANCE = 1e-8
"""Of the residual of all contacts and stops [m/s, rad/s]."""


class MoreauPrograms:
    """Of ``kernels`` of a model, with the contacts and stops of ``step``."""

    def __init__(self, kernels: ModelKernels, step: ContactStep):
        self.kernels, self.model, self.step = kernels, kernels.model, step
        self._pattern: Pattern | None = None
        self._codes: dict[tuple[str, int], KernelCode] = {}

    def code(self, name: str, lanes: int) -> KernelCode:
        """Machine code of a program by its name here."""
        key = name, lanes
        known = self._codes.get(key)
        return self._codes.setdefault(key, KernelCode(getattr(self, name), lanes)) if known is None else known

    @cached_property
    def pattern(self) -> Pattern:
        """Found while the rows are recorded for the first time."""

        def function(t: Array, q: Array, v: Array, tau: Array, h: Array, live: Array) -> Mapping[str, Any]:
            self._pattern = self.step.rows(*self.kernels.scene(t[0], live), q, v, tau, h[0]).pattern
            return {"nothing": q[:0]}

        self._record(function, {}, "pattern")
        if self._pattern is None:
            raise RuntimeError("a program was recorded without its function")
        return self._pattern

    @property
    def sizes(self) -> dict[str, int]:
        """Of the arrays between the programs."""
        n, pattern = self.model.nv, self.pattern
        factors = max(1, sum(map(len, pattern.inboard.values())))
        rows = pattern.rows
        return {
            "middle": self.model.nq, "free": n, "L": factors, "roots": n, "X": pattern.entries,
            "b": rows, "G": rows, "P": rows, "w": n, "r": 1,
        }  # fmt: skip

    @property
    def operations(self) -> int:
        """Of a step that needs two rounds."""
        return len(self.rows.nodes) + 2 * len(self.round.nodes) + len(self.end.nodes)

    def _record(self, function: Any, more: Mapping[str, int], name: str) -> Program:
        n = self.model.nv
        shapes = {"t": (1,), "q": (self.model.nq,), "v": (n,), "tau": (n,), "h": (1,)}
        shapes |= {"live": (self.kernels.live_size,)} | {key: (size,) for key, size in more.items()}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_{name}")

    # ------------------------------------------------------------------ programs
    @cached_property
    def rows(self) -> Program:
        """(t, q, v, tau, h, live, P) to what a round needs, after the first sweeps from the impulses P."""

        def function(
            t: Array, q: Array, v: Array, tau: Array, h: Array, live: Array, P: Array
        ) -> Mapping[str, Any]:
            known = self.step.rows(*self.kernels.scene(t[0], live), q, v, tau, h[0])
            cones, G = known.cones, known.cones.diagonal()
            inverse = [1.0 / g for g in G]
            new = list(P)
            w = cones.total(new)
            for _ in range(FIRST):
                cones.sweep(new, w, inverse)
            return {
                "middle": known.middle, "free": known.free, "L": known.L, "roots": known.roots,
                "X": np.array([x for row in cones.X for x in row.values()]), "b": np.array(cones.b), "G": np.array(G),
                "P": np.array(new), "w": np.array(w), "r": np.array([cones.residual(new, w, G, inverse)]),
            }  # fmt: skip

        return self._record(function, {"P": self.pattern.rows}, "contact_rows")

    @cached_property
    def round(self) -> Program:
        """(X, b, G, P, w, r) to P, w, r: a Newton step where it lowers the residual r, then sweeps; lanes that have
        converged keep what they have."""
        pattern = self.pattern

        def function(X: Array, b: Array, G: Array, P: Array, w: Array, r: Array) -> Mapping[str, Any]:
            cones, inverse = pattern.unpacked(X, b), [1.0 / g for g in G]
            trial, _ = cones.newton(list(P), list(w), inverse)
            sums = cones.total(trial)
            better = cones.residual(trial, sums, G, inverse) < r[0]
            new, total = ([where(better, x, y) for x, y in zip(*pair, strict=True)] for pair in ((trial, P), (sums, w)))
            for _ in range(AFTER):
                cones.sweep(new, total, inverse)
            left, busy = cones.residual(new, total, G, inverse), r[0] > TOLERANCE
            return {
                "P": np.array([where(busy, x, y) for x, y in zip(new, P, strict=True)]),
                "w": np.array([where(busy, x, y) for x, y in zip(total, w, strict=True)]),
                "r": np.array([where(busy, left, r[0])]),
            }

        shapes = {name: (self.sizes[name],) for name in ("X", "b", "G", "P", "w", "r")}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_contact_round")

    @cached_property
    def end(self) -> Program:
        """(middle, free, L, roots, w, h) to q, v after the step."""

        def function(middle: Array, free: Array, L: Array, roots: Array, w: Array, h: Array) -> Mapping[str, Any]:
            v = free + np.array(coloured(self.pattern.inboard, L, roots, list(w)))
            return {"q": self._arrived(middle, v, h[0]), "v": v}

        shapes = {name: (self.sizes[name],) for name in ("middle", "free", "L", "roots", "w")} | {"h": (1,)}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_contact_end")

    def _arrived(self, middle: Array, v: Array, h: Any) -> Array:
        return moved(self.model, middle, along(self.model, v * (0.5 * h)))

    # ------------------------------------------------------------------ derivatives
    @cached_property
    def solved(self) -> Program:
        """(t, q, v, tau, h, live, P) to q, v after a step whose impulses P are known, by one Newton step from them:
        its derivatives at a solution are those of the step with who touches, sticks and slides held, exact up to
        SOFT, as the derivative of a Newton step by its start vanishes there."""

        def function(
            t: Array, q: Array, v: Array, tau: Array, h: Array, live: Array, P: Array
        ) -> Mapping[str, Any]:
            known = self.step.rows(*self.kernels.scene(t[0], live), q, v, tau, h[0])
            cones: WhitenedCones = known.cones
            inverse = [1.0 / g for g in cones.diagonal()]
            _, w = cones.newton(list(P), cones.total(list(P)), inverse)
            rates = known.free + np.array(coloured(known.pattern.inboard, known.L, known.roots, w))
            return {"q": self._arrived(known.middle, rates, h[0]), "v": rates}

        return self._record(function, {"P": self.pattern.rows}, "contact_solved")

    @cached_property
    def adjoint(self) -> Program:
        """(t, q, v, tau, h, live, P, bar_q, bar_v) to bar_q, bar_v, bar_tau, bar_live."""
        return pullback(self.solved, ["q", "v"], ["q", "v", "tau", "live"])


def moreau_programs(model: Model, kernels: ModelKernels) -> MoreauPrograms:
    """Programs of a model, which stay with it."""
    kept, key = cached_on(model), ("moreau", tuple(kernels.live.items()))
    if key not in kept:
        kept[key] = MoreauPrograms(kernels, contact_step(model))
    return kept[key]
