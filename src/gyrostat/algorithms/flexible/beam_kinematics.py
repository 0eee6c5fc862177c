"""How a beam moves: from the port that it is met by to its floating frame a, then to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gyrostat.algorithms.algorithm import Setting
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.beams.beam_frames import BeamFrames
from gyrostat.spatial.beams.beam_shapes import BeamShapes, beam_shapes
from gyrostat.spatial.representation import Motion, Shift


def shapes_of(c: Component) -> BeamShapes:
    """The shapes of a beam in the network."""
    return beam_shapes(c["form"])


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


def flexible_beam(
    c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array
) -> tuple[Mapping[str, Motion], BeamMemo]:
    """Frames on sections are joints with six rates each, Psi(q) v."""
    frames: BeamFrames = c["frames"]

    def through(start: Motion, name: str, back: bool) -> tuple[Motion, SectionLink]:
        section = frames.section(name, q, v, a)
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
