"""A controller about a pose: what its efforts and its own states do for small motions.

    tau = T_q d + T_v w + T_p p,      p' = P_q d + P_v w + P_p p

with d the displacement, w the change of the rates, p the change of the controller's states (integrators, filters)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, StateError
from gyrostat.simulate.plant.derivatives import PlantDerivatives, SourceDerivatives
from gyrostat.simulate.plant.plant import Plant
from gyrostat.spec.model import Model

Array = np.ndarray


def linear_controller(model: Model, controller: Any, q: Array, who: str) -> SourceDerivatives:
    """Slopes of a controller at rest in q (nq,), at t = 0 and its states as they start.

    ``controller``: None; a matrix K (nv, 2 nv) of state feedback, tau = -K (d, w); or what ``gs.simulate`` takes: a
    block or a function f(t, q, v). What is recorded has exact slopes, other functions central differences. Digital
    parts are refused."""
    n = model.nv
    if controller is None:
        return _feedback(np.zeros((n, 2 * n)))
    if isinstance(controller, np.ndarray | list | tuple):
        try:
            K = np.asarray(controller, dtype=float)
        except (TypeError, ValueError):
            K = np.zeros(0)
        if K.shape != (n, 2 * n) or not np.isfinite(K).all():
            raise ShapeError(
                f"{who}: controller has shape {K.shape}, expected finite ({n}, {2 * n}) = (nv, 2 nv) of "
                f"'{model.name}': tau = -K (displacement, rates). Hint: gs.blocks.pd(kp, kd) of joints"
            )
        return _feedback(K)
    plant = Plant(model, controller)
    if len(plant.source.m0) or plant.source.sample_times:
        every = ", ".join(f"{T:g} s" for T in plant.source.sample_times)
        raise StateError(
            f"{who}: the controller is digital (samples every {every or 'now and then'}): it has no response that is "
            "linear in continuous time. Hint: leave sample_time out, and add its delay as a filter"
        )
    return _felt(PlantDerivatives(plant).of_source(0.0, q, np.zeros(n), plant.source.p0))


def _felt(law: SourceDerivatives) -> SourceDerivatives:
    """Without states that no effort depends on, now or later, and those that nothing moves, such as integrators with a
    gain of zero."""
    felt, moved = (law.tau_p != 0.0).any(axis=0), ((law.p_q != 0.0) | (law.p_v != 0.0)).any(axis=1)
    for _ in range(len(felt)):
        felt = felt | (law.p_p[felt] != 0.0).any(axis=0)
        moved = moved | (law.p_p[:, moved] != 0.0).any(axis=1)
    felt = felt & moved
    return law._replace(tau_p=law.tau_p[:, felt], p_q=law.p_q[felt], p_v=law.p_v[felt], p_p=law.p_p[felt][:, felt])


def _feedback(K: Array) -> SourceDerivatives:
    n = len(K)
    none, wide = np.zeros((n, 0)), np.zeros((0, n))
    return SourceDerivatives(-K[:, :n], -K[:, n:], none, wide, wide, np.zeros((0, 0)))
