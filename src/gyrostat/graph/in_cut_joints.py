"""Beams cut into rigid pieces that springs join (AS 2.2, Fig. 1): in-cut joints.

A superelement of length l is cut at a and at l - a. With springs c = 2 E I / l at both cuts, a force F and a moment M
at its end deflect and turn it as they do a cantilever, F l^3/(3 E I) + M l^2/(2 E I) and F l^2/(2 E I) + M l/(E I), if

    (l - a)^2 + a^2 = 2 l^2/3,    that is    a = (1/2 - 1/sqrt(12)) l = 0.2113 l.

(The source prints (1 - 1/sqrt(12)) l; its Table 1 comes out with the value above.) Torsion: 2 G J / l at both cuts, in
series G J / l. Each piece has mass, centre and inertia of its part of the beam.

The cuts are where Gauss's rule of two points has its nodes, and l/2 is its weight: the joints turn as much as the rule
says of the curvature M/(E I). So I is that at the cut where the section changes along the beam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.geometry.beam_profile import profile_integral
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
    """A part of a beam between two cuts, in numbers that may be live: ``length`` [m], ``mass`` [kg], ``com`` (3,) [m]
    from its start and ``inertia`` (3, 3) about it [kg m^2]."""

    length: Any
    mass: Any
    com: Array
    inertia: Array


@dataclass(frozen=True)
class Cut:
    """Springs at a cut: axis -> stiffness [N m/rad], damping [N m s/rad], in the order in which they turn."""

    springs: Mapping[str, tuple[Any, Any]]


def cut_places(elements: int, cut: float = CUT) -> list[float]:
    """Places of all cuts along a beam, as parts of its length."""
    return [(k + at) / elements for k in range(elements) for at in (cut, 1.0 - cut)]


def in_cut_beam(
    entity: FlexibleBeam,
    numbers: Mapping[str, Any],
    damping: tuple[str, Any],
    frames: Mapping[str, BeamFrame],
    cut: float = CUT,
) -> Inside:
    """A beam of ``entity.elements`` superelements; ``numbers``: its properties, live ones too."""
    n, x, profile = entity.elements, numbers, np.array(entity.form.profile)
    L, at = x["length"], [0.0, *cut_places(n, cut), 1.0]
    pieces = [_piece(x, profile, start, end) for start, end in pairwise(at)]
    time = damping[1][1] if damping[0] == "rayleigh" else damping[1]
    cuts: list[Cut] = []
    for k, place in enumerate(at[1:-1]):
        i_y, i_z, j = (2 * n * float(np.interp(place, profile[:, 0], profile[:, i])) for i in (2, 3, 4))
        about = {"z": x["E"] * x["I_z"] * i_z, "y": x["E"] * x["I_y"] * i_y, "x": x["G"] * x["J"] * j}
        springs = {axis: about[axis] / L for axis in entity.cut_axes(k)}
        cuts.append(Cut({axis: (c, c * time) for axis, c in springs.items()}))
    places: dict[str, tuple[int, tuple[Array, Array]]] = {}
    for name, (fraction, R, p) in frames.items():
        k = max(i for i in range(len(pieces)) if at[i] < fraction or i == 0)
        places[name] = k, (R, p - along(at[k] * L))
    return cut_beam(pieces, cuts, places)


def _piece(x: Mapping[str, Any], profile: Array, start: float, end: float) -> BeamPiece:
    """Of a prismatic one m = rho A d, J = rho d diag(I_y + I_z, A d^2/12 + I_y, A d^2/12 + I_z)."""
    L, mean = x["length"], lambda i, power=0: profile_integral(profile, i, start, end, power)
    m_0, m_1, m_2 = (mean(1, power) for power in range(3))
    line = x["density"] * L
    mass, centre = line * x["area"] * m_0, L * (m_1 / m_0 - start)
    bar, I_y, I_z = (
        mass * (L * L) * (m_2 / m_0 - (m_1 / m_0) ** 2),
        line * x["I_y"] * mean(2),
        line * x["I_z"] * mean(3),
    )
    J = [I_y + I_z, bar + I_y, bar + I_z]
    inertia = np.array([[J[i] if i == j else 0.0 for j in range(3)] for i in range(3)])
    return BeamPiece(L * (end - start), mass, along(centre), inertia)


def along(x: Any) -> Array:
    """The point (x, 0, 0)."""
    return np.array([x, 0.0, 0.0])


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
