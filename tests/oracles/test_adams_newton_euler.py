"""The 28 mechanisms of ADAMS by two derivations: gyrostat's trees, and Newton-Euler equations of one free body with
Lagrange multipliers. They agree to 8e-8; so what ADAMS says besides is an error of ADAMS, and the table of
test_adams_histories is computed here without gyrostat."""

from functools import cache

import numpy as np
import pytest

from tests.oracles.test_adams_histories import ERRORS
from tests.support.adams_cases import CASES
from tests.support.adams_histories import TIMES, ZERO, deviations, history, read
from tests.support.adams_newton_euler import solve
from tests.support.reference_data import reference

AGREE = 2e-7
"""Of the largest number of a column; 8e-8 is found."""
QUICK = ("Universal_Case03", "Distance_Case02", "RevSpherical_Case02", "LinActuator_Case02", "RotSpring_Case02",
         "TranSpringCB_Case03")  # fmt: skip


@cache
def solved(case):
    return solve(case, TIMES)


def assert_agreement(got, want):
    found = deviations(got, want)
    for quantity, error in found.items():
        size = max(np.abs(want[name]).max() for name in want if name.startswith(quantity))
        assert error <= AGREE * max(1.0, size), quantity


@pytest.mark.parametrize("case", QUICK)
def test_both_agree_over_half_a_second(case):
    few = TIMES[:51:10]
    assert_agreement({name: x[:51:10] for name, x in history(case).items()}, solve(case, few))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_both_agree_over_five_seconds(case):
    assert_agreement(history(case), solved(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_errors_of_adams_are_found_without_gyrostat(case):
    """The numbers of the table have two digits."""
    found = deviations(solved(case), read(reference(f"adams_joints/{case}.csv")))
    for quantity, error in found.items():
        assert error == pytest.approx(ERRORS[case][quantity], rel=0.05, abs=2.0 * ZERO), quantity
