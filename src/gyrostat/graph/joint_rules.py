"""Rewriting rules for joints and rotors: they take placements in, turn in a plane, and pass inertia on."""

from __future__ import annotations

import numpy as np

from gyrostat.graph.draft import Draft, DraftPart
from gyrostat.graph.reference_frames import FixedBase
from gyrostat.spatial.algebra import compose
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia


def fold_into_joints(draft: Draft) -> list[str]:
    """A joint behind a frame of a body, or behind a displacement, takes the placement in: one rotation instead of
    two."""
    done: list[str] = []
    for part in list(draft.parts.values()):
        owner = draft.owner(part.source) if part.kind is Joint else None
        if owner is None or owner.kind not in (RigidBody, Displacement):
            continue
        name = next(n for n, key in owner.outs.items() if key == part.source)
        place = owner.places[name]
        before = part.props.get("before", (np.eye(3), np.zeros(3)))
        draft.change(part, props=part.props | {"before": compose(*place, *before)}, source=owner.source)
        done.append(f"'{owner.name}' to '{part.name}' folded into the joint")
    return done


def fold_into_rotors(draft: Draft) -> list[str]:
    """A rotor behind a frame of a body, or behind a displacement, turns about the axis as it is seen from there."""
    done: list[str] = []
    for part in list(draft.parts.values()):
        owner = draft.owner(part.source) if part.kind is RotorInertia else None
        if owner is None or owner.kind not in (RigidBody, Displacement):
            continue
        name = next(n for n, key in owner.outs.items() if key == part.source)
        R, _ = owner.places[name]
        draft.change(part, props=part.props | {"axis": R @ part.props["axis"]}, source=owner.source)
        done.append(f"'{part.name}' carried by '{owner.name}' at its origin")
    return done


def regroup_inertia(draft: Draft) -> list[str]:
    """What lies on a revolute joint's axis belongs to the body before it as much as to the one behind it [Khalil,
    Kleinfinger].

    A rod on the axis with the mass, the first and the second moment along the axis of the body behind is taken there
    and put before: the same motion needs the same generalised forces, only the force inside the joint differs. A
    prismatic joint passes all rotational inertia on. The inertias are then no longer those of real bodies: only
    algorithms that ask for nothing else may use this rule."""
    done: list[str] = []
    for joint in reversed(draft.outward()):
        kind = joint.props.get("kind") if joint.kind is Joint else None
        if kind not in ("revolute", "continuous", "prismatic") or joint.props["axis"].dtype == object:
            continue
        behind = [p for p in draft.at(next(iter(joint.outs.values()))) if p.kind is RigidBody]
        before = [p for p in draft.at(joint.source) if p.kind is RigidBody]
        owner = draft.owner(joint.source)
        ground = owner is not None and owner.kind is FixedBase
        if len(behind) != 1 or len(before) > 1 or not (before or ground) or "passed" in joint.props:
            continue
        have, u = _spatial(behind[0]), joint.props["axis"]
        K = have.second_moment
        if kind == "prismatic":
            passed, left = (0.0, np.zeros(3), K), (have.m, have.h, K * 0.0)
        else:
            rod = np.outer(u, u) * (u @ K @ u)
            passed, left = (have.m, u * (have.h @ u), rod), (0.0, have.h - u * (have.h @ u), K - rod)
        passed, left = (SpatialInertia.from_second_moment(*parts) for parts in (passed, left))
        draft.change(joint, props=joint.props | {"passed": True})
        draft.change(behind[0], props=behind[0].props | {"regrouped": left})
        if before:
            place = joint.props.get("before", (np.eye(3), np.zeros(3)))
            draft.change(before[0], props=before[0].props | {"regrouped": _spatial(before[0]) + passed.moved(*place)})
        onto = f"'{before[0].name}'" if before else "the ground"
        done.append(f"inertia of '{behind[0].name}' along the axis of '{joint.name}' passed to {onto}")
    return done


def _spatial(body: DraftPart) -> SpatialInertia:
    props = body.props
    return props.get("regrouped") or SpatialInertia.at_centre(props["mass"], props["com"], props["inertia"])


def align_axes(draft: Draft) -> list[str]:
    """Joints whose axis lies on a coordinate axis turn in a plane."""
    done: list[str] = []
    for part in list(draft.parts.values()):
        if part.kind is not Joint:
            continue
        aligned = {}
        for key in ("axis", "second_axis"):
            u = part.props.get(key)
            if f"{key}_aligned" in part.props or u is None or u.dtype == object:
                continue
            k = int(np.argmax(np.abs(u)))
            if abs(u[k]) == 1.0 and np.count_nonzero(u) == 1:
                aligned[f"{key}_aligned"] = k, float(u[k])
        if aligned:
            draft.change(part, props=part.props | aligned)
            told = ", ".join(f"{key.removesuffix('_aligned')} along {'xyz'[k]}" for key, (k, _) in aligned.items())
            done.append(f"joint '{part.name}' specialised: {told}")
    return done
