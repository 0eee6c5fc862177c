"""Whether every rate moves some inertia: forward dynamics needs it."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.spatial.base_motion import BaseState
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import representation

SINGULAR = 1e-12
"""Inertia about a joint with everything inboard free, over its inertia with everything inboard held: below this it is
rounding."""


def expect_inertia(network: Network, q: np.ndarray, who: str) -> None:
    """Raise if the mass matrix at q (nq,), a configuration like any other, is singular.

    Then it is so everywhere: two joints move the same bodies in the same way, with no mass between them."""
    base = BaseState(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))
    on = Setting(representation("body"), Gravity(np.zeros(3)), base if network.driven else 0.0)
    with np.errstate(all="ignore"):
        M = np.asarray(composite_mass_matrix(network, on, q), dtype=float)
        factors = factorise(inboard_rates(network), M)
        share = {k: 1.0 / (float(inverse) * float(M[k, k])) for k, inverse in factors.inverse.items()}
    bad = next((network.model.dofs[k] for k, x in share.items() if not x > SINGULAR), None)  # outermost first
    if bad is not None:
        raise StateError(
            f"{who}: the mass matrix of '{network.model.name}' is singular: '{bad}' moves nothing that has inertia of "
            "its own. Hint: give mass to what lies between it and the next joint, or leave that joint out"
        )
