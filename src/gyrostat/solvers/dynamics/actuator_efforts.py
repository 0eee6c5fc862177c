"""From generalised forces to the efforts of the joints that are driven, by virtual power (H04 3.2.3.1).

A joint is actuated if it has a drive, or is said to be (``passive=False``), or if nothing is said and it is in no loop;
passive if it is said to be, or if nothing is said, it has no drive, and is in a loop. With v = Z y the motions that
loops allow (Z = 1 in minimal coordinates) and T the rates of the actuated joints, their efforts u have the power of
tau in every motion:

    (T Z)^T u = Z^T tau."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.matrices.body_jacobians import tied_row
from gyrostat.configuration.model_cache import cached_on
from gyrostat.configuration.packing import coordinates, rates, together
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import LoopError, StateError
from gyrostat.graph.loops.plan import driven_joints
from gyrostat.graph.network import kept_network
from gyrostat.solvers.machinery.loop_treatment import refuse_open, state_of
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "actuator_efforts"
RANK = 1e-9
"""Singular values below this part of the largest one are zero."""
LEFT = 1e-9
"""Part of tau that may be left over by rounding."""


class ActuatorEfforts(dict[str, Array]):
    """Efforts [N m, N] by joint: (...), or (..., n) for joints with n rates. ``array`` (..., k): all of them, as
    ``names`` tells. ``redundancy``: how many more actuators there are than degrees of freedom; ``note`` says what was
    done about it."""

    def __init__(self, parts: Mapping[str, Array], array: Array, names: tuple[str, ...], redundancy: int, note: str):
        super().__init__(parts)
        self.array, self.names, self.redundancy, self.note = array, names, redundancy, note


def actuator_efforts(model: Model, q: Any, tau: Any) -> ActuatorEfforts:
    """Efforts of the actuated joints that do what generalised forces tau (..., nv) do at q (..., nq): the legs of a
    Stewart platform for a wrench on it. Passive joints have none.

    Where there are more actuators than degrees of freedom, the efforts of least norm are taken, each in its own unit,
    and ``note`` says so. What the actuators cannot do is refused by name. In constraint mode q must be closed."""
    expect_model(model, WHO)
    given, forces = coordinates(model, q, WHO), rates(model, tau, WHO, "tau")
    shape, (flat_q, flat_tau) = together(WHO, q=(given, 1), tau=(forces, 1))
    powers = actuation(model)
    found = [powers.efforts(a, b, k, shape) for k, (a, b) in enumerate(zip(flat_q, flat_tau, strict=True))]
    array = np.array([u for u, _ in found]).reshape((*shape, len(powers.names)))
    redundancy = max((extra for _, extra in found), default=0)
    parts: dict[str, Array] = {}
    at = 0
    for joint, count in powers.joints.items():
        parts[joint] = array[..., at] if count == 1 else array[..., at : at + count]
        at += count
    note = ""
    if redundancy:
        note = f"{redundancy} more actuator(s) than degrees of freedom: the efforts of least norm that have this power"
    return ActuatorEfforts(parts, array, powers.names, redundancy, note)


def actuation(model: Model) -> Actuation:
    """Made once for a model object."""
    kept = cached_on(model)
    if "actuation" not in kept:
        kept["actuation"] = Actuation(model)
    return kept["actuation"]


class Actuation:
    """Which joints are actuated, and how they move with the rates of the model."""

    def __init__(self, model: Model):
        self.model, self.network = model, kept_network(model)
        net, moved = self.network, self.network.transmission
        self.joints: dict[str, int] = {}
        names: list[str] = []
        numbers: list[int] = []
        for name in actuated_joints(model):
            at = moved.slices[name][1]
            entity = model.wiring.entities[name]
            parts = entity.carried_rates if entity.rotor_shaft is None else ("v",)
            self.joints[name] = at.stop - at.start
            numbers += range(at.start, at.stop)
            names += [name] if len(parts) == 1 else [f"{name}.{part}" for part in parts]
        self.names = tuple(names)

        def function(q: Array) -> dict[str, Any]:
            at_q = net.at(q)
            rows = [tied_row(at_q.transmission.ties(k), moved.n) for k in numbers]
            J = loop_equations(net, q).J
            T = np.array(rows) if rows else np.zeros((0, moved.n))
            return {"T": T, "J": J if len(J) else np.zeros((0, moved.n))}

        self._kernel = Kernel(record(function, {"q": (model.nq,)}, f"{model.name}_actuation"), WHO)

    def terms(self, q: Array) -> tuple[Array, Array, Array]:
        """T Z (k, d), Z (nv, d) and J (m, nv)."""
        found = self._kernel.call(q)
        Z = null_space(found["J"], self.model.nv)
        return found["T"] @ Z, Z, found["J"]

    def rows(self, q: Array) -> Array:
        """T (k, nv): rates of the actuated joints by those of the model."""
        return self._kernel.call(q)["T"]

    def efforts(self, q: Array, tau: Array, number: int = 0, shape: tuple[int, ...] = ()) -> tuple[Array, int]:
        """u (k,), and how many more there are than needed; or an error that names what the actuators cannot do."""
        if self.network.closures:
            refuse_open(self.network, q, WHO)
        TZ, Z, _ = self.terms(q)
        wanted = Z.T @ tau
        u, s, vt = np.linalg.svd(TZ, full_matrices=False)
        good = s > RANK * max(float(s.max(initial=0.0)), 1e-300)
        efforts = u[:, good] @ ((vt[good] @ wanted) / s[good])
        left = wanted - TZ.T @ efforts
        if np.abs(left).max(initial=0.0) > LEFT * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            self._refuse(Z @ left, number, shape)
        return efforts, len(self.names) - int(np.count_nonzero(good))

    def _refuse(self, left: Array, number: int, shape: tuple[int, ...]) -> None:
        worst = np.argsort(-np.abs(left))
        moved = [self.model.dofs[k] for k in worst if abs(left[k]) > 0.1 * np.abs(left).max()]
        driven = ", ".join(self.joints) or "none"
        kind = LoopError if self.network.loops else StateError
        message = (
            f"{WHO}: tau{state_of(number, shape)} of '{self.model.name}' cannot be given by its actuated joints "
            f"({driven}): what moves {', '.join(moved[:4])} is left over, {float(np.abs(left).max()):.3g}. Hint: give "
            "it a drive, or passive=False if it has one; else tau must be that of a motion which they can cause"
        )
        raise kind(message, [loop.entities for loop in self.network.loops]) if kind is LoopError else kind(message)


def actuated_joints(model: Model) -> list[str]:
    """Names of the joints, and of rotors with a coordinate of their own, whose efforts can be chosen, in the order of
    the model; what only follows by gears or cams has none of its own."""
    net, entities = kept_network(model), model.wiring.entities
    inside = {name for loop in net.loops for name in loop.entities}
    own = {block.entity for block in model.layout}
    plan = model.layout.plan
    solved = {name for name, _ in plan.dependents} if plan is not None else set[str]()
    driven = driven_joints(model)
    found: list[str] = []
    for name in net.transmission.slices:
        entity = entities[name]
        if name == model.wiring.root or (name not in own and name not in solved):
            continue
        if not entity.carried_rates and entity.rotor_shaft is None:
            continue
        said = entity.said_passive
        if said is False or name in driven or (said is None and name not in inside and _can_be_driven(model, name)):
            found.append(name)
    return found


def _can_be_driven(model: Model, name: str) -> bool:
    """Joints whose placement is free have no actuator."""
    block = model.layout.of.get(name)
    return block is None or not block.moves


def null_space(J: Array, n: int) -> Array:
    """Z (n, d): an orthonormal basis of the v with J v = 0."""
    if not len(J):
        return np.eye(n)
    _, s, vt = np.linalg.svd(J, full_matrices=True)
    rank = int(np.count_nonzero(s > RANK * max(float(s.max(initial=0.0)), 1e-300)))
    return vt[rank:].T


def loop_multipliers(model: Model, q: Array, tau: Array) -> Array:
    """f (m,) with T^T u + J^T f = tau, least where equations are redundant: the forces in the loops while actuated
    joints give what the tree needs as tau (nv,)."""
    powers = actuation(model)
    u, _ = powers.efforts(q, tau)
    found = powers._kernel.call(q)
    return np.linalg.lstsq(found["J"].T, tau - found["T"].T @ u, rcond=RANK)[0]
