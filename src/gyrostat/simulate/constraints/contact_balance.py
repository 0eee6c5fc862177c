"""Which contacts that touch are closed, stick or slide: forces and accelerations within exact cones of friction.

At rest a contact has the cone of mu_static, beyond it slides with mu_dynamic; a contact that slides has a force along
its slip. All are solved at once, with stops, friction of joints at rest, and closed loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_problem import ConeSolution, solve_cones
from gyrostat.errors import ContactError
from gyrostat.simulate.constraints.contact_problem import ContactProblem, Touching, contact_problem, friction_of
from gyrostat.simulate.plant.contact_phases import OPEN, SLIDE, STICK, ContactRules, ContactState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
TOLERANCE = 1e-9
"""Accelerations and forces, relative to the largest, that are none."""
OTHER_WAYS = "less friction, compliance (stiffness=...), or method='moreau', whose impulses exist there"


@dataclass(frozen=True, eq=False)
class Balance:
    """Phases (k,) of all contacts, directions (k, 2) of those that slide; forces of ``stops``, ``frictions`` and loops
    in the order of :class:`Touching`."""

    phase: Array
    direction: Array
    stops: Array
    frictions: Array


@dataclass(frozen=True, eq=False)
class AtRest:
    """A state between impacts: rows J of all constraints with their bias, the state of all contacts, M^-1, and the
    acceleration (nv,) without any of them. ``bounds`` (frictions, 2) of the friction of joints at rest."""

    plant: Plant
    contacts: ContactRules
    J: Array
    bias: Array | None
    state: ContactState
    M_inverse: Array
    a: Array
    bounds: Array

    def balanced(self, touching: Touching, leaves: set[int], slips: Mapping[int, Array]) -> Balance:
        """``leaves``: contacts whose force has just become zero; ``slips``: those whose friction is used up, with the
        direction in which they begin to slide. What they are expected to do is tried first."""
        if leaves or slips:
            same = self.contacts.mu_static == self.contacts.mu_dynamic
            forced = {i: d for i, d in slips.items() if same[i]}  # others have an acceleration that tells the direction
            found = self._solved(_begun(touching, leaves, forced), slips)
            if found is not None and self._stay_apart(leaves, *found[1:]):
                return self._phases(*found)
        found = self._solved(touching, {})
        if found is None:
            raise no_forces([self.contacts.names[i] for i in touching.contacts])
        return self._phases(*found)

    def normal_accelerations(self, touching: Touching) -> Array:
        """Of all contacts (k,), with the forces of those that touch; without any where there are no such forces."""
        found = self._solved(touching, {})
        if found is None:
            return self.state.J[:, 0] @ self.a + self.state.bias[:, 0]
        return self._acceleration(*found[1:])[0]

    # ------------------------------------------------------------------ one problem
    def _solved(
        self, touching: Touching, slips: Mapping[int, Array]
    ) -> tuple[Touching, ConeSolution, ContactProblem] | None:
        """The solution in which all that begins to slide has the cone of mu_dynamic; None if there is none."""
        mu, sliding = self.contacts.mu_static.copy(), set(slips)
        start = None
        for _ in range(len(touching.contacts) + 1):
            mu[list(sliding)] = self.contacts.mu_dynamic[list(sliding)]
            problem = contact_problem(self.plant, touching, self.state, self.J, self.bias)
            G, c = problem.delassus(self.M_inverse), problem.J @ self.a + problem.bias
            self._expect_pushes(touching, problem, G, c)
            coefficients = friction_of(touching.contacts, mu)
            if problem.symmetric:
                solution = ConeSolver(problem.layout, coefficients, bounds=self.bounds)(G, c, start, tolerance=1e-11)
            else:
                solution = solve_cones(G, c, problem.layout, coefficients, start, bounds=self.bounds, tolerance=1e-11)
            if not solution.converged and solution.residual > 1e-8:
                return None
            more = self._begin(touching, solution, problem) - sliding
            if not more:
                return touching, solution, problem
            sliding |= more
            start = solution.P
        return None

    def _begin(self, touching: Touching, found: ConeSolution, problem: ContactProblem) -> set[int]:
        """Contacts that begin to slide with less friction than they had at rest."""
        small = self._small(found)
        return {
            i
            for i, first, size in zip(touching.contacts, problem.first, problem.sizes, strict=True)
            if size == 3
            and self.contacts.mu_static[i] != self.contacts.mu_dynamic[i]
            and found.P[first] > 0.0
            and np.linalg.norm(found.u[first + 1 : first + 3]) > small
        }

    def _acceleration(self, found: ConeSolution, problem: ContactProblem) -> Array:
        """u (3, k) of all contacts, with the forces that were found."""
        a = self.a + self.M_inverse @ (problem.F.T @ found.P)
        return (self.state.J @ a + self.state.bias).T

    def _small(self, found: ConeSolution) -> float:
        return TOLERANCE * max(1e-300, float(np.abs(self.state.J @ self.a + self.state.bias).max(initial=0.0)))

    def _stay_apart(self, leaves: set[int], found: ConeSolution, problem: ContactProblem) -> bool:
        """Whether those that were let go do not come back at once."""
        u = self._acceleration(found, problem)[0]
        return all(u[i] >= -self._small(found) for i in leaves)

    def _expect_pushes(self, touching: Touching, problem: ContactProblem, G: Array, c: Array) -> None:
        """Painlevé: a contact that slides must be pushed apart by its own force."""
        for k, i in enumerate(touching.contacts):
            row = problem.first[k]
            own = float(problem.J[row] @ self.M_inverse @ problem.J[row])
            if problem.sizes[k] == 1 and touching.directions[k] is not None and G[row, row] <= 1e-9 * own:
                raise painleve(self.contacts.names[i], float(self.contacts.mu_dynamic[i]), float(c[row]))

    # ------------------------------------------------------------------ what it says
    def _phases(self, touching: Touching, found: ConeSolution, problem: ContactProblem) -> Balance:
        phase, direction = np.full(len(self.contacts), OPEN), np.tile([1.0, 0.0], (len(self.contacts), 1))
        small = self._small(found)
        largest = max(1e-300, float(np.abs(found.P[: sum(problem.sizes)]).max(initial=0.0)))
        pushes = {i: found.P[problem.first[k]] > TOLERANCE * largest for k, i in enumerate(touching.contacts)}
        held = [self.state.J[i, 0] for i in touching.contacts if pushes[i]]
        for k, i in enumerate(touching.contacts):
            first, d = problem.first[k], touching.directions[k]
            if found.u[first] > small or not (pushes[i] or spanned(self.state.J[i, 0], held)):
                continue
            phase[i] = SLIDE
            if problem.sizes[k] == 1:
                direction[i] = [1.0, 0.0] if d is None else d
                continue
            a_t = found.u[first + 1 : first + 3]
            if np.linalg.norm(a_t) <= small:
                phase[i] = STICK
            else:
                direction[i] = a_t / np.linalg.norm(a_t)
        start = sum(problem.sizes)
        stops = found.P[start : start + len(touching.stops)]
        return Balance(phase, direction, stops, found.P[start + len(stops) :][: len(touching.frictions)])


def spanned(row: Array, rows: list[Array]) -> bool:
    """Whether a row (n,) is a sum of others, but for rounding."""
    if not rows:
        return False
    A = np.array(rows)
    left = row - np.linalg.lstsq(A.T, row, rcond=1e-12)[0] @ A
    return bool(np.abs(left).max() <= 1e-9 * np.abs(row).max(initial=1e-300))


def _begun(touching: Touching, leaves: set[int], slips: Mapping[int, Array]) -> Touching:
    """Without those that leave, and with those that begin to slide."""
    kept = [
        (i, slips.get(i, d)) for i, d in zip(touching.contacts, touching.directions, strict=True) if i not in leaves
    ]
    return replace(touching, contacts=tuple(i for i, _ in kept), directions=tuple(d for _, d in kept))


def painleve(name: str, mu: float, c: float) -> ContactError:
    """What is said of a contact that slides where its own force does not push it apart."""
    told = "no force keeps it closed without an impact" if c < 0.0 else "more than one motion goes on from here"
    return ContactError(
        f"contact '{name}' slides in a Painlevé situation: with friction {mu:g} its force draws the surfaces together, "
        f"and {told}. Hint: {OTHER_WAYS}"
    )


def no_forces(names: list[str]) -> ContactError:
    """What is said of contacts for which no forces are found."""
    return ContactError(
        f"contacts {', '.join(repr(x) for x in names)} find no forces within their cones: a Painlevé situation, or "
        f"friction that jams. Hint: {OTHER_WAYS}"
    )


def shared_load(contacts: list[str], frictions: list[str], t: float) -> ContactError:
    """What is said where the motion depends on how contacts and joint frictions share a load."""
    first, second = (", ".join(repr(x) for x in names) for names in (contacts, frictions))
    return ContactError(
        f"contacts {first} and the dry friction {second}, which sticks, hold the same motions at t = {t:g} s, and no "
        f"share of the load in which contacts come first is within all limits. Hint: {OTHER_WAYS}"
    )
