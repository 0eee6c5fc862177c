"""Rigid contacts that are closed at a configuration: where the motion is one-sided, and has no derivative."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_gaps
from gyrostat.errors import StateError
from gyrostat.graph.contacts import contact_candidates
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

Array = np.ndarray
CLOSED = 1e-9
"""Gap [m] up to which a contact is closed."""


def refuse_closed(model: Model, q: Array, who: str) -> None:
    """A :class:`StateError` if a rigid contact is closed at q (..., nq): what ``who`` answers would leave it out.

    Pairs without nearest points in closed form are not looked at, nor are robots whose base moves by itself."""
    rigid = [c for c in contact_candidates(model) if c.law.stiffness is None and c.closed_form]
    if not rigid or not isinstance(model.context.base, str):
        return
    net, on = network(model), Setting(representation("inertial"), gravity(model.context.gravity), 0.0)
    for row in np.reshape(q, (-1, model.nq)):
        gaps = np.asarray(contact_gaps(net, on, rigid, row), dtype=float)
        k = int(np.argmin(gaps))
        if gaps[k] <= CLOSED:
            raise StateError(
                f"{who}: the rigid contact '{rigid[k].name}' is closed here (gap {gaps[k]:.3g} m), and there is no law "
                "of its force. Hint: a stiffness of the contact; or hold the frame, see gs.ContactDynamicsDerivatives"
            )
