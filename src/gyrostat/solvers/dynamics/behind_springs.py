"""Which rates the motors of elastic drives do not reach: the joint behind the spring has no effort of its own.

A motor acts on its shaft, and through gears on the coordinates that this shaft follows. Behind a spring or a damper
these are the coordinate of a rotor; the joint on the other side is moved by the spring alone (H04 3.2.1)."""

from __future__ import annotations

from gyrostat.graph.shafts import Shafts
from gyrostat.spec.model import Model


def behind_springs(model: Model) -> set[int]:
    """Numbers of the rates that hang on the rotor of an elastic drive by springs and dampers and that no motor turns.

    A rotor counts as driven where there is no motor that could be meant, as a drive that does not say what its motor
    is; rotors that hang between a motor and a joint, or on a joint with a motor, are not. Joints with
    ``passive=False`` have an effort of their own, and are not among them."""
    tied, entities = model.layout.shafts, model.wiring.entities
    motors = {at for (name, _), at in tied.at.items() if entities[name].drives}
    turned = {leader for at in motors for leader in tied.leaders(at)}
    carried = {leader for name, port in tied.wheels.items() for leader in tied.leaders(tied.at[name, port])}
    found: set[int] = set()
    for name in tied.rotors:
        rotors, joints = _hanging(model, tied.at[name, tied.wheels[name]])
        found |= joints - turned - carried
        if (rotors | joints) & turned:
            found |= rotors - turned
    rates = {at: _rate(model, tied, at) for at in found}
    return {rate for rate in rates.values() if rate is not None}


def _hanging(model: Model, rotor: int) -> tuple[set[int], set[int]]:
    """Shafts with a coordinate that springs and dampers join to that of a rotor: of rotors, this one among them, and
    of joints, where the way ends."""
    tied, wheels = model.layout.shafts, set(model.layout.shafts.rotors)
    rotors, joints, todo = {rotor}, set[int](), [rotor]
    joined = [
        {leader for port in entity.shafts if (name, port) in tied.at for leader in tied.leaders(tied.at[name, port])}
        for name, entity in model.wiring.entities.items()
        if entity.is_shaft_element and not entity.ties_shafts
    ]
    while todo:
        at = todo.pop()
        for other in {k for ends in joined if at in ends for k in ends} - rotors - joints:
            owner = tied.owner(other)
            if owner is not None and owner[0] in wheels:
                rotors.add(other)
                todo.append(other)
            else:
                joints.add(other)
    return rotors, joints


def _rate(model: Model, tied: Shafts, at: int) -> int | None:
    """Number of the rate whose coordinate a shaft has; None if it has none in the model, or an effort of its own."""
    name, number = tied.owner(at) or ("", 0)
    block = model.layout.of.get(name)
    if block is None or model.wiring.entities[name].said_passive is False:
        return None
    kept = tied.kept(name, model.wiring.entities[name]) or [0]  # the rotor's only one
    return block.v.start + kept.index(number) if len(kept) == block.v.stop - block.v.start else None
