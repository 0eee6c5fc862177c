"""Frames fixed to the sections of a beam, seen from its floating frame a, and from each other.

The section at x is displaced to r = (x + s + u, v, w), s = -1/2 int_0^x (v'^2 + w'^2) its shortening, and turned by R =
Rz(v') Ry(-w') Rx(twist): it moves like a joint with the six rates (dv'/dt, -dw'/dt, twist rate, dr/dt) = Psi(q) v.
Rates are those of R and r, exactly; the slopes are taken as angles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.beam_shapes import BeamShapes, beam_shapes, dot, product
from gyrostat.spatial.flexible_frames import MovingFrames, zyx_joint
from gyrostat.spatial.joints import JointMotion
from gyrostat.spec.beam_form import BeamForm

Station = tuple[float, tuple[Array, Array]]
"""Fraction of the length, and R (3, 3), p (3,) of the frame on the section there."""


@dataclass(frozen=True)
class SectionMotion:
    """A frame on a section as a joint with six rates, their values and accelerations, and Psi (6, n)."""

    joint: JointMotion
    rates: Array
    accelerations: Array
    Psi: Array


@dataclass(frozen=True)
class BeamFrames(MovingFrames):
    """The frames of a beam by name; all are seen from a."""

    form: BeamForm
    length: Any
    stations: Mapping[str, Station]
    floating: str = "a"

    def section(self, name: str, q: Array, v: Array, a: Array) -> SectionMotion:
        """A frame as a joint with six rates."""
        return section_motion(beam_shapes(self.form), self.length, self.stations[name], q, v, a)

    def of_body(self, name: str, q: Array, v: Array) -> JointMotion:
        """Psi depends on q: dPsi/dt v is in the bias."""
        section = self.section(name, q, v, np.zeros(len(q)))
        joint = section.joint
        return JointMotion(joint.R, joint.p, joint.S @ section.Psi, joint.c + joint.S @ section.accelerations)


def section_motion(s: BeamShapes, L: Any, station: Station, q: Array, v: Array, a: Array) -> SectionMotion:
    """Of a frame on a beam of length L [m]."""
    fraction, (R_o, p_o) = station
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
