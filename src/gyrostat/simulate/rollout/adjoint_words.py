"""Words of the sweeps backwards, and the weights that go through the law of the efforts."""

from __future__ import annotations

from gyrostat.engine.drivers.words import doubles, kernel, ptr, words
from gyrostat.simulate.kernels.environment import CONSTANTS, NQ, NV, PARAMETERS, TIME, WORK
from gyrostat.simulate.rollout.lane_steps import DIGITAL, PARAMETER_SIZE

(
    FORWARD_ADJOINT, LAW_ADJOINT, UPDATE_ADJOINT, CHART_ADJOINT, RETRACT_ADJOINT,  # kernels
    SUM_Q, SUM_V, SUM_P, SUM_M, SUM_PARAMETERS, SUM_LIVE,  # weights of states and parameters so far
    BAR_K, BAR_Y, BAR_Q, BAR_TAU, MORE_Q, MORE_V, MORE_P, MORE_M, MORE_PARAMETERS, MORE_LIVE, ZEROS,  # scratch
    W_Q, W_V, FIRST_ROW, IN_A_ROW, FIRST_ROBOT, HERE,  # weights of rows, the first of them; robots
    FIRST_STEP, STEPS,  # of this stretch
    TOTAL_Q, TOTAL_V, TOTAL_PARAMETERS, TOTAL_LIVE, SUM_SIZE,  # rows of each robot; columns of all sums
    CONTACT_ADJOINT,  # kernel of a step with contacts
) = range(36)  # fmt: skip
WORDS_OF_AN_ADJOINT = 40
SUMS = SUM_Q, SUM_V, SUM_P, SUM_M, SUM_PARAMETERS, SUM_LIVE


def added(size: int, x: ptr, total: ptr) -> int:
    """total += x."""
    for k in range(size):
        total[k] = total[k] + x[k]
    return 0


def law_adjoint(env: words, run: words, back: words, q: ptr, y: ptr, m: ptr, bar_k: ptr, bar_y: ptr) -> float:
    """Weights BAR_TAU of the efforts and bar_k of dp/dt, through the law, are added to BAR_Q and to v in bar_y; those
    of p are set there; those of parameters and memory are added up."""
    n = env[NV]
    more_q, more_v, more_m, more = (
        doubles(back[MORE_Q]),
        doubles(back[MORE_V]),
        doubles(back[MORE_M]),
        doubles(back[MORE_PARAMETERS]),
    )
    bad = kernel(back[LAW_ADJOINT])(
        doubles(env[TIME]), q, y + n, y + 2 * n, m, doubles(env[PARAMETERS]), doubles(env[CONSTANTS]),
        doubles(back[BAR_TAU]), bar_k + 2 * n, more_q, more_v, bar_y + 2 * n, more_m, more, doubles(env[WORK]),
    )  # fmt: skip
    added(env[NQ], more_q, doubles(back[BAR_Q]))
    added(n, more_v, bar_y + n)
    added(run[DIGITAL], more_m, doubles(back[SUM_M]))
    added(run[PARAMETER_SIZE], more, doubles(back[SUM_PARAMETERS]))
    return bad
