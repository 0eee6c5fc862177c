"""Bogacki and Shampine's method of order 3 with an estimate of order 2 [Appl. Math. Letters 2 (1989) 321-325] and the
cubic of Hermite between. Three evaluations a step."""

from __future__ import annotations

from gyrostat.simulate.methods.adaptive import AdaptiveRungeKutta
from gyrostat.simulate.methods.runge_kutta import Table, numbers

_ROWS = numbers("1/2", "0 3/4", "2/9 1/3 4/9")
_C, _ERROR = numbers("0 1/2 3/4 1", "-5/72 1/12 1/9 -1/8")


class BogackiShampine(AdaptiveRungeKutta):
    """``"ode23"``: for coarse tolerances, and for efforts that are not smooth."""

    name, order, estimate_order = "ode23", 3, 2
    table = Table(_ROWS, _C, _ERROR)
