"""The energy of Moreau's steps, as a driver: with E = T + U at both ends of a step and W the work of efforts along its
displacement,

    E1 <= E0 + W,    and E1 = E0 + W where nothing but springs, weights and inertia acts,

to rounding. What a step has gained, by turning axes or by a displacement out of a penetration, is taken from the rates
at its end, all by one factor: open gaps, contacts that stick and closed loops stay what they are. Where the rates do
not have it, they end at zero, and the step goes only as far as the energy does."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.contact_energy import KEPT_ENERGY, UNKNOWN
from gyrostat.simulate.kernels.environment import LIVE, NP, NQ, NV, TIME, WORK
from gyrostat.simulate.kernels.loop_projection import closed_state
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ENERGIES,
    ENERGY,
    ENERGY_LAW,
    IMPULSE,
    MIDDLE,
    POSES_NOW,
    RATES,
    SHORTENED,
    STATE,
    STATE_KNOWN,
    WAY,
)
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced

ROUNDING = 1e-14
"""Part of the energies that a difference of them does not know."""
MOST_ADDED = 1e-3
"""Part of the kinetic energy by which free motion that has lost some is corrected in a step."""
HALVINGS = 6
OWED, PART_OWED = 4, 5
"""Behind the energies (4,) at both ends of a step: how deep a start has left bodies in others [m, rad]; part of a lift
that is due to it."""


def put_energies(env: words, box: words, y: ptr) -> float:
    """Energies, and poses of the surfaces, of the row y; zero if they are finite."""
    return kernel(box[ENERGY])(
        doubles(env[TIME]), y, y + env[NQ], doubles(env[LIVE]), doubles(box[ENERGIES]), doubles(box[POSES_NOW]),
        doubles(env[WORK]),
    )  # fmt: skip


def put_start_energies(env: words, box: words, y: ptr) -> float:
    """ENERGIES + 2 (2,): T0 and U0 of the row y. Those of the step before, if it ended there."""
    e, kept, bad = doubles(box[ENERGIES]), doubles(box[STATE]), 0.0
    if box[ENERGY_LAW] == UNKNOWN:
        return bad
    same = box[STATE_KNOWN]
    if same == 1:
        for k in range(env[NQ] + env[NV]):
            if kept[k] != y[k]:
                same = 0
                break
    if same == 0:
        bad = put_energies(env, box, y)
    copy(2, e, e + 2)
    box[STATE_KNOWN] = 0
    return bad


def keep_energies(env: words, box: words, y1: ptr) -> int:
    """ENERGIES are those of the row y1."""
    copy(env[NQ] + env[NV], y1, doubles(box[STATE]))
    box[STATE_KNOWN] = 1
    return 0


def effort_along(env: words, h: float, share: float, y: ptr, y1: ptr, way: ptr) -> float:
    """Work of the efforts [J] along a share of the displacement h/2 v0 + way."""
    n = env[NV]
    v, tau, total = y + env[NQ], y1 + env[NQ] + 2 * n + 2 * env[NP], 0.0
    for k in range(n):
        total = fma(tau[k], fma(0.5 * h, v[k], way[k]), total)
    return share * total


def bounded(env: words, box: words, h: float, y: ptr, y1: ptr, rows: int, lifted: float) -> float:
    """Rates of y1, and where they do not have it, its place, such that the energy is bounded; ``lifted`` [J] is owed by
    a start within others. Zero if all is finite."""
    if box[ENERGY_LAW] == UNKNOWN:
        return 0.0
    e, n, v1 = doubles(box[ENERGIES]), env[NV], y1 + env[NQ]
    allowed = e[2] + e[3] + effort_along(env, h, 1.0, y, y1, doubles(box[WAY])) + lifted
    excess = e[0] + e[1] - allowed
    within = ROUNDING * (e[0] + e[2] + abs(e[1]) + abs(e[3]))
    if excess <= within:
        if excess >= -within or box[ENERGY_LAW] != KEPT_ENERGY or e[0] <= 0.0 or any_impulse(box, rows) == 1:
            return 0.0
        excess = max(excess, -MOST_ADDED * e[0])
    elif excess > e[0]:
        return stopped(env, box, h, y, y1, lifted, within)
    left = e[0] - excess
    s = sqrt(left / e[0])
    for k in range(n):
        v1[k] = s * v1[k]
    e[0] = left
    return 0.0


def any_impulse(box: words, rows: int) -> int:
    P = doubles(box[IMPULSE])
    for r in range(rows):
        if P[r] != 0.0:
            return 1
    return 0


def stopped(env: words, box: words, h: float, y: ptr, y1: ptr, lifted: float, within: float) -> float:
    """The step ends at rest, as far on its way as there is energy for. The way back to its beginning needs none."""
    n, q, e, way = env[NV], doubles(box[MIDDLE]), doubles(box[ENERGIES]), doubles(box[WAY])
    v, v1, d, share, bad = y + env[NQ], y1 + env[NQ], doubles(box[RATES]), 1.0, 0.0
    box[SHORTENED] = box[SHORTENED] + 1
    for k in range(HALVINGS):
        share = 0.5 * share if k < HALVINGS - 1 else 0.0
        for i in range(n):
            d[i] = share * 0.5 * h * v[i]
            v1[i] = 0.0
        bad = displaced(env, y, d, q)
        for i in range(n):
            d[i] = share * way[i]
        bad = bad + displaced(env, q, d, y1)
        bad = bad + closed_state(env, y1, v1)
        bad = bad + put_energies(env, box, y1)
        if e[1] <= e[2] + e[3] + share * lifted + effort_along(env, h, share, y, y1, way) + within:
            break
    return bad
