"""Quadratic programs: constraints that a solution misses are told, and refused."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.legs.quadratic_program import QuadraticProgram, solved


def program() -> QuadraticProgram:
    """The point nearest to (0, 3, 4) with x0 = 2, x1 <= 10, inside the cone x0 >= |x1, x2|: 2 (1, 0.6, 0.8)."""
    made = QuadraticProgram(3)
    made.add_squares(np.eye(3), np.array([0.0, 3.0, 4.0]), 1.0)
    made.add_equal(np.array([[1.0, 0.0, 0.0]]), np.array([2.0]))
    made.add_at_most(np.array([[0.0, 1.0, 0.0]]), np.array([10.0]))
    made.add_cone(np.eye(3))
    return made


def test_the_minimum_satisfies_its_constraints():
    pytest.importorskip("clarabel")
    found = solved(program(), "here", 0.0)
    np.testing.assert_allclose(found.x, [2.0, 1.2, 1.6], atol=1e-4)
    assert program().missed(found.x) < 1e-8


@pytest.mark.parametrize(
    ("x", "missed"),
    [
        ([2.0, 0.0, 0.0], 0.0),
        ([3.0, 0.0, 0.0], 1.0 / 3.0),  # the equation
        ([2.0, 0.0, 2.5], 0.5 / 2.5),  # the cone
        ([2.0, 20.0, 0.0], 18.0 / 20.0),  # the cone more than the inequality
        ([-1.0, 0.0, 0.0], 3.0 / 2.0),
    ],
)
def test_violations_are_shares_of_the_terms(x, missed):
    assert program().missed(np.array(x)) == pytest.approx(missed)


def test_a_solution_that_misses_its_constraints_is_refused(monkeypatch):
    pytest.importorskip("clarabel")
    monkeypatch.setattr(QuadraticProgram, "missed", lambda self, x: 2e-5)
    with pytest.raises(gs.StateError, match=r"here: .*at t = 3 s miss .* by 2.0e-05 of their terms.*Solved"):
        solved(program(), "here", 3.0)


def test_numbers_that_are_not_finite_miss_everything():
    assert not program().missed(np.full(3, np.nan)) <= 1.0
