"""The optimal control problem of a gait: phases, what links them, their grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.configuration.limits import limits_of
from gyrostat.solvers.legs.reduced_dynamics import ReducedDynamics
from gyrostat.studies.gaits.collocation import Collocation, Link, Segment
from gyrostat.studies.gaits.conditions import (
    effort_limit,
    rows_of,
    running_cost,
    speed_limit,
    standing_rows,
    total_weight,
    unloading_row,
)
from gyrostat.studies.gaits.directional_function import DirectionalFunction
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.stance_functions import Row, Scales, StanceFunctions
from gyrostat.studies.gaits.touch_down import TouchDown

Array = np.ndarray
DENSE = 0.8
"""How much denser the first grid is at its ends: 0 is even, 1 that of Chebyshev."""
FAR, FAST = 10.0, 10.0
"""Bounds of the base: shift [m], rates [rad/s, m/s]."""


@dataclass(frozen=True, eq=False)
class GaitProblem:
    """``functions`` and ``programme`` of all phases; ``touch_downs`` with an impact, by the phase that they begin."""

    gait: Gait
    functions: tuple[StanceFunctions, ...]
    touch_downs: dict[int, TouchDown]
    programme: Collocation


def gait_problem(gait: Gait, cost_scale: float = 1.0) -> GaitProblem:
    """Everything but the numbers of a solution."""
    blocks = gait.robot.closed_forms()
    functions, segments = [], []
    scales = Scales(u=0.05 * total_weight(gait))
    for k, phase in enumerate(gait.phases):
        stand = [gait.robot.foot(name) for name in phase.feet]
        contacts = [FrameContact(f.frame, f.kind) for f in stand]
        legs = {f.frame: blocks[f.frame] for f in stand} if stand else None
        reduced = ReducedDynamics(gait.model, contacts, legs=legs, q0=gait.q0)
        for c, foot in enumerate(stand):
            reduced.stance[c] = np.eye(4)
            reduced.stance[c][:3, 3] = gait.place(foot.name, 0.5 * (phase.start + phase.end))
        rows = rows_of(gait, phase)
        inner = len(rows)
        first, last = _end_rows(gait, k)
        made = StanceFunctions(gait.robot, reduced, running_cost, [*rows, *first, *last], scales)
        functions.append(made)
        F = DirectionalFunction(made.point, made.size, {"t": (1,), "weights": (3,)}, f"{gait.model.name}_gait_{k}")
        N = gait.intervals[k]
        low, high = _variable_bounds(gait, made)
        row_low, row_high = _row_bounds(made, inner, len(first), N)
        segments.append(
            Segment(
                F,
                made.ny,
                (phase.end - phase.start) * gait.usual_period,
                dense_ends(N),
                np.tile(low, (N + 1, 1)),
                np.tile(high, (N + 1, 1)),
                row_low,
                row_high,
            )
        )
    touch_downs = _touch_downs(gait, functions)
    passages = [t.passage((k - 1) % len(functions), k) for k, t in touch_downs.items()]
    links = _links(gait, functions, touch_downs)
    shortest, longest = gait.periods
    stretch = None if shortest == longest else (shortest / gait.usual_period, longest / gait.usual_period)
    programme = Collocation(segments, links, gait.weights, cost_scale, passages, stretch)
    return GaitProblem(gait, tuple(functions), touch_downs, programme)


def _touch_downs(gait: Gait, functions: list[StanceFunctions]) -> dict[int, TouchDown]:
    """By the number of the phase that begins with an impact."""
    if gait.landing == "rest":
        return {}
    return {
        k: TouchDown(gait, functions[k - 1], functions[k], gait.mirror if k == 0 and gait.symmetric else None)
        for k, phase in enumerate(gait.phases)
        if phase.landing
    }


def _end_rows(gait: Gait, k: int) -> tuple[list[Row], list[Row]]:
    """Conditions at the first and at the last point of a phase."""
    phase, first, last = gait.phases[k], [], []
    s = 0.5 * (phase.start + phase.end)
    weight = total_weight(gait)
    for foot in gait.robot.feet:
        if foot.name in phase.feet:
            continue
        lift, land = gait.swing(foot.name, s)
        if abs(lift - phase.start) < 1e-6:
            moving = gait.landing == "impact" and bool(phase.landing)  # the impact has set it in motion
            first += standing_rows(foot, gait.place(foot.name, lift - 1e-6), "leaves")[: 1 if moving else 2]
        if abs(land - phase.end) < 1e-6:
            moving = gait.landing == "impact"
            last += standing_rows(foot, gait.place(foot.name, land + 1e-6), "reaches")[: 1 if moving else 2]
    landing = any(abs(gait.swing(f.name, s)[1] - phase.end) < 1e-6 for f in gait.robot.feet if f.name not in phase.feet)
    if gait.lift_off and not landing and len(phase.lifting) < max(len(phase.feet), 2):
        last += [unloading_row(gait.robot.foot(name), weight) for name in phase.lifting]
    return first, last


def _row_bounds(made: StanceFunctions, inner: int, first: int, N: int) -> tuple[Array, Array]:
    """Bounds (N + 1, r): conditions at ends have none elsewhere; what they decide is not asked for twice."""
    low, high, owners = made.row_bounds
    row_low, row_high = np.tile(low, (N + 1, 1)), np.tile(high, (N + 1, 1))
    starts, stops = (owners >= inner) & (owners < inner + first), owners >= inner + first
    row_low[1:, starts], row_high[1:, starts] = -np.inf, np.inf
    row_low[:-1, stops], row_high[:-1, stops] = -np.inf, np.inf
    names = [row.name for row in made.rows]
    for j, k in enumerate(owners):
        what, _, whose = names[k].partition(" ")
        if what == "clearance":  # feet stand at the ends of a swing
            row_low[0, j] = -np.inf if f"leaves place {whose}" in names else row_low[0, j]
            row_low[-1, j] = -np.inf if f"reaches place {whose}" in names else row_low[-1, j]
        if what in ("force", "friction", "pressure") and f"unloaded {whose}" in names:
            row_low[-1, j] = -np.inf
    return row_low, row_high


def _variable_bounds(gait: Gait, made: StanceFunctions) -> tuple[Array, Array]:
    model = gait.model
    low, high = limits_of(model, "model", "gait")
    z = np.full(made.size, np.inf)
    lower, upper = -z, z
    base_x, base_v = [gait.tilt] * 3 + [FAR] * 3, [FAST] * 6
    for i, rate in enumerate(made.independent):
        if rate < 6:
            top, fast = base_x[rate], base_v[rate]
            lower[i], upper[i] = -top, top
        else:
            joint = model.dofs[rate]
            at = model.layout.of[joint].q.start
            lower[i], upper[i], fast = low[at], high[at], speed_limit(model, joint)
        lower[made.n + i], upper[made.n + i] = -fast, fast
    for j, rate in enumerate(made.driven):
        top = effort_limit(model, model.dofs[rate])
        lower[made.ny + j], upper[made.ny + j] = -top, top
    return lower / made.scale, upper / made.scale


def _links(gait: Gait, functions: list[StanceFunctions], touch_downs: Mapping[int, TouchDown]) -> list[Link]:
    """Coordinates go on, and rates where nothing strikes."""
    links = []
    n = len(functions)
    for b in range(n):
        a = (b - 1) % n
        mirrored = b == 0 and gait.symmetric
        one, two = functions[a], functions[b]
        for i, rate in enumerate(two.independent):
            source = gait.mirror.partner[rate] if mirrored else rate
            sign = gait.mirror.sign[rate] if mirrored else 1.0
            if source not in one.independent:
                continue
            j = one.independent.index(source)
            shift = -gait.stride * gait.part if b == 0 and rate == 3 else 0.0
            links.append(Link(a, j, b, i, sign, shift / two.scale[i]))
            if b not in touch_downs:
                links.append(Link(a, one.n + j, b, two.n + i, sign, 0.0))
    return links


def dense_ends(intervals: int) -> Array:
    """A grid (intervals + 1,) from 0 to 1: where phases begin and end forces change fastest."""
    s = np.linspace(0.0, 1.0, intervals + 1)
    return (1.0 - DENSE) * s + DENSE * (0.5 - 0.5 * np.cos(np.pi * s))
