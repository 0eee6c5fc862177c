"""The default run meets every value of every parameter of a product of cases, unless a test says how many it takes."""

from itertools import product

import pytest

from tests.conftest import TIMES, covered, spread


@pytest.mark.parametrize("sizes", [(3, 3), (7, 2), (4, 3, 2), (5, 1, 6), (28, 30)])
def test_a_cover_has_every_value_and_is_as_large_as_the_longest_parameter(sizes):
    cases = [dict(zip("abc", values, strict=False)) for values in product(*(range(n) for n in sizes))]
    chosen = covered(cases)
    for name, size in zip("abc", sizes, strict=False):
        assert {cases[k][name] for k in chosen} == set(range(size))
    assert len(chosen) <= TIMES * max(sizes) + 1


def test_a_list_of_single_cases_is_taken_whole():
    assert covered([{"case": k} for k in range(50)]) == set(range(50))


@pytest.mark.parametrize(("count", "n"), [(10, 3), (36, 9), (5, 5), (3, 8), (7, 1)])
def test_cases_that_are_taken_are_spread_over_the_list(count, n):
    taken = sorted(spread(count, n))
    assert taken[0] == 0 and len(taken) == min(n, count) and taken[-1] < count
    gaps = [b - a for a, b in zip(taken, [*taken[1:], count], strict=True)]
    assert max(gaps) - min(gaps) <= 1
