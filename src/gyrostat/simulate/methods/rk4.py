"""The classical method of order 4 [Kutta 1901] with fixed steps, and the cubic of Hermite between. Four evaluations a
step."""

from __future__ import annotations

from gyrostat.simulate.methods.runge_kutta import FixedRungeKutta, Table, numbers

_ROWS = numbers("1/2", "0 1/2", "0 0 1", "1/6 1/3 1/3 1/6")
(_C,) = numbers("0 1/2 1/2 1 1")


class ClassicalRungeKutta(FixedRungeKutta):
    """``"rk4"``: fixed steps ``dt``."""

    name, order = "rk4", 4
    table = Table(_ROWS, _C)
