"""Random trees of which half of the joints and bodies are kinds of somebody else, with two rows each, against
Pinocchio: what ``test_family_against_pinocchio`` asks of built-in kinds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import test_family_against_pinocchio as family
from tests.support.foreign_kinds import OwnBody, OwnJoint, in_own_kinds

ASKED = [name for name in dir(family) if name.startswith("assert_same") or name == "assert_all_ways_agree"]


def foreign_tree(seed, bodies):
    plain = family.without_force_elements(family.tree(seed, bodies))
    model = in_own_kinds(plain, np.random.default_rng([seed, 31]))
    assert any(isinstance(e, OwnJoint | OwnBody) for e in model.entities)
    return model


def ask(question, seed, bodies):
    with family.interpreted():
        getattr(family, question)(foreign_tree(seed, bodies), seed)


def test_there_is_something_to_ask():
    assert len(ASKED) >= 5


@pytest.mark.parametrize("seed", [3])
@pytest.mark.parametrize("question", ASKED)
def test_trees_with_foreign_joints_and_bodies_equal_pinocchio(question, seed):
    ask(question, seed, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("question", ASKED)
def test_many_trees_with_foreign_joints_and_bodies_equal_pinocchio(question, seed):
    ask(question, seed, 3 + seed % 5)
