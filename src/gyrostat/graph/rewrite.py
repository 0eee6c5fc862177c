"""Graph rewriting (H04 4.2.2): named rules that simplify the network, each of which leaves all results unchanged.

A draft is a set of parts; each has one inport, fed by an outport (its ``source``), and outports of its own. Outports
are known by the name of the port of the specification that they came from. ``located`` follows every port of the
specification through all changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, nearest
from gyrostat.graph.bases import FixedBase
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import Array, compose
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia


@dataclass(frozen=True)
class Part:
    """A component that may still change. ``outs``: name of outport -> key; ``places``: the same names -> placement."""

    name: str
    kind: type
    props: dict[str, Any]
    inport: str | None
    source: str | None
    outs: dict[str, str]
    places: dict[str, Placement]


@dataclass
class Draft:
    """Parts, and where every port of the specification is: key of an outport, R, p. Indices keep every step cheap."""

    parts: dict[str, Part] = field(default_factory=dict)
    located: dict[str, tuple[str, Array, Array]] = field(default_factory=dict)
    _fed: dict[str, dict[str, None]] = field(default_factory=dict)  # outport -> parts it feeds
    _owner: dict[str, str] = field(default_factory=dict)  # outport -> part
    _sits: dict[str, list[str]] = field(default_factory=dict)  # outport -> ports located on it

    def add(self, part: Part) -> None:
        self._insert(part)
        for key in part.outs.values():
            self.located[key] = key, np.eye(3), np.zeros(3)
            self._sits[key] = [key]
        if part.source is not None:
            name = f"{part.name}.{part.inport}"
            self.located[name] = self.located[part.source]
            self._sits[part.source].append(name)

    def hide(self, part: Part) -> None:
        """Add a part whose inport has no name of its own in the specification."""
        self._insert(part)

    def _insert(self, part: Part) -> None:
        self.parts[part.name] = part
        self._owner |= dict.fromkeys(part.outs.values(), part.name)
        if part.source is not None:
            self._fed.setdefault(part.source, {})[part.name] = None

    def remove(self, part: Part) -> None:
        """Take a part out; its outports must have been adopted, merged or forgotten."""
        del self.parts[part.name]
        if part.source is not None:
            del self._fed[part.source][part.name]

    def change(self, part: Part, **changes: Any) -> Part:
        """Replace a part in its place."""
        if part.source is not None:
            del self._fed[part.source][part.name]
        new = replace(part, **changes)
        self._insert(new)
        return new

    def each(self) -> Iterator[Part]:
        """Every part as it is when its turn comes, while parts are changed and removed on the way."""
        return (self.parts[name] for name in list(self.parts) if name in self.parts)

    def at(self, key: str | None) -> list[Part]:
        """Parts that the outport feeds."""
        return [self.parts[name] for name in self._fed.get(str(key), ())]

    def owner(self, key: str | None) -> Part | None:
        """The part whose outport this is."""
        return self.parts.get(self._owner.get(str(key), ""))

    def forget(self, key: str, onto: str, place: Placement) -> None:
        """The outport ``key`` is no more: what sat on it now sits at ``place`` on ``onto``."""
        for name in self._sits.pop(key):
            _, R, p = self.located[name]
            self.located[name] = onto, *compose(*place, R, p)
            self._sits[onto].append(name)

    def outward(self) -> list[Part]:
        """Parts in depth-first order from the reference frame."""
        order: list[Part] = []
        stack = [part for part in self.parts.values() if part.source is None]
        while stack:
            part = stack.pop()
            order.append(part)
            ahead = [follower for key in part.outs.values() for follower in self.at(key)]
            stack += reversed(ahead)
        return order


Event = tuple[str, str]
Rule = Callable[[Draft], list[str]]


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


def _reexpress(body: Part, place: Placement, source: str) -> dict[str, Any]:
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


def _spatial(body: Part) -> SpatialInertia:
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


RULES: dict[str, Rule] = {
    "drop-identities": drop_identities,
    "fold-displacements": fold_displacements,
    "merge-bodies": merge_bodies,
    "fold-into-joints": fold_into_joints,
    "fold-into-rotors": fold_into_rotors,
    "prune-frames": prune_frames,
    "align-axes": align_axes,
    "regroup-inertia": regroup_inertia,
}
"""Every rule, in the order in which they are tried."""

DEFAULT = tuple(name for name in RULES if name != "regroup-inertia")
"""Rules that any algorithm may use."""


def rewrite(draft: Draft, names: list[str], off: Iterable[str] = ()) -> list[Event]:
    """Apply the rules until none of them matches; return what was done."""
    for name in [*names, *off]:
        if name not in RULES:
            raise SpecError.one("network", "rewriting-rule", f"there is no rule '{name}'", nearest(name, RULES), name)
    events: list[Event] = []
    while True:
        before = len(events)
        for name, rule in RULES.items():
            if name in names:
                events += [(name, told) for told in rule(draft)]
        if len(events) == before:
            return events
