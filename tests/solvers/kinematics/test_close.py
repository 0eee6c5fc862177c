"""Configurations and velocities brought to closed loops."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support import loop_models
from tests.support.comparing import assert_close


@pytest.fixture(scope="module")
def four_bar():
    return loop_models.four_bar(loops="constraints")


def gap(model, q):
    frames = gs.fk(model, q)
    return np.linalg.norm(frames["coupler.tip"].p - frames["rocker.tip"].p, axis=-1)


def test_batches_are_closed_near_where_they_were(four_bar):
    rng = np.random.default_rng(0)
    q = gs.neutral(four_bar) + 0.1 * rng.normal(size=(5, 2, 3))
    closed = gs.close(four_bar, q)
    assert gap(four_bar, closed).max() < 1e-13
    assert np.abs(closed - q).max() < 0.5


def test_kept_joints_stay_and_the_others_follow(four_bar):
    q = gs.neutral(four_bar) + 0.1
    closed, v = gs.close(four_bar, q, [1.0, 5.0, 5.0], keep=["A"])
    at = list(four_bar.dofs).index("A")
    assert closed[at] == q[at]
    assert v[at] == 1.0
    frames, h = gs.jacobian(four_bar, closed, "coupler.tip"), gs.jacobian(four_bar, closed, "rocker.tip")
    point = gs.fk(four_bar, closed)["coupler.tip"].p
    speeds = [x[3:] + np.cross(x[:3], point) for x in (frames @ v, h @ v)]
    assert_close(speeds[0], speeds[1], 1e-12)
    whole = gs.close(four_bar, {"A": -1.0, "B": 0.6, "D": -1.5}, keep="A")
    assert_close(whole, gs.neutral(four_bar), 1e-6)


def test_a_loop_that_stays_open_is_named_with_its_distance(four_bar):
    with pytest.raises(gs.LoopError, match=r"close: the loop world - A.*stays open by 0\.\d+.*while A, B, D stay"):
        gs.close(four_bar, gs.neutral(four_bar) + 0.1, keep=["A", "B", "D"])
    with pytest.raises(gs.LoopError, match=r"in state \(1,\) stays open"):
        gs.close(four_bar, gs.neutral(four_bar) + np.array([[0.0], [0.1]]), keep=["A", "B", "D"])
    with pytest.raises(gs.LoopError, match=r"velocities of A, B, D.*do not go together"):
        gs.close(four_bar, gs.neutral(four_bar), [1.0, 1.0, 1.0], keep=["A", "B", "D"])
    with pytest.raises(gs.StateError, match="keep names 'E'"):
        gs.close(four_bar, gs.neutral(four_bar), keep="E")


def test_limits_of_joints_are_kept():
    model = loop_models.four_bar(loops="constraints")
    changed = tuple(e.model_copy(update={"lower": -1.2, "upper": -0.5}) if e.name == "A" else e for e in model.entities)
    limited = gs.Model(model.name, changed, model.connections, model.context)
    at = list(model.coordinates).index("A")
    start = gs.neutral(model) + 0.3 * np.eye(3)[at]
    for seed in range(5):
        q = start + 0.5 * np.random.default_rng(seed).normal(size=3)
        closed = gs.close(limited, q)
        assert -1.2 <= closed[at] <= -0.5
        assert gap(limited, closed) < 1e-12
    wide = gs.close(limited, start + np.eye(3)[at], limits=None)
    assert gap(limited, wide) < 1e-12


def test_without_loops_or_in_minimal_coordinates_nothing_changes():
    for model in (gs.robots.arm6(), loop_models.four_bar(loops="minimal")):
        q = gs.random_configuration(model, 0)
        v = np.ones(model.nv)
        assert_close(gs.close(model, q), q, 1e-15)
        same = gs.close(model, q, v)
        assert_close(same[0], q, 1e-15)
        assert_close(same[1], v, 1e-15)


def test_platforms_with_quaternions_are_closed():
    model = loop_models.stewart(loops="constraints")
    rng = np.random.default_rng(0)
    start = gs.integrate(model, gs.neutral(model), 0.1 * rng.normal(size=model.nv))
    q = gs.close(model, start, keep=["platform"])
    block = model.layout.of["platform"]
    assert_close(q[block.q], start[block.q], 1e-15)
    frames = gs.fk(model, q)
    for k in range(6):
        assert_close(frames[f"upper{k}.origin"].p, frames[f"plate.ball{k}"].p, 1e-12)
