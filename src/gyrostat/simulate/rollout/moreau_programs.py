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

from gyrostat.algorithms.contact.contact_kinematics import contact_gaps
from gyrostat.algorithms.contact.whitened_cones import WhitenedCones
from gyrostat.configuration.chart import along, moved
from gyrostat.configuration.limits import limits_of
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.engine.tracing.derivative import pullback
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.simulate.kernels.contact_energy import KEPT_ENERGY, UNKNOWN, energies, energy_law
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.simulate.methods.drivers.moreau_depth import BACK, DEPTH, FASTEST_BACK, LITTLE
from gyrostat.simulate.methods.drivers.moreau_energy import MOST_ADDED, ROUNDING
from gyrostat.simulate.methods.drivers.moreau_steps import LARGEST_SHIFT, PATIENCE, SHALLOW
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.simulate.rollout.moreau_rounds import (
    AFTER,
    DEPTH_UNIT,
    arrays,
    many_sweeps,
    one_round,
    share_without_gain,
)
from gyrostat.simulate.rollout.moreau_rows import ContactStep, KnownBefore, Pattern, coloured

Array = np.ndarray
APART = 1e3
"""Speed [m/s, rad/s] with which a row that is not corrected is said to separate."""
LEAST, LEAST_ENERGY = 1e-12, 1e-300
"""Rate [m/s, rad/s] that is not shortened; energy [J] that is none."""
KNOWN = "t", "middle", "v", "tau", "h", "live"


