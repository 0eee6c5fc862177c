"""Places where a real robot differs from its drawing although the model has no property there: small displacements that
are put in, zero at first. They have the names ``base_mounting``, ``tool_mounting`` and ``<joint>_zero``, so that a
second calibration finds those of the first."""

from __future__ import annotations

from gyrostat.errors import GyrostatError, clipped
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.graph.network import kept_network
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.edits.scope import find_port, scope_of, with_scope
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.orientation import matrix_of
from gyrostat.spec.port_names import Scope, first_of_each, resolve
from gyrostat.spec.values import Quaternion

BASE, TOOL, ZERO = "base_mounting", "tool_mounting", "_zero"
NONE = Quaternion(quaternion=(0.0, 0.0, 0.0, 1.0))


def with_displacement(model: Model, port: str, name: str, who: str) -> Model:
    """The model with a displacement ``name`` between ``port`` and everything that is connected with it; as it is if it
    has that displacement."""
    place = find_port(model, port, who)
    full = ".".join((*place.scope, name))
    if full in model.wiring.entities:
        return model
    entities, connections = scope_of(model, place.scope)
    inside = Scope(first_of_each(entities))
    mine = _meaning(place.text, inside)
    moved = [tuple(f"{name}.b" if _meaning(p, inside) == mine else p for p in c) for c in connections]
    if moved == list(connections):
        raise GyrostatError(
            f"{who}: nothing is connected with '{port}', so that '{full}' would move nothing. "
            "Hint: attach what is measured, such as gs.Displacement('tool', ...), behind it."
        )
    entity = Displacement(name, rotation=NONE)
    return with_scope(model, place.scope, (*entities, entity), (*moved, (place.text, f"{name}.a")))


def _meaning(text: str, scope: Scope) -> object:
    end = resolve(text, scope, guess=False)
    return end[0] if isinstance(end, tuple) else text


def joint_of(model: Model, name: str, who: str) -> Joint:
    """A joint with one coordinate along or about an axis."""
    entity = model.wiring.entities.get(name)
    if not isinstance(entity, Joint) or entity.kind not in ("revolute", "continuous", "prismatic", "helical"):
        raise GyrostatError(
            f"{who}: '{name}.offset' needs a joint with one coordinate, '{name}' is {clipped(entity)}. "
            "Hint: revolute, continuous, prismatic and helical joints have an offset."
        )
    if name not in model.layout.of:
        raise GyrostatError(
            f"{who}: '{name}' follows other joints, so that no encoder has an offset there. "
            "Hint: offsets of the joints it follows, or lengths of the loop, are what can be wrong."
        )
    follower, gear = _geared_follower(model, name)
    if gear:
        raise GyrostatError(
            f"{who}: '{follower}' follows '{name}' through '{gear}', so that an error of its encoder moves both. "
            f"Hint: the place of '{name}' by the rotation or translation of the frame before it, and '{gear}.offset'."
        )
    return entity


def _geared_follower(model: Model, name: str) -> tuple[str, str]:
    """Another joint that a gear ties to this one, as mimic joints are, and the gear; or nothing."""
    at = {end: group for group in model.wiring.groups for end in group}
    for gear, entity in model.wiring.entities.items():
        if not isinstance(entity, Gear):
            continue
        tied = {other for end, group in at.items() if end[0] == gear for other, _ in group}
        joints = [j for j in tied if isinstance(model.wiring.entities[j], Joint)]
        followers = sorted(j for j in joints if j not in model.layout.of)
        if name in joints and followers:
            return followers[0], gear
    return "", ""


def last_joint(model: Model, frame: str, who: str) -> str:
    """The last joint between the world and a frame."""
    net = kept_network(model)
    at, _ = net.located[net.port(frame)]
    names = [c.name for c, _ in net.path(at)]
    joints = [n for n in names if isinstance(model.wiring.entities.get(n), Joint)]
    if not joints:
        raise GyrostatError(f"{who}: no joint moves '{frame}'. Hint: measure a frame of the hand.")
    return joints[-1]


def with_quaternion(model: Model, path: str) -> Model:
    """The model with a rotation in the form of a quaternion, the same turn."""
    rotation = model[path]
    if isinstance(rotation, Quaternion):
        return model
    x, y, z, w = quaternion_of(matrix_of(rotation)).tolist()
    return model.replace({path: Quaternion(quaternion=(x, y, z, w))})
