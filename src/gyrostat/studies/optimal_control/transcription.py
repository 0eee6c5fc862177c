"""From phases to a nonlinear program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, nearest
from gyrostat.studies.optimal_control.compiled_phase import CompiledPhase, servable
from gyrostat.studies.optimal_control.flow import Flow
from gyrostat.studies.optimal_control.free_numbers import FreeNumbers
from gyrostat.studies.optimal_control.grid import Grid
from gyrostat.studies.optimal_control.hermite_simpson import HermiteSimpson
from gyrostat.studies.optimal_control.links import Link, own_link, passage
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.periodicity import Periodicity
from gyrostat.studies.optimal_control.phase import Phase, running_cost
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations, PlacedConditions, PlacedCost
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point import Point
from gyrostat.studies.optimal_control.point_functions import PointFunction, RecordedConditions
from gyrostat.studies.optimal_control.point_limits import motor_conditions, point_bounds
from gyrostat.studies.optimal_control.radau import Radau
from gyrostat.studies.optimal_control.state_data import given_state

Array = np.ndarray
METHODS = ("hermite-simpson", "radau")


@dataclass(frozen=True, eq=False)
class PhaseFunctions:
    """What is recorded and compiled for a phase; the same on every grid."""

    space: PhaseSpace
    flow: Flow
    conditions: tuple[tuple[str, RecordedConditions], ...]
    end_cost: PointFunction | None


@dataclass(frozen=True, eq=False)
class Recorded:
    """All phases and links, recorded."""

    phases: tuple[PhaseFunctions, ...]
    links: tuple[Link, ...]
    free: FreeNumbers


def recorded(
    phases: Sequence[Phase], parameters: Mapping[str, Any], periodic: Periodicity | None, link: Any
) -> Recorded:
    """Record what the phases say; compiling is left until numbers are asked for."""
    free = FreeNumbers.read(phases, parameters)
    spaces = [PhaseSpace(phase, k, free) for k, phase in enumerate(phases)]
    functions = [_functions(spaces, k, periodic) for k in range(len(phases))]
    links: list[Link] = []
    for k in range(len(phases) - 1):
        links.append(passage((spaces[k], spaces[k + 1]), (k, k + 1), phases[k].reset, None))
    last = len(phases) - 1
    if periodic is not None:
        links.append(passage((spaces[last], spaces[0]), (last, 0), phases[last].reset, periodic))
    elif phases[last].reset is not None:
        raise GyrostatError(
            f"{spaces[last].who}: reset says how the state goes on, and nothing follows. "
            "Hint: periodic=True, or no reset"
        )
    if link is not None:
        links.append(own_link((spaces[last], spaces[0]), (last, 0), link))
    return Recorded(tuple(functions), tuple(links), free)


def _functions(spaces: Sequence[PhaseSpace], k: int, periodic: Periodicity | None) -> PhaseFunctions:
    space, phase = spaces[k], spaces[k].phase
    found: list[tuple[str, RecordedConditions]] = []

    def add(what: str, function: Any, bare_high: float, name: str) -> None:
        conditions = RecordedConditions(space, function, bare_high, name, True)
        if conditions.function.rows:
            found.append((what, conditions))

    if phase.path is not None:
        add("path", phase.path, np.inf, "path")
    motors = motor_conditions(space)
    if motors is not None:
        add("path", motors, np.inf, "motors")
    for what in ("start", "end"):
        given = getattr(phase, what)
        if callable(given):
            add(what, given, 0.0, what)
    resting = _must_come_to_rest(spaces, k, periodic)
    if resting is not None:
        add("start", resting, 0.0, "standing")
    end_cost = None
    if phase.end_cost is not None:

        def outputs(z: Array, y: Array, clock: Array, spent: Array) -> Array:
            value = phase.end_cost(Point(space, space.split(z, clock, spent), y))
            return np.asarray([value], dtype=object).reshape(1)

        end_cost = PointFunction(space, outputs, "end_cost")
    return PhaseFunctions(space, Flow(space, running_cost(phase)), tuple(found), end_cost)


def _must_come_to_rest(spaces: Sequence[PhaseSpace], k: int, periodic: Periodicity | None) -> Any:
    """Rows that make contacts and loops stand at the start, where nothing before sees to that."""
    space = spaces[k]
    if space.ny == space.n:
        return None
    before = spaces[k - 1] if k > 0 else spaces[-1] if periodic is not None else None
    contacts = list(range(space.ny - space.n))
    if before is not None and before.phase.reset == "impact":
        return None
    if before is not None and not callable(before.phase.reset):
        names = periodic.partners if periodic is not None and k == 0 else {}
        stood = {(names.get(h.contact.frame, h.contact.frame), str(h.contact.kind)) for h in before.held}
        rows = [i for h in space.held for i in range(h.at.start, h.at.stop)
                if (h.contact.frame, str(h.contact.kind)) not in stood]  # fmt: skip
        contacts = rows
    if not contacts:
        return None
    loops = before is None and bool(space.loop_rows)

    def rows_at_rest(s: Any) -> Array:
        velocity = space.constraint_velocity(s._split)[contacts]
        return np.concatenate([velocity, space.loop_positions(s._split)]) if loops else velocity

    return rows_at_rest


# ------------------------------------------------------------------------------------------------ on a grid
def transcribed(known: Recorded, edges: Sequence[Array], method: str, stages: int) -> NonlinearProgram:
    """The nonlinear program on grids ``edges`` (N + 1,) of the phases."""
    if method not in METHODS:
        raise GyrostatError(f"optimal_control: no method {method!r}. Hint: {nearest(str(method), METHODS)}")
    free, first = known.free, 0
    fixed_start, per_start = 0.0, np.zeros(free.size)
    phases: list[PhaseEquations] = []
    lower, upper, low, high = [], [], [], []
    linear_rows: list[list[tuple[int, float]]] = []
    for p, own in zip(known.phases, edges, strict=True):
        phase = p.space.phase
        per = np.zeros(free.size)
        if phase.free_duration:
            per[free.duration(p.space.number)] = 1.0
        fixed = 0.0 if phase.free_duration else float(phase.duration)
        grid = Grid(np.asarray(own, dtype=float), fixed, per, fixed_start, per_start)
        fixed_start, per_start = fixed_start + fixed, per_start + per
        rule: Any = HermiteSimpson(p.flow, grid) if method == "hermite-simpson" else Radau(p.flow, grid, stages)
        places = {"path": np.arange(rule.points), "start": np.array([0]), "end": np.array([rule.points - 1])}
        conditions = [PlacedConditions(c, places[what], what) for what, c in p.conditions]
        costs = [] if p.end_cost is None else [PlacedCost(p.end_cost, places["end"])]
        kind = CompiledPhase if servable(p.flow, rule) else PhaseEquations
        equations = kind(p.flow, rule, conditions, costs, first)
        phases.append(equations)
        first += equations.size
        a, b = _bounds(p.space, rule.points)
        lower.append(a.ravel())
        upper.append(b.ravel())
        low += [np.zeros(equations.defects), *(np.tile(c.recorded.low, len(c.at)) for c in conditions)]
        high += [np.zeros(equations.defects), *(np.tile(c.recorded.high, len(c.at)) for c in conditions)]
        if method == "radau":
            linear_rows += _first_controls(equations, stages)
    for link in known.links:
        low.append(link.low)
        high.append(link.high)
    impulses = sum(link.impulses for link in known.links)
    lower += [free.low, np.full(impulses, -np.inf)]
    upper += [free.high, np.full(impulses, np.inf)]
    low.append(np.zeros(len(linear_rows)))
    high.append(np.zeros(len(linear_rows)))
    triplets = [(i, j, x) for i, row in enumerate(linear_rows) for j, x in row]
    rows, cols, values = (np.array(x) for x in zip(*triplets, strict=True)) if triplets else (np.zeros(0),) * 3
    return NonlinearProgram(
        phases, known.links, first + np.arange(free.size), np.concatenate(lower), np.concatenate(upper),
        np.concatenate(low), np.concatenate(high), (rows.astype(int), cols.astype(int), values.astype(float)),
    )  # fmt: skip


def _bounds(space: PhaseSpace, points: int) -> tuple[Array, Array]:
    """Bounds (points, nw), with what is given as data at the ends."""
    low, high = (np.tile(x, (points, 1)) for x in point_bounds(space))
    for k, what in ((0, "start"), (-1, "end")):
        given = getattr(space.phase, what)
        if not isinstance(given, Mapping):
            continue
        state = given_state(space, given, what)
        known = np.flatnonzero(np.isfinite(state))
        outside = known[(state[known] < low[k, known] - 1e-9) | (state[known] > high[k, known] + 1e-9)]
        if len(outside):
            i = int(outside[0])
            name = (*space.model.dofs, *(f"rate of {d}" for d in space.model.dofs))[i]
            raise GyrostatError(
                f"{space.who}: {what} gives {state[i]:g} to '{name}', which is limited to [{low[k, i]:g}, "
                f"{high[k, i]:g}]. Hint: look at the limits of the joint, or limits=None"
            )
        low[k, known] = high[k, known] = state[known]
    return low, high


def _first_controls(p: PhaseEquations, stages: int) -> list[list[tuple[int, float]]]:
    """Controls at the first point, which no collocation point has: those of the polynomial through the next ones."""
    c = p.rule.fractions[1 : stages + 1] / p.rule.grid.shares[0]
    weights = [float(np.prod([-c[j] / (c[i] - c[j]) for j in range(stages) if j != i])) for i in range(stages)]
    rows = []
    for k in range(2 * p.flow.n, p.nw):
        rows.append([(p.first + k, 1.0), *((p.first + (i + 1) * p.nw + k, -w) for i, w in enumerate(weights))])
    return rows
