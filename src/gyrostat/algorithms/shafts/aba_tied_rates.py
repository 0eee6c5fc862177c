"""Rates that no joint can eliminate by itself: a rotor and the joint that it drives, joints that are coupled.

In the articulated-body algorithm a joint eliminates its rates: they vanish from the message further in. A rate that
also moves a rotor, or another joint, is tied: the force then depends on its acceleration a_k,

    f = P e + z + sum of G_k a_k,    u_k = G_k . e + sum of D_kl a_l + b_k,

until all that it moves has been met. There, at its meeting, it is eliminated like any other. For the usual drive, a
rotor on the body in front of the joint, this is the next port; for couplings across the robot it is where the branches
meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.crba import Entries, scaled, summed
from gyrostat.algorithms.recursions.right_hand_sides import together
from gyrostat.graph.network import Component, Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Shift

Meeting = tuple[str, Any]
"""("port", number of an outport) or ("component", name)."""


@dataclass(frozen=True)
class TiedRates:
    """G, D and b of the tied rates, by their numbers."""

    G: Mapping[int, Array] = field(default_factory=dict)
    D: Mapping[tuple[int, int], Any] = field(default_factory=dict)
    b: Mapping[int, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.b)

    @staticmethod
    def of_rates(ties: Sequence[Ties], G: Mapping[int, Array], D: Array, b: Mapping[int, Any]) -> TiedRates:
        """Rates of one component: G_j (6,), D (n, n) and b_j by their number in it, tied to rates of the model."""
        tied = NO_TIED_RATES
        for j, ties_j in enumerate(ties):
            entries = Entries()
            entries.own(ties_j, D[j, j])
            for k in range(j):
                entries.pair(ties_j, ties[k], D[j, k])
            G_j, b_j = ({k: scaled(x[j], factor) for k, factor in ties_j} for x in (G, b))
            tied = tied + TiedRates(G_j, entries, b_j)
        return tied

    def __add__(self, other: TiedRates) -> TiedRates:
        if not other:
            return self
        return TiedRates(summed(self.G, other.G), other.D, self.with_b(other.b)).with_entries(self.D) if self else other

    def with_b(self, b: Mapping[int, Any]) -> dict[int, Any]:
        """b of both, added."""
        return {**self.b, **{k: together(self.b[k], x) if k in self.b else x for k, x in b.items()}}

    def with_entries(self, D: Mapping[tuple[int, int], Any]) -> TiedRates:
        """With more entries of D."""
        if not D:
            return self
        total = Entries(D)
        total.include(Entries(self.D))
        return TiedRates(self.G, total, self.b)

    def moved(self, shift: Shift) -> TiedRates:
        return TiedRates({k: shift.force(G) for k, G in self.G.items()}, self.D, self.b) if self else self

    def along(self, s: Array, ties: Ties, U: Array, z: Array) -> TiedRates:
        """With one more tied rate, along s (6,); U = P s, z (6, columns) the articulated bias force there."""
        D, d = Entries(self.D), s @ U
        for k, G in self.G.items():
            D.pair(ties, ((k, 1.0),), s @ G)
        D.own(ties, d)
        G = summed(self.G, {k: scaled(U, factor) for k, factor in ties})
        return TiedRates(G, D, self.with_b({k: scaled(s @ z, factor) for k, factor in ties}))

    def with_inertia(self, J: Mapping[tuple[int, int], Any], rates: Iterable[int]) -> TiedRates:
        """With the inertia of elements on shafts that turn with these rates."""
        D, chosen = Entries(self.D), set(rates)
        for (j, k), x in J.items():
            if j <= k and j in chosen and k in chosen:
                D.put(j, k, x)
        return TiedRates(self.G, D, self.b)

    def eliminated(self, row: Mapping[int, Any], U: Array, inverse: Any, u: Any) -> TiedRates:
        """After a rate was eliminated: ``row`` its D_kl with those that are tied, U what it does to f."""
        if not row:
            return self
        G = {l: G_l - U * (row[l] * inverse) if l in row else G_l for l, G_l in self.G.items()}
        D, b = Entries(self.D), dict(self.b)
        coupled = [l for l in b if l in row]
        for n, l in enumerate(coupled):
            b[l] = together(b[l], u * (row[l] * inverse))
            for m in coupled[n:]:
                D.put(l, m, -(row[l] * row[m] * inverse))
        return TiedRates(G, D, b)

    def without(self, k: int) -> tuple[Array, Any, Any, dict[int, Any], TiedRates]:
        """G, D_kk, b and the row D_kl of a rate, and what remains."""
        row = {(l if j == k else j): x for (j, l), x in self.D.items() if k in (j, l) and j != l}
        rest = TiedRates(
            {l: G for l, G in self.G.items() if l != k},
            Entries({key: x for key, x in self.D.items() if k not in key}),
            {l: b for l, b in self.b.items() if l != k},
        )
        return self.G[k], self.D[k, k], self.b[k], row, rest


NO_TIED_RATES = TiedRates()


@dataclass(frozen=True)
class EliminationPlan:
    """Where rates are eliminated: ``plain`` ones in their own joint; ``meetings`` of the others; ``frameless`` ones are
    shafts that no frame carries."""

    plain: frozenset[int]
    meetings: Mapping[Meeting, tuple[int, ...]]
    frameless: tuple[int, ...]


def elimination_plan(network: Network, serves: Callable[[Component], bool]) -> EliminationPlan:
    """Groups of rates that are tied to each other, and the place where everything that a group moves has been met;
    ``serves``: components that eliminate their own rates."""
    moved = network.transmission
    owners: dict[int, list[Component]] = {k: [] for k in range(moved.n)}
    group = list(range(moved.n))

    def find(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    def join(rates: Iterable[int]) -> None:
        every = list(rates)  # none, where a joint cannot move: a loop without mobility
        for k in every[1:]:
            group[find(k)] = find(every[0])

    for c in network.components:
        for ties in c.ties:
            join(k for k, _ in ties)
            for k, _ in ties:
                if c not in owners[k]:
                    owners[k].append(c)
    for e in moved.elements:
        ties = [k for shaft in e.shafts.values() for k, _ in shaft.ties]
        if ties and e.has_inertia:
            join(ties)
    groups: dict[int, list[int]] = {}
    for k in range(moved.n):
        groups.setdefault(find(k), []).append(k)
    plain: list[int] = []
    frameless: list[int] = []
    meetings: dict[Meeting, tuple[int, ...]] = {}
    for rates in groups.values():
        who = [c for k in rates for c in owners[k]]
        if not who:
            frameless += rates
        elif _is_plain(rates, who) and serves(who[0]):
            plain += rates
        else:
            at = _meeting(network, who)
            meetings[at] = (*meetings.get(at, ()), *rates)
    return EliminationPlan(frozenset(plain), meetings, tuple(frameless))


def _is_plain(rates: list[int], who: list[Component]) -> bool:
    """One rate, and the joint that has it."""
    return (
        len(rates) == 1 and len(who) == 1 and bool(who[0].outports) and who[0].v_at.start <= rates[0] < who[0].v_at.stop
    )


def _meeting(network: Network, who: list[Component]) -> Meeting:
    """The last place that the ways from the world to all these components share."""
    ways = [_way(network, c) for c in who]
    shared = 0
    while all(len(way) > shared for way in ways) and len({way[shared] for way in ways}) == 1:
        shared += 1
    return ways[0][shared - 1]


def _way(network: Network, c: Component) -> list[Meeting]:
    way: list[Meeting] = []
    if c.inport is not None:
        for before, port in network.path(network.source[c.inport]):
            way += [("component", before.name), ("port", before.outports[port])]
    return [*way, ("component", c.name)]


def frameless_accelerations(rates: tuple[int, ...], J: Mapping[tuple[int, int], Any], tau: Array) -> dict[int, Any]:
    """Accelerations (columns) of shafts that no frame carries: J a = tau by elimination."""
    tied = TiedRates({}, {}, {k: np.zeros(tau.shape[1]) for k in rates}).with_inertia(J, rates)
    steps: list[tuple[int, Any, Any, dict[int, Any]]] = []
    for k in rates:
        _, d, b, row, rest = TiedRates({k: np.zeros(6), **tied.G}, tied.D, tied.b).without(k)
        inverse, u = 1.0 / d, tau[k] - b
        steps.append((k, inverse, u, row))
        tied = rest.eliminated(row, np.zeros(6), inverse, u)
    accelerations: dict[int, Any] = {}
    for k, inverse, u, row in reversed(steps):
        for l, x in row.items():
            u = u - accelerations[l] * x
        accelerations[k] = u * inverse
    return accelerations
