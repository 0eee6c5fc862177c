"""Choices between series in time are recorded coefficient by coefficient."""

import numpy as np
import pytest

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.taylor import Taylor


@pytest.mark.parametrize("x", [0.3, -0.3])
def test_a_recorded_choice_of_series_is_that_of_the_values(x):
    def function(a):
        s = Taylor([a[0], a[1], a[2]])
        chosen = where(s > 0.0, s * s, 2.0)
        other = where(s > 0.0, 1.0, s * s * s)
        return {"c": np.array([*chosen.c, *other.c])}

    a = np.array([x, 0.5, 0.7])
    s = Taylor(a)
    expected = [*(s * s).c, 1.0, 0.0, 0.0] if x > 0 else [2.0, 0.0, 0.0, *(s * s * s).c]
    got = Kernel(record(function, {"a": (3,)}, "choice"), "choice").call(a)["c"]
    assert np.allclose(got, expected, rtol=1e-15)
