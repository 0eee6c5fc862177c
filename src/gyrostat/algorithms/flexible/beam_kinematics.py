"""How a beam moves: frames fixed to its sections, seen from its floating frame a.

The section at x is displaced to r = (x + s + u, v, w), s = -1/2 int_0^x (v'^2 + w'^2) its shortening, and turned by R =
Rz(v') Ry(-w') Rx(twist): it moves like a joint with the six rates (dv'/dt, -dw'/dt, twist rate, dr/dt) = Psi(q) v.
Rates are those of R and r, exactly; the slopes are taken as angles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_shapes import BeamShapes, beam_shapes, dot, product
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.flexible_frames import zyx_joint
from gyrostat.spatial.joints import JointMotion
from gyrostat.spatial.representation import Motion, Shift


def shapes_of(c: Component) -> BeamShapes:
    """The shapes of a beam in the network."""
    return beam_shapes(c["form"])


@dataclass(frozen=True)
class SectionMotion:
    """A frame on a section as a joint with six rates, their values and accelerations, and Psi (6, n)."""

    joint: JointMotion
    rates: Array
    accelerations: Array
    Psi: Array


@dataclass(frozen=True)
class SectionLink:
    """phi between a and a frame on a section, and S (6, 6) Psi (6, n): what the coordinates add."""

    shift: Shift
    S: Array
    Psi: Array

    def work(self, f: Array) -> Array:
        """Generalised forces (n,) of a force (6,) behind it."""
        return self.Psi.T @ (self.S.T @ f)


@dataclass(frozen=True)
class BeamMemo:
    """Motion of a; the way to it from the port that the beam is met by, if that is another one; the ways from a to the
    outports; the beam's part of the state."""

    at_a: Motion
    met: SectionLink | None
    links: Mapping[str, SectionLink]
    q: Array
    v: Array
    a: Array


def section_motion(c: Component, name: str, q: Array, v: Array, a: Array) -> SectionMotion:
    """Of the frame called ``name``."""
    s, L = shapes_of(c), c["length"]
    fraction, (R_o, p_o) = c["stations"][name]
    at = s.at(fraction)
    (y, z, t, x), (dy, dz, dt, dx), (ay, az, at_, ax) = (s.split(part) for part in (q, v, a))
    gy, gz = -product(at["y"].shortening, y) / L, -product(at["z"].shortening, z) / L  # ds/dy, ds/dz
    centripetal = (dot(product(at["y"].shortening, dy), dy) + dot(product(at["z"].shortening, dz), dz)) / L

    def six(y: Array, z: Array, t: Array, x: Array, along: Any) -> Array:
        return np.array(
            [
                dot(at["y"].turn, y) / L,
                -dot(at["z"].turn, z) / L,
                dot(at["t"].f, t),
                dot(gy, y) + dot(gz, z) + dot(at["x"].f, x) + along,
                dot(at["y"].f, y),
                dot(at["z"].f, z),
            ]
        )

    here, rates, accelerations = six(y, z, t, x, 0.0), six(dy, dz, dt, dx, 0.0), six(ay, az, at_, ax, -centripetal)
    p = np.array([L * fraction + 0.5 * (dot(gy, y) + dot(gz, z)) + dot(at["x"].f, x), here[4], here[5]])
    joint = zyx_joint(p, here[:3], rates).behind(R_o, p_o)
    return SectionMotion(joint, rates, accelerations, _psi(at, gy, gz, L))


def _psi(at: Mapping[str, Any], gy: Array, gz: Array, L: Any) -> Array:
    """Rates of a section's frame for unit rates of the beam, (6, n)."""
    none = {family: np.zeros(len(station.f)) for family, station in at.items()}
    rows = (
        {"y": at["y"].turn / L},
        {"z": -at["z"].turn / L},
        {"t": at["t"].f},
        {"y": gy, "z": gz, "x": at["x"].f},
        {"y": at["y"].f},
        {"z": at["z"].f},
    )
    return np.stack([np.concatenate([(none | row)[family] for family in at]) for row in rows])


def flexible_beam(
    c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array
) -> tuple[Mapping[str, Motion], BeamMemo]:
    """From the port that it is met by to a, and from there to the others."""

    def through(start: Motion, name: str, back: bool) -> tuple[Motion, SectionLink]:
        section = section_motion(c, name, q, v, a)
        joint = section.joint.reversed() if back else section.joint
        there, shift, S = on.representation.through(start, joint, section.rates, section.accelerations)
        return there, SectionLink(shift, S, section.Psi)

    at_a, met = (motion, None) if c.met == "a" else through(motion, c.met, True)
    outports, links = {}, {}
    for name in c.outports:
        if name == "a":
            outports[name] = at_a
        else:
            outports[name], links[name] = through(at_a, name, False)
    return outports, BeamMemo(at_a, met, links, q, v, a)
