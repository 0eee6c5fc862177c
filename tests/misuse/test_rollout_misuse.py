"""Rollouts that go wrong say what, where and when; the robots that do not go wrong are not affected."""

import math

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.rollout.loop import spans


def explode(t, q, v):
    return 1e3 * v**3


def test_a_diverging_robot_is_named_and_the_others_go_on():
    model = gs.robots.pendulum()
    q = np.zeros((9, 1))
    v = np.where(np.arange(9)[:, None] == 6, 5.0, 0.0)  # only robot 6 moves
    with pytest.raises(gs.DivergedError, match=r"robot 6 is not finite any more in step \d+, t = .* 'hinge'") as caught:
        gs.rollout(model, explode, q, v, 1e-3, 100)
    result = caught.value.result
    step = result.diverged[6]
    assert step >= 0 and np.all(np.delete(result.diverged, 6) == -1)
    assert np.all(np.isfinite(np.delete(result.q, 6, axis=1)))
    assert np.all(np.isfinite(result.q[: step + 1, 6])) and np.all(np.isnan(result.q[step + 1 :, 6]))
    calm = gs.rollout(model, explode, q[:3], v[:3], 1e-3, 100)
    assert np.array_equal(result.q[:, :3], calm.q)
    again = gs.rollout(model, explode, q, v, 1e-3, 100, every=50, nonfinite="return", threads=2)
    assert np.array_equal(again.diverged, result.diverged) and np.isnan(again.q[1:, 6]).all()
    assert "9 robots" in str(again) and "1 diverged" in str(again)


def test_one_robot_alone_that_diverges_is_told_too():
    with pytest.raises(gs.DivergedError, match=r"the robot is not finite any more in step"):
        gs.rollout(gs.robots.pendulum(), explode, [0.0], [5.0], 1e-3, 100)


def call(**changed):
    given = {"controller": None, "q0": [0.1, 0.2], "v0": [0.0, 0.0], "dt": 0.01, "steps": 10} | changed
    return gs.rollout(gs.robots.two_link(), **given)


def branching(t, q, v):
    return q if q[0] > 0 else -q


def scalar_math(t, q, v):
    return np.array([math.sin(q[0]), 0.0])


def throwing(t, q, v):
    return {}["nothing"]


def rolling_dice(t, q, v):
    return np.random.default_rng().normal(size=2)


CALLS = []


def counting(t, q, v):
    CALLS.append(t)
    return np.full(2, float(len(CALLS)))


MISTAKES = {
    "method": ({"method": "rk5"}, r"rollout: there is no method 'rk5'. Hint: .*rk4"),
    "no q0": ({"q0": None}, "q0 is missing"),
    "shape of q0": ({"q0": [0.1]}, r"q has shape \(1,\)"),
    "robots": ({"q0": np.zeros((3, 2)), "v0": np.zeros((4, 2))}, r"do not go together: q \(3,\), v \(4,\)"),
    "axes": ({"q0": np.zeros((3, 4, 2))}, "one axis of robots"),
    "nan": ({"q0": [np.nan, 0.0]}, "not a finite number"),
    "dt": ({"dt": 0.0}, "dt must be a finite time"),
    "dt text": ({"dt": "fast"}, "dt must be a finite time"),
    "steps": ({"steps": -1}, "steps must be a whole number from 0 on"),
    "steps float": ({"steps": 1.5}, "steps must be a whole number"),
    "every": ({"every": 0}, "every must be a whole number from 1 on"),
    "multiple": ({"every": 3}, r"10 steps are not a multiple of every = 3. Hint: steps=9"),
    "threads": ({"threads": 0}, "threads must be"),
    "nonfinite": ({"nonfinite": "ignore"}, "nonfinite must be"),
    "tau": ({"controller": [1.0]}, r"tau has shape \(1,\)"),
    "parameter": ({"parameters": {"lower.mas": [1.0]}}, r"parameters name 'lower.mas', which is no property"),
    "parameter shape": ({"parameters": {"context.gravity": [1.0, 2.0]}}, r"expected \(N, \*\(3,\)\)"),
    "parameter nan": ({"parameters": {"lower.mass": [np.inf]}}, "is not finite everywhere"),
    "branch": ({"controller": branching}, r"'branching' cannot be compiled: a Python condition .* in branching\(\)"),
    "math": ({"controller": scalar_math}, r"'scalar_math' cannot be compiled: a conversion to float"),
    "error inside": ({"controller": throwing}, r"'throwing' cannot be compiled, KeyError: 'nothing'. Hint"),
    "dice": ({"controller": rolling_dice}, "is no function of its arguments: it returned"),
    "memory": ({"controller": counting}, "it changes .CALLS.*Hint: gs.simulate takes gs.blocks.sampled"),
    "too few": ({"controller": lambda t, q, v: q[:1]}, r"returned shape \(1,\), expected \(2,\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_told(what):
    changed, message = MISTAKES[what]
    if "parameters" in changed:
        names = {"lower.mass": next(p for p in gs.robots.two_link().paths() if p.endswith(".mass"))}
        changed = {"parameters": {names.get(k, k): x for k, x in changed["parameters"].items()}}
    with pytest.raises(gs.GyrostatError, match=message):
        call(**changed)


def test_values_that_the_specification_refuses_are_refused_here():
    path = next(p for p in gs.robots.two_link().paths() if p.endswith(".mass"))
    with pytest.raises(gs.SpecError, match="mass must not be negative"):
        call(parameters={path: [1.0, -1.0, 2.0]})


def still(t):
    return np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6)


def test_a_base_that_follows_a_python_function_is_refused():
    arm = gs.robots.two_link()
    context = gs.Context(gravity=arm.context.gravity, base=gs.MovingBase(motion=still))
    model = gs.Model(name="moving", entities=arm.entities, connections=arm.connections, context=context)
    with pytest.raises(gs.StateError, match="moves by a Python function, which cannot be compiled"):
        gs.rollout(model, None, [0.0, 0.0])


# ------------------------------------------------------------------------------------------------ the loop itself
@pytest.mark.parametrize(
    ("rows", "every", "most"), [(7, 1, 100), (7, 1, 3), (3, 10, 4), (3, 10, 10), (5, 3, 8), (1, 1, 1)]
)
def test_spans_cover_every_step_once(rows, every, most):
    done, row = 0, 0
    for source, target, count, steps, begin in spans(rows, every, most):
        assert begin == done and count * steps <= most
        assert source in (target - 1, target) and target <= row + 1
        done += count * steps
        row = done // every
    assert done == rows * every
