"""Rewriting rules for what is rigid: displacements melt into bodies, bodies into each other, unused frames go."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.graph.draft import Draft, DraftPart
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import compose
from gyrostat.spatial.inertia import steiner
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody


def is_identity(place: Placement) -> bool:
    R, p = place
    return R.dtype != object and p.dtype != object and bool(np.all(np.eye(3) == R) and np.all(p == 0.0))


def drop_identities(draft: Draft) -> list[str]:
    """Remove displacements that do nothing, and fixed joints."""
    done: list[str] = []
    for part in draft.each():
        fixed = part.kind is Joint and part.props["kind"] == "fixed"
        if not fixed and not (part.kind is Displacement and all(is_identity(p) for p in part.places.values())):
            continue
        (key,) = part.outs.values()
        for follower in draft.at(key):
            draft.change(follower, source=part.source)
        draft.forget(key, str(part.source), (np.eye(3), np.zeros(3)))
        draft.remove(part)
        done.append(f"'{part.name}' dropped: {'a fixed joint' if fixed else 'a displacement'} that changes nothing")
    return done


def _reexpress(body: DraftPart, place: Placement, source: str) -> dict[str, Any]:
    """Changes that let a body, whose inport sits at ``place`` on ``source``, be entered at ``source`` itself."""
    R, p = place
    props = dict(body.props)
    props["com"] = p + R @ props["com"]
    props["inertia"] = R @ props["inertia"] @ R.T
    props["momentum"] = R @ props["momentum"]
    places = {name: compose(R, p, *inner) for name, inner in body.places.items()}
    return {"props": props, "places": places, "source": source}


def fold_displacements(draft: Draft) -> list[str]:
    """Displacements melt into bodies behind or before them, and into each other."""
    done: list[str] = []
    for part in draft.each():
        if part.kind is not Displacement:
            continue
        ((name, key),) = part.outs.items()
        place = part.places[name]
        source, followers = str(part.source), draft.at(key)
        for follower in followers:
            if follower.kind is RigidBody:
                draft.change(follower, **_reexpress(follower, place, source))
                done.append(f"'{part.name}' folded into body '{follower.name}'")
            elif follower.kind is Displacement:
                inner = {n: compose(*place, *p) for n, p in follower.places.items()}
                draft.change(follower, places=inner, source=source)
                done.append(f"'{part.name}' folded into displacement '{follower.name}'")
        if not draft.at(key):
            draft.forget(key, source, place)
            draft.remove(part)
            if not followers:
                done.append(f"displacement '{part.name}' is computed only when asked for")
            continue
        carriers = [p for p in draft.at(source) if p.kind is RigidBody]
        owner = draft.owner(source)
        if carriers:  # a body is fixed where the displacement begins: its end becomes a frame of the body
            body = carriers[0]
        elif owner is not None and owner.kind is RigidBody:
            inner = next(n for n, k in owner.outs.items() if k == source)
            body, place = owner, compose(*owner.places[inner], *place)
        else:
            continue
        draft.remove(part)
        draft.change(body, outs=body.outs | {key: key}, places=body.places | {key: place})
        done.append(f"'{part.name}' became the frame '{key}' of body '{body.name}'")
    return done


def merge_bodies(draft: Draft) -> list[str]:
    """Bodies that are rigidly connected become one."""
    done: list[str] = []
    for part in list(draft.parts.values()):
        if part.kind is not RigidBody or part.name not in draft.parts:
            continue
        part = draft.parts[part.name]
        host = next((p for p in draft.at(str(part.source)) if p.kind is RigidBody and p.name != part.name), None)
        if host is None:
            owner = draft.owner(part.source)
            if owner is None or owner.kind is not RigidBody:
                continue
            host = owner
            name = next(n for n, key in owner.outs.items() if key == part.source)
            part = draft.change(part, **_reexpress(part, owner.places[name], str(owner.source)))
        draft.remove(part)
        draft.change(
            host,
            props=_sum(host.props, part.props),
            outs=host.outs | {key: key for key in part.outs.values()},
            places=host.places | {part.outs[n]: place for n, place in part.places.items()},
        )
        done.append(f"body '{part.name}' merged into '{host.name}'")
    return done


def _sum(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Mass properties of two bodies together, in their common frame."""
    m1, m2 = one["mass"], two["mass"]
    m = m1 + m2
    massless = isinstance(m, float) and m == 0.0
    com = one["com"] if massless else (m1 * one["com"] + m2 * two["com"]) / m
    inertia = sum(b["inertia"] + b["mass"] * steiner(b["com"] - com) for b in (one, two))
    return {"mass": m, "com": com, "inertia": inertia, "momentum": one["momentum"] + two["momentum"]}


def prune_frames(draft: Draft) -> list[str]:
    """Frames of bodies, and displacements, to which nothing is attached need not be computed; they stay located."""
    done: list[str] = []
    for part in list(draft.parts.values()):
        if part.kind is Displacement and not draft.at(next(iter(part.outs.values()))):
            ((name, key),) = part.outs.items()
            draft.forget(key, str(part.source), part.places[name])
            draft.remove(part)
            done.append(f"displacement '{part.name}' is computed only when asked for")
        elif part.kind is RigidBody and part.source is not None:
            for out, key in list(part.outs.items()):
                if not draft.at(key):
                    draft.forget(key, str(part.source), part.places[out])
                    part = draft.change(
                        part,
                        outs={n: k for n, k in part.outs.items() if n != out},
                        places={n: p for n, p in part.places.items() if n != out},
                    )
                    done.append(f"open frame '{key}' is computed only when asked for")
    return done