class MoreauPrograms:
    """Of ``kernels`` of a model, with the contacts and stops of ``step``."""

    def __init__(self, kernels: ModelKernels, step: ContactStep):
        self.kernels, self.model, self.step = kernels, kernels.model, step
        self.energy_law = energy_law(kernels.net)
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
            "giving": 2, "way": n, "deep_b": cones, "deep_P": cones, "deep_w": n, "deep_r": 1,
            "q": self.model.nq, "v0": n, "energies": 2, "start": 2, "lifted": 1, "short": 1, "owed": 1, "busy": 1,
            "due": 1, "left": 1,
        }  # fmt: skip

    @property
    def operations(self) -> int:
        """Of a step that needs two rounds."""
        once = self.rows, self.arrival, self.energy, self.check, self.bound
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
            found = one_round(*self._cones(x), x["P"], x["w"], x["r"][0], 1.0, x["giving"])
            return dict(zip(("P", "w", "r"), found, strict=True))

        return self._record(function, ("X", "b", "G", "mu", "low", "giving", "P", "w", "r"), "round")

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

    # ------------------------------------------------------------------ the end of a step
    @cached_property
    def arrival(self) -> Program:
        """q, v after the step, and the way from its middle, if nothing is too deep."""

        def function(**x: Array) -> Mapping[str, Any]:
            v = x["free"] + np.array(coloured(self.pattern.inboard, x["L"], x["roots"], list(x["w"])))
            way = v * (0.5 * x["h"][0])
            return {"q": moved(self.model, x["middle"], along(self.model, way)), "v": v, "way": way}

        return self._record(function, ("middle", "free", "L", "roots", "w", "h"), "arrival")

    @cached_property
    def energy(self) -> Program:
        """Kinetic and potential energy."""

        def function(**x: Array) -> Mapping[str, Any]:
            return {"energies": self._energies(x, x["q"], x["v"])}

        return self._record(function, ("t", "q", "v", "live"), "energy")

    @cached_property
    def check(self) -> Program:
        """Energies and gaps at q, v."""

        def function(**x: Array) -> Mapping[str, Any]:
            return arrays(energies=self._energies(x, x["q"], x["v"]), gaps=self._gaps(x, x["q"]))

        return self._record(function, ("t", "q", "v", "live"), "check")

    @cached_property
    def depth(self) -> Program:
        """Displacements that take penetrations back, with normal impulses that change no rate: the problem, and the
        first sweep; whether there is anything to do."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones, G, inverse = self._cones(x)
            owed, h = x["owed"][0], x["h"][0]
            busy, deep, due, left = self._deep(cones, x["gaps"], x["P"], x["energies"][0], owed, h)
            G, inverse = self._of_normals(G), self._of_normals(inverse)
            P: list[Any] = [0.0] * len(cones.cones)
            w: list[Any] = [0.0] * self.model.nv
            for _ in range(AFTER):
                deep.sweep(P, w, inverse)
            r = deep.residual(P, w, G, inverse) * DEPTH_UNIT
            return arrays(deep_b=deep.b, deep_P=P, deep_w=w, deep_r=[r], busy=[busy], due=[due], left=[left])

        names = "X", "b", "G", "mu", "gaps", "P", "energies", "owed", "h"
        return self._record(function, names, "depth")

    @cached_property
    def depth_round(self) -> Program:
        """As :attr:`round`, for the correction of depth."""

        def function(**x: Array) -> Mapping[str, Any]:
            cones, G, inverse = self._cones(x)
            deep, G, inverse = cones.normals(list(x["deep_b"])), self._of_normals(G), self._of_normals(inverse)
            P, w, r = x["deep_P"], x["deep_w"], x["deep_r"][0]
            names = "deep_P", "deep_w", "deep_r"
            return dict(zip(names, one_round(deep, G, inverse, P, w, r, DEPTH_UNIT), strict=True))

        return self._record(function, ("X", "b", "G", "mu", "deep_b", "deep_P", "deep_w", "deep_r"), "depth_round")

    @cached_property
    def lift(self) -> Program:
        """q and the way to it with the correction of depth."""

        def function(**x: Array) -> Mapping[str, Any]:
            q, way = self._lifted(x["middle"], x["L"], x["roots"], x["way"], list(x["deep_w"]))
            return {"q": q, "way": way}

        return self._record(function, ("middle", "L", "roots", "way", "deep_w"), "lift")

    @cached_property
    def bound(self) -> Program:
        """v with the energy that the step may have, and whether it ends at rest because there is less."""

        def function(**x: Array) -> Mapping[str, Any]:
            s, short = self._share(x, x["tau"], x["v0"], x["way"], x["P"], x["start"], x["energies"], x["lifted"][0])
            return arrays(v=s * x["v"], short=[short])

        names = "tau", "v0", "way", "P", "start", "energies", "lifted", "h", "v"
        return self._record(function, names, "bound")

    def _energies(self, x: Mapping[str, Array], q: Array, v: Array) -> Array:
        if self.energy_law == UNKNOWN:
            return np.zeros(2)
        net, on = self.kernels.scene(x["t"][0], x["live"])
        return energies(net, on, q, v)[0]

    def _gaps(self, x: Mapping[str, Array], q: Array) -> list[Any]:
        """Of all cones at q."""
        net, on = self.kernels.scene(x["t"][0], x["live"])
        gaps, low, high = contact_gaps(net, on, self.step.candidates, q), *limits_of(self.model, "model", WHO)
        found: list[Any] = []
        for number, coordinate in (self.pattern.places[cone.normal] for cone in self.pattern.cones):
            if number >= 0:
                found.append(gaps[number])
            else:
                below, above = q[coordinate] - float(low[coordinate]), float(high[coordinate]) - q[coordinate]
                ends = [x for x, end in ((below, low), (above, high)) if np.isfinite(end[coordinate])]
                found.append(ends[0] if len(ends) == 1 else minimum(below, above))
        return found

    def _share(
        self, x: Mapping[str, Array], tau: Array, v0: Array, way: Array, P: Any, start: Array, end: Array, lifted: Any
    ) -> tuple[Any, Any]:
        """By which factor the rates at the end have the energy that they may have; 1 where even none is too much."""
        if self.energy_law == UNKNOWN:
            return 1.0, 0.0
        (T0, U0), (T1, U1) = start, end
        excess = T1 + U1 - (T0 + U0 + tau @ (v0 * (0.5 * x["h"][0]) + way) + lifted)
        within = ROUNDING * (T0 + T1 + abs(U0) + abs(U1))
        size: Any = 0.0
        for p in P:
            size = size + abs(p)
        kept = where(size > 0.0, 0.0, MOST_ADDED * T1) if self.energy_law == KEPT_ENERGY else 0.0
        excess = where(excess > within, excess, where(excess < -within, maximum(excess, -kept), 0.0))
        some = T1 > LEAST_ENERGY
        left = (T1 - minimum(excess, T1)) / where(some, T1, 1.0)
        return where(some, np.sqrt(left), 1.0), where(excess > T1, 1.0, 0.0)

    def _of_normals(self, x: Sequence[Any]) -> list[Any]:
        return [x[cone.normal] for cone in self.pattern.cones]

    def _deep(
        self, cones: WhitenedCones, gaps: Any, P: Any, T: Any, owed: Any, h: Any
    ) -> tuple[Any, WhitenedCones, Any, Any]:
        """Whether there is anything to do, and the rows of the correction: no open row may close, and others go back
        to the surface, or to what the end of the step may leave of the depth ``owed`` by a start. Where nothing is to
        be done, all are apart. Then the part of the lift that is due to a start, and the depth that is left of it."""
        deepest, pushed = depth_of(gaps), P[self.pattern.cones[0].normal]
        for cone in self.pattern.cones[1:]:
            pushed = pushed + P[cone.normal]
        waits = where(deepest <= SHALLOW, where(PATIENCE * deepest * pushed / h < T, 1.0, 0.0), 0.0)
        start = minimum(owed, deepest)
        left = where(start > LITTLE, maximum((1.0 - BACK) * start, start - FASTEST_BACK * h), 0.0)
        busy = where(deepest > left + DEPTH, 1.0 - waits, 0.0)
        wanted = [where(gap > 0.0, gap, maximum(minimum(gap + left, 0.0), -FASTEST_BACK * h)) for gap in gaps]
        b = [where(busy > 0.0, gap, APART) for gap in wanted]
        due = where(busy > 0.0, (start - left + DEPTH) / where(busy > 0.0, deepest - left, 1.0), 0.0)
        due = where(owed > 0.0, due, 0.0)
        return busy, cones.normals(b), due, where(waits > 0.0, 0.0, left)

    def _lifted(self, middle: Array, L: Array, roots: Array, way: Any, deep_w: Any) -> tuple[Any, Any]:
        more = np.array(coloured(self.pattern.inboard, L, roots, list(deep_w)))
        largest: Any = LEAST
        for x in more:
            largest = maximum(largest, abs(x))
        way = way + more * minimum(1.0, LARGEST_SHIFT / largest)
        return moved(self.model, middle, along(self.model, way)), way

    # ------------------------------------------------------------------ derivatives
    @cached_property
    def solved(self) -> Program:
        """q, v after a step whose impulses P are known, by one Newton step from them: its derivatives at a solution are
        those of the step with who touches, sticks and slides held, exact up to SOFT, as the derivative of a Newton
        step by its start vanishes there."""

        def function(**x: Array) -> Mapping[str, Any]:
            known, h, v0, middle = self._rows(x), x["h"][0], x["v"], x["middle"]
            P, G = list(x["P"]), known.cones.diagonal()
            cones, inverse = known.cones.without_dead_centres(G, APART), [1.0 / g for g in G]
            P, w = cones.newton(P, cones.total(P), inverse)
            v = known.free + np.array(coloured(self.pattern.inboard, known.L, known.roots, list(w)))
            way = v * (0.5 * h)
            q = moved(self.model, middle, along(self.model, way))
            end, lifted = self._energies(x, q, v), 0.0
            if self.pattern.cones:
                before, deep_P = end[1] - x["tau"] @ way, list(x["deep_P"])
                at_first = self._gaps(x, moved(self.model, middle, along(self.model, v0 * (-0.5 * h))))
                owed = where(x["owed"][0] > 0.0, depth_of(at_first), x["owed"][0])
                _, deep, due, _ = self._deep(cones, self._gaps(x, q), P, end[0], owed, h)
                _, deep_w = deep.newton(deep_P, deep.total(deep_P), self._of_normals(inverse))
                q, way = self._lifted(middle, known.L, known.roots, way, deep_w)
                end = self._energies(x, q, v)
                lifted = due * maximum(end[1] - x["tau"] @ way - before, 0.0)
            if self.energy_law == UNKNOWN:
                return {"q": q, "v": v}
            start = self._energies(x, moved(self.model, middle, along(self.model, v0 * (-0.5 * h))), v0)
            s, short = self._share(x, x["tau"], v0, way, P, start, end, lifted)
            return {"q": q, "v": where(short > 0.0, 0.0, s) * v}

        return self._record(function, (*KNOWN, "P", "deep_P", "owed"), "solved")

    @cached_property
    def adjoint(self) -> Program:
        """Weights of middle, v, tau, live for those of q and v after the step."""
        return pullback(self.solved, ["q", "v"], ["middle", "v", "tau", "live"])


def depth_of(gaps: Sequence[Any]) -> Any:
    """The deepest of penetrations; negative where nothing touches."""
    deepest = -gaps[0]
    for gap in gaps[1:]:
        deepest = maximum(deepest, -gap)
    return deepest
