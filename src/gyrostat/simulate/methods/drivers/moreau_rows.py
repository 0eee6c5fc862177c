"""Rows of the contacts, limits, loops and frictions of a step, whitened by the factors of H, and their Delassus matrix.

With H = L^T diag(d) L and rows J: Y = d^-1/2 L^-T J^T, G = J H^-1 J^T = Y^T Y. Y is stored in blocks of three rows,
(nv, 4) each: a contact, or up to three rows of one number."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import LIVE, LOOP_COUNT, LOOP_ROWS, NV, TIME, WORK
from gyrostat.simulate.methods.drivers.moreau_contacts import NEARBY
from gyrostat.simulate.methods.drivers.moreau_memory import (
    AT,
    BOX_COUNT,
    BOX_ROWS,
    BOXES,
    C_WORDS,
    CANDIDATE_COUNT,
    CANDIDATES,
    CHAIN,
    CHAIN_FIRST,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    ENDING,
    ENDS,
    FACTORS,
    HOLDS,
    K_NUMBERS,
    K_SPIN,
    K_WORDS,
    L_COLUMNS,
    L_FIRST,
    L_VALUES,
    LIMIT_COUNT,
    LIMIT_ENTRIES,
    LIMIT_NUMBERS,
    LIMITS,
    LOOP_EQUATIONS,
    MIDDLE,
    NO_SPIN,
    ORDER,
    PUSHES,
    RATES,
    RUBS,
    S_ALLOWED,
    S_BEFORE,
    S_E,
    S_GAP,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    S_WORDS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SCALARS,
    SCALE,
    SCREWS,
    SPINS,
    V_FREE,
    WHITE,
)
from gyrostat.simulate.methods.drivers.moreau_spins import count_spins, kept_spins, put_spin_rows

ENDLESS = 1e300


def put_wrenches(x: ptr, w: ptr) -> int:
    """Unit forces at the point x (3,) along the three axes (9,) that follow it, as wrenches about the world's origin:
    w (6, 4), one column each; the fourth is zero."""
    axes = x + 3
    for i in range(3):
        e = axes + 3 * i
        w[i] = x[1] * e[2] - x[2] * e[1]
        w[4 + i] = x[2] * e[0] - x[0] * e[2]
        w[8 + i] = x[0] * e[1] - x[1] * e[0]
        for j in range(3):
            w[12 + 4 * j + i] = e[j]
    for j in range(6):
        w[4 * j + 3] = 0.0
    return 0


@apart
def add_powers(by: float, s: ptr, w: ptr, y: ptr) -> int:
    """y (4,) + by s . w for a screw s (6,)."""
    for i in range(4):
        r = fma(w[i], s[0], fma(w[4 + i], s[1], w[8 + i] * s[2]))
        y[i] = fma(by, fma(w[12 + i], s[3], fma(w[16 + i], s[4], fma(w[20 + i], s[5], r))), y[i])
    return 0


def add_chain(box: words, port: int, skip: int, sign: float, w: ptr, Y: ptr) -> int:
    """The velocity of a point of a body along three axes, as rows (nv, 4), beside what is there. w: see
    :func:`put_wrenches`. ``skip``: entries of the chain that both bodies share."""
    first, chain, S, f = count_at(box[CHAIN_FIRST]), count_at(box[CHAIN]), doubles(box[SCREWS]), doubles(box[FACTORS])
    for k in range(first[port] + skip, first[port + 1]):
        add_powers(sign * f[chain[3 * k + 2]], S + 6 * chain[3 * k + 1], w, Y + 4 * chain[3 * k])
    return 0


def shared_part(box: words, a: int, b: int) -> int:
    """How many entries the chains of two bodies begin with that are the same."""
    first, chain = count_at(box[CHAIN_FIRST]), count_at(box[CHAIN])
    i, j, count = first[a], first[b], 0
    while i + count < first[a + 1] and j + count < first[b + 1]:
        p, q = chain + 3 * (i + count), chain + 3 * (j + count)
        if p[0] != q[0] or p[1] != q[1] or p[2] != q[2]:
            break
        count = count + 1
    return count


def whiten(box: words, n: int, Y: ptr) -> int:
    """Three rows of J (nv, 4) become d^-1/2 L^-T J^T."""
    order, first, columns = count_at(box[ORDER]), count_at(box[L_FIRST]), count_at(box[L_COLUMNS])
    L, scale = doubles(box[L_VALUES]), doubles(box[SCALE])
    for i in range(n - 1, -1, -1):
        k = order[i]
        y = Y + 4 * k
        if y[0] != 0.0 or y[1] != 0.0 or y[2] != 0.0:
            for e in range(first[i], first[i + 1]):
                add_four(-L[e], y, Y + 4 * columns[e])
            s = scale[k]
            for c in range(4):
                y[c] = y[c] * s
    return 0


@apart
def add_four(x: float, y: ptr, z: ptr) -> int:
    """z + x y of four numbers."""
    for c in range(4):
        z[c] = fma(x, y[c], z[c])
    return 0


def unwhitened(box: words, n: int, w: ptr, x: ptr) -> int:
    """x (nv,) = L^-1 d^-1/2 w."""
    order, first, columns = count_at(box[ORDER]), count_at(box[L_FIRST]), count_at(box[L_COLUMNS])
    L, scale = doubles(box[L_VALUES]), doubles(box[SCALE])
    for i in range(n):
        k = order[i]
        s = scale[k] * w[k]
        for e in range(first[i], first[i + 1]):
            s = fma(-L[e], x[columns[e]], s)
        x[k] = s
    return 0


def contact_rows(env: words, box: words, v: ptr, before: ptr, free: ptr) -> int:
    """Rows of all contacts at WHITE; speeds before the step, and of free motion (rows,)."""
    n, table, contacts = env[NV], count_at(box[CANDIDATES]), count_at(box[CONTACTS])
    w, v_free = doubles(box[RATES]), doubles(box[V_FREE])
    for b in range(box[CONTACT_COUNT]):
        word, num = table + C_WORDS * contacts[K_WORDS * b], doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        Y = doubles(box[WHITE]) + 4 * n * b
        for k in range(4 * n):
            Y[k] = 0.0
        put_wrenches(num + AT, w)
        skip = shared_part(box, word[1], word[2])
        add_chain(box, word[1], skip, 1.0, w, Y)
        add_chain(box, word[2], skip, -1.0, w, Y)
        put_speeds(n, Y, v, v_free, before + 3 * b, free + 3 * b)
        whiten(box, n, Y)
    return 0


def put_speeds(n: int, Y: ptr, v: ptr, v_free: ptr, before: ptr, free: ptr) -> int:
    """J v and J v_free of three rows."""
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        y, x, z = Y + 4 * k, v[k], v_free[k]
        a, b, c = fma(y[0], x, a), fma(y[1], x, b), fma(y[2], x, c)
        d, e, f = fma(y[0], z, d), fma(y[1], z, e), fma(y[2], z, f)
    before[0] = a
    before[1] = b
    before[2] = c
    free[0] = d
    free[1] = e
    free[2] = f
    return 0


def scalar_place(env: words, box: words, s: int) -> int:
    """First place of row s beside contacts in WHITE; clears the block that it begins."""
    n = env[NV]
    at = 4 * n * (box[CONTACT_COUNT] + s // 3)
    if s % 3 == 0:
        Y = doubles(box[WHITE]) + at
        for k in range(4 * n):
            Y[k] = 0.0
    return at + s % 3


def scalar_row(box: words, s: int, low: float, high: float, kept: int, kind: int) -> ptr:
    """Numbers of row s: limits of its impulse, and its place among the kept ones."""
    num, word = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, count_at(box[SCALARS]) + S_WORDS * s
    num[S_LOW] = low
    num[S_HIGH] = high
    num[S_GAP] = 0.0
    num[S_E] = 0.0
    num[S_BEFORE] = 0.0
    num[S_ALLOWED] = 0.0
    word[0] = kept
    word[1] = 0
    word[2] = kind
    return num


def spin_rows(env: words, box: words) -> int:
    """Torsional and rolling friction of contacts: how many rows there are now."""
    table, contacts, count = count_at(box[CANDIDATES]), count_at(box[CONTACTS]), 0
    if count_spins(box) == 0:
        return 0
    kept = kept_spins(env, box)
    for b in range(box[CONTACT_COUNT]):
        if contacts[K_WORDS * b + K_SPIN] != NO_SPIN:
            word = table + C_WORDS * contacts[K_WORDS * b]
            Y = doubles(box[WHITE]) + scalar_place(env, box, count)
            put_spin_rows(box, b, shared_part(box, word[1], word[2]), Y)
            for i in range(3):
                scalar_row(box, count + i, 0.0, 0.0, kept + 3 * contacts[K_WORDS * b] + i, SPINS)
            count = count + 3
    return count


def limit_rows(env: words, box: words, h: float, count: int) -> int:
    """Stops that are reached, or may be within the step: how many rows there are now."""
    table, numbers, entries = count_at(box[LIMITS]), doubles(box[LIMIT_NUMBERS]), count_at(box[LIMIT_ENTRIES])
    q, ends, f, v_free = doubles(box[MIDDLE]), doubles(box[ENDS]), doubles(box[FACTORS]), doubles(box[V_FREE])
    kept = 3 * box[CANDIDATE_COUNT]
    for i in range(box[LIMIT_COUNT]):
        word, num = table + 3 * i, numbers + 4 * i
        x = q[word[0]] if word[0] >= 0 else ends[-1 - word[0]]
        side = num[1]
        g = side * (x - num[0])
        speed = 0.0
        for e in range(word[1], word[2]):
            speed = fma(side * f[entries[2 * e + 1]], v_free[entries[2 * e]], speed)
        if g + h * speed > h * NEARBY:
            continue
        Y = doubles(box[WHITE]) + scalar_place(env, box, count)
        for e in range(word[1], word[2]):
            y = Y + 4 * entries[2 * e]
            y[0] = y[0] + side * f[entries[2 * e + 1]]
        row = scalar_row(box, count, 0.0, ENDLESS, kept + i, PUSHES)
        row[S_GAP] = g
        row[S_E] = num[2]
        count = count + 1
    return count


def loop_rows(env: words, box: words, count: int) -> int:
    """Equations of loops that are constraints."""
    m, n, kept = env[LOOP_COUNT], env[NV], 3 * box[CANDIDATE_COUNT] + box[LIMIT_COUNT]
    if m == 0:
        return count
    g, q = doubles(box[LOOP_EQUATIONS]), doubles(box[ENDING])
    J = g + m
    kernel(env[LOOP_ROWS])(
        doubles(env[TIME]), q, doubles(box[V_FREE]), doubles(env[LIVE]), g, J, J + m * n, doubles(env[WORK])
    )
    for i in range(m):
        Y = doubles(box[WHITE]) + scalar_place(env, box, count)
        for k in range(n):
            Y[4 * k] = J[i * n + k]
        scalar_row(box, count, -ENDLESS, ENDLESS, kept + i, HOLDS)
        count = count + 1
    return count


def friction_rows(env: words, box: words, h: float, count: int) -> int:
    """Dry friction of shafts: an impulse within its limits against a speed."""
    n, rows, sizes = env[NV], doubles(box[BOX_ROWS]), doubles(box[BOXES])
    kept = 3 * box[CANDIDATE_COUNT] + box[LIMIT_COUNT] + env[LOOP_COUNT]
    for i in range(box[BOX_COUNT]):
        Y = doubles(box[WHITE]) + scalar_place(env, box, count)
        for k in range(n):
            Y[4 * k] = rows[i * n + k]
        scalar_row(box, count, h * sizes[2 * i], h * sizes[2 * i + 1], kept + i, RUBS)
        count = count + 1
    return count


def other_rows(env: words, box: words, h: float, v: ptr, before: ptr, free: ptr) -> int:
    """All rows beside contacts, whitened, and their speeds."""
    n = env[NV]
    count = spin_rows(env, box)
    count = limit_rows(env, box, h, count)
    count = loop_rows(env, box, count)
    count = friction_rows(env, box, h, count)
    box[SCALAR_COUNT] = count
    for b in range((count + 2) // 3):
        Y = doubles(box[WHITE]) + 4 * n * (box[CONTACT_COUNT] + b)
        at = 3 * (box[CONTACT_COUNT] + b)
        put_speeds(n, Y, v, doubles(box[V_FREE]), before + at, free + at)
        whiten(box, n, Y)
    return count
