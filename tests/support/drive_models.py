"""Random trees with drives, and what they are made of, so that the explicit oracle can be built from the same numbers.

Rotors in carriers that contain them already are small enough that the carriers stay real bodies without them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import gyrostat as gs
from tests.support.explicit_rotors import Explicit, Law, Rotor, explicit
from tests.support.pinocchio_oracle import walk

KINDS = ("revolute", "continuous", "prismatic", "helical")
LIGHT = 6e-5
"""Moment of a rotor [m^2] for each kg of the body that contains it: eight of them leave a real body."""


@dataclass
class Driven:
    """A model with drives, and its explicit form."""

    model: gs.Model
    plain: gs.Model
    oracle: Explicit


def unit(rng: np.random.Generator) -> tuple[float, ...]:
    x = rng.normal(size=3)
    return tuple(float(c) for c in x / np.linalg.norm(x))


def number(rng: np.random.Generator, low: float, high: float) -> float:
    return float(rng.uniform(low, high))


def ports_of(model: gs.Model) -> list[str]:
    """Every spatial port of bodies and joints, and the reference frame."""
    return [
        f"{name}.{port.name}"
        for name, e in model.wiring.entities.items()
        for port in e.ports
        if port.kind == "spatial" and isinstance(e, gs.RigidBody | gs.Joint | gs.ReferenceFrame)
    ]


def driven_tree(seed: int, joints: int | None = None, elastic: bool = False, couplings: int = 0, **options) -> Driven:
    """A tree of up to eight joints, fixed or free base, joints met from either side; most of them have drives.

    A drive is the sugar with its defaults, the sugar with a carrier, or made of its entities; its rotor is contained in
    the carrier, or brings its own mass. ``elastic``: about half of the drives have springs. ``couplings``: gears
    between the shafts of joints, one or two of which follow one or two others."""
    rng = np.random.default_rng([seed, 61])
    joints = int(rng.integers(1, 9)) if joints is None else joints
    base = str(rng.choice(["fixed", "free"]))
    choices = {"kinds": KINDS, "base": base, "reversed_share": 0.4, "branching": number(rng, 0, 1)} | options
    plain = _on_a_body(gs.robots.tree(seed, joints, **choices))
    model, rotors, laws = plain, [], []
    found = walk(plain)
    names = [m.name for m in found.moved if m is not None and m.joint.kind in KINDS and m.name != "world"]
    for name in names:
        if rng.random() < 0.15:
            continue
        kind = str(rng.choice(["default", "carrier", "entities"]))
        springy = elastic and rng.random() < 0.6
        model, rotor, law = _drive(rng, model, found, name, kind, springy)
        rotors.append(rotor)
        laws += law
    model, following = _coupled(rng, model, names, couplings)
    full = explicit(plain, rotors)
    ties = {f"spin_{r.name}": _expanded(r.turns, following) for r in rotors} | following
    laws = [replace(law, of=of, rest=law.rest - more) for law in laws for of, more in [_expanded(law.of, following)]]
    return Driven(model, plain, Explicit(model, full, ties, laws))


Following = dict[str, tuple[dict[str, float], float]]


def _coupled(rng, model: gs.Model, names: list[str], count: int) -> tuple[gs.Model, Following]:
    """Gears between joints; a joint that follows may be followed itself."""
    following: Following = {}
    masters: set[str] = set()
    for k in range(count):
        free = [name for name in names if name not in following and name not in masters]
        motors = [str(x) for x in rng.permutation(free)[: int(rng.integers(1, 3))]]
        others = [name for name in names if name not in motors]
        joints = [str(x) for x in rng.permutation(others)[: int(rng.integers(1, 3))]]
        if not motors or not joints:
            break
        ratio, offset = rng.uniform(-2, 2, (len(motors), len(joints))), rng.uniform(-1, 1, len(motors))
        gear = gs.Gear(f"couple{k}", ratio, offset=offset)
        for i, motor in enumerate(motors):
            of, more = _expanded(dict(zip(joints, map(float, ratio[i]), strict=True)), following)
            following[motor] = of, more + float(offset[i])
            masters |= {*joints, *of}
        ends = zip((*motors, *joints), (*gear.motors, *gear.joints), strict=True)
        wires = [(f"{name}.shaft", f"{gear.name}.{port}") for name, port in ends]
        model = gs.Model(model.name, (*model.entities, gear), (*model.connections, *wires), model.context)
    return model, following


def _expanded(of, following: Following) -> tuple[dict[str, float], float]:
    """A sum in which joints that follow are replaced by what they follow, and the constant that comes with it."""
    found: dict[str, float] = {}
    offset = 0.0
    for name, factor in of.items():
        inner, more = following.get(name, ({name: 1.0}, 0.0))
        offset += factor * more
        for other, x in inner.items():
            found[other] = found.get(other, 0.0) + factor * x
    return found, offset


def _on_a_body(plain: gs.Model) -> gs.Model:
    """A fixed base gets a body, as a free one has: what is carried by the world is contained in it."""
    if plain.context.base == "free":
        return plain
    base = gs.RigidBody("hull", mass=2.0, com=(0.1, 0, 0.05), inertia=(0.05, 0.04, 0.03))
    return gs.Model(plain.name, (*plain.entities, base), (*plain.connections, ("world", "hull.origin")), plain.context)


def _drive(rng, model, found, name, kind, springy):
    """One drive: the model with it, its rotor, and the laws of its elements."""
    moved = next(m for m in found.moved if m is not None and m.name == name)
    near = "b" if moved.backward else "a"
    ratio = number(rng, 5, 150) * float(rng.choice([-1, 1]))
    if kind == "default":
        carrier, sign = f"{name}.{near}", -1.0 if moved.backward else 1.0
        axis = tuple(sign * x for x in moved.joint.axis)
    else:
        carrier, axis = str(rng.choice(ports_of(model))), unit(rng)
    lumped = bool(rng.random() < 0.6)
    host = next(b for k, _, b in found.bodies if k == found.ports[carrier][0])
    inertia = LIGHT * host.mass * number(rng, 0.2, 1.0)
    body = {"mass": 0.0, "position": (0.0, 0.0, 0.0), "transverse": 0.0}
    if not lumped:
        position = tuple(float(x) for x in rng.uniform(-0.2, 0.2, 3))
        body = {"mass": number(rng, 0.1, 1.0), "position": position, "transverse": number(rng, 0.6, 2.0) * inertia}
    friction = {"viscous": number(rng, 0.1, 1.0), "coulomb": number(rng, 0.1, 1.0)} if rng.random() < 0.5 else {}
    spring = {"stiffness": number(rng, 50, 500), "damping": number(rng, 0.1, 2.0)} if springy else {}
    own = f"{name}_drive.rotor"
    if kind == "entities":
        model = _by_hand(model, name, ratio, spring, friction, {"inertia": inertia, "axis": axis, "lumped": lumped}
                         | (body if not lumped else {}), carrier)  # fmt: skip
    else:
        where = {} if kind == "default" else {"carrier": carrier, "rotor_axis": axis}
        given = {"rotor_inertia": inertia, "gear_ratio": ratio, "lumped": lumped}
        given |= {"rotor": body} if not lumped else {}
        model = model.with_drive(name, **given, **spring, **friction, **where)
    if lumped:  # contained in the carrier: any place will do, here near the centre of mass
        X = next(X for k, X, b in found.bodies if b is host)
        at = found.ports[carrier][1].inverse() * X
        position = at.act(np.array(host.com) + rng.uniform(-0.01, 0.01, 3))
        body = {"mass": 1e-3 * host.mass, "position": tuple(position), "transverse": number(rng, 0.5, 1.0) * inertia}
    turns = {own: 1.0} if springy else {name: ratio}
    rotor = Rotor(name, inertia, carrier, axis, turns, lumped=lumped, **body)
    laws = []
    if springy:
        laws.append(Law({own: 1.0 / ratio, name: -1.0}, spring["stiffness"], spring["damping"]))
    if friction:
        laws.append(Law({name: 1.0}, damping=friction["viscous"], coulomb=friction["coulomb"]))
    return model, rotor, laws


def _by_hand(model, name, ratio, spring, friction, rotor, carrier):
    """The same from entities, inside an assembly as the sugar makes it."""
    parts = [gs.RotorInertia("rotor", **rotor), gs.Gear("gear", ratio)]
    wires, shaft = [("rotor.shaft", "gear.motor")], "gear.joint"
    if spring:
        parts += [gs.Spring("spring", stiffness=spring["stiffness"]), gs.Damper("damper", damping=spring["damping"])]
        wires += [("gear.joint", "spring.a", "damper.a"), ("spring.b", "damper.b")]
        shaft = "spring.b"
    if friction:
        parts.append(gs.Friction("friction", **friction))
        wires.append((shaft, "friction.shaft"))
    drive = gs.Assembly(
        f"{name}_drive",
        entities=parts,
        connections=wires,
        exposes={"shaft": shaft, "carrier": "rotor.carrier"},
    )
    links = [(f"{name}.shaft", f"{name}_drive.shaft"), (carrier, f"{name}_drive.carrier")]
    return gs.Model(model.name, (*model.entities, drive), (*model.connections, *links), model.context)
