"""The same mechanism in other words: each function returns a model that differs in its text, not in its physics.

Everything is worked out here from the meaning of the specification, in homogeneous matrices; nothing of the library's
own geometry is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from gyrostat.spec.values import AxisAngle, Euler, Quaternion
from tests.support.random_models import spatial_ports

Array = np.ndarray
State = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Reworded:
    """``model`` says in other words what ``original`` says.

    ``ports``: old name of a port -> new one. ``convert(q, v, a)`` returns the state of the new model, and T with
    v_new = T v, so that tau = T^T tau_new.
    """

    original: gs.Model
    model: gs.Model
    ports: Mapping[str, str]
    convert: Callable[[Array, Array, Array], tuple[State, Array]]

    def wrenches(self, given: Mapping[str, gs.Wrench]) -> dict[str, gs.Wrench]:
        """The same wrenches at the ports of the new model."""
        return {
            self.ports[port]: gs.Wrench(w.value, self.ports.get(w.expressed_in, w.expressed_in))
            for port, w in given.items()
        }

    def then(self, change: Callable[[gs.Model], Reworded]) -> Reworded:
        """Change the words once more."""
        second = change(self.model)

        def convert(q: Array, v: Array, a: Array) -> tuple[State, Array]:
            state, T_1 = self.convert(q, v, a)
            state, T_2 = second.convert(*state)
            return state, T_2 @ T_1

        ports = {old: second.ports[new] for old, new in self.ports.items()}
        return Reworded(self.original, second.model, ports, convert)


Flip = Callable[[Array, Array], tuple[Array, Array, Array]]


def reworded(
    original: gs.Model,
    entities: Iterable[gs.Entity],
    connections: Iterable[Sequence[str]],
    ports: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    flips: Mapping[str, Flip] | None = None,
    added: Mapping[str, tuple[float, float, float]] | None = None,
) -> Reworded:
    """``ports`` and ``names`` (of entities with a state) list what is called differently; ``flips`` convert states.

    A flip takes q, v of a joint and returns q', J and c, with v' = J v and a' = J a + c. ``added``: q, v, a of new
    joints with one rate.
    """
    model = gs.Model(original.name, tuple(entities), [tuple(c) for c in connections], original.context)
    names, flips = names or {}, flips or {}
    every = {port: (ports or {}).get(port, port) for port in spatial_ports(original)}

    def convert(q: Array, v: Array, a: Array) -> tuple[State, Array]:
        q_new, v_new, a_new = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        T = np.zeros((model.nv, original.nv))
        for block in original.layout:
            name, here_q, here_v = block.entity, block.q, block.v
            there_q = [model.coordinates.index(n) for n in full(names.get(name, name), block.coordinates)]
            there_v = [model.dofs.index(n) for n in full(names.get(name, name), block.rates)]
            flip = flips.get(name, lambda q, v: (q, np.eye(len(v)), np.zeros(len(v))))
            q_new[there_q], J, c = flip(q[here_q], v[here_v])
            v_new[there_v], a_new[there_v] = J @ v[here_v], J @ a[here_v] + c
            T[np.ix_(there_v, range(here_v.start, here_v.stop))] = J
        for name, state in (added or {}).items():
            q_new[model.coordinates.index(name)], v_new[model.dofs.index(name)], a_new[model.dofs.index(name)] = state
        return (q_new, v_new, a_new), T

    return Reworded(original, model, every, convert)


def full(owner: str, parts: Sequence[str]) -> list[str]:
    """Names of coordinates: the joint's own when there is one, else joint.part."""
    return [owner] if len(parts) == 1 else [f"{owner}.{part}" for part in parts]


def renamed(connections: Iterable[Sequence[str]], ports: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [tuple(ports.get(port, port) for port in connection) for connection in connections]


# ------------------------------------------------------------------------------------------------ geometry
def skew(u: Array) -> Array:
    x, y, z = u
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=float)


def about(axis: Sequence[float], angle: float) -> Array:
    """Rodrigues' formula."""
    K = skew(np.array(axis) / np.linalg.norm(axis))
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def rotation_matrix(form) -> Array:
    if isinstance(form, Quaternion):
        *u, w = np.array(form.quaternion) / np.linalg.norm(form.quaternion)
        return np.eye(3) + 2 * w * skew(u) + 2 * skew(u) @ skew(u)
    if isinstance(form, AxisAngle):
        return about(form.axis, form.angle)
    if isinstance(form, Euler):
        turns = [
            about(np.eye(3)["xyz".index(x.lower())], angle) for x, angle in zip(form.axes, form.euler, strict=True)
        ]
        return np.linalg.multi_dot(turns[::-1] if form.axes.islower() else turns)
    return np.array(form.matrix)


