"""Closed contacts, and the other active rows beside them, as drivers: forces, accelerations, projections.

With the rows B (m, nv) of all that is active, the directions F (m, nv) of their forces (:mod:`contact_phases`) and the
factors of the mass matrix M = L L^T,

    f = -(B M^-1 F^T)^+ (B a + b),      a + M^-1 F^T f,

a configuration becomes q - M^-1 B^T (B M^-1 B^T)^+ g and rates v - M^-1 B^T (B M^-1 B^T)^+ B v. Rows stand in this
order: those that are constant (stops, friction that sticks), loops, contacts."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.dependent_rows import least_solution
from gyrostat.simulate.kernels.environment import CONTACTS, LIVE, LOOP_COUNT, LOOP_ROWS, NV, TIME, WORK
from gyrostat.simulate.kernels.rooted_matrix import rooted, rooted_solve

(
    KINEMATICS, CLOSED, NUMBERS, SIZES, MU, MU_STATIC, REFERENCE, ROUGH,  # kernel; contacts that are closed, and each
    FIXED, FIXED_ROWS, FIXED_PLACES, LOOPED,  # constant rows, and which have a residual; whether loops are rows
    MASS, GAPS, ROWS, BIASES, LOOP_GAPS,  # what kernels have found
    B, F, C, X_, A, SOLUTION, SPARE, ORDER, PICKED, STILL, COUNT,  # memory; rows that are active
    FREE, EFFORTS, VALUES, WEIGHT,  # accelerations and efforts without contacts; margins; shares of rows
    LOWEST, HIGHEST,  # forces of constant rows
) = range(34)  # fmt: skip
WORDS_OF_CONTACTS = 34
COST = 1e10
"""Of a squared force of friction that sticks, against that of other rows, which take the load."""
SPARED = 1e-5
"""The share that has this cost."""
LITTLE = 1e-4
"""Normal force, as a part of the largest, below which all are alike."""
SLOW = 1e-5
"""As in :mod:`~gyrostat.simulate.plant.contact_phases`."""


def rows_assembled(env: words, q: ptr, v: ptr) -> float:
    """M = L L^T, and B, F, C = b of all active rows at a state; zero if all is finite."""
    box, n = count_at(env[CONTACTS]), env[NV]
    M, J, bias = doubles(box[MASS]), doubles(box[ROWS]), doubles(box[BIASES])
    rows, push, c = doubles(box[B]), doubles(box[F]), doubles(box[C])
    bad = kernel(box[KINEMATICS])(q, v, M, doubles(box[GAPS]), J, bias, doubles(env[WORK]))
    if bad != 0.0 or rooted(n, M) == 1:
        return 1.0
    m = box[FIXED]
    copy(m * n, doubles(box[FIXED_ROWS]), rows)
    for i in range(m):
        c[i] = 0.0
    if box[LOOPED] == 1:
        bad = kernel(env[LOOP_ROWS])(
            doubles(env[TIME]), q, v, doubles(env[LIVE]), doubles(box[LOOP_GAPS]), rows + m * n, c + m,
            doubles(env[WORK]),
        )  # fmt: skip
        m = m + env[LOOP_COUNT]
    copy(m * n, rows, push)
    numbers, sizes = count_at(box[NUMBERS]), count_at(box[SIZES])
    for i in range(box[CLOSED]):
        own, size = J + 3 * n * numbers[i], sizes[i]
        copy(size * n, own, rows + m * n)
        copy(size * n, own, push + m * n)
        copy(size, bias + 3 * numbers[i], c + m)
        if size == 1:
            slip_push(box, i, n, own, v, push + m * n)
        m = m + size
    box[COUNT] = m
    return bad


def slip_push(box: words, i: int, n: int, own: ptr, v: ptr, push: ptr) -> float:
    """push (n,) = J_n - mu d . J_t of closed contact i, which slides; its slip along the reference [m/s]."""
    mu, reference = doubles(box[MU]), doubles(box[REFERENCE]) + 2 * i
    x, y = 0.0, 0.0
    for k in range(n):
        x = fma(own[n + k], v[k], x)
        y = fma(own[2 * n + k], v[k], y)
    along = x * reference[0] + y * reference[1]
    more = max(along, SLOW) - along
    dx, dy = x + more * reference[0], y + more * reference[1]
    scale = mu[i] / sqrt(dx * dx + dy * dy)
    for k in range(n):
        push[k] = own[k] - scale * (dx * own[n + k] + dy * own[2 * n + k])
    return along


def mass_columns(n: int, m: int, L: ptr, rows: ptr, X: ptr) -> int:
    """X (m, n): M^-1 times each of the rows. 0."""
    copy(m * n, rows, X)
    for i in range(m):
        rooted_solve(n, L, X + i * n)
    return 0


def row_forces(env: words, q: ptr, v: ptr, a: ptr) -> float:
    """Forces of all active rows for the acceleration a (nv,) without them, in SOLUTION; zero if there are such."""
    bad = rows_assembled(env, q, v)
    if bad != 0.0:
        return bad
    box, n = count_at(env[CONTACTS]), env[NV]
    m, rows, X, matrix = box[COUNT], doubles(box[B]), doubles(box[X_]), doubles(box[A])
    f, c = doubles(box[SOLUTION]), doubles(box[C])
    mass_columns(n, m, doubles(box[MASS]), doubles(box[F]), X)
    for i in range(m):
        y = c[i]
        for k in range(n):
            y = fma(rows[i * n + k], a[k], y)
        f[i] = -y
    row_products(n, m, rows, X, matrix)
    costs(box, m, COST)
    return least_solution(m, matrix, f, doubles(box[SPARE]), count_at(box[ORDER]), doubles(box[WEIGHT]))


def shared_forces(env: words) -> float:
    """SOLUTION of the last :func:`row_forces`, shared anew: friction of each contact is about as large a part of its
    normal force as that of the others; zero if there is such."""
    box, n = count_at(env[CONTACTS]), env[NV]
    m, rows, X, matrix = box[COUNT], doubles(box[B]), doubles(box[X_]), doubles(box[A])
    f, c, weight, sizes = doubles(box[SOLUTION]), doubles(box[C]), doubles(box[WEIGHT]), count_at(box[SIZES])
    row_products(n, m, rows, X, matrix)
    costs(box, m, SPARED)
    for i in range(m):
        y = 0.0
        for k in range(m):
            y = fma(matrix[i * m + k], f[k], y)
        c[i] = y
    first, largest = m, 1e-300
    for i in range(box[CLOSED]):
        first = first - sizes[i]
    at = first
    for i in range(box[CLOSED]):
        largest = max(largest, f[at])
        at = at + sizes[i]
    for i in range(box[CLOSED]):
        for k in range(1, sizes[i]):
            weight[first + k] = sqrt(max(f[first] / largest, LITTLE))
        first = first + sizes[i]
    for i in range(m):
        for k in range(m):
            matrix[i * m + k] = matrix[i * m + k] * weight[k]
        f[i] = c[i]
        c[i] = 1.0
    bad = least_solution(m, matrix, f, doubles(box[SPARE]), count_at(box[ORDER]), c)
    for i in range(m):
        f[i] = weight[i] * f[i]
    return bad


def costs(box: words, m: int, spared: float) -> int:
    """WEIGHT (m,): ``spared`` of frictions that stick, one of others. 0."""
    weight, places = doubles(box[WEIGHT]), count_at(box[FIXED_PLACES])
    for i in range(m):
        weight[i] = 1.0
    for i in range(box[FIXED]):
        if places[i] == 0:
            weight[i] = spared
    return 0


def row_products(n: int, m: int, rows: ptr, X: ptr, matrix: ptr) -> int:
    """matrix (m, m) = rows X^T. 0."""
    for i in range(m):
        for j in range(m):
            y = 0.0
            for k in range(n):
                y = fma(rows[i * n + k], X[j * n + k], y)
            matrix[i * m + j] = y
    return 0


def rows_added(n: int, m: int, X: ptr, f: ptr, a: ptr) -> float:
    """a (n,) += X^T f; zero if it is finite."""
    for i in range(m):
        for k in range(n):
            a[k] = fma(f[i], X[i * n + k], a[k])
    bad = 0.0
    for k in range(n):
        bad = bad + 0.0 * a[k]
    return bad


def contact_accelerations(env: words, q: ptr, v: ptr, a: ptr) -> float:
    """a (nv,) with the forces of all active rows; zero if all is finite."""
    bad = row_forces(env, q, v, a)
    if bad != 0.0:
        return bad
    box = count_at(env[CONTACTS])
    return rows_added(env[NV], box[COUNT], doubles(box[X_]), doubles(box[SOLUTION]), a)


def contact_step(env: words, q: ptr, d: ptr) -> float:
    """d (nv,): Newton's step towards closed contacts and loops, which leaves stops; zero if there is one."""
    box, n = count_at(env[CONTACTS]), env[NV]
    bad = rows_assembled(env, q, doubles(box[STILL]))
    if bad != 0.0:
        return bad
    rows, picked, f, X = doubles(box[B]), doubles(box[F]), doubles(box[SOLUTION]), doubles(box[X_])
    places, gaps, m = count_at(box[FIXED_PLACES]), doubles(box[GAPS]), 0
    for i in range(box[FIXED]):
        if places[i] == 1:
            copy(n, rows + i * n, picked + m * n)
            f[m] = 0.0
            m = m + 1
    at = box[FIXED]
    if box[LOOPED] == 1:
        open_by = doubles(box[LOOP_GAPS])
        for i in range(env[LOOP_COUNT]):
            copy(n, rows + at * n, picked + m * n)
            f[m] = -open_by[i]
            m = m + 1
            at = at + 1
    numbers, sizes = count_at(box[NUMBERS]), count_at(box[SIZES])
    for i in range(box[CLOSED]):
        copy(n, rows + at * n, picked + m * n)
        f[m] = -gaps[numbers[i]]
        m = m + 1
        at = at + sizes[i]
    mass_columns(n, m, doubles(box[MASS]), picked, X)
    row_products(n, m, picked, X, doubles(box[A]))
    costs(box, m, 1.0)
    bad = least_solution(m, doubles(box[A]), f, doubles(box[SPARE]), count_at(box[ORDER]), doubles(box[WEIGHT]))
    for k in range(n):
        d[k] = 0.0
    return bad + rows_added(n, m, X, f, d)


def contact_rates(env: words, q: ptr, v: ptr, rates: ptr) -> float:
    """rates (nv,): v without what closed rows do not allow; zero if all is finite."""
    bad = rows_assembled(env, q, v)
    if bad != 0.0:
        return bad
    box, n = count_at(env[CONTACTS]), env[NV]
    m, rows, X, f = box[COUNT], doubles(box[B]), doubles(box[X_]), doubles(box[SOLUTION])
    mass_columns(n, m, doubles(box[MASS]), rows, X)
    row_products(n, m, rows, X, doubles(box[A]))
    costs(box, m, 1.0)
    for i in range(m):
        y = 0.0
        for k in range(n):
            y = fma(rows[i * n + k], v[k], y)
        f[i] = -y
    bad = least_solution(m, doubles(box[A]), f, doubles(box[SPARE]), count_at(box[ORDER]), doubles(box[WEIGHT]))
    copy(n, v, rates)
    return bad + rows_added(n, m, X, f, rates)
