"""What contacts do along a run: impacts, and which of them are closed, stick or slide from now on.

1. contacts that approach where they touch have an impact, with all that touches      (contact_impacts)
2. bounces that would go on without end within a short time are over                   (contact_impacts)
3. contacts that touch without speed are closed where they push, leave where they would have to pull; their friction
   sticks within its cone, or slides                                                   (contact_balance)"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.active_set import ActiveRows
from gyrostat.algorithms.constrained.constraint_set import Active
from gyrostat.errors import StateError
from gyrostat.simulate.constraints.contact_balance import AtRest, Balance, shared_load
from gyrostat.simulate.constraints.contact_impacts import AT_REST, Impacts
from gyrostat.simulate.constraints.contact_margins import margins
from gyrostat.simulate.constraints.contact_problem import Touching
from gyrostat.simulate.constraints.penetration import AT
from gyrostat.simulate.constraints.stick_slip import StickSlip
from gyrostat.simulate.plant.contact_phases import NAMES, OPEN, SLIDE, STICK, ContactPhases, ContactRules, ContactState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"
BEYOND = 1e-6
"""Force, relative to the largest, that is beyond a limit by more than errors."""
DRIFT = 1e-6
"""How far [m] a closed contact may have drifted, by the errors of a method, and is still there."""


class Impulse(NamedTuple):
    """Of a contact ``name`` at the time ``t`` [s]: ``impulse`` (3,) [N s] on a in contact axes (normal, t1, t2)."""

    t: float
    name: str
    impulse: Array


class ContactPhase(NamedTuple):
    """A contact ``name`` is in a ``phase``, "open", "stick" or "slide", from ``t_start`` to ``t_end`` [s]."""

    t_start: float
    t_end: float
    name: str
    phase: str


class ContactChange(NamedTuple):
    """A contact ``name`` is hit ("impact"), begins to "stick" or "slide", or leaves ("lift-off") at the time ``t``."""

    t: float
    name: str
    kind: str


@dataclass(eq=False)
class ContactHistory:
    """What a run tells of its contacts."""

    names: tuple[str, ...]
    impulses: list[Impulse] = field(default_factory=list)
    spans: list[ContactPhase] = field(default_factory=list)
    since: dict[int, tuple[float, int]] = field(default_factory=dict)

    def enters(self, i: int, t: float, phase: int) -> None:
        """Contact i is in a phase from t on."""
        if i in self.since and self.since[i][1] != phase:
            start, before = self.since[i]
            if t > start:
                self.spans.append(ContactPhase(start, t, self.names[i], NAMES[before]))
            self.since[i] = t, phase
        self.since.setdefault(i, (t, phase))

    def phases(self, t_end: float) -> tuple[ContactPhase, ...]:
        """All of them, up to the end of the run, in the order of their beginnings."""
        last = [
            ContactPhase(start, t_end, self.names[i], NAMES[phase])
            for i, (start, phase) in self.since.items()
            if t_end > start
        ]
        return tuple(sorted([*self.spans, *last], key=lambda x: (x.t_start, x.name)))


class ContactTransitions:
    """The contacts of a plant along a run."""

    def __init__(self, plant: Plant, contacts: ContactRules, law: str, friction: StickSlip | None):
        self.plant, self.contacts, self.friction = plant, contacts, friction
        self.impacts, self.history = Impacts(plant, law), ContactHistory(contacts.names)
        self.leaves: set[int] = set()
        self.slips: dict[int, Array] = {}
        self.stopped: set[int] = set()
        self.carried = np.zeros(len(contacts), dtype=bool)
        self._known: tuple[Array, Array] | None = None

    @property
    def phases(self) -> ContactPhases:
        """As they are now."""
        return self.plant.active.contacts  # type: ignore[return-value]

    @property
    def closed(self) -> Array:
        """(k,) bool: contacts that are closed, or were when the model changed."""
        return (self.phases.phase != OPEN) | self.carried

    @property
    def closed_names(self) -> frozenset[str]:
        return frozenset(np.array(self.contacts.names, dtype=object)[self.closed])

    def carry(self, closed: frozenset[str]) -> None:
        """Contacts of these names were closed in the model before: they may have drifted."""
        self.carried = np.array([name in closed for name in self.contacts.names], dtype=bool)

    def near(self, gaps: Array) -> Array:
        """(k,) bool: contacts that touch, or are closed."""
        return (np.abs(gaps) <= AT) | (self.closed & (np.abs(gaps) <= DRIFT))

    def gaps_along(self, q: Array) -> Array:
        """(T, k) at configurations q (T, nq). The last answer is kept: each contact is asked for on its own."""
        if self._known is None or self._known[0] is not q:
            self._known = q, np.atleast_2d(self.contacts.gaps_at(q))
        return self._known[1]

    def any_near(self, q: Array) -> bool:
        """Whether some contact touches at q, or is closed."""
        return bool(self.near(self.contacts.gaps_at(q)).any())

    def go_on(self, before: ContactTransitions) -> None:
        """With the history of a run whose model has changed."""
        known = {name: i for i, name in enumerate(self.contacts.names)}
        self.history.impulses, self.history.spans = before.history.impulses, before.history.spans
        for i, span in before.history.since.items():
            if before.contacts.names[i] in known:
                self.history.since[known[before.contacts.names[i]]] = span

    def expect_apart(self, q: Array, who: str, before: Array | None = None) -> None:
        """Refuse a state in which surfaces are within each other; closed contacts by more than they had drifted at the
        configuration ``before`` a reset, the same one if the run goes on."""
        gaps, drifted = self.contacts.gaps_at(q), self.contacts.gaps_at(q if before is None else before)
        allowed = np.where(self.closed, np.clip(drifted - AT, -DRIFT, -AT), -AT)
        verb = "start" if before is None else "reset to"
        for i, (g, least) in enumerate(zip(gaps, allowed, strict=True)):
            if not g >= least:
                raise StateError(
                    f"{WHO}: {who} lets contact '{self.contacts.names[i]}' be {-g:.3g} m within each other. "
                    f"Hint: {verb} where all gaps are positive, or zero"
                )

    def all_apart(self, t: float, before: Active) -> list[ContactChange]:
        """Nothing touches."""
        self.carry(frozenset())
        phases = before.contacts
        return self._told(t, phases, {}) if isinstance(phases, ContactPhases) else []

    # ------------------------------------------------------------------ an instant
    def settle(
        self, t: float, q: Array, v: Array, p: Array, J: Array, stops: list[int], loops: list[int]
    ) -> tuple[Array, list[ContactChange], list[int]]:
        """v (nv,) after impacts, what has happened, and frictions of joints that rest. J: rows of all constraints;
        ``stops`` at their limits, ``loops``."""
        plant, before = self.plant, self.phases
        state, M_inverse = self.contacts.at(q, v), plant.inverse_inertia(q)
        near = [i for i in range(len(self.contacts)) if self.near(state.g)[i]]
        none = (None,) * len(near)
        v, impulses = self.impacts.settled(
            v, Touching(tuple(near), none, tuple(stops), (), tuple(loops)), state, J, M_inverse
        )
        state = self.contacts.at(q, v)  # the bias depends on v
        resting, directions = ([], before_directions(plant)) if self.friction is None else self.friction.resting(t, v)
        plant.active = plant.none_active.with_directions(directions)
        a = plant.free_acceleration(t, q, v, p)
        changes = self._hit(t, impulses)
        still = [i for i in near if self._rests(state.J[i, 0], v)]
        touching = self._touching(still, state, v, stops, resting, loops, J)
        rests: dict[int, float] = {}
        if impulses and len(still) < len(near):
            at_rest = self._at_rest(touching, state, J, q, v, M_inverse, a, resting)
            rests = self._ended([i for i in near if i not in still], state, v, at_rest.normal_accelerations(touching))
            touching = self._touching(sorted([*still, *rests]), state, v, stops, resting, loops, J)
        v = self._still(touching, state, J, v, M_inverse)
        state = self.contacts.at(q, v)
        a = plant.free_acceleration(t, q, v, p)
        balance = self._balance(touching, self._at_rest(touching, state, J, q, v, M_inverse, a, resting))
        plant.active = self._active(touching, balance, J, resting, directions, state)
        self._expect_within(t, q, v, p)
        changes += self._told(t, before, rests)
        self.leaves, self.slips, self.stopped = set(), {}, set()
        self.carry(frozenset())
        return v, changes, resting

    def _hit(self, t: float, impulses: dict[int, Array]) -> list[ContactChange]:
        names = self.contacts.names
        self.history.impulses += [Impulse(t, names[i], x) for i, x in impulses.items()]
        return [ContactChange(t, names[i], "impact") for i in impulses]

    @staticmethod
    def _rests(row: Array, v: Array) -> bool:
        """Whether a row (nv,) has no speed, but for what an impact leaves."""
        return abs(float(row @ v)) <= AT_REST * (1.0 + float(np.abs(row) @ np.abs(v)))

    def _ended(self, leaving: list[int], state: ContactState, v: Array, a: Array) -> dict[int, float]:
        """After which time [s] those rest whose bounces are over soon, for normal accelerations a (k,) with the forces
        of all that rests."""
        found = {}
        for i in leaving:
            w = float(state.J[i, 0] @ v)
            ends = self.impacts.ends(i, w, float(a[i])) if w > 0.0 else None
            if ends is not None:
                found[i] = ends
        return found

    def _touching(
        self, closing: list[int], state: ContactState, v: Array, stops: list[int], resting: list[int],
        loops: list[int], J: Array,
    ) -> Touching:  # fmt: skip
        """Who is closed if it pushes, and how it slides; stops that do not leave."""
        directions: list[Array | None] = []
        for i in closing:
            w = state.J[i, 1:] @ v
            rest = AT_REST * (1.0 + float(np.abs(state.J[i, 1:]).max(initial=0.0) * np.abs(v).max(initial=0.0)))
            speed = float(np.linalg.norm(w))
            still = speed <= rest or i in self.stopped
            directions.append(None if still or not self.contacts.rough[i] else w / speed)
        speed, size = J @ v, np.abs(J) @ np.abs(v)
        held = [row for row in stops if abs(speed[row]) <= AT_REST * (1.0 + size[row])]
        frictions = [] if self.friction is None else [self.plant.constraints.on_speed[k] for k in resting]
        return Touching(tuple(closing), tuple(directions), tuple(held), tuple(frictions), tuple(loops))

    def _still(self, touching: Touching, state: ContactState, J: Array, v: Array, M_inverse: Array) -> Array:
        """v with what rests exactly at rest, in the metric of the mass matrix: energy does not grow."""
        rows = [state.J[i, : 1 if d is not None or not self.contacts.rough[i] else 3]
                for i, d in zip(touching.contacts, touching.directions, strict=True)]  # fmt: skip
        others = J[[*touching.stops, *touching.frictions, *touching.loops]]
        B = np.concatenate([*rows, others]) if rows else others
        if not len(B) or not np.any(B @ v):
            return v
        return v + ActiveRows(B).least(M_inverse, -(B @ v))

    def _at_rest(
        self, touching: Touching, state: ContactState, J: Array, q: Array, v: Array, M_inverse: Array, a: Array,
        resting: list[int],
    ) -> AtRest:  # fmt: skip
        """The state between impacts."""
        bounds = np.zeros((0, 2))
        if self.friction is not None:
            bounds = np.stack(self.friction.limits(resting), axis=1)
        needed = np.zeros(len(self.plant.constraints), dtype=bool)
        needed[[*touching.stops, *touching.loops]] = True
        bias = self.plant.constraints.bias(q, v, needed)
        return AtRest(self.plant, self.contacts, J, bias, state, M_inverse, a, bounds)

    def _balance(self, touching: Touching, at_rest: AtRest) -> Balance:
        """Who is closed, and how."""
        closing = set(touching.contacts)
        leaves = self.leaves & closing
        slips = {i: d for i, d in self.slips.items() if i in closing and i not in leaves}
        return at_rest.balanced(touching, leaves, slips)

    def _active(
        self, touching: Touching, balance: Balance, J: Array, resting: list[int], directions: Array,
        state: ContactState,
    ) -> Active:  # fmt: skip
        rows, active = self.plant.constraints, self.plant.active
        on = np.zeros(len(rows), dtype=bool)
        on[list(touching.loops)] = True
        on[[row for row, f in zip(touching.stops, balance.stops, strict=True) if f > 0.0]] = True
        if self.friction is not None:
            closed = J[on]
            held = [state.J[i, : 3 if x == STICK else 1] for i, x in enumerate(balance.phase) if x != OPEN]
            contacts = np.concatenate(held) if held else None
            sticking, directions = self.friction.decide(resting, balance.frictions, closed, directions, contacts)
            on[[rows.on_speed[k] for k in sticking]] = True
        phases = self.phases.changed(balance.phase, balance.direction)
        return replace(active.with_rows(on, directions), contacts=phases)

    def _expect_within(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Refuse contacts that slide and joint frictions that stick with a common load, where what contacts carry
        first is beyond a limit: motion depends on how they share it."""
        active = self.plant.active
        if not (active.touching and active.sticking) or active.rows(q, v).full:  # type: ignore[union-attr]
            return
        found = margins(self.plant, t, q, v, p)
        beyond = min(found.least, float(found.box.min(initial=np.inf)))
        if beyond < -BEYOND * max(1.0, float(np.abs(found.forces).max(initial=0.0))):
            frictions = [name for i in active.sticking for name in self.friction.members[i]]  # type: ignore[union-attr]
            raise shared_load([self.contacts.names[i] for i in self.phases.closed], frictions, t)

    def _told(self, t: float, before: ContactPhases, rests: dict[int, float]) -> list[ContactChange]:
        changes = []
        now, names = self.phases.phase, self.contacts.names
        for i in range(len(names)):
            starts = t + rests.get(i, 0.0)
            self.history.enters(i, starts, int(now[i]))
            if now[i] != before.phase[i]:
                kind = "lift-off" if now[i] == OPEN else NAMES[now[i]]
                if kind != "slide" or before.phase[i] != SLIDE:
                    changes.append(ContactChange(starts, names[i], kind))
        return changes


def before_directions(plant: Plant) -> Array:
    """Directions of joint friction, of which there is none."""
    return plant.active.directions