def homogeneous(R: Array, p: Sequence[float]) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def inverse(T: Array) -> Array:
    return homogeneous(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def placement(entity) -> Array:
    """4x4 matrix of a displacement, or of a frame on its body."""
    if isinstance(entity, gs.DHDisplacement):
        z = homogeneous(about((0, 0, 1), entity.theta), (0, 0, entity.d))
        x = homogeneous(about((1, 0, 0), entity.alpha), (entity.a, 0, 0))
        return z @ x if entity.convention == "standard" else x @ z
    return homogeneous(rotation_matrix(entity.rotation), entity.translation)


def place(T: Array) -> dict:
    """Properties of a displacement or frame with this matrix."""
    return {"translation": T[:3, 3], "rotation": T[:3, :3]}


# ------------------------------------------------------------------------------------------------ the other way round
def flip_displacements(model: gs.Model, names: Iterable[str]) -> Reworded:
    """Displacements written from b to a."""
    names = set(names)
    entities = [
        gs.Displacement(e.name, **place(inverse(placement(e)))) if e.name in names else e for e in model.entities
    ]
    ports = {f"{n}.{one}": f"{n}.{two}" for n in names for one, two in ("ab", "ba")}
    return reworded(model, entities, renamed(model.connections, ports), ports)


def flip_joints(model: gs.Model, names: Iterable[str]) -> Reworded:
    """Joints written from b to a."""
    names = set(names)
    found = {e.name: flipped_joint(e) for e in model.entities if e.name in names}
    entities = [found[e.name][0] if e.name in names else e for e in model.entities]
    ports = {f"{n}.{one}": f"{n}.{two}" for n in names for one, two in ("ab", "ba")}
    flips = {name: flip for name, (_, flip) in found.items()}
    return reworded(model, entities, renamed(model.connections, ports), ports, flips=flips)


def flipped_joint(joint: gs.Joint) -> tuple[gs.Joint, Flip]:
    """The joint that describes a against b, and how its state follows from that of the given one."""
    if joint.kind == "universal":  # (R1 R2)^-1 = R2^-1 R1^-1
        new = gs.Joint(joint.name, "universal", axis=-np.array(joint.second_axis), second_axis=-np.array(joint.axis))
        return new, lambda q, v: (q[::-1], np.eye(2)[::-1], np.zeros(2))
    if joint.kind == "planar":
        n = np.array(joint.axis)
        e = joint.second_axis or first_direction(n)
        return gs.Joint(joint.name, "planar", axis=-n, second_axis=e), flip_planar
    if joint.kind == "spherical":
        return joint, flip_spherical
    if joint.kind == "free":
        return joint, flip_free
    axis = None if joint.axis is None else -np.array(joint.axis)
    new = gs.Joint(joint.name, joint.kind, axis=axis, pitch=joint.pitch)
    return new, lambda q, v: (q, np.eye(len(v)), np.zeros(len(v)))


def first_direction(n: Array) -> Array:
    """As the documentation of Joint says for a planar joint without second_axis."""
    e = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    e = e - n * (n @ e)
    return e / np.linalg.norm(e)


def flip_planar(q: Array, v: Array) -> tuple[Array, Array, Array]:
    """p' = -R^T p, with e1' = e1 and n' = -n, hence e2' = -e2; the angle stays."""
    x, y, angle = q
    c, s = np.cos(angle), np.sin(angle)
    dx, dy, w = v
    new = np.array([-c * x - s * y, -s * x + c * y, angle])
    J = np.array([[-c, -s, s * x - c * y], [-s, c, -c * x - s * y], [0, 0, 1]])
    J_rate = w * np.array([[s, -c, c * x + s * y], [-c, -s, s * x - c * y], [0, 0, 0]])
    J_rate[:2, 2] += [s * dx - c * dy, -c * dx - s * dy]
    return new, J, J_rate @ v


def quaternion_matrix(q: Array) -> Array:
    return rotation_matrix(Quaternion(quaternion=tuple(q)))


def flip_spherical(q: Array, v: Array) -> tuple[Array, Array, Array]:
    return q * [-1, -1, -1, 1], -quaternion_matrix(q), np.zeros(3)


def flip_free(q: Array, v: Array) -> tuple[Array, Array, Array]:
    """V' = -X_ab V; its rate is -X_ab (A + V~ V), and V~ V is zero."""
    R, p = quaternion_matrix(q[3:]), q[:3]
    X = np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])
    return np.concatenate([-R.T @ p, q[3:] * [-1, -1, -1, 1]]), -X, np.zeros(6)


