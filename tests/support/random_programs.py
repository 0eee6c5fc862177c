"""Random programs in which every operation can occur, none of them where it is singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, sign, where
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record

STEPS = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (1.0 + y * y),
    lambda x, y: -x,
    lambda x, y: 0.3 * x - 1.7,
    lambda x, y: np.sqrt(1.0 + x * x),
    lambda x, y: abs(x - 0.1) * y,
    lambda x, y: np.sin(x) * np.cos(y),
    lambda x, y: np.tan(np.tanh(x)),
    lambda x, y: np.arcsin(0.9 * np.tanh(x)),
    lambda x, y: np.arccos(0.9 * np.tanh(x)) * y,
    lambda x, y: np.arctan(x),
    lambda x, y: np.arctan2(x, y + 3.3),
    lambda x, y: np.sinh(np.tanh(x)) + np.cosh(np.tanh(y)),
    lambda x, y: np.exp(np.tanh(x)),
    lambda x, y: np.log(1.0 + x * x),
    lambda x, y: (1.0 + x * x) ** np.tanh(y),
    lambda x, y: np.fmod(x, 2.0 + np.tanh(y)),
    lambda x, y: where(x < y, x * y, x - y),
    lambda x, y: where((x <= 0.2) | ~(y != 0.4), y, 2.0 * x),
    lambda x, y: minimum(x, 0.5 * y),
    lambda x, y: maximum(x, y * y) + sign(x) * y,
    lambda x, y: np.floor(3.0 * x) * y,
    lambda x, y: np.tanh(x) + np.ceil(y),
]


def random_program(seed: int) -> Program:
    """Two outputs of two inputs and an input that nothing reads, by forty steps from the list."""
    rng = np.random.default_rng(seed)

    def function(p: Any, q: Any, idle: Any) -> dict[str, Any]:
        values = [*p, *q]
        for step in rng.integers(len(STEPS), size=40):
            one, two = (values[k] for k in rng.integers(max(0, len(values) - 12), len(values), size=2))
            value = STEPS[step](one, two)
            values.append(value if step % 3 else np.tanh(0.5 * value))
        return {"a": values[-4:], "b": values[-10:-7], "guard": values[-20:-18]}

    return record(function, {"p": (3,), "q": (4,), "idle": (2,)}, "random")
