"""Random states, and random trees that use more of the specification than ``gs.robots.tree`` does."""

from __future__ import annotations

import numpy as np

import gyrostat as gs

ANGLES = {"q", "angle", "angle1", "angle2"}
EULER_AXES = ("xyz", "zyx", "zxz", "XYZ", "ZYX", "XYX")


def random_state(model: gs.Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (nq,), v, a (nv,): angles over the whole circle, shifts within half a metre, quaternions of unit length."""
    q: list[np.ndarray] = []
    for block in model.layout:
        names = block.coordinates
        part = np.array([rng.uniform(-np.pi, np.pi) if name in ANGLES else rng.uniform(-0.5, 0.5) for name in names])
        if block.turns:
            x = rng.normal(size=4)
            part[-4:] = x / np.linalg.norm(x)
        q.append(part)
    return np.concatenate([np.zeros(0), *q]), rng.normal(size=model.nv), rng.normal(size=model.nv)


def spatial_ports(model: gs.Model) -> list[str]:
    """Full names of all spatial ports."""
    entities = model.wiring.entities.items()
    return [f"{name}.{port.name}" for name, entity in entities for port in entity.ports if port.kind == "spatial"]


def random_wrenches(model: gs.Model, rng: np.random.Generator, count: int) -> dict[str, gs.Wrench]:
    """Wrenches at different ports, their coordinates in turn local, aligned, of the world, of some other frame."""
    ports = spatial_ports(model)
    found = {}
    for k, port in enumerate(rng.permutation(ports)[:count]):
        forms = ("local", "aligned", "world", str(rng.choice(ports)))
        found[str(port)] = gs.Wrench(rng.normal(size=6), forms[k % 4])
    return found


def various_tree(
    seed: int, bodies: int | None = None, momentum: bool = False, treat_as: str = "acceleration"
) -> gs.Model:
    """A tree of up to 40 bodies: fixed or free base, from chain to bush, up to half of its parts met from the far side.

    Displacements come in all parametrisations, universal joints have skew axes, planar ones may say their first
    direction, two joints follow each other directly, and force elements act on some ports.
    """
    rng = np.random.default_rng([seed, 20])
    bodies = int(rng.integers(1, 41)) if bodies is None else bodies
    base, branching, share = (
        rng.choice(["fixed", "free"]),
        rng.choice([0.0, 0.3, 0.7, 1.0]),
        rng.choice([0.0, 0.25, 0.5]),
    )
    tree = gs.robots.tree(seed, bodies, base=str(base), branching=branching, reversed_share=share, momentum=momentum)
    entities = [_varied(entity, rng) for entity in tree.entities]
    connections = list(tree.connections)
    ports = spatial_ports(tree)
    for k, form in enumerate(rng.permutation(["local", "aligned", "world"])[: min(bodies, 3)]):
        entities.append(gs.ForceElement(f"push{k}", wrench=rng.normal(size=6), expressed_in=str(form)))
        connections.append((f"push{k}.frame", str(rng.choice(ports))))
    entities += [gs.Joint("row0", "revolute", axis="x"), gs.Joint("row1", "revolute", axis="y")]
    entities.append(gs.RigidBody("end", mass=0.7, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)))
    connections += [(f"body{bodies - 1}.side", "row0.a"), ("row0.b", "row1.b"), ("row1.a", "end.origin")]
    gravity = gs.UniformGravity(g=tree.context.gravity.g, treat_as=treat_as)
    return gs.Model(tree.name, entities, connections, gs.Context(gravity=gravity, base=tree.context.base))


def _varied(entity: gs.Entity, rng: np.random.Generator) -> gs.Entity:
    if isinstance(entity, gs.Displacement):
        return _displacement(entity, rng)
    if isinstance(entity, gs.Joint) and entity.kind == "universal":
        other = np.array(entity.second_axis) + 0.5 * np.array(entity.axis)
        return gs.Joint(entity.name, "universal", axis=entity.axis, second_axis=other / np.linalg.norm(other))
    if isinstance(entity, gs.Joint) and entity.kind == "planar" and rng.random() < 0.5:
        other = np.cross(entity.axis, rng.normal(size=3))
        return gs.Joint(entity.name, "planar", axis=entity.axis, second_axis=other / np.linalg.norm(other))
    return entity


def _displacement(entity: gs.Displacement, rng: np.random.Generator) -> gs.Entity:
    x, y, z = rng.uniform(-np.pi, np.pi, 3)
    kind = rng.integers(6)
    if kind < 2:
        a, d = entity.translation[:2]
        return gs.DHDisplacement(entity.name, a=a, alpha=x, d=d, theta=y, convention=["standard", "modified"][kind])
    if kind == 2:
        form = gs.euler((x, y, z), str(rng.choice(EULER_AXES)))
    elif kind == 3:
        axis = rng.normal(size=3)
        form = gs.axis_angle(axis / np.linalg.norm(axis), x)
    elif kind == 4:
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        form = Q * np.linalg.det(Q)
    else:
        return entity
    return gs.Displacement(entity.name, translation=entity.translation, rotation=form)
