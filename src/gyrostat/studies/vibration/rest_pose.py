"""The pose about which a robot vibrates: joints as given, everything elastic where it carries the weight.

What nothing drives (a joint behind the spring of its drive, the shapes of a flexible link, a passive joint) is at rest
where its generalised force is zero. What is driven is held by constant efforts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import coordinates, packed, real_array
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.actuator_efforts import actuation
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.dynamics.derivatives import InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.equilibrium import equilibrium
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

Array = np.ndarray
_log = logging.getLogger("gyrostat")
STEPS, SMALL, CARRIED = 50, 1e-13, 1e-8
"""Of Newton's method for elastic coordinates at rest: steps, the last one [rad, m], what may be left of the weight."""


class RestPose(NamedTuple):
    """``q`` (..., nq); ``held`` (..., nv): the constant efforts; ``note``: what a user must know of it, or ""."""

    q: Array
    held: Array
    note: str


def rest_pose(model: Model, q: Any, rest: bool, who: str, wrenches: Any = None) -> RestPose:
    """``q`` (..., nq) as it is, or (..., n) of the joints alone: elastic coordinates are found then. ``rest``: what
    nothing drives moves to where it rests, while all that is driven stands as given. ``wrenches``: constant loads."""
    if not isinstance(model.context.base, str):
        raise StateError(f"{who}: the base of '{model.name}' moves by itself: there is no rest. Hint: fix it")
    given = packed(model, q, "q", who) if isinstance(q, Mapping) else real_array(q, who, "q")
    shapes, loose = elastic_coordinates(model), unforced(model)
    note = ""
    if shapes.any() and given.ndim and given.shape[-1] == np.count_nonzero(~shapes):
        pose = _elastic_at_rest(model, given, shapes, wrenches, who)
    else:
        pose = coordinates(model, packed(model, given, "q", who), who)
    if rest and loose:
        moved = _settled(model, pose, loose, wrenches)
        shift = float(np.abs(moved - pose).max(initial=0.0))
        note = f"what nothing drives was moved to rest, by up to {shift:.3g} rad or m" if shift > SMALL else ""
        pose = moved
    held = efforts_at_rest(model, pose, wrenches)
    if loose and not note:
        note = _not_at_rest(model, held, loose)
    return RestPose(pose, held, note)


def say(who: str, model: Model, note: str) -> None:
    """Log a note, if there is one."""
    if note:
        _log.warning("%s: '%s': %s", who, model.name, note)


def unforced(model: Model) -> list[int]:
    """Numbers of the rates that no effort acts on."""
    still = behind_springs(model)
    for block in model.layout:
        entity = model.wiring.entities[block.entity]
        if entity.said_passive is True or block.entity in _flexible(model):
            still |= set(range(block.v.start, block.v.stop))
    return sorted(still)


def elastic_coordinates(model: Model) -> Array:
    """bool (nq,): rotors behind springs and shapes of flexible links, which follow from the angles of the joints."""
    elastic = np.zeros(model.nq, dtype=bool)
    rotors = set(model.shafts.rotors)
    for block in model.layout:
        elastic[block.q] = block.entity in rotors or block.entity in _flexible(model)
    return elastic


def _flexible(model: Model) -> set[str]:
    """Entities with coordinates that are neither joints nor rotors nor the free base: flexible links."""
    entities, rotors = model.wiring.entities, set(model.shafts.rotors)
    return {
        block.entity
        for block in model.layout
        if block.entity not in rotors
        and block.entity != model.wiring.root
        and not isinstance(entities[block.entity], Joint)
    }


