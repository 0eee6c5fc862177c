"""Memory of implicit steps: what drivers find where.

A *state* is one row of numbers, q (nq,), v, a, w, tau (nv,), p, f (np,): ``a`` solves the equations of motion, ``w`` is
the acceleration that moves v on (the same for Newmark), f = dp/dt, ``tau`` the efforts."""

from __future__ import annotations

from gyrostat.engine.drivers.words import ptr, words
from gyrostat.simulate.kernels.environment import NP, NQ, NV
from gyrostat.simulate.methods.drivers.fixed_clock import NUMBERS as CLOCK_NUMBERS
from gyrostat.simulate.methods.drivers.fixed_clock import WORDS as CLOCK_WORDS

(
    START, FINISH, BEFORE, MOVE, RESIDUAL, CHANGE, BASE, BASE_RESIDUAL, SIZES, WEIGHTS, SPARE,  # vectors
    BLOCKS, WHOLE, FACTORS, PIVOTS, MASS_SIZE, REACH, REACH_P,  # the matrix of Newton's method and what is made of it
    TREE, FIRST, RUNS, BY_TREE, PIVOTED,  # its factorisation: 1 if along the tree; 1 if pivots were asked for
    KIND, MATRIX, ITERATIONS, EVERY,  # settings
    IRREGULAR, PHASE,  # the course of the run
    NEWTON, FACTORISATIONS, HALVED, SERVED, LONGEST_SERVICE, REPEATED, FALLBACKS,  # counts
    KEPT, BIASED_INVERSE, WHOLE_INVERSE, WHOLE_KNOWN, KEPT_MATRIX, KEPT_MASS, KEPT_Q, NEXT_LOOK, INTERVAL,  # dina's S
    PATIENCE, TRIED, PREDICTED, METRIC, HERE, THERE, KEPT_DAMPING, STRIDE, FLOW, SLOPES_SERVE,
    MIDDLE, MIDDLE_KNOWN, FRESH, EXTRA,  # of steps with a stage in the middle
    PAIR_INVERSE, PAIR_RIGHT, PAIR_PRODUCT, PAIR_RESIDUAL, PAIR_CHANGE,
) = range(CLOCK_WORDS, CLOCK_WORDS + 64)  # fmt: skip
WORDS = 72
"""Words of a method, behind those of the clock. START, FINISH: states at both ends of a step; BEFORE (nv,): a one step
before; MOVE (nv,): the way of the step; RESIDUAL, CHANGE (nv + np,): H and what Newton's method makes of it; BASE,
BASE_RESIDUAL: where a Newton step begins; SIZES (np,): what counts as one; WEIGHTS of the residual's norm; BLOCKS:
derivatives as the kernels write them; WHOLE (nv + np, nv + np): their sum; MASS_SIZE: |M|; REACH, REACH_P: what
rounding of q, and of p, makes of the residual. TRIED: Newton steps of the last step; PREDICTED (nv,): where they began;
METRIC, HERE, THERE (nv, nv): scratch; STRIDE: numbers of a column of an inverse; FLOW
(nv,): sum_j |M_ij| |a_j|. MIDDLE: the state in the middle of the last step, MIDDLE_KNOWN if there is one; PAIR_...:
complex inverse, right-hand side and product, residual and change of both stages; FRESH, EXTRA: Newton steps that the
first step with S took, and those that later ones took more."""
(
    LONGEST, SHARE, ALPHA_M, ALPHA_F, BETA, GAMMA, SPAN, LARGEST, TRIED_H, KEPT_H,
) = range(CLOCK_NUMBERS, CLOCK_NUMBERS + 10)  # fmt: skip
NUMBERS = 20
"""Numbers of a method, behind those of the clock: longest part of a step that was halved, residual that is accepted,
coefficients of the formulas, stretch that S is made for, largest residual of a scheme without a check, lengths of the
step that was given up last, and of those that a matrix serves."""


def state_size(env: words) -> int:
    """Numbers of a state."""
    return env[NQ] + 4 * env[NV] + 2 * env[NP]


def v_of(env: words, x: ptr) -> ptr:
    return x + env[NQ]


def a_of(env: words, x: ptr) -> ptr:
    return x + (env[NQ] + env[NV])


def w_of(env: words, x: ptr) -> ptr:
    return x + (env[NQ] + 2 * env[NV])


def tau_of(env: words, x: ptr) -> ptr:
    return x + (env[NQ] + 3 * env[NV])


def p_of(env: words, x: ptr) -> ptr:
    return x + (env[NQ] + 4 * env[NV])


def f_of(env: words, x: ptr) -> ptr:
    return x + (env[NQ] + 4 * env[NV] + env[NP])
