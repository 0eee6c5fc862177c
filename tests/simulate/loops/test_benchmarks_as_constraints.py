"""Published mechanisms with their loops as constraints: Andrews' squeezer of the IVP test set, Bricard's mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs

ANDREWS = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101, "phi": -0.5347301163226948,
    "delta": 0.5244099658805303, "omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip
"""Angles [rad] after 0.03 s under 0.033 N m (PSIDE, 1e-14; Test Set for IVP Solvers)."""


@pytest.mark.parametrize(
    ("method", "options", "error"),
    [
        ("dopri5", {"rtol": 1e-11, "atol": 1e-12}, 1e-7),
        ("dop853", {"rtol": 1e-11, "atol": 1e-12}, 1e-7),
        ("rk4", {"dt": 5e-6}, 1e-6),
        ("bdf", {"rtol": 1e-8, "atol": 1e-10}, 1e-3),
        ("generalised-alpha", {"dt": 5e-6, "index": 2}, 1e-2),
        ("generalised-alpha", {"dt": 5e-6, "index": 3}, 1e-2),
    ],
)
def test_andrews_squeezer_ends_where_the_test_set_says(method: str, options: dict[str, Any], error: float) -> None:
    model = gs.robots.andrews_squeezer(loops="constraints")
    run = gs.simulate(model, {"beta": 0.033}, t_eval=[0.03], method=method, **options)
    found = dict(zip(model.coordinates, run.q[-1], strict=True))
    assert max(abs(found[name] - angle) for name, angle in ANDREWS.items()) < error
    assert all(loop.distance.max() < 1e-12 for loop in run.closure.values())


def test_two_methods_agree_on_ten_seconds_of_bricards_mechanism() -> None:
    model, times = gs.robots.bricard(), np.linspace(0.0, 10.0, 101)
    runs = [gs.simulate(model, t_eval=times, method=method, rtol=1e-12, atol=1e-13) for method in ("dop853", "dopri5")]
    runs.append(gs.simulate(model, t_eval=times, method="radau", rtol=1e-11, atol=1e-12))
    for run in runs:
        assert np.abs(run.q - runs[0].q).max() < 1e-8
        assert np.abs(run.energy_residual).max() < 1e-8
        assert all(loop.distance.max() < 1e-12 for loop in run.closure.values())
