"""Rates that cannot be let go where they are met: a rotor and the joint that it drives, joints that are coupled.

In the articulated-body algorithm a joint lets its rates go: they vanish from what is felt further in. A rate that also
moves a rotor, or another joint, is held: what is felt then depends on its acceleration a_k,

    f = P e + z + sum of G_k a_k,    u_k = G_k . e + sum of D_kl a_l + b_k,

until all that it moves has been met. There, at its home, it is let go like any other. For the usual drive, a rotor on
the body in front of the joint, this is the next port; for couplings across the robot it is where the branches meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.crba import Entries, scaled, summed
from gyrostat.graph.network import Component, Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Shift

Home = tuple[str, Any]
"""("port", number of an outport) or ("component", name)."""


@dataclass(frozen=True)
class Held:
    """G, D and b of the rates that are held, by their numbers."""

    G: Mapping[int, Array] = field(default_factory=dict)
    D: Mapping[tuple[int, int], Any] = field(default_factory=dict)
    b: Mapping[int, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.b)

    @staticmethod
    def of_rates(ties: Sequence[Ties], G: Mapping[int, Array], D: Array, b: Mapping[int, Any]) -> Held:
        """Rates of one component: G_j (6,), D (n, n) and b_j by their number in it, tied to rates of the model."""
        held = NONE_HELD
        for j, tied in enumerate(ties):
            entries = Entries()
            entries.own(tied, D[j, j])
            for k in range(j):
                entries.pair(tied, ties[k], D[j, k])
            G_j, b_j = ({k: scaled(x[j], factor) for k, factor in tied} for x in (G, b))
            held = held + Held(G_j, entries, b_j)
        return held

    def __add__(self, other: Held) -> Held:
        if not other:
            return self
        return Held(summed(self.G, other.G), other.D, self.with_b(other.b)).with_entries(self.D) if self else other

    def with_b(self, b: Mapping[int, Any]) -> dict[int, Any]:
        """b of both, added."""
        return {**self.b, **{k: together(self.b[k], x) if k in self.b else x for k, x in b.items()}}

    def with_entries(self, D: Mapping[tuple[int, int], Any]) -> Held:
        """With more entries of D."""
        if not D:
            return self
        total = Entries(D)
        total.include(Entries(self.D))
        return Held(self.G, total, self.b)

    def moved(self, shift: Shift) -> Held:
        return Held({k: shift.force(G) for k, G in self.G.items()}, self.D, self.b) if self else self

    def along(self, s: Array, ties: Ties, U: Array, z: Array) -> Held:
        """With a rate along s (6,) that is held, too; U = P s, z (6, columns) is felt there."""
        D, d = Entries(self.D), s @ U
        for k, G in self.G.items():
            D.pair(ties, ((k, 1.0),), s @ G)
        D.own(ties, d)
        G = summed(self.G, {k: scaled(U, factor) for k, factor in ties})
        return Held(G, D, self.with_b({k: scaled(s @ z, factor) for k, factor in ties}))

    def with_inertia(self, J: Mapping[tuple[int, int], Any], rates: Iterable[int]) -> Held:
        """With the inertia of elements on shafts that turn with these rates."""
        D, chosen = Entries(self.D), set(rates)
        for (j, k), x in J.items():
            if j <= k and j in chosen and k in chosen:
                D.put(j, k, x)
        return Held(self.G, D, self.b)

    def freed(self, row: Mapping[int, Any], U: Array, inverse: Any, u: Any) -> Held:
        """After a rate was let go: ``row`` its D_kl with those that are held, U what it does to f."""
        if not row:
            return self
        G = {l: G_l - U * (row[l] * inverse) if l in row else G_l for l, G_l in self.G.items()}
        D, b = Entries(self.D), dict(self.b)
        held = [l for l in b if l in row]
        for n, l in enumerate(held):
            b[l] = together(b[l], u * (row[l] * inverse))
            for m in held[n:]:
                D.put(l, m, -(row[l] * row[m] * inverse))
        return Held(G, D, b)

    def without(self, k: int) -> tuple[Array, Any, Any, dict[int, Any], Held]:
        """G, D_kk, b and the row D_kl of a rate, and what remains."""
        row = {(l if j == k else j): x for (j, l), x in self.D.items() if k in (j, l) and j != l}
        rest = Held(
            {l: G for l, G in self.G.items() if l != k},
            Entries({key: x for key, x in self.D.items() if k not in key}),
            {l: b for l, b in self.b.items() if l != k},
        )
        return self.G[k], self.D[k, k], self.b[k], row, rest


NONE_HELD = Held()


@dataclass(frozen=True)
class Plan:
    """Where rates are let go: ``plain`` ones in their own joint; ``homes`` of the others; ``loose`` ones move no
    frame."""

    plain: frozenset[int]
    homes: Mapping[Home, tuple[int, ...]]
    loose: tuple[int, ...]


def together(x: Any, y: Any) -> Any:
    """Sum of forces (6,) or numbers, in columns or a single one, which counts for column 0."""
    if np.ndim(x) == np.ndim(y):
        return x + y
    full, one = (x, y) if np.ndim(x) > np.ndim(y) else (y, x)
    first = full[..., 0] + one
    return np.concatenate([np.asarray(first)[..., None], full[..., 1:]], axis=-1)


def plan(network: Network, serves: Callable[[Component], bool]) -> Plan:
    """Groups of rates that are tied to each other, and the place where everything that a group moves has been met;
    ``serves``: components that let their own rates go."""
    moved = network.transmission
    owners: dict[int, list[Component]] = {k: [] for k in range(moved.n)}
    group = list(range(moved.n))

    def find(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    def join(rates: Iterable[int]) -> None:
        first, *others = rates
        for k in others:
            group[find(k)] = find(first)

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
    loose: list[int] = []
    homes: dict[Home, tuple[int, ...]] = {}
    for rates in groups.values():
        who = [c for k in rates for c in owners[k]]
        if not who:
            loose += rates
        elif _is_plain(rates, who) and serves(who[0]):
            plain += rates
        else:
            at = _meeting(network, who)
            homes[at] = (*homes.get(at, ()), *rates)
    return Plan(frozenset(plain), homes, tuple(loose))


def _is_plain(rates: list[int], who: list[Component]) -> bool:
    """One rate, and the joint that has it."""
    return (
        len(rates) == 1 and len(who) == 1 and bool(who[0].outports) and who[0].v_at.start <= rates[0] < who[0].v_at.stop
    )


def _meeting(network: Network, who: list[Component]) -> Home:
    """The last place that the ways from the world to all these components share."""
    ways = [_way(network, c) for c in who]
    shared = 0
    while all(len(way) > shared for way in ways) and len({way[shared] for way in ways}) == 1:
        shared += 1
    return ways[0][shared - 1]


def _way(network: Network, c: Component) -> list[Home]:
    found: list[Home] = []
    if c.inport is not None:
        for before, port in network.path(network.source[c.inport]):
            found += [("component", before.name), ("port", before.outports[port])]
    return [*found, ("component", c.name)]


def loose_accelerations(rates: tuple[int, ...], J: Mapping[tuple[int, int], Any], tau: Array) -> dict[int, Any]:
    """Accelerations (columns) of shafts that no frame carries: J a = tau by elimination."""
    held = Held({}, {}, {k: np.zeros(tau.shape[1]) for k in rates}).with_inertia(J, rates)
    steps: list[tuple[int, Any, Any, dict[int, Any]]] = []
    for k in rates:
        _, d, b, row, rest = Held({k: np.zeros(6), **held.G}, held.D, held.b).without(k)
        inverse, u = 1.0 / d, tau[k] - b
        steps.append((k, inverse, u, row))
        held = rest.freed(row, np.zeros(6), inverse, u)
    found: dict[int, Any] = {}
    for k, inverse, u, row in reversed(steps):
        for l, x in row.items():
            u = u - found[l] * x
        found[k] = u * inverse
    return found
