"""A step with contacts as programs of a model: what is known before its impulses, a round of the search for them, the
correction of depth, the state after the step, and all of it at known impulses, for derivatives.

Every candidate and every stop is in every step, so that W robots do the same: no branches, no lists of those that
touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.whitened_cones import WhitenedCones
from gyrostat.configuration.chart import along, moved
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.engine.tracing.derivative import pullback
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.simulate.methods.drivers.moreau_depth import DEPTH, FASTEST_BACK
from gyrostat.simulate.methods.drivers.moreau_steps import LARGEST_SHIFT
from gyrostat.simulate.rollout.moreau_rounds import (
    AFTER,
    arrays,
    depth_unit,
    many_sweeps,
    one_round,
    share_without_gain,
)
from gyrostat.simulate.rollout.moreau_rows import ContactStep, KnownBefore, Pattern, coloured, near

Array = np.ndarray
APART = 1e3
"""Speed [m/s, rad/s] with which a row that is not corrected is said to separate."""
BACK = 0.25
LEAST = 1e-12
"""Rate [m/s, rad/s] that is not shortened."""
KNOWN = "t", "middle", "v", "tau", "h", "live"


class MoreauPrograms:
    """Of ``kernels`` of a model, with the contacts and stops of ``step``."""

    def __init__(self, kernels: ModelKernels, step: ContactStep):
        self.kernels, self.model, self.step = kernels, kernels.model, step
        self._codes: dict[tuple[str, int], KernelCode] = {}

    def code(self, name: str, lanes: int) -> KernelCode:
        """Machine code of a program by its name here."""
        key = name, lanes
        known = self._codes.get(key)
        return self._codes.setdefault(key, KernelCode(getattr(self, name), lanes)) if known is None else known

    @cached_property
    def pattern(self) -> Pattern:
        """Found while the rows are recorded for the first time."""
        found: list[Pattern] = []

        def function(**x: Array) -> Mapping[str, Any]:
            found.append(self._rows(x).pattern)
            return {"nothing": x["v"][:0]}

        self._record(function, KNOWN, "pattern")
        return found[0]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Of the arrays between the programs."""
        n, pattern = self.model.nv, self.pattern
        rows, cones = pattern.rows, len(pattern.cones)
        bounces = cones if pattern.bounces else 0
        return {
            "t": 1, "middle": self.model.nq, "v": n, "tau": n, "h": 1, "live": self.kernels.live_size,
            "free": n, "L": max(1, sum(map(len, pattern.inboard.values()))), "roots": n, "X": pattern.entries,
            "b": rows, "G": rows, "mu": cones, "low": bounces, "back": bounces, "before": rows if bounces else 0,
            "P_first": rows, "w_first": n, "b_second": rows if bounces else 0, "gaps": cones, "allowed": cones,
            "P": rows, "w": n, "r": 1,
            "way": 2, "deep_b": cones, "deep_P": cones, "deep_w": n, "deep_r": 1,
        }  # fmt: skip

    @property
    def operations(self) -> int:
        """Of a step that needs two rounds."""
        once = self.rows, self.depth, self.end
        return sum(len(program.nodes) for program in once) + 2 * len(self.round.nodes)

    def _record(self, function: Any, names: Sequence[str], name: str) -> Program:
        if name == "pattern":
            n = self.model.nv
            sizes = {"t": 1, "middle": self.model.nq, "v": n, "tau": n, "h": 1, "live": self.kernels.live_size}
        else:
            sizes = self.sizes
        with np.errstate(all="ignore"):
            return record(function, {key: (sizes[key],) for key in names}, f"{self.model.name}_contact_{name}")

    def _rows(self, x: Mapping[str, Array]) -> KnownBefore:
        scene, live = self.kernels.scene(x["t"][0], x["live"]), self.kernels.named(x["live"])
        return self.step.rows(*scene, x["middle"], x["v"], x["tau"], x["h"][0], live)

    def _cones(self, x: Mapping[str, Array]) -> tuple[WhitenedCones, list[Any], list[Any]]:
        """Rows, the diagonal of G and its inverse, from arrays."""
        pattern = self.pattern
        low = list(x["low"]) if "low" in x and len(x["low"]) else [0.0] * len(pattern.cones)
        cones = pattern.unpacked(x["X"], list(x["b"]), list(x["mu"]), low)
        return cones, list(x["G"]), [1.0 / g for g in x["G"]]

    # ------------------------------------------------------------------ programs
    @cached_property
    def rows(self) -> Program:
        """What a round needs, and the residual with the impulses P of the step before."""

        def function(**x: Array) -> Mapping[str, Any]:
            known = self._rows(x)
            G = known.cones.diagonal()
            cones = known.cones.without_dead_centres(G, APART)
            inverse, P = [1.0 / g for g in G], list(x["P"])
            w = cones.total(P)
            r = cones.residual(P, w, G, inverse)
            bounces = len(known.back) if known.pattern.bounces else 0
            entries = [x for row in cones.X for x in row.values()]
            return arrays(
                free=known.free, L=known.L, roots=known.roots, X=entries, b=cones.b, G=G, mu=cones.mu, gaps=known.gaps,
                allowed=known.allowed, back=known.back[:bounces], before=known.before if bounces else [], P=P, w=w,
                r=[r],
            )  # fmt: skip

        return self._record(function, (*KNOWN, "P"), "rows")

    @cached_property
    def round(self) -> Program:
        """A Newton step where it lowers the residual r, or where the way of this round is to go on in any case, then
        sweeps; lanes that have converged keep what they have."""

        def function(**x: Array) -> Mapping[str, Any]:
            found = one_round(*self._cones(x), x["P"], x["w"], x["r"][0], 1.0, x["way"])
            return dict(zip(("P", "w", "r"), found, strict=True))

        return self._record(function, ("X", "b", "G", "mu", "low", "way", "P", "w", "r"), "round")

    @cached_property
    def sweeps(self) -> Program:
        """Sweeps alone, for lanes that Newton steps do not help."""

        def function(**x: Array) -> Mapping[str, Any]:
            found = many_sweeps(*self._cones(x), x["P"], x["w"], x["r"][0])
            return dict(zip(("P", "w", "r"), found, strict=True))

        return self._record(function, ("X", "b", "G", "mu", "low", "P", "w", "r"), "sweeps")

    @cached_property
    def expansion(self) -> Program:
        """The problem of the expansion behind a compression P, w: every impact gives back a part of its normal impulse
        at least [Pfeiffer, Glocker 1996]; nothing in lanes where nothing hits."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones, G, inverse = self._cones(x)
            first, speeds = x["P"], [cones.speed(i, list(x["w"])) for i in range(self.pattern.rows)]
            low = [part * maximum(first[c.normal], 0.0) for c, part in zip(cones.cones, x["back"], strict=True)]
            P: list[Any] = [0.0] * self.pattern.rows
            for cone, least in zip(cones.cones, low, strict=True):
                P[cone.normal] = least
            second = replace(cones, b=speeds, low=low)
            w, hits = second.total(P), sum(x["back"], 0.0) > 0.0
            r = where(hits, second.residual(P, w, G, inverse), 0.0)
            return arrays(b_second=speeds, low=low, P=P, w=w, r=[r])

        return self._record(function, ("X", "b", "G", "mu", "back", "P", "w"), "expansion")

    @cached_property
    def joined(self) -> Program:
        """Compression and as much of the expansion P, w as gains no energy, neither against the speeds before the step
        nor against those of free motion."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones = self.pattern.unpacked(x["X"], list(x["b"]), list(x["mu"]), [0.0] * len(self.pattern.cones))
            free = list(x["b"])
            for cone, still in zip(cones.cones, x["allowed"], strict=True):
                free[cone.normal] = free[cone.normal] - still
            still = replace(cones, b=free)
            s: Any = 1.0
            for reference in (list(x["before"]), free):
                s = minimum(s, share_without_gain(still, free, reference, x["P_first"], x["w_first"], x["P"], x["w"]))
            return arrays(P=x["P_first"] + s * x["P"], w=x["w_first"] + s * x["w"])

        return self._record(function, ("X", "b", "mu", "allowed", "before", "P_first", "w_first", "P", "w"), "joined")

    @cached_property
    def depth(self) -> Program:
        """Speeds that take back a part of each penetration over half a step, with normal impulses that change no rate:
        the problem, and the first sweep."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones, G, inverse = self._cones(x)
            deep = self._deep(cones, x["gaps"], x["allowed"], x["w"], x["h"][0])
            G, inverse = self._of_normals(G), self._of_normals(inverse)
            P: list[Any] = [0.0] * len(cones.cones)
            w: list[Any] = [0.0] * self.model.nv
            for _ in range(AFTER):
                deep.sweep(P, w, inverse)
            r = deep.residual(P, w, G, inverse) * depth_unit(x["h"][0])
            return arrays(deep_b=deep.b, deep_P=P, deep_w=w, deep_r=[r])

        return self._record(function, ("X", "b", "G", "mu", "gaps", "allowed", "w", "h"), "depth")

    @cached_property
    def depth_round(self) -> Program:
        """As :attr:`round`, for the correction of depth."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones, G, inverse = self._cones(x)
            deep, G, inverse = cones.normals(list(x["deep_b"])), self._of_normals(G), self._of_normals(inverse)
            P, w, r = x["deep_P"], x["deep_w"], x["deep_r"][0]
            names = "deep_P", "deep_w", "deep_r"
            return dict(zip(names, one_round(deep, G, inverse, P, w, r, depth_unit(x["h"][0])), strict=True))

        return self._record(function, ("X", "b", "G", "mu", "h", "deep_b", "deep_P", "deep_w", "deep_r"), "depth_round")

    @cached_property
    def end(self) -> Program:
        """q, v after the step."""

        def function(**x: Array) -> Mapping[str, Any]:
            return self._arrived(x["middle"], x["free"], x["L"], x["roots"], x["w"], x["deep_w"], x["h"][0])

        return self._record(function, ("middle", "free", "L", "roots", "w", "deep_w", "h"), "end")

    def _of_normals(self, x: Sequence[Any]) -> list[Any]:
        return [x[cone.normal] for cone in self.pattern.cones]

    def _deep(self, cones: WhitenedCones, gaps: Any, allowed: Any, w: Any, h: Any) -> WhitenedCones:
        """Rows of the correction: over half a step no open row may close, and those that are deeper than DEPTH go back
        by a part BACK of it. Where none is so deep, all are apart."""
        reached = [near(g, cones.b[c.normal] - a, h) for c, g, a in zip(cones.cones, gaps, allowed, strict=True)]
        deepest: Any = 0.0
        for gap, is_near in zip(gaps, reached, strict=True):
            deepest = maximum(deepest, where(is_near, -gap, 0.0))
        b: list[Any] = []
        for cone, gap, still, is_near in zip(cones.cones, gaps, allowed, reached, strict=True):
            u = cones.speed(cone.normal, w) - still
            out = minimum(-2.0 * BACK * gap / h, FASTEST_BACK) - u
            wanted = where(gap >= 0.0, -2.0 * gap / h - u, maximum(out, 0.0))
            b.append(where(is_near, where(deepest > DEPTH, -wanted, APART), APART))
        return cones.normals(b)

    def _arrived(self, middle: Array, free: Array, L: Array, roots: Array, w: Any, deep_w: Any, h: Any) -> Any:
        inboard = self.pattern.inboard
        v = free + np.array(coloured(inboard, L, roots, list(w)))
        more = np.array(coloured(inboard, L, roots, list(deep_w)))
        largest: Any = LEAST
        for x in more:
            largest = maximum(largest, abs(x))
        shift = v * (0.5 * h) + more * minimum(0.5 * h, LARGEST_SHIFT / largest)
        return {"q": moved(self.model, middle, along(self.model, shift)), "v": v}

    # ------------------------------------------------------------------ derivatives
    @cached_property
    def solved(self) -> Program:
        """q, v after a step whose impulses P are known, by one Newton step from them: its derivatives at a solution are
        those of the step with who touches, sticks and slides held, exact up to SOFT, as the derivative of a Newton
        step by its start vanishes there."""

        def function(**x: Array) -> Mapping[str, Any]:
            known = self._rows(x)
            P, deep_P, G = list(x["P"]), list(x["deep_P"]), known.cones.diagonal()
            cones, inverse = known.cones.without_dead_centres(G, APART), [1.0 / g for g in G]
            _, w = cones.newton(P, cones.total(P), inverse)
            deep = self._deep(cones, known.gaps, known.allowed, w, x["h"][0])
            _, deep_w = deep.newton(deep_P, deep.total(deep_P), self._of_normals(inverse))
            return self._arrived(x["middle"], known.free, known.L, known.roots, w, deep_w, x["h"][0])

        return self._record(function, (*KNOWN, "P", "deep_P"), "solved")

    @cached_property
    def adjoint(self) -> Program:
        """Weights of middle, v, tau, live for those of q and v after the step."""
        return pullback(self.solved, ["q", "v"], ["middle", "v", "tau", "live"])
