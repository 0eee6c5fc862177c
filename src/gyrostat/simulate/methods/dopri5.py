"""Dormand and Prince's method of order 5 with an estimate of order 4 and dense output of order 4.

Six evaluations a step. [J. Comp. Appl. Math. 6 (1980) 19-26; Hairer, Norsett, Wanner, Solving Ordinary Differential
Equations I, II.5, II.6]."""

from __future__ import annotations

from gyrostat.simulate.methods.adaptive import AdaptiveRungeKutta
from gyrostat.simulate.methods.runge_kutta import Table, numbers

_ROWS = numbers(
    "1/5",
    "3/40 9/40",
    "44/45 -56/15 32/9",
    "19372/6561 -25360/2187 64448/6561 -212/729",
    "9017/3168 -355/33 46732/5247 49/176 -5103/18656",
    "35/384 0 500/1113 125/192 -2187/6784 11/84",
)
_C, _ERROR, _D = numbers(
    "0 1/5 3/10 4/5 8/9 1 1",
    "71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40",
    "-12715105075/11282082432 0 87487479700/32700410799 -10690763975/1880347072 701980252875/199316789632 "
    "-1453857185/822651844 69997945/29380423",
)


class DormandPrince(AdaptiveRungeKutta):
    """``"dopri5"``: the method of choice for motions that are not stiff."""

    name, order, estimate_order = "dopri5", 5, 4
    table = Table(_ROWS, _C, _ERROR, [_D])
