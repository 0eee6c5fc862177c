"""Friction cones: how far the forces of contacts are from slipping and from lifting off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.frame_contact import Contacts
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.errors import ShapeError, clipped
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.contact_dynamics import ContactSolver
from gyrostat.solvers.dynamics.ground_plane import ground_plane
from gyrostat.solvers.dynamics.zero_moment_point import placed_wrenches
from gyrostat.solvers.machinery.call_signatures import of_force
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spec.model import Model

WHO = "friction_margins"
NUMBERS = int | float | np.integer | np.floating


def friction_margins(
    model: Model,
    q: Any,
    forces: Mapping[str, Any],
    friction: Any,
    *,
    normal: Any = (0.0, 0.0, 1.0),
) -> dict[str, Array]:
    """mu f_n - |f_t| (...) [N] of every contact: positive inside the friction cone, negative where it would slip, or
    would have to pull.

    ``forces``: wrenches (..., 6) on the robot by frame, in the frame's axes (``gs.ContactDynamics(...).forces``);
    ``friction``: mu, or {frame: mu}; ``normal``: of the ground, in the world."""
    n = np.array(ground_plane(normal, 0.0, WHO).normal)
    margins: dict[str, Array] = {}
    for frame, _, w in placed_wrenches(model, q, forces, WHO):
        mu = _mu(friction[frame] if isinstance(friction, Mapping) and frame in friction else friction, frame)
        along = w[..., 3:] @ n
        across = w[..., 3:] - along[..., None] * n
        margins[frame] = mu * along - np.sqrt(np.sum(across**2, axis=-1))
    return margins


def _mu(given: Any, frame: str) -> float:
    if isinstance(given, bool) or not isinstance(given, NUMBERS) or not 0.0 <= given < np.inf:
        raise ShapeError(
            f"{WHO}: friction of '{frame}' must be a finite number >= 0, got {clipped(given)}. "
            "Hint: 0.7, or {frame: mu}"
        )
    return float(given)


class FrictionMargins(ContactSolver):
    """mu f_n - |f_t| (..., contacts) [N] of frames in contact for (q, v, tau): what a motion with these contacts leaves
    until one of them slips. ``contacts`` as in :class:`ContactDynamics`, each with its ``friction`` and ``normal``;
    rows in their order. Compiled, with derivatives: an inequality for optimisation."""

    name = WHO
    state = ("q", "v", "tau")
    __call__ = of_force
    takes_wrenches = True
    result = "margins"
    rate_axes = (("margins", ()),)

    def __init__(
        self,
        model: Model,
        contacts: Contacts,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, contacts, rules, live, mode)
        for contact in self.contacts:
            if contact.friction is None:
                raise ShapeError(
                    f"{WHO}: the contact '{contact.frame}' has no friction. Hint: FrameContact(..., friction=0.7)"
                )

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        wrenches = self.motion(net, on, x, given).wrenches
        rest = np.zeros(net.model.nv)
        motions = sweep_motion(net, on, x["q"], rest, rest)
        found = []
        for held, w in zip(self.held(net), wrenches, strict=True):
            contact = held.contact
            n, force = np.array(contact.normal), motions[held.port].pose.R @ (held.place[0] @ w[3:])
            along = n @ force
            across = force - n * along
            found.append(contact.friction * along - np.sqrt(across @ across))
        return {"margins": np.array(found)}
