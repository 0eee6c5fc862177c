"""NumPy's choices in functions of users are recorded: what is compiled gives what the function itself gives."""

import numpy as np
import pytest

import gyrostat as gs

ARM = gs.robots.two_link()
K = np.array([[30.0, 2.0], [2.0, 20.0]])


def in_place(t, q, v):
    q -= 0.3
    q *= -5.0
    return q - np.clip(v, -0.5, 0.5)


LAWS = {
    "clip": lambda t, q, v: np.clip(-50.0 * (q - 0.3) - 5.0 * v, -3.0, 3.0),
    "clip, one side": lambda t, q, v: np.clip(-5.0 * v, None, 0.2),
    "clip by arrays": lambda t, q, v: np.clip(-K @ (q - 0.3) - v, [-1.0, -2.0], [1.0, 2.0]),
    "method clip": lambda t, q, v: (-5.0 * v).clip(-0.1, 0.1),
    "where": lambda t, q, v: np.where(q > 0.2, -10.0 * q, -2.0 * v),
    "where, both": lambda t, q, v: np.where(v <= 0.0, 1.0, -1.0) * np.where(q > 0.1, q, 0.5),
    "sign": lambda t, q, v: -2.0 * np.sign(v) * np.abs(v),
    "minimum, maximum": lambda t, q, v: np.maximum(q, 0.0) * np.minimum(v, 1.0) - np.maximum(0.1, v),
    "parts": lambda t, q, v: np.concatenate([np.clip(q[:1], -1.0, 1.0), -v[1:]]),
    "in place": in_place,
    "where, time": lambda t, q, v: np.where(t > 5e-4, 1.0, -q),
    "where, scalars": lambda t, q, v: [np.where(t > 5e-4, 1.0, q[0]), np.where(q[0] > 0.1, v[1], 0.3)],
    "maximum, scalars": lambda t, q, v: [np.maximum(q[0], 0.2), np.minimum(0.1, v[1])],
    "sign, scalars": lambda t, q, v: [np.sign(v[0]) * q[1], -2.0 * np.sign(t - 5e-4)],
    "clip, scalars": lambda t, q, v: [np.clip(q[0], -0.5, None), np.clip(np.float64(2.0) * t, 0.0, 1e-3)],
    "abs, scalars": lambda t, q, v: [np.abs(q[0]), abs(v[1])],
    "logic": lambda t, q, v: [
        np.where(np.logical_and(q[0] > 0.1, np.float64(1.0) > v[0]), 1.0, 2.0),
        np.where((q[0] > 0.1) | ~(v[0] < 0.3), 1.0, 2.0),
    ],
    "logic of arrays": lambda t, q, v: np.where(np.logical_or(q > 0.2, np.logical_not(v > 0.0)), 1.0, -1.0),
    "select": lambda t, q, v: [np.select([q[0] > 0.5, q[0] > 0.1], [1.0, v[0]], 3.0), np.heaviside(v[0], 0.5)],
    "scalar times array": lambda t, q, v: np.array([1.0, 2.0]) * q[0] - np.maximum(t, 0.0) * np.ones(2) + np.sin(t),
}


@pytest.mark.parametrize("name", LAWS)
def test_choices_of_numpy_are_compiled(name):
    rng, law = np.random.default_rng(3), LAWS[name]
    q, v = rng.uniform(-1.0, 1.0, (64, 2)), rng.uniform(-1.0, 1.0, (64, 2))
    run = gs.rollout(ARM, law, q, v, 1e-3, 1)
    for k, t in enumerate(run.t):
        want = np.array([law(t, x.copy(), y.copy()) for x, y in zip(run.q[k], run.v[k], strict=True)])
        np.testing.assert_allclose(run.tau[k], want, rtol=1e-13, atol=1e-13)
    assert gs.simulate(ARM, law, [1.0, 0.5], t_end=2e-3, method="rk4", dt=1e-3).counters.compiled


def test_a_block_of_a_function_too():
    law = gs.blocks.function(lambda t, q, v: np.clip(-5.0 * q, -1.0, 1.0), "q", "v", target="tau")
    assert gs.simulate(ARM, law, [1.0, 0.5], t_end=2e-3, method="rk4", dt=1e-3).counters.compiled


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, v: q if v[0] > 0.0 else v,
        lambda t, q, v: q * max(v),
        lambda t, q, v: np.sort(q),
        lambda t, q, v: np.clip(q, 0.0, 1.0, out=np.zeros(2)),
    ],
)
def test_what_needs_a_branch_is_still_called_and_told(law):
    options = {"t_end": 2e-3, "method": "rk4", "dt": 1e-3}
    with pytest.warns(
        gs.PerformanceWarning, match=r"function <lambda> runs in Python .*Hint: np\.where.*compiled=False"
    ):
        run = gs.simulate(ARM, law, [1.0, 0.5], **options)
    assert not run.counters.compiled and run.status == "finished"
    assert "the function <lambda>: " in run.counters.in_python
    called = gs.simulate(ARM, law, [1.0, 0.5], compiled=False, **options)  # asked for: nothing to warn of
    assert called.counters.in_python.startswith("the function <lambda>: not asked for; machine code called 'law' ")
    np.testing.assert_allclose(called.q, run.q, atol=1e-12)
    with pytest.raises(gs.GyrostatError, match="cannot be compiled"):
        gs.rollout(ARM, law, [1.0, 0.5], [0.0, 0.0], 1e-3, 3)
