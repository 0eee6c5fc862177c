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
}


@pytest.mark.parametrize("name", LAWS)
def test_choices_of_numpy_are_compiled(name):
    rng, law = np.random.default_rng(3), LAWS[name]
    q, v = rng.uniform(-1.0, 1.0, (64, 2)), rng.uniform(-1.0, 1.0, (64, 2))
    run = gs.rollout(ARM, law, q, v, 1e-3, 1)
    want = np.array([law(0.0, x.copy(), y.copy()) for x, y in zip(q, v, strict=True)])
    np.testing.assert_allclose(run.tau[0], want, rtol=1e-13, atol=1e-13)
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
def test_what_needs_a_branch_is_still_called(law):
    run = gs.simulate(ARM, law, [1.0, 0.5], t_end=2e-3, method="rk4", dt=1e-3)
    assert not run.counters.compiled and run.status == "finished"
    with pytest.raises(gs.GyrostatError, match="cannot be compiled"):
        gs.rollout(ARM, law, [1.0, 0.5], [0.0, 0.0], 1e-3, 3)
