"""An entity that is made of others, a beam cut into pieces, and the same beam written out by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.graph.in_cut_joints import CUT, Cut, along, cut_beam, cut_places, names_of_rates, uniform_piece
from gyrostat.graph.lower import Inside, Lowered, Values, lower
from gyrostat.spec.entity import Port
from gyrostat.spec.values import Number

SECTION: dict[str, Any] = {"area": 6e-3, "I_y": 2e-5, "I_z": 5e-5, "J": 6e-5, "E": 7e6, "G": 2.6e6, "density": 2700.0}
"""A thick and soft one: its mass matrix is not far from singular, as that of a thin one is."""


class CutBeam(gs.Entity):
    """A uniform beam with in-cut joints about ``axes``; ports ``a``, ``mid`` and ``b``."""

    length: Number
    area: Number
    I_y: Number
    I_z: Number
    J: Number
    E: Number
    G: Number
    density: Number
    elements: int = 1
    axes: str = "zyx"
    cut: Number = CUT
    damping: Number = 0.0

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("mid"), Port("b")

    @property
    def coordinates(self) -> tuple[str, ...]:
        return names_of_rates(self.axes, 2 * self.elements)

    @property
    def rates(self) -> tuple[str, ...]:
        return self.coordinates


def inside_of(entity: CutBeam, read: Values) -> Inside:
    x = {key: read(key) for key in type(entity).model_fields if key not in ("name", "axes", "elements")}
    L, n = x["length"], entity.elements
    at = [0.0, *cut_places(n, entity.cut), 1.0]
    pieces = [uniform_piece(s * L, (e - s) * L, x["density"], x["area"], x["I_y"], x["I_z"]) for s, e in pairwise(at)]
    k = {"z": x["E"] * x["I_z"], "y": x["E"] * x["I_y"], "x": x["G"] * x["J"]}
    k = {axis: 2 * n / L * k[axis] for axis in entity.axes}
    cuts = [Cut({axis: (k[axis], k[axis] * x["damping"]) for axis in entity.axes})] * (2 * n)
    middle = np.array([0.3 * (at[n + 1] - at[n]) * L, 0.01, -0.02])
    return cut_beam(pieces, cuts, {"mid": (n, middle), "b": (2 * n, along(pieces[-1].length))})


@lower.register
def _(entity: CutBeam, read: Values, inport: str | None) -> Lowered:
    return Lowered(CutBeam, {}, inside=inside_of(entity, read))


def written_out(beam: CutBeam) -> tuple[list[gs.Entity], list[tuple[str, ...]], dict[str, str]]:
    """The beam as joints, springs and bodies of a model; connections of these; ports of the beam -> theirs."""
    inside = inside_of(beam, Values(beam.name, beam, {}))
    entities: list[gs.Entity] = []
    for entity in inside.entities:
        first = f"{entity.name}."
        own = {path.removeprefix(first): x for path, x in inside.values.items() if path.startswith(first)}
        frames = {key.removesuffix(".translation"): tuple(x) for key, x in own.items() if key.endswith(".translation")}
        numbers = {key: x for key, x in own.items() if "." not in key}
        fields = {key: getattr(entity, key) for key in entity.model_fields_set - {"name", "frames"}}
        entities.append(type(entity)(entity.name, **fields | numbers | ({"frames": frames} if frames else {})))
    return entities, list(inside.connections), dict(inside.ports)


def arm(beam: CutBeam, by: str = "a", out: bool = False, **context: Any) -> gs.Model:
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
