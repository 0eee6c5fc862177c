"""Methods of integration on a robot with a flexible body by finite elements: the motion that SciPy finds."""

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.algorithms.flexible.test_flexible_body import arm
from tests.simulate.methods.test_flexible_links import ERROR, OPTIONS, TIMES, exact, started

QUICK = ("dopri5", "radau", "dina")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(ERROR)]


@cache
def swinging():
    model = arm()
    return model, exact(model, lambda t, q, v: np.zeros(len(v)), *started(model), TIMES)


@pytest.mark.parametrize("method", NAMES)
def test_every_method_moves_a_flexible_body(method):
    model, expected = swinging()
    options = OPTIONS.get(method, {})
    run = gs.simulate(model, None, *started(model), TIMES[-1], method=method, t_eval=TIMES, progress=False, **options)
    assert np.abs(run.q - expected).max() < 20 * ERROR[method]
