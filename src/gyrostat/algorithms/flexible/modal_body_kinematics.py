"""How a flexible body moves: from the interface that it is met by to its floating frame, then to the others."""

from __future__ import annotations

from collections.abc import Mapping

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_kinematics import BeamMemo, SectionLink
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.flexible_frames import FlexibleFrames
from gyrostat.spatial.representation import Motion


def flexible_body(
    c: Component, on: Setting, motion: Motion, q: Array, v: Array, a: Array
) -> tuple[Mapping[str, Motion], BeamMemo]:
    """Interfaces are joints with six rates each, Psi v."""
    frames: FlexibleFrames = c["frames"]

    def through(start: Motion, name: str, back: bool) -> tuple[Motion, SectionLink]:
        Psi, joint = frames.stations[name][2], frames.joint(name, q, v)
        there, shift, S = on.representation.through(start, joint.reversed() if back else joint, Psi @ v, Psi @ a)
        return there, SectionLink(shift, S, Psi)

    floating, met = (motion, None) if c.met == frames.floating else through(motion, c.met, True)
    outports, links = {}, {}
    for name in c.outports:
        if name == frames.floating:
            outports[name] = floating
        else:
            outports[name], links[name] = through(floating, name, False)
    return outports, BeamMemo(floating, met, links, q, v, a)