def move_origins(model: gs.Model, frames: Mapping[str, str]) -> Reworded:
    """Bodies described from another of their frames (body -> frame): it and the origin exchange their names."""
    entities, ports = [], {}
    for entity in model.entities:
        chosen = frames.get(entity.name)
        if chosen is None:
            entities.append(entity)
            continue
        places = {frame.name: placement(frame) for frame in entity.frames}
        back = inverse(places[chosen])
        others = {frame: back @ T for frame, T in places.items() if frame != chosen}
        entities.append(body_in(entity, entity.name, back, {chosen: back} | others))
        ports[f"{entity.name}.origin"] = f"{entity.name}.{chosen}"
        ports[f"{entity.name}.{chosen}"] = f"{entity.name}.origin"
    return reworded(model, entities, renamed(model.connections, ports), ports)


def body_in(body: gs.RigidBody, name: str, T: Array, frames: Mapping[str, Array]) -> gs.RigidBody:
    """The mass of a body seen from a frame in which its origin is placed at T, with the given frames."""
    R, p = T[:3, :3], T[:3, 3]
    J = R @ np.array(body.inertia) @ R.T
    return gs.RigidBody(
        name,
        mass=body.mass,
        com=R @ np.array(body.com) + p,
        inertia=(J + J.T) / 2,
        momentum=R @ np.array(body.momentum),
        frames={frame: place(X) for frame, X in frames.items()},
    )


# ------------------------------------------------------------------------------------------------ in pieces
JOINTS = ("ports", "fixed joints", "displacements", "frames")
"""How pieces are joined: port on port (all in one connection), or each piece to the first one."""


def split_bodies(model: gs.Model, names: Iterable[str], rng: np.random.Generator, how: str, pieces: int) -> Reworded:
    """Bodies cut in pieces that are joined rigidly, ``how``: one of :data:`JOINTS`."""
    names = set(names)
    entities: list[gs.Entity] = []
    connections = [tuple(c) for c in model.connections]
    ports: dict[str, str] = {}
    for body in model.entities:
        if body.name not in names:
            entities.append(body)
            continue
        parts, wires, moved = split_body(body, rng, how, pieces)
        entities += parts
        connections += wires
        ports |= moved
    return reworded(model, entities, renamed(connections, ports), ports)


def split_body(
    body: gs.RigidBody, rng: np.random.Generator, how: str, pieces: int
) -> tuple[list[gs.Entity], list[tuple[str, ...]], dict[str, str]]:
    """Parts, the connections between them, and where the ports of the body went."""
    name, origin = body.name, f"{body.name}.origin"
    masses = share_mass(body, rng, pieces)
    at = [np.eye(4)] + [random_placement(rng) for _ in range(pieces - 1)]
    frames: list[dict[str, Array]] = [{} for _ in range(pieces)]
    ports: dict[str, str] = {}
    for frame in body.frames:
        k = int(rng.integers(pieces))
        frames[k][frame.name] = inverse(at[k]) @ placement(frame)
        ports[f"{name}.{frame.name}"] = f"{name}_{k}.{frame.name}" if k else f"{name}.{frame.name}"
    parts: list[gs.Entity] = []
    wires: list[tuple[str, ...]] = [(origin, *(f"{name}_{k}.grip" for k in range(1, pieces)))] if how == "ports" else []
    for k in range(1, pieces):
        piece, link = f"{name}_{k}", f"{name}_link{k}"
        near, far = rng.permutation(["a", "b"])
        if how == "displacements":
            T = at[k] if near == "a" else inverse(at[k])
            parts.append(gs.Displacement(link, **place(T)))
            wires += [(origin, f"{link}.{near}"), (f"{link}.{far}", f"{piece}.origin")]
        elif how == "frames":
            frames[0][f"seat{k}"] = at[k]
            wires.append((f"{name}.seat{k}", f"{piece}.origin"))
        else:
            frames[k]["grip"] = inverse(at[k])
            if how == "fixed joints":
                parts.append(gs.Joint(link, "fixed"))
                wires += [(origin, f"{link}.{near}"), (f"{link}.{far}", f"{piece}.grip")]
    for k, mass in enumerate(masses):
        parts.append(body_in(mass, f"{name}_{k}" if k else name, inverse(at[k]), frames[k]))
    return parts, wires, ports


