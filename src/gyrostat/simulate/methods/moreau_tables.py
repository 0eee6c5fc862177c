"""Tables of numbers that Moreau's steps read: candidates, limits, chains of rates, elimination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gyrostat.algorithms.contact.contact_kinematics import place_of
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import Candidate, Surface, contact_candidates
from gyrostat.graph.network import Network
from gyrostat.simulate.constraints.follower_stops import FollowerStops
from gyrostat.simulate.constraints.stops import JointLimits, single_stops
from gyrostat.simulate.kernels.contact_scene import ContactScene
from gyrostat.simulate.methods.drivers import moreau_memory as at
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
KINDS = {"point": at.BALL, "sphere": at.BALL, "rim": at.RIM, "ellipsoid": at.ELLIPSOID}
"""Surfaces on a plane."""


def rigid_pairs(model: Model, driven: bool) -> tuple[Candidate, ...]:
    """Candidates that steps treat; refused by name what they do not know."""
    rigid = tuple(c for c in contact_candidates(model) if c.law.stiffness is None)
    if rigid and driven:
        raise GyrostatError(
            f"{WHO}: the base of '{model.name}' moves by itself, and method 'moreau' knows contacts with a base that "
            "stands still or is free. Hint: a joint in the place of the moving base"
        )
    return rigid


def ports_of(net: Network, candidates: Sequence[Candidate]) -> tuple[int | None, ...]:
    """Outports that carry surfaces, None for the world, each once."""
    return tuple(dict.fromkeys(place_of(net, s)[0] for c in candidates for s in (c.a, c.b)))


def candidate_tables(
    net: Network, candidates: Sequence[Candidate], ports: Sequence[int | None], reaches: Mapping[str, float]
) -> tuple[Array, Array, Array, Array]:
    """Words (k, C_WORDS) and numbers (k, C_NUMBERS); ports (s,) and numbers (s, G_NUMBERS) of segments. ``reaches``:
    of the surfaces of solids, by name: spheres about their frames."""
    words = np.zeros((max(1, len(candidates)), at.C_WORDS), dtype=np.int64)
    numbers = np.zeros((max(1, len(candidates)), at.C_NUMBERS))
    segments: dict[str, tuple[int, Array]] = {}
    answers = 0
    for word, num, c in zip(words, numbers, candidates, strict=False):
        (a, Ra, pa), (b, Rb, pb) = (place_of(net, s) for s in (c.a, c.b))
        word[1:3] = ports.index(a), ports.index(b)
        law = c.law
        num[at.MU_STATIC], num[at.MU_DYNAMIC], num[at.RESTITUTION] = law.mu_static, law.mu_dynamic, law.restitution
        num[at.TORSIONAL], num[at.ROLLING] = law.torsional, law.rolling
        if c.b.kind == "plane":
            word[0] = KINDS[c.a.kind]
            _above(num, c.a, Ra, pa)
            num[at.B_FIRST : at.B_FIRST + 3], num[at.B_LAST : at.B_LAST + 3] = pb, Rb[:, 2]
            num[at.B_TANGENT : at.B_TANGENT + 3] = Rb[:, 0]
        else:
            word[0] = at.SEGMENTS if c.closed_form else at.SOLIDS
            segments.setdefault(c.a.name, (word[1], _segment(c.a, Ra, pa, reaches)))
            segments.setdefault(c.b.name, (word[2], _segment(c.b, Rb, pb, reaches)))
            if not c.closed_form:
                word[5], answers = answers, answers + 1
            word[3:5] = [list(segments).index(s.name) for s in (c.a, c.b)]
    on = np.array([port for port, _ in segments.values()] or [0], dtype=np.int64)
    return words, numbers, on, np.array([num for _, num in segments.values()] or [np.zeros(at.G_NUMBERS)])


def _above(num: Array, s: Surface, R: Array, p: Array) -> None:
    num[at.A_FIRST : at.A_FIRST + 3] = p
    if s.kind == "ellipsoid":
        num[at.A_LAST : at.A_LAST + 3] = s.size
    elif s.size:
        num[at.A_RADIUS] = s.size[0]
    if s.kind == "rim":
        num[at.A_LAST : at.A_LAST + 3] = R[:, 2]
    num[at.A_AXES : at.A_AXES + 9] = R.T.ravel()


def solid_table(words: Array) -> Array:
    """Words (pairs, 3) of solids: their segments and the first of their answers."""
    points = words[words[:, 0] == at.SOLIDS]
    return np.ascontiguousarray(points[:: at.PATCH, 3:6] if len(points) else np.zeros((1, 3), dtype=np.int64))


def _segment(s: Surface, R: Array, p: Array, reaches: Mapping[str, float]) -> Array:
    """Begin, vector, radius and reach of a segment; the sphere about a shape that is none."""
    if s.kind not in ("point", "sphere", "capsule"):
        return np.array([*p, 0.0, 0.0, 0.0, reaches[s.name], reaches[s.name]])
    along = R[:, 2] * s.size[1] if s.kind == "capsule" else np.zeros(3)
    radius = s.size[0] if s.size else 0.0
    return np.array([*(p - 0.5 * along), *along, radius, radius + 0.5 * float(np.linalg.norm(along))])


def limit_tables(
    model: Model, limits: JointLimits | None
) -> tuple[list[tuple[int, int, int, float, float]], list[int]]:
    """Stops of joints with one coordinate: (coordinate or -1 - follower, rate or -1, side, limit, restitution); numbers
    of the followers among the transmission's."""
    if limits is None:
        return [], []
    stops, low, high = single_stops(model, limits)
    rows = [(s.i, s.j, -s.side, s.limit, limits.restitution_of(s.joint)) for s in stops]
    followers = FollowerStops(model, low, high)
    numbers = list(dict.fromkeys(followers.numbers))
    for end in followers.ends:
        rows.append((-1 - numbers.index(end.number), -1, -end.side, end.limit, limits.restitution_of(end.joint)))
    return rows, numbers


def limit_words(rows: Sequence[tuple[int, int, int, float, float]], scene: ContactScene) -> tuple[Array, Array, Array]:
    """Words (k, 3), numbers (k, 4), entries (rate, factor)."""
    words, numbers = np.zeros((len(rows) + 1, 3), dtype=np.int64), np.zeros((len(rows) + 1, 4))
    entries: list[tuple[int, int]] = []
    for word, num, (i, j, side, limit, e) in zip(words, numbers, rows, strict=False):
        own = ((j, 0),) if i >= 0 else scene.ends[-1 - i]
        word[:] = i, len(entries), len(entries) + len(own)
        entries += own
        num[:3] = limit, side, e
    return words, numbers, np.array(entries or [(0, 0)], dtype=np.int64)


def chain_tables(chains: Sequence[Sequence[tuple[int, int, int]]]) -> tuple[Array, Array]:
    """``first`` (ports + 1,) and entries (rate, screw, factor)."""
    first = np.cumsum([0, *(len(chain) for chain in chains)]).astype(np.int64)
    return first, np.array([x for chain in chains for x in chain] or [(0, 0, 0)], dtype=np.int64)


def elimination_tables(inboard: Mapping[int, tuple[int, ...]]) -> tuple[Array, Array, Array]:
    """Rates in outward order, ``first`` (nv + 1,) and columns of the rows of L."""
    first = np.cumsum([0, *(len(js) for js in inboard.values())]).astype(np.int64)
    columns = np.array([j for js in inboard.values() for j in js] or [0], dtype=np.int64)
    return np.array(list(inboard), dtype=np.int64), first, columns
