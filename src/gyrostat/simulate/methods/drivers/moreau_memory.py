"""Words, numbers and tables of Moreau's steps: what :mod:`~gyrostat.simulate.methods.moreau_tables` writes, and drivers
read."""

from __future__ import annotations

from gyrostat.simulate.methods.drivers.fixed_clock import WORDS

(
    SCENE,  # kernel of kernels/contact_scene
    PORT_COUNT, CHAIN_FIRST, CHAIN,  # words: entries (rate, screw, factor) of port k from first[k] to first[k + 1]
    CANDIDATE_COUNT, CANDIDATES, CANDIDATE_NUMBERS,  # words (kind, port a, port b, segments a, b); numbers, see below
    SEGMENT_COUNT, SEGMENT_PORTS, SEGMENT_NUMBERS, SEGMENTS_NOW,  # segments with radii; where they are
    NEAR_COUNT, NEAR, NEAR_NUMBERS, ADDED,  # pairs that are no contacts yet; how often some became ones
    LIMIT_COUNT, LIMITS, LIMIT_NUMBERS, LIMIT_ENTRIES,  # words (coordinate or -1 - follower, first entry, last entry)
    ORDER, L_FIRST, L_COLUMNS,  # words: rates in outward order; entries of the rows of L, and their columns
    V_FREE, V_TURNED, L_VALUES, SCALE, POSES, SCREWS, FACTORS, BOXES, ENDS,  # outputs of the scene
    BOX_COUNT, BOX_ROWS, LOOP_EQUATIONS,  # dry frictions, their rows (count, nv); g, J, b of loops
    MIDDLE, ENDING, TWISTS, STEP, RATES,  # q in the middle, at the end; velocities of ports, twice; h; scratch
    MOST_CONTACTS, CONTACT_COUNT, CONTACTS, CONTACT_NUMBERS,  # places; contacts of this step: words, numbers
    SCALAR_COUNT, SCALARS, SCALAR_NUMBERS,  # rows beside contacts
    WHITE, DELASSUS, STRIDE,  # Y (blocks, nv, 4); G = Y Y^T, rows STRIDE apart
    IMPULSE, SPEED, FREE_SPEED, COMPRESSION, SPARE,  # P, u, c (rows,); P of the compression; scratch (4 + 3 rows,)
    BEFORE_SPEED, FREE,  # J v, J v_free (rows,)
    KEPT,  # impulses of the last step: contacts, limits, loops, boxes
    RECORDS, RECORD_COUNT, MOST_RECORDS, PHASES, PHASES_NOW,  # what is told; phase of each candidate
    SWEEPS, NEWTONS, SOLVED, UNSOLVED_STEPS, IMPACTS, CORRECTED, MOST_ROWS_SEEN, CONTACT_SUM,  # statistics
    LAW_MATRIX, ACTIVE,  # Newton's matrix; its rows and their kinds
    CONE_G, CONE_VECTORS, CONE_UNITS, CONE_NUMBERS, CONE_MEMORY, HARD,  # of the solver for hard problems; how many
    CONE_ROWS, SPIN_COUNT,  # its rows among those of the step; contacts with torsional or rolling friction
    SOLID_COUNT, SOLID_PAIRS, ANSWERS, ANSWERED,  # pairs that Python finds: words (segments a, b, first answer); points
    ENERGY, ENERGY_LAW, ENERGIES, POSES_NOW,  # kernel of kernels/contact_energy; what it knows; its outputs
    STATE_KNOWN, STATE, UNSEEN, SHORTENED,  # whether ENERGIES are of STATE (q, v); 1 until a start's depth is known
    GAPS_OF_SOLIDS, SOLID_GAPS, PLACE, WAY,  # asks Python for gaps; these; scratch: a contact; displacements (2 nv,)
    BEGUN,  # whether a run is under way
) = range(WORDS, WORDS + 97)  # fmt: skip
WORDS_OF_MOREAU = WORDS + 100

BALL, RIM, ELLIPSOID, SEGMENTS, SOLIDS = 0, 1, 2, 3, 4
"""Kinds of pairs: a ball, the rim of a disc, an ellipsoid above a plane; two segments with radii; a point of two solids
that Python finds."""
C_WORDS, C_NUMBERS = 6, 32
"""Words (kind, port a, port b, segment a, segment b) and numbers of a candidate."""
A_FIRST, A_LAST, A_RADIUS, B_FIRST, B_LAST = 0, 3, 6, 7, 10
"""On a plane, in the axes of the ports: centre of a; axis of a rim, radii of an ellipsoid; radius; a point of the plane
and its normal."""
MU_STATIC, MU_DYNAMIC, RESTITUTION, B_TANGENT, A_AXES = 14, 15, 16, 17, 22
TORSIONAL, ROLLING = 20, 21
"""Law; first tangent of the plane; axes (3, 3) of a rim or an ellipsoid, column by column."""
G_NUMBERS, G_NOW = 8, 12
"""Numbers of a segment: begin (3,), vector (3,), radius, distance from its middle to its farthest point; where it is
now: begin, vector, middle, radius, reach within a step."""

GAP, AT, AXES, MU, E, BEFORE, INVERSE, ALONG_T, LOW = 0, 1, 4, 13, 14, 15, 16, 25, 26
REGULAR, ALLOWED, MOBILE, END_GAP = 27, 28, 29, 30
K_NUMBERS = 32
"""Numbers of a contact: gap, point (3,), axes n, t1, t2 (9,), law, closing speed before the step, inverse of its 3 x 3
block, step of the tangent, least normal impulse, whether the block is regular, speed at which it may still close,
whether impulses along the normal move anything, gap at the end of the step."""
K_WORDS, K_SPIN, NO_SPIN = 3, 2, -1
"""Words of a contact: candidate; whether it is an impact; its first row beside contacts, if it has rows of spin."""
ANSWER, PATCH = 8, 8
"""Numbers of a point of two solids: 1 if it is there, gap, point (3,), normal (3,); how many a pair has, at most."""

S_LOW, S_HIGH, S_GAP, S_E, S_BEFORE, S_ALLOWED, S_END_GAP = range(7)
S_NUMBERS, S_WORDS = 8, 3
"""Numbers and words of a row beside contacts: limits of its impulse, gap, restitution, speed before, allowed speed,
gap at the end of the step; place among the kept impulses, whether it is an impact, its kind."""
PUSHES, HOLDS, RUBS, SPINS = 0, 1, 2, 3
"""Kinds of such rows: a stop, an equation of a loop, dry friction, torsional or rolling friction of a contact."""
RECORD = 6
"""Numbers of a record: time, candidate, kind, three numbers."""
IMPULSE_OF, PHASE, FORCE, MOMENT = 0, 1, 2, 3
"""Kinds of records."""
OPEN, STICK, SLIDE = 0, 1, 2
WORST, RESIDUAL_SUM, DEEPEST = 8, 9, 10
"""Numbers of a run behind those of the clock: largest residual [m/s], sum of them, deepest penetration [m]."""
TIGHT = 1e-8
"""Residual [m/s] of a step that counts as solved."""
