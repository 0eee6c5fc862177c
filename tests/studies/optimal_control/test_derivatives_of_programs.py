"""First and second derivatives of whole programs against differences."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.studies.optimal_control.derivative_check import derivative_errors
from tests.studies.optimal_control.problems import cart_pole

Phase, at_least = gs.studies.Phase, gs.studies.at_least


@pytest.mark.by_default(1)
@pytest.mark.parametrize("method", ["hermite-simpson", "radau"])
def test_derivatives_are_exact_with_free_times_designs_and_accelerations_in_costs_and_conditions(method):
    cart = cart_pole()
    first = Phase(
        cart, duration=(1.0, 3.0), nodes=5, start={"q": [0, 0], "v": [0, 0]},
        cost=lambda s: (1 + s.t) * s.u @ s.u + s.a @ s.a * s.parameters["w"] + np.sin(s.fraction) * s.duration,
        path=lambda s: {"low": at_least(s.frame("bob").p[2] + s.a[0] * s.parameters["w"], -1.0)},
        end=lambda s: [s.q[0] ** 2 - s.t], end_cost=lambda s: s.t**2 * s.a[1] + s.q[0] ** 2,
    )  # fmt: skip
    last = Phase(cart, duration=(0.5, 1.5), nodes=4, cost="effort", end={"q": [0.8, -np.pi]})
    study = gs.studies.OptimalControl(
        (first, last), {"w": (0.5, 2.0), "c.mass": (1.0, 3.0)},
        link=lambda a, b: [a.v[1] * b.q[0] - b.t * a.parameters["w"]], method=method,
    )  # fmt: skip
    assert max(derivative_errors(study, (5, 4))) < 1e-9
