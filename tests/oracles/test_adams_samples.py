"""All 28 mechanisms of ADAMS without its files: position and reaction at 1, 2.5 and 5 s, typed in adams_samples.

Allowed: what test_adams_histories allows."""

import pytest

from tests.oracles.test_adams_histories import ALLOWED
from tests.support.adams_cases import CASES
from tests.support.adams_histories import deviations, history, read
from tests.support.adams_samples import samples
from tests.support.reference_data import reference


@pytest.mark.by_default(9)
@pytest.mark.parametrize("case", CASES)
def test_position_and_reaction_at_three_instants(case):
    at, want = samples(case)
    assert at == [100, 250, 500]
    found = deviations({name: column[at] for name, column in history(case).items()}, want)
    assert set(found) == {"Pos", "Rforce", "Rtorque"}
    assert {x: found[x] for x in found if not found[x] <= ALLOWED[case][x]} == {}


@pytest.mark.by_default(9)
@pytest.mark.parametrize("case", CASES)
def test_the_figures_are_those_of_the_files(case):
    at, typed = samples(case)
    table = read(reference(f"adams_joints/{case}.csv"))
    found = deviations({name: column[at] for name, column in table.items()}, typed)
    assert max(found.values()) < 1e-9