def efforts_at_rest(model: Model, q: Array, wrenches: Any = None) -> Array:
    """Generalised forces (..., nv) that hold the model. Where loops are constraints: of the actuated joints, else of
    those that are named as independent, else the smallest of all."""
    tree = cached_solver(model, InverseDynamics, representation="body")(q, *np.zeros((2, model.nv)), wrenches)
    if not kept_network(model).closures:
        return tree
    named = [k for k, rate in enumerate(model.dofs) if rate.partition(".")[0] in model.context.independent]
    held, drives = np.zeros(np.shape(tree)), actuation(model)
    for k in np.ndindex(held.shape[:-1]):
        Z, T = drives.terms(q[k])[1], drives.rows(q[k])
        wanted = Z.T @ tree[k]
        for rows in (T, np.eye(model.nv)[named], Z.T):
            efforts = np.linalg.lstsq((rows @ Z).T, wanted, rcond=None)[0]
            if np.abs((rows @ Z).T @ efforts - wanted).max(initial=0.0) <= CARRIED * (
                1.0 + np.abs(wanted).max(initial=0.0)
            ):
                held[k] = rows.T @ efforts
                break
    return held


def _not_at_rest(model: Model, held: Array, loose: list[int]) -> str:
    """A sentence, if what nothing drives had to be held."""
    if kept_network(model).closures:
        return ""
    left = np.abs(held[..., loose]).reshape(-1, len(loose)).max(axis=0)
    worst = int(np.argmax(left))
    if left[worst] <= CARRIED * (1.0 + float(np.abs(held).max(initial=0.0))):
        return ""
    return (
        f"'{model.dofs[loose[worst]]}', which nothing drives, is not at rest here: it is held by a constant effort of "
        f"{left[worst]:.3g} N m or N. Hint: rest=True, or q of the joints alone"
    )


# ------------------------------------------------------------------------------------------------ what is found
def _settled(model: Model, q: Array, loose: list[int], wrenches: Any) -> Array:
    locked = [name for k, name in enumerate(model.dofs) if k not in loose]
    moved = np.array(q)
    for k in np.ndindex(q.shape[:-1]):
        moved[k] = equilibrium(model, q[k], None, wrenches, locked=locked).q
    return moved


def _elastic_at_rest(model: Model, joints: Array, shapes: Array, wrenches: Any, who: str) -> Array:
    """q (..., nq) of the whole model for coordinates of the joints alone: Newton's method on the generalised forces
    that must vanish, of joints behind springs and of shapes, for angles of rotors and shapes."""
    full = np.zeros((*joints.shape[:-1], model.nq))
    full[..., ~shapes] = joints
    rates = np.zeros(model.nv, dtype=bool)
    for block in model.layout:
        rates[block.v] = bool(shapes[block.q].all()) and block.nq > 0
    rows = unforced(model)
    if not any(k in rows for k in range(model.nv)):
        rows = list(range(model.nv))
    forces = cached_solver(model, InverseDynamics, representation="body")
    slopes = cached_solver(model, InverseDynamicsDerivatives, method="auto")
    zero, size, before = np.zeros(model.nv), 0.0, 0.0
    for _ in range(STEPS):
        tau = forces(full, zero, zero, wrenches)
        left = tau[..., rows]
        K = slopes(full, zero, zero, wrenches).dtau_dq[..., rows, :][..., rates]
        step = -(np.linalg.pinv(K) @ left[..., None])[..., 0]
        full[..., shapes] = full[..., shapes] + step
        before, size = size, float(np.abs(step).max(initial=0.0))
        scale = max(1.0, float(np.abs(full).max(initial=0.0)))
        if size <= SMALL * scale or (size <= 1e-9 * scale and size >= before > 0.0):  # or rounding, of a stiff link
            left = np.abs(forces(full, zero, zero, wrenches)[..., rows]).max(initial=0.0)
            if left <= CARRIED * (1.0 + float(np.abs(tau).max(initial=0.0))):
                return full
            break  # backlash, or a spring that is slack: it does not see the weight
    raise GyrostatError(
        f"{who}: no coordinates of rotors and flexible links were found at which they carry '{model.name}', the last "
        f"step was {size:g} rad or m. Hint: give q of the whole model"
    )
