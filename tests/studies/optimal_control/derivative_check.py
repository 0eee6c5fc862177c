"""Exact derivatives of a nonlinear program against differences along a direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.transcription import recorded, transcribed


def derivative_errors(study: Any, nodes: tuple[int, ...], seed: int = 0, scale: float = 0.3) -> tuple[float, ...]:
    """Relative errors of gradient, Jacobian and Hessian of the Lagrangian at a random point."""
    known = recorded(study.phases, study.parameters, study.periodic, study.link)
    program = transcribed(known, [np.linspace(0, 1, n) ** 1.2 for n in nodes], study.method, study.stages)
    rng = np.random.default_rng(seed)
    x, d = scale * rng.normal(size=program.n), rng.normal(size=program.n)
    x[program.theta_at] = known.free.guess * (1.0 + 0.1 * rng.random(len(program.theta_at)))
    w, h = rng.normal(size=program.m), 1e-5

    def full(pattern: Any, values: Any, rows: int) -> Any:
        out = np.zeros((rows, program.n))
        np.add.at(out, pattern, values)
        return out

    def slope(f: Any) -> Any:
        return (8.0 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12.0 * h)

    def jacobian(x: Any) -> Any:
        return full(program.jacobian_pattern, program.jacobian(x), program.m)

    lower = full(program.hessian_pattern, program.hessian(x, 0.7, w), program.n)
    assert np.all(program.hessian_pattern[0] >= program.hessian_pattern[1])
    H = lower + np.tril(lower, -1).T

    def error(a: Any, b: Any) -> float:
        return float(np.max(np.abs(a - b)) / (1.0 + np.max(np.abs(a))))

    return (
        error(slope(program.cost), program.gradient(x) @ d),
        error(slope(program.constraints), jacobian(x) @ d),
        error(slope(lambda x: 0.7 * program.gradient(x) + jacobian(x).T @ w), H @ d),
    )
