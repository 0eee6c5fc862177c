"""A beam that is made of joints, springs and bodies, and the same one written out by hand."""

from __future__ import annotations

from typing import Any

import gyrostat as gs
from gyrostat.graph.lower import Values, lower

SECTION: dict[str, Any] = {
    "area": 6e-3,
    "I_y": 2e-5,
    "I_z": 5e-5,
    "J": 6e-5,
    "E": 7e6,
    "G": 2.6e6,
    "density": 2700.0,
}
"""A thick and soft one: its mass matrix is not far from singular, as that of a thin one is."""
MID = ((0.35, 0.01, -0.02), gs.rpy(0.1, 0.2, -0.5))


def in_cut(name: str = "boom", **more: Any) -> gs.FlexibleBeam:
    """One superelement with a frame beside its middle piece."""
    options = {"length": 0.8, "elements": 1, "damping": 2e-3, "frames": {"mid": MID}} | SECTION | more
    return gs.FlexibleBeam(name, method="in-cut", **options)


def written_out(beam: gs.FlexibleBeam) -> tuple[list[gs.Entity], list[tuple[str, ...]], dict[str, str]]:
    """The beam as joints, springs and bodies of a model; connections of these; ports of the beam -> theirs."""
    inside = lower(beam, Values(beam.name, beam, {}), "a").inside
    assert inside is not None
    entities: list[gs.Entity] = []
    for entity in inside.entities:
        first = f"{entity.name}."
        own = {path.removeprefix(first): x for path, x in inside.values.items() if path.startswith(first)}
        names = [key.removesuffix(".translation") for key in own if key.endswith(".translation")]
        frames = {key: (tuple(own[f"{key}.translation"]), own[f"{key}.rotation.matrix"]) for key in names}
        numbers = {key: x for key, x in own.items() if "." not in key}
        fields = {key: getattr(entity, key) for key in entity.model_fields_set - {"name", "frames"}}
        entities.append(type(entity)(entity.name, **fields | numbers | ({"frames": frames} if frames else {})))
    return entities, list(inside.connections), dict(inside.ports)


def arm(beam: gs.FlexibleBeam, by: str = "a", out: bool = False, **context: Any) -> gs.Model:
    """A shoulder, the beam entered by its port ``by`` and left by the other end, a load at its port mid, and a wrist
    with a hand; ``out``: the beam written out by hand."""
    far = {"a": "b", "b": "a", "mid": "b"}[by]
    ports = {p.name: f"{beam.name}.{p.name}" for p in beam.ports}
    entities, wires, port = written_out(beam) if out else ([beam], [], ports)
    side = "a" if by == "mid" else "mid"
    return gs.assemble(
        "arm",
        gs.RigidBody("plinth", mass=2.0, com=(0.0, 0.01, 0.1), inertia=(0.02, 0.03, 0.04)),
        gs.Joint("shoulder", "revolute", axis="y"),
        gs.RigidBody("hub", mass=1.2, com=(0.02, 0.01, 0), inertia=(4e-3, 5e-3, 6e-3), frames={"out": (0.1, 0.02, 0)}),
        *entities,
        gs.Joint("wrist", "revolute", axis=(0.6, 0.0, 0.8)),
        gs.RigidBody(
            "hand", mass=0.4, com=(0.05, 0.02, 0.01), inertia=(0.001, 0.002, 0.0025), frames={"tip": (0.1, 0.0, 0.02)}
        ),
        gs.RigidBody("load", mass=0.3, com=(0.01, 0.02, 0.03), inertia=(0.001, 0.001, 0.001)),
        *(gs.connect(*w) for w in wires),
        gs.connect("world", "plinth.origin", "shoulder.a"),
        gs.connect("shoulder.b", "hub.origin"),
        gs.connect("hub.out", port[by]),
        gs.connect(port[far], "wrist.a"),
        gs.connect("wrist.b", "hand.origin"),
        gs.connect(port[side], "load.origin"),
        **context,
    )
