"""Words, numbers and tables of Moreau's steps: what :mod:`~gyrostat.simulate.methods.moreau_tables` writes, and drivers
read."""

from __future__ import annotations

from gyrostat.simulate.methods.drivers.fixed_clock import WORDS

(
    SCENE,  # kernel of kernels/contact_scene
    PORT_COUNT, CHAIN_FIRST, CHAIN,  # words: entries (rate, screw, factor) of port k from first[k] to first[k + 1]
    CANDIDATE_COUNT, CANDIDATES, CANDIDATE_NUMBERS,  # words (kind, port a, port b); numbers, see below
    LIMIT_COUNT, LIMITS, LIMIT_NUMBERS, LIMIT_ENTRIES,  # words (coordinate or -1 - follower, first entry, last entry)
    ORDER, L_FIRST, L_COLUMNS,  # words: rates in outward order; entries of the rows of L, and their columns
    V_FREE, L_VALUES, SCALE, POSES, SCREWS, FACTORS, BOXES, ENDS,  # outputs of the scene
    BOX_COUNT, BOX_ROWS, LOOP_EQUATIONS,  # dry frictions, their rows (count, nv); g, J, b of loops
    MIDDLE, TWISTS, STEP, RATES,  # q in the middle; velocities of ports; h; scratch (4 nv,)
    MOST_CONTACTS, CONTACT_COUNT, CONTACTS, CONTACT_NUMBERS,  # places; contacts of this step: words, numbers
    SCALAR_COUNT, SCALARS, SCALAR_NUMBERS,  # rows beside contacts
    WHITE, DELASSUS, STRIDE,  # Y (blocks, nv, 4); G = Y Y^T, rows STRIDE apart
    IMPULSE, SPEED, FREE_SPEED, COMPRESSION, SPARE,  # P, u, c (rows,); P of the compression; scratch (4 rows,)
    KEPT,  # impulses of the last step: contacts, limits, loops, boxes
    FORCES, SAMPLE_FORCES, FORCES_NOW,  # of rows and of samples (..., candidates, 3); of the last step
    RECORDS, RECORD_COUNT, MOST_RECORDS, PHASES,  # impacts and changes of phase; phase of each candidate
    PYTHON,  # callback for pairs without closed form; 0
    SWEEPS, SOLVED, UNSOLVED_STEPS, IMPACTS, CORRECTED, MOST_ROWS_SEEN,  # statistics
    LAW_MATRIX, PIVOTS,  # Newton's matrix
    NEWTONS, CONTACT_SUM,
) = range(WORDS, WORDS + 69)  # fmt: skip
WORDS_OF_MOREAU = WORDS + 72

BALL_ON_PLANE, TWO_SEGMENTS, ASKED = 0, 1, 2
"""Kinds of pairs: ends of a and a half-space of b; two segments with radii; found in Python."""
C_WORDS, C_NUMBERS = 4, 32
"""Words and numbers of a candidate."""
A_FIRST, A_LAST, A_RADIUS, B_FIRST, B_LAST, B_RADIUS, MU_STATIC, MU_DYNAMIC, RESTITUTION, B_TANGENT, A_BOUND, B_BOUND = (
    0, 3, 6, 7, 10, 13, 14, 15, 16, 17, 20, 21,
)  # fmt: skip
"""Segment of a (two points in the axes of its port), its radius; that of b, or a point of the plane and its normal;
law; first tangent of the plane; radii of spheres around the middles of both segments."""

GAP, AT, AXES, MU, E, BEFORE, INVERSE, ALONG_T, LOW, REGULAR, ALLOWED = 0, 1, 4, 13, 14, 15, 16, 25, 26, 27, 28
K_NUMBERS = 32
"""Numbers of a contact: gap, point (3,), axes n, t1, t2 (9,), law, closing speed before the step, inverse of its 3 x 3
block, step of the tangent, least normal impulse, whether the block is regular, speed at which it may still close."""
K_WORDS = 2
"""Words of a contact: candidate; whether it is an impact."""

S_LOW, S_HIGH, S_GAP, S_E, S_BEFORE, S_ALLOWED = range(6)
S_NUMBERS, S_WORDS = 8, 2
"""Numbers and words of a row beside contacts: limits of its impulse, gap, restitution, speed before, allowed speed;
place among the kept impulses, whether it is an impact."""
RECORD = 6
"""Numbers of a record: time, candidate, kind (0 impulse, 1 phase), three numbers."""
OPEN, STICK, SLIDE = 0, 1, 2
WORST, RESIDUAL_SUM, DEEPEST = 8, 9, 10
"""Numbers of a run behind those of the clock: largest residual [m/s], sum of them, deepest penetration [m]."""
