"""Maximal coordinates (AS (10)): every body free, every joint a constraint; against the coordinates of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.loop_models import LOOPS, four_bar, hinge, rod
from tests.support.opened_loops import tree_equations


def arm(**options):
    """An open chain: two hinged rods."""
    chain = gs.chain("world", hinge("A"), rod("upper", 1.0), hinge("B", "x"), rod("lower", 0.5))
    return gs.assemble("arm", chain, **({"reference": {"A": 0.3, "B": -0.5}} | options))


ROBOTS = {name: LOOPS[name] for name in ("four-bar", "slider-crank", "cylinder", "universal rod", "two rods")} | {
    "arm": arm
}


def bodies(model):
    return [e.name for e in model.entities if isinstance(e, gs.RigidBody)]


@pytest.mark.by_default(3)
@pytest.mark.parametrize("name", ROBOTS)
def test_bodies_accelerate_as_they_do_in_the_coordinates_of_the_tree(name):
    free, tree = ROBOTS[name](loops="maximal"), ROBOTS[name](loops="constraints")
    assert free.nv >= 6 * len(bodies(free))
    q, q_tree = gs.neutral(free), gs.neutral(tree)
    v, v_tree = np.zeros(free.nv), np.zeros(tree.nv)
    a, a_tree = gs.aba(free, q, v, v), gs.aba(tree, q_tree, v_tree, v_tree)
    here, there = gs.fk(free, q, v, a), gs.fk(tree, q_tree, v_tree, a_tree)
    for body in bodies(free):
        one, two = here[f"{body}.origin"], there[f"{body}.origin"]
        assert_close(one.p, two.p, 1e-9)
        assert_close(one.R, two.R, 1e-9)
        assert_close(one.A, two.A, 1e-7)


@pytest.mark.by_default(3)
@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau", "generalised-alpha", "dina"])
def test_every_kind_of_method_runs_free_bodies(method):
    options = {"dt": 1e-3} if method in ("rk4", "generalised-alpha", "dina") else {"rtol": 1e-8, "atol": 1e-10}
    runs = {loops: gs.simulate(four_bar(loops=loops), t_end=0.5, method=method, **options)
            for loops in ("minimal", "maximal")}  # fmt: skip
    ends = {loops: gs.fk(run.model, run.q[-1])["coupler.tip"].p for loops, run in runs.items()}
    assert_close(ends["maximal"], ends["minimal"], 1e-4 if "dt" in options else 1e-6)


def test_an_open_chain_has_loops_in_maximal_coordinates_alone():
    assert len(gs.loops(arm(loops="maximal"))) == 2
    assert len(gs.loops(arm())) == 0
    assert arm(loops="maximal").dofs[0] == "upper_pose.wx"


def test_a_name_that_is_taken_is_told():
    chain = gs.chain("world", hinge("A"), rod("upper", 1.0), hinge("upper_pose"), rod("lower", 0.5))
    with pytest.raises(gs.SpecError, match=r"'upper_pose' is the name of the coordinates of 'upper'"):
        gs.rnea(gs.assemble("arm", chain, loops="maximal"), np.zeros(14), np.zeros(12), np.zeros(12))


@pytest.mark.parametrize(("count", "diagonal", "blocks"), [(2, 1.68, 0.982), (10, 1.88, 1.0)])
def test_the_diagonal_of_the_multipliers_matrix_does_not_converge(count, diagonal, blocks):
    """AS (9) with C A^-1 C^T replaced by its diagonal, or by one block for each joint: factors of an iteration."""
    parts, last = [], "world"
    for k in range(count):
        parts.append(gs.chain(last, hinge(f"j{k}"), rod(f"b{k}", 1.0)))
        last = f"b{k}.tip"
    model = gs.assemble("rods", *parts, reference={f"j{k}": 0.3 for k in range(count)}, loops="maximal")
    M, _, J, _, _ = tree_equations(model, gs.neutral(model), np.zeros(model.nv))
    S = J @ np.linalg.solve(M, J.T)
    inverse = np.zeros_like(S)
    for k in range(0, len(S), 5):
        inverse[k : k + 5, k : k + 5] = np.linalg.inv(S[k : k + 5, k : k + 5])
    for guess, factor in ((np.diag(1.0 / np.diag(S)), diagonal), (inverse, blocks)):
        radius = np.abs(np.linalg.eigvals(np.eye(len(S)) - guess @ S)).max()
        assert radius == pytest.approx(factor, abs=5e-3)
