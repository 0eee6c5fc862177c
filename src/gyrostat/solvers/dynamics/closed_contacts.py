"""Rigid contacts that are closed at a configuration: where the motion is one-sided, and has no derivative."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_gaps
from gyrostat.algorithms.contact.field_contacts import FieldContacts
from gyrostat.algorithms.contact.nearest_points import nearest_of_pair, solids_of, surface_poses
from gyrostat.errors import StateError
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import Pose, representation
from gyrostat.spec.model import Model

Array = np.ndarray
CLOSED = 1e-9
"""Gap [m] up to which a contact is closed."""
CLOSED_BY_COAL = 1e-6
"""The same of shapes without closed form, whose nearest points coal knows that well."""


def refuse_closed(model: Model, q: Array, who: str) -> None:
    """A :class:`StateError` if a rigid contact is closed at q (..., nq): what ``who`` answers would leave it out.

    Robots whose base moves by itself are not looked at."""
    rigid = [c for c in contact_candidates(model) if c.law.stiffness is None]
    if not rigid or not isinstance(model.context.base, str):
        return
    known, others = ([c for c in rigid if c.closed_form is form] for form in (True, False))
    net, on = network(model), Setting(representation("inertial"), gravity(model.context.gravity), 0.0)
    for row in np.reshape(q, (-1, model.nq)):
        gaps = np.asarray(contact_gaps(net, on, known, row), dtype=float) if known else np.zeros(0)
        for c, gap in zip(known, gaps, strict=True):
            if gap <= CLOSED:
                raise _refused(who, c, gap)
        for c, (a, b) in zip(others, surface_poses(model, others)(row), strict=True):
            gap = _gap(model, c, a, b)
            if gap <= CLOSED_BY_COAL:
                raise _refused(who, c, gap)


def _gap(model: Model, c: Candidate, a: Pose, b: Pose) -> float:
    """Of shapes without closed form, or infinity if it is larger than CLOSED_BY_COAL."""
    if c.b.kind == "height-field":
        return float(FieldContacts.of(model, c).touching(a, b, CLOSED_BY_COAL)[2].min(initial=np.inf))
    return nearest_of_pair(c, solids_of(model, c), a, b, CLOSED_BY_COAL)[0]


def _refused(who: str, c: Candidate, gap: float) -> StateError:
    remedy = "a stiffness of the contact; or hold" if c.closed_form else "hold"
    return StateError(
        f"{who}: the rigid contact '{c.name}' is closed here (gap {gap:.3g} m), and there is no law "
        f"of its force. Hint: {remedy} the frame, see gs.ContactDynamicsDerivatives"
    )