def share_mass(body: gs.RigidBody, rng: np.random.Generator, pieces: int) -> list[gs.RigidBody]:
    """Mass, centre, inertia and internal momentum shared out, all seen from the body's frame.

    With the second moments S = tr(J)/2 - J about the centre: S = sum of the pieces' S_k + m_k d_k d_k^T, where d_k
    leads to their centres.
    """
    shares = rng.dirichlet(np.full(pieces, 5.0))
    J = np.array(body.inertia)
    S = np.trace(J) / 2 * np.eye(3) - J
    d = rng.normal(size=(pieces, 3))
    d -= shares @ d
    d *= np.sqrt(0.5 * np.linalg.eigvalsh(S)[0] / body.mass) / np.linalg.norm(d, axis=1).max()
    rest = S - sum(body.mass * w * np.outer(x, x) for w, x in zip(shares, d, strict=True))
    momenta = rng.normal(size=(pieces, 3)) * bool(np.any(body.momentum))
    momenta[0] = body.momentum - momenta[1:].sum(axis=0)
    return [
        gs.RigidBody(
            body.name,
            mass=body.mass * w,
            com=body.com + x,
            inertia=w * (np.trace(rest) * np.eye(3) - rest),
            momentum=momentum,
        )
        for w, x, momentum in zip(shares, d, momenta, strict=True)
    ]


def random_placement(rng: np.random.Generator) -> Array:
    return homogeneous(about(rng.normal(size=3), rng.uniform(-3, 3)), rng.uniform(-0.3, 0.3, 3))


# ------------------------------------------------------------------------------------------------ wheels
def explicit_wheels(model: gs.Model) -> Reworded:
    """Internal momentum l written as a wheel: a body of its own that turns about l at the constant speed |l| / J.

    The wheel is a ball at the centre of mass, taken out of the body, so that both together are the body.
    """
    entities: list[gs.Entity] = []
    connections = list(model.connections)
    added: dict[str, tuple[float, float, float]] = {}
    for body in model.entities:
        entities.append(body)
        if not isinstance(body, gs.RigidBody) or not any(body.momentum):
            continue
        size, J = float(np.linalg.norm(body.momentum)), np.array(body.inertia)
        S = np.trace(J) / 2 * np.eye(3) - J
        moment = 0.6 * np.linalg.eigvalsh(S)[0]
        mass, name = 0.2 * body.mass, f"{body.name}_wheel"
        places = {frame.name: place(placement(frame)) for frame in body.frames} | {"hub": {"translation": body.com}}
        rest = J - moment * np.eye(3)
        entities[-1] = gs.RigidBody(body.name, mass=body.mass - mass, com=body.com, inertia=rest, frames=places)
        entities.append(gs.Joint(f"{name}_axle", "continuous", axis=np.array(body.momentum) / size))
        entities.append(gs.RigidBody(name, mass=mass, inertia=(moment, moment, moment)))
        connections += [(f"{body.name}.hub", f"{name}_axle.a"), (f"{name}_axle.b", f"{name}.origin")]
        added[f"{name}_axle"] = 0.4, size / moment, 0.0
    return reworded(model, entities, connections, added=added)


# ------------------------------------------------------------------------------------------------ order and nesting
def reorder(model: gs.Model, rng: np.random.Generator) -> Reworded:
    """Entities, connections and their ports in another order; connections that meet may be written as one."""
    connections = [list(c) for c in model.connections]
    if rng.random() < 0.5 and not any(isinstance(e, gs.Assembly) for e in model.entities):
        connections = [[f"{name}.{port}" for name, port in group] for group in model.wiring.groups]
    for connection in connections:
        rng.shuffle(connection)
    rng.shuffle(connections)
    entities = list(model.entities)
    rng.shuffle(entities)
    return reworded(model, entities, connections)


def nest(model: gs.Model, chosen: Iterable[str], name: str) -> Reworded:
    """Some of the top-level entities put into an assembly; what they share with the others is exposed."""
    chosen = set(chosen)
    inside: list[tuple[str, ...]] = []
    outside: list[tuple[str, ...]] = []
    exposes: dict[str, str] = {}
    for connection in model.connections:
        ours = [port for port in connection if port.partition(".")[0] in chosen]
        if len(ours) == len(connection):
            inside.append(connection)
            continue
        exposes |= {port.replace(".", "_"): port for port in ours}
        outside.append(tuple(f"{name}.{port.replace('.', '_')}" if port in ours else port for port in connection))
    part = gs.Assembly(
        name, entities=[e for e in model.entities if e.name in chosen], connections=inside, exposes=exposes
    )
    first = min((k for k, e in enumerate(model.entities) if e.name in chosen), default=0)
    entities = [e for e in model.entities if e.name not in chosen]
    entities.insert(min(first, len(entities)), part)
    ours = {port: f"{name}.{port}" for port in spatial_ports(model) if port.partition(".")[0] in chosen}
    names = {n: f"{name}.{n}" for n in model.wiring.entities if n.partition(".")[0] in chosen}
    return reworded(model, entities, outside, ours, names)
