"""The default run meets every value of every parameter of every product of cases."""

from itertools import product

import pytest

from tests.conftest import TIMES, covered


@pytest.mark.parametrize("sizes", [(3, 3), (7, 2), (4, 3, 2), (5, 1, 6), (28, 30)])
def test_a_cover_has_every_value_and_is_as_large_as_the_longest_parameter(sizes):
    cases = [dict(zip("abc", values, strict=False)) for values in product(*(range(n) for n in sizes))]
    chosen = covered(cases)
    for name, size in zip("abc", sizes, strict=False):
        assert {cases[k][name] for k in chosen} == set(range(size))
    assert len(chosen) <= TIMES * max(sizes) + 1


def test_a_list_of_single_cases_is_taken_whole():
    assert covered([{"case": k} for k in range(50)]) == set(range(50))
