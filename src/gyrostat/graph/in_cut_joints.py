"""Beams cut into rigid pieces that springs join (AS 2.2, Fig. 1): in-cut joints.

A superelement of length l is cut at a and at l - a. With springs c = 2 E I / l at both cuts, a force F and a moment M
at its end deflect and turn it as they do a cantilever, F l^3/(3 E I) + M l^2/(2 E I) and F l^2/(2 E I) + M l/(E I), if

    (l - a)^2 + a^2 = 2 l^2/3,    that is    a = (1/2 - 1/sqrt(12)) l = 0.2113 l.

(The source prints (1 - 1/sqrt(12)) l; its Table 1 comes out with the value above.) Torsion: 2 G J / l at both cuts, in
series G J / l. Each piece has mass, centre and inertia of its part of the beam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.graph.inside import BeamFrame, Inside
from gyrostat.spatial.algebra import Array
from gyrostat.spec.entity import Entity
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shaft_elements import Damper, Spring
from gyrostat.spec.values import RotationMatrix

CUT = 0.5 - 1.0 / np.sqrt(12.0)
"""Where a superelement is cut, as a part of its length, counted from both ends."""
UNTURNED = RotationMatrix(matrix=np.eye(3))


@dataclass(frozen=True)
class BeamPiece:
    """A part of a beam between two cuts, in numbers that may be live: ``start`` and ``length`` [m] along the beam,
    ``mass`` [kg], ``com`` (3,) [m] and ``inertia`` (3, 3) [kg m^2] about it, from its start."""

    start: Any
    length: Any
    mass: Any
    com: Any
    inertia: Any


@dataclass(frozen=True)
class Cut:
    """Springs at a cut: axis -> stiffness [N m/rad], damping [N m s/rad], in the order in which they turn."""

    springs: Mapping[str, tuple[Any, Any]]


def uniform_piece(start: Any, length: Any, density: Any, area: Any, I_y: Any, I_z: Any) -> BeamPiece:
    """A prismatic piece: m = rho A d, J = rho diag((I_y + I_z) d, A d^3/12 + I_y d, A d^3/12 + I_z d)."""
    line, bar = density * length, area * length * length / 12.0
    J = [line * (I_y + I_z), line * (bar + I_y), line * (bar + I_z)]
    inertia = np.array([[J[i] if i == j else 0.0 for j in range(3)] for i in range(3)])
    return BeamPiece(start, length, line * area, along(0.5 * length), inertia)


def along(x: Any) -> Array:
    """The point (x, 0, 0)."""
    return np.array([x, 0.0, 0.0])


def cut_places(elements: int, cut: float = CUT) -> list[float]:
    """Places of all cuts along a beam, as parts of its length."""
    return [(k + at) / elements for k in range(elements) for at in (cut, 1.0 - cut)]


def in_cut_beam(entity: FlexibleBeam, numbers: Mapping[str, Any], frames: Mapping[str, BeamFrame]) -> Inside:
    """A beam of ``entity.elements`` superelements; ``numbers``: its properties, live ones too."""
    n, x = entity.elements, numbers
    L, at = x["length"], [0.0, *cut_places(n), 1.0]
    line = x["density"], x["area"], x["I_y"], x["I_z"]
    pieces = [uniform_piece(start * L, (end - start) * L, *line) for start, end in pairwise(at)]
    about = {"z": x["E"] * x["I_z"], "y": x["E"] * x["I_y"], "x": x["G"] * x["J"]}
    springs = {axis: about[axis] * (2.0 * n) / L for axis in entity.cut_axes}
    cut = Cut({axis: (k, k * x["damping"]) for axis, k in springs.items()})
    places: dict[str, tuple[int, tuple[Array, Array]]] = {}
    for name, (fraction, R, p) in frames.items():
        k = max(i for i in range(len(pieces)) if at[i] < fraction or i == 0)
        places[name] = k, (R, p - along(at[k] * L))
    return cut_beam(pieces, [cut] * (2 * n), places)


def cut_beam(pieces: list[BeamPiece], cuts: list[Cut], frames: Mapping[str, tuple[int, tuple[Array, Array]]]) -> Inside:
    """Pieces in a row along x with joints between them; ``frames``: name -> number of the piece, placement on it. Port
    ``a`` is the start of the first piece."""
    entities: list[Entity] = []
    connections: list[tuple[str, ...]] = []
    values: dict[str, Any] = {}
    ports = {"a": "piece0.origin"} | {frame: f"piece{number}.{frame}" for frame, (number, _) in frames.items()}
    for i, piece in enumerate(pieces):
        name = f"piece{i}"
        places = {frame: place for frame, (number, place) in frames.items() if number == i}
        if i < len(cuts):
            places["cut"] = np.eye(3), along(piece.length)
        values |= {f"{name}.mass": piece.mass, f"{name}.com": piece.com, f"{name}.inertia": piece.inertia}
        for frame, (R, p) in places.items():
            values |= {f"{name}.{frame}.translation": p, f"{name}.{frame}.rotation.matrix": R}
        entities.append(RigidBody(name, mass=1.0, frames=dict.fromkeys(places, ((0.0, 0.0, 0.0), UNTURNED))))
        last = f"{name}.cut"
        for axis, (stiffness, damping) in cuts[i].springs.items() if i < len(cuts) else ():
            joint, spring, damper = (f"{letter}{axis}{i + 1}" for letter in "rkd")
            entities += [Joint(joint, "revolute", axis=axis), Spring(spring, stiffness=1.0, ground=True)]
            connections += [(last, f"{joint}.a"), (f"{joint}.shaft", f"{spring}.a")]
            values[f"{spring}.stiffness"] = stiffness
            if not (isinstance(damping, float) and damping == 0.0):
                entities.append(Damper(damper, damping=0.0, ground=True))
                connections[-1] = *connections[-1], f"{damper}.a"
                values[f"{damper}.damping"] = damping
            last = f"{joint}.b"
        if i < len(cuts):
            connections.append((last, f"piece{i + 1}.origin"))
    return Inside(tuple(entities), tuple(connections), ports, values)
