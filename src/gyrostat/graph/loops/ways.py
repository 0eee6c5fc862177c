"""The two ways round a loop: from the body where they part to the frames that close it, and how these move.

Everything is relative to the body where the ways part: what moves the loop as a whole does not enter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import LoopError
from gyrostat.graph.data_flow import Component, Network
from gyrostat.graph.loops.closure import (
    EQUATIONS,
    ClosureRows,
    Equation,
    FrameMotion,
    closure_rows,
    same_axes,
)
from gyrostat.graph.loops.rolling import ROLLING
from gyrostat.graph.lower import Placement, Values, lower
from gyrostat.spatial.algebra import Array, compose, motion_to_child
from gyrostat.spatial.flexible_frames import MovingFrames
from gyrostat.spatial.joints import MOTIONS, ZERO6, JointMotion
from gyrostat.spatial.representation import Motion, Pose, Shift, representation
from gyrostat.spec.joint import Joint
from gyrostat.spec.spanning_tree import Loop

NO_RATES, NONE = np.zeros((6, 0)), np.zeros(0)
BODY = representation("body")

Step = Callable[[Component, str, Motion, Array, Array, Array], tuple[Motion, Shift, Array]]
"""Through a component to one of its outports: the motion there, phi, and S (6, n)."""


def plain_step(c: Component, port: str, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
    """Through a rigid component or a joint."""
    if port in c.places:
        return BODY.through(motion, JointMotion(*c.places[port], NO_RATES, ZERO6), NONE, NONE)
    return BODY.through(motion, joint_motion(c, q, v, port), v, a)


def joint_motion(c: Component, q: Array, v: Array, port: str = "") -> JointMotion:
    """The motion of the far side of a joint against the near one, or of a frame ``port`` of a flexible link against
    that by which it is met."""
    frames = c.props.get("frames")
    if isinstance(frames, MovingFrames):
        return frames.motion(c.met, port, q, v)
    if not issubclass(c.kind, Joint):
        raise LoopError(
            f"'{c.name}' of kind {c.kind.__name__} is in a closed loop: how frames move through it is known to the "
            "rows of algorithms alone. Hint: loops='constraints'"
        )
    met = MOTIONS[c["kind"]](c.props, q, v)
    met = met.reversed() if c["far"] else met
    return met.after(*c["before"]) if "before" in c.props else met


@dataclass(frozen=True)
class Way:
    """Components with the outport taken, and the placement of the closing frame behind the last one."""

    steps: tuple[tuple[Component, str], ...]
    place: Placement

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(c for c, _ in self.steps)


@dataclass(frozen=True)
class Closure:
    """A loop that is closed by equations: its two ways, to the frame at port a and to that at port b of what closes
    it."""

    loop: Loop
    kind: str
    props: Mapping[str, Any]
    ways: tuple[Way, Way]

    @property
    def name(self) -> str:
        """How messages call the loop: by what closes it."""
        return self.loop.closer or self.loop.cut[1]

    @property
    def equations(self) -> list[Equation]:
        return (ROLLING if self.rolls else EQUATIONS)[self.kind](self.props)

    @property
    def rolls(self) -> bool:
        """Whether it is a wheel on a plane: its slip is no derivative of anything, so that no coordinate follows."""
        return self.kind in ROLLING

    @property
    def components(self) -> tuple[Component, ...]:
        return self.ways[0].components + self.ways[1].components

    def rows(self, q: Array, v: Array | None, step: Step = plain_step) -> ClosureRows:
        """g, J and b for the coordinates and rates that components see; without ``v`` at rest."""
        one, two = (follow(way, q, v, step) for way in self.ways)
        return closure_rows(self.equations, one, two, v is None)

    def facing(self, q: Array, step: Step = plain_step) -> list[Any]:
        """Cosines between the axes of both frames that coincide when the loop is closed: equations of directions also
        hold where an axis points the other way, which is another mechanism."""
        axes = same_axes(self.kind, self.props)
        if not len(axes):
            return []
        one, two = (follow(way, q, None, step) for way in self.ways)
        R = one.R.T @ two.R
        return [axis @ (R @ axis) for axis in axes]


def follow(way: Way, q: Array, v: Array | None, step: Step = plain_step) -> FrameMotion:
    """How the frame at the end of a way moves against the body where it begins."""
    if v is None and step is plain_step:
        return _follow_at_rest(way, q)
    motion, carried = Motion(Pose(np.eye(3), np.zeros(3)), np.zeros(6), np.zeros(6)), dict[int, Array]()
    for c, port in way.steps:
        rates = range(c.v_at.start, c.v_at.stop)
        own = np.zeros(len(rates)) if v is None else v[c.v_at]
        motion, shift, S = step(c, port, motion, q[c.q_at], own, np.zeros(len(rates)))
        carried = {k: shift.motion(s) for k, s in carried.items()} | {k: S[:, i] for i, k in enumerate(rates)}
    last = JointMotion(*way.place, NO_RATES, ZERO6)
    motion, shift, _ = BODY.through(motion, last, NONE, NONE)
    S = {k: shift.motion(s) for k, s in carried.items()}
    return FrameMotion(motion.pose.R, motion.pose.p, motion.V, motion.A, S)


def _follow_at_rest(way: Way, q: Array) -> FrameMotion:
    """The same where nothing moves: placements and unit motions alone."""
    R, p, carried = np.eye(3), np.zeros(3), dict[int, Array]()
    for c, port in (*way.steps, (None, "")):
        if c is None or port in c.places:
            place, own = way.place if c is None else c.places[port], dict[int, Array]()
        else:
            met = joint_motion(c, q[c.q_at], np.zeros(c.v_at.stop - c.v_at.start), port)
            place, own = (met.R, met.p), {c.v_at.start + i: s for i, s in enumerate(met.S.T)}
        R, p = compose(R, p, *place)
        carried = {k: motion_to_child(*place, s) for k, s in carried.items()} | own
    return FrameMotion(R, p, ZERO6, ZERO6, carried)


def closures(network: Network, live: Mapping[str, Any] | None = None) -> tuple[Closure, ...]:
    """All loops of a network with the ways round them."""
    return tuple(_closure(network, loop, live or {}) for loop in network.loops)


def _closure(network: Network, loop: Loop, live: Mapping[str, Any]) -> Closure:
    (one, at_one), (two, at_two) = (network.located[port] for port in loop.frames)
    first, second = network.path(one), network.path(two)
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    ways = Way(tuple(first[shared:]), at_one), Way(tuple(second[shared:]), at_two)
    if loop.closer is None:
        return Closure(loop, "fixed", {}, ways)
    if loop.link is not None:
        name = loop.link[1]
        link = lower(network.model.wiring.entities[name], Values(name, network.model.wiring.entities[name], live), "a")
        p = link.places["b"][1]
        return Closure(loop, "rod", {"length": np.sqrt(p @ p)}, ways)
    entity = network.model.wiring.entities[loop.closer]
    low = lower(entity, Values(loop.closer, entity, live), "a")
    return Closure(loop, "rod" if entity.is_rod else low.props["kind"], low.props, ways)
