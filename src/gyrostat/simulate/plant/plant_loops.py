"""The loops of a plant that are constraints: equations and projections on numbers, by the same machine code as in the
steps; and where a run begins."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.constraint import BILATERAL, ConstraintRows
from gyrostat.algorithms.constrained.loop_equations import row_names
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.engine.drivers.driver import driver
from gyrostat.errors import LoopError, NonFiniteError
from gyrostat.graph.loops.explain import unknown_names
from gyrostat.graph.network import Network
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.loop_margins import passed_the_end
from gyrostat.simulate.kernels.loop_projection import closed_rows, equation_rows
from gyrostat.simulate.plant.loop_settings import LoopSettings

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"
CLOSED = 1e-8
"""How far [m, or of directions] loops may be open at the start."""
STILL = 1e-6
"""How fast [m/s, 1/s] they may open there, relative to one plus the rates; what is below is taken away."""


class Rows(NamedTuple):
    """g (..., m), J (..., m, nv), b (..., m) = dJ/dt v of the equations that say something new."""

    g: Array
    J: Array
    bias: Array


class PlantLoops:
    """Of a plant with ``settings``; ``rows``: number of equations, ``loops``: the closure that each belongs to."""

    def __init__(self, plant: Plant, settings: LoopSettings):
        self.plant, self.settings = plant, settings
        self.structure = loop_structure(plant.network)
        every = row_names(plant.network)
        self.loops = [every[i][0] for i in self.structure.rows]
        self.count = len(self.structure.rows)
        self.holonomic = np.array([every[i][0].equations[every[i][1]].holonomic for i in self.structure.rows], bool)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """How messages call the loop of each equation."""
        return tuple(closure.name for closure in self.loops)

    # ------------------------------------------------------------------ at states
    def equations(self, q: Array, v: Array | None = None) -> Rows:
        """At q (..., nq) and v (..., nv)."""
        machine, n, m = self.plant.machine, self.plant.nv, self.count
        machine.need(at.LOOP_ROWS)
        rows = np.ascontiguousarray(q, dtype=float).reshape(-1, self.plant.nq)
        rates = np.zeros((len(rows), n)) if v is None else np.ascontiguousarray(v, dtype=float).reshape(-1, n)
        g, J, b = np.empty((len(rows), m)), np.empty((len(rows), m, n)), np.empty((len(rows), m))
        places = [machine.place_of(x) for x in (rows, rates, g, J, b)]
        driver(equation_rows).call(machine.env, len(rows), *places)
        machine.expect_no_abort()
        lead = np.shape(q)[:-1]
        return Rows(g.reshape(*lead, m), J.reshape(*lead, m, n), b.reshape(*lead, m))

    def closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """States (..., nq), (..., nv) projected onto closed loops; as they are where states are not projected."""
        if not self.settings.projects:
            return q, v
        machine, lead = self.plant.machine, np.shape(q)[:-1]
        rows = np.array(q, dtype=float, order="C").reshape(-1, self.plant.nq)
        rates = np.array(v, dtype=float, order="C").reshape(-1, self.plant.nv)
        machine.refresh()
        done = driver(closed_rows).call(machine.env, len(rows), machine.place_of(rows), machine.place_of(rates))
        machine.expect_no_abort()
        if done < len(rows):
            raise NonFiniteError(f"{WHO}: {self.trouble(rows[done]) or 'loops cannot be closed'}")
        return rows.reshape(*lead, self.plant.nq), rates.reshape(*lead, self.plant.nv)

    # ------------------------------------------------------------------ the start of a run
    def expect_closed(self, q: Array, who: str = "q0", before: Array | None = None) -> None:
        """Refuse a configuration (nq,) in which a loop is open; by more than at the configuration ``before``, if there
        is one."""
        g = np.abs(self.equations(q).g)
        worst = int(np.argmax(g)) if len(g) else 0
        allowed = CLOSED + (0.0 if before is None else 2.0 * float(np.abs(self.equations(before).g).max(initial=0.0)))
        if len(g) and not g[worst] <= allowed:
            closure = self.loops[worst]
            raise LoopError(
                f"{WHO}: {who} leaves the loop '{closure.name}' ({closure.loop}) open by {g[worst]:.3g} (m, or of a "
                f"direction), expected {CLOSED:g} at most. Hint: gs.close(model, q0) closes it",
                [closure.loop.entities],
            )

    def begun(self, q: Array, v: Array, names: tuple[str, str] = ("q0", "v0")) -> tuple[Array, Array]:
        """The state that a run begins with, or goes on from: q0 closed to rounding, v0 without what rounding lets it
        open. Refused are loops that are open, or that v0 opens."""
        self.expect_closed(q, names[0])
        rows = self.equations(q, v)
        speed = np.abs(rows.J @ v)
        worst = int(np.argmax(speed)) if len(speed) else 0
        if len(speed) and not speed[worst] <= STILL * (1.0 + float((np.abs(rows.J) @ np.abs(v))[worst])):
            closure = self.loops[worst]
            if closure.rolls:
                raise LoopError(
                    f"{WHO}: {names[1]} lets the wheel '{closure.name}' slip, or leave its plane, with "
                    f"{speed[worst]:.3g} m/s, expected that it rolls. Hint: gs.close(model, q0, v0)[1] are the nearest "
                    "rates with which it does",
                    [closure.loop.entities],
                )
            raise LoopError(
                f"{WHO}: {names[1]} opens the loop '{closure.name}' ({closure.loop}) with {speed[worst]:.3g} (m/s, or "
                "of a direction), expected that it stays closed. Hint: gs.close(model, q0, v0)[1], or rates of all "
                "joints in it",
                [closure.loop.entities],
            )
        return self.closed(q, v)

    # ------------------------------------------------------------------ what is wrong
    def trouble(self, q: Array) -> str:
        """Which loop is near a singular position at q (nq,), in words; "" if none is."""
        rows = self.equations(q)
        if not np.isfinite(rows.J).all():
            return ""
        u, s, _ = np.linalg.svd(rows.J, full_matrices=False)
        if not len(s) or s[-1] > NEAR * s[0]:
            return ""
        worst = int(np.argmax(np.abs(u[:, -1])))
        return (
            f"the loop '{self.loops[worst].name}' ({self.loops[worst].loop}) is near a singular position: its "
            f"equations are {s[-1] / max(s[0], 1e-300):.2g} from depending on each other, as parts of the largest"
        )


NEAR = 0.02
"""Least singular value of the equations, as a part of the largest, that is told as near a singular position."""
WORKSPACE = "choose independent coordinates that never turn back, independent=[...], or loops='constraints'"
AT_THE_END = 0.05
"""Part of its reach within which an unknown of a closed form is told as near its end."""


def trouble_with_loops(plant: Plant, q: Array) -> str:
    """Which loop is at the end of its reach, or near a singular position, at q (nq,), in words; "" if none is."""
    return end_of_workspace(plant.network, q) if plant.loops is None else plant.loops.trouble(q)


def end_of_workspace(network: Network, q: Array) -> str:
    """Which loop in closed form is at the end of its reach at q (nq,), in words; "" if none is."""
    found: list[tuple[float, str]] = []
    for closure, slots, margins in network.transmission.loop_margins(q):
        for margin, *_ in margins:
            names = unknown_names(network, closure, slots)
            words = (
                f"the loop '{closure.name}' ({closure.loop}) is near the end of its workspace, a singular position of "
                f"{names}: what is under its root is {float(margin):.2g} of its largest value"
            )
            found.append((float(margin), words))
    least = min(found, default=(1.0, ""))
    return least[1] if least[0] < AT_THE_END or np.isnan(least[0]) else ""


def left_workspace(plant: Plant, h: float, q1: Array, v1: Array) -> bool:
    """Whether a step of h [s] to (q1, v1) has passed the end of the workspace of a loop in closed form."""
    if not plant.margins:
        return False
    machine = plant.machine
    q, v = np.array(q1, dtype=float), np.array(v1, dtype=float)
    return bool(driver(passed_the_end).call(machine.env, h, machine.place_of(q), machine.place_of(v)))


def as_constraint(loops: PlantLoops) -> ConstraintRows:
    """The loops as bilateral rows beside stops and friction."""
    return ConstraintRows(
        names=tuple(f"loop {name}" for name in loops.names),
        residual=lambda q: np.zeros(loops.count) if q.dtype == object else loops.equations(q).g,  # recorded: unwatched
        jacobian=lambda q: loops.equations(q).J,
        side=np.full(loops.count, BILATERAL),
        bias=lambda q, v: loops.equations(q, v).bias,
    )
