"""Components as users write them, with the two rows that define a component and no other; each with an equal model of
built-in parts. The products in ``test_two_rows.py`` loop over :data:`CASES`: whoever adds a kind adds it there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.algorithms.recursions.kinematics import moving, rigid
from gyrostat.algorithms.recursions.rne import inboard
from gyrostat.geometry.rotation import about_axis, from_quaternion
from gyrostat.spatial.algebra import inverse, join
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.joints import MOTIONS, JointMotion
from gyrostat.spec.entity import Port
from gyrostat.spec.values import Axis, Number, Vector

ZERO3, ZERO6, NONE = np.zeros(3), np.zeros(6), np.zeros(0)


def needed(on, motion, m, com, J_c, momentum=ZERO3):
    """Force that a rigid body needs for its motion, less its weight in a field."""
    rep, pose = on.representation, motion.pose
    M = rep.inertia(pose, SpatialInertia.at_centre(m, com, J_c))
    weight = rep.force(pose, on.gravity.weight(pose, m, com, J_c))
    return rep.newton_euler(M, rep.force(pose, join(momentum, ZERO3)), motion.V, motion.A) - weight


# ---------------------------------------------------------------------------------------------- leaves
class Pebble(gs.Entity):
    """A solid ball at its port ``frame``."""

    mass: Number
    radius: Number


@gs.kinematics.row(Pebble)
def _(c, on, motion, q, v, a):
    return {}, None


@gs.rne.row(Pebble)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"], ZERO3, 0.4 * c["mass"] * c["radius"] ** 2 * np.eye(3))
    return lambda forces: (own, NONE)


class SpinningDisc(gs.Entity):
    """A disc on a bearing that turns at constant ``speed``; ``com`` in its port ``frame``."""

    mass: Number
    across: Number
    axial: Number
    speed: Number
    com: Vector = (0.0, 0.0, 0.0)
    axis: Axis = (0.0, 0.0, 1.0)


@gs.kinematics.row(SpinningDisc)
def _(c, on, motion, q, v, a):
    return {}, None


@gs.rne.row(SpinningDisc)
def _(c, on, motion, memo):
    u = np.asarray(c["axis"])
    J = c["across"] * np.eye(3) + (c["axial"] - c["across"]) * np.outer(u, u)
    own = needed(on, motion, c["mass"], np.asarray(c["com"]), J, c["axial"] * c["speed"] * u)
    return lambda forces: (own, NONE)


class Bob(gs.Entity):
    """A pendulum inside what it is attached to: a mass at ``arm`` that turns about ``axis``; one coordinate, no way
    on."""

    mass: Number
    arm: Vector
    axis: Axis

    @property
    def coordinates(self):
        return ("q",)

    @property
    def rates(self):
        return ("v",)


@gs.kinematics.row(Bob)
def _(c, on, motion, q, v, a):
    u = np.asarray(c["axis"])
    joint = JointMotion(about_axis(u, q[0]), ZERO3, join(u, ZERO3)[:, None], ZERO6)
    return {}, moving(on, motion, joint, v, a)


@gs.rne.row(Bob)
def _(c, on, motion, memo):
    end, passed = memo
    f = needed(on, end, c["mass"], np.asarray(c["arm"]), np.eye(3) * 0.001)
    return lambda forces: (passed.shift.force(f), passed.S.T @ f)


# ---------------------------------------------------------------------------------------------- with a way on
class TwoEnded(gs.Entity):
    """Ports ``a`` and ``b``."""

    abstract = True

    @property
    def ports(self):
        return Port("a"), Port("b")


class Strut(TwoEnded):
    """A rigid bar with mass from a to b = ``tip``; centre half way."""

    mass: Number
    tip: Vector


@gs.kinematics.row(Strut)
def _(c, on, motion, q, v, a):
    place = np.eye(3), np.asarray(c["tip"])
    ((name, _),) = c.outports.items()
    out, shift = rigid(on, motion, *(place if c.met == "a" else inverse(*place)))
    return {name: out}, {name: shift}


@gs.rne.row(Strut)
def _(c, on, motion, memo):
    com = np.asarray(c["tip"]) * (0.5 if c.met == "a" else -0.5)
    own = needed(on, motion, c["mass"], com, np.eye(3) * 0.01)
    return lambda forces: (inboard(forces, memo, own), NONE)


class Turning(TwoEnded):
    """A hinge about ``axis``, as somebody else would write it; ``shaft`` can be driven."""

    abstract = True
    axis: Axis

    @property
    def ports(self):
        return Port("a"), Port("b"), Port("shaft", "scalar")

    @property
    def coordinates(self):
        return ("q",)

    @property
    def rates(self):
        return ("v",)


def across_hinge(c, on, motion, q, v, a):
    u = np.asarray(c["axis"])
    joint = JointMotion(about_axis(u, q[0]), ZERO3, join(u, ZERO3)[:, None], ZERO6)
    out, memo = moving(on, motion, joint if c.met == "a" else joint.reversed(), v, a)
    return {name: out for name in c.outports}, (memo, q, v)


class Swivel(Turning):
    """Nothing but a hinge."""


class SprungHinge(Turning):
    """A hinge with a spring and a damper of its own."""

    stiffness: Number
    damping: Number


@gs.kinematics.row(Swivel, SprungHinge)
def hinge_motion(c, on, motion, q, v, a):
    return across_hinge(c, on, motion, q, v, a)


@gs.rne.row(Swivel)
def _(c, on, motion, memo):
    def action(forces):
        (f,) = forces.values()
        return memo[0].shift.force(f), memo[0].S.T @ f

    return action


@gs.rne.row(SprungHinge)
def _(c, on, motion, memo):
    passed, q, v = memo

    def action(forces):
        (f,) = forces.values()
        return passed.shift.force(f), passed.S.T @ f + c["stiffness"] * q + c["damping"] * v

    return action


class Socket(TwoEnded):
    """A ball joint."""

    @property
    def coordinates(self):
        return "qx", "qy", "qz", "qw"

    @property
    def rates(self):
        return "wx", "wy", "wz"

    @property
    def quaternion_at(self):
        return 0


@gs.kinematics.row(Socket)
def _(c, on, motion, q, v, a):
    joint = JointMotion(from_quaternion(q), ZERO3, np.eye(6)[:, :3], ZERO6)
    out, memo = moving(on, motion, joint if c.met == "a" else joint.reversed(), v, a)
    return {name: out for name in c.outports}, memo


@gs.rne.row(Socket)
def _(c, on, motion, memo):
    def action(forces):
        (f,) = forces.values()
        return memo.shift.force(f), memo.S.T @ f

    return action


class Carriage(TwoEnded):
    """A slide along ``axis`` whose moving part, at b, has a mass of its own."""

    mass: Number
    axis: Axis

    @property
    def coordinates(self):
        return ("q",)

    @property
    def rates(self):
        return ("v",)


@gs.kinematics.row(Carriage)
def _(c, on, motion, q, v, a):
    u = np.asarray(c["axis"])
    joint = JointMotion(np.eye(3), u * q[0], join(ZERO3, u)[:, None], ZERO6)
    out, memo = moving(on, motion, joint if c.met == "a" else joint.reversed(), v, a)
    return {name: out for name in c.outports}, (memo, out)


@gs.rne.row(Carriage)
def _(c, on, motion, memo):
    passed, out = memo
    at_b = out if c.met == "a" else motion
    own = needed(on, at_b, c["mass"], ZERO3, np.eye(3) * 0.002)

    def action(forces):
        (f,) = forces.values()
        f_far = f + own if c.met == "a" else f
        f_near = passed.shift.force(f_far)
        return (f_near if c.met == "a" else f_near + own), passed.S.T @ f_far

    return action


class Fork(gs.Entity):
    """A body with two prongs that turn about x, each by a coordinate of its own; met by ``a`` only."""

    mass: Number
    gap: Number

    @property
    def ports(self):
        return Port("a"), Port("left"), Port("right")

    @property
    def coordinates(self):
        return "l", "r"

    @property
    def rates(self):
        return "l", "r"


@gs.kinematics.row(Fork)
def _(c, on, motion, q, v, a):
    out, memos = {}, {}
    for k, (name, side) in enumerate((("left", 1.0), ("right", -1.0))):
        u = np.array([1.0, 0.0, 0.0])
        joint = JointMotion(about_axis(u, q[k]), ZERO3, join(u, ZERO3)[:, None], ZERO6)
        joint = joint.after(np.eye(3), np.array([0.0, 1.0, 0.0]) * (side * c["gap"]))
        out[name], memos[name] = moving(on, motion, joint, v[k : k + 1], a[k : k + 1])
    return out, memos


@gs.rne.row(Fork)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"], ZERO3, np.eye(3) * 0.004)

    def action(forces):
        f = own
        for name, passed in memo.items():
            f = f + passed.shift.force(forces[name])
        return f, np.concatenate([memo[name].S.T @ forces[name] for name in ("left", "right")])

    return action


class Tank(gs.RigidBody):
    """A rigid body that is 10 % heavier than it says: a kind that redefines the row of the one it derives from."""

    fill: Number


@gs.rne.row(Tank)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"] * c["fill"], c["com"], c["inertia"] * c["fill"])
    return lambda forces: (inboard(forces, memo, own), NONE)


# ---------------------------------------------------------------------------------------------- cases
Parts = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """``mine`` and ``theirs``: equal parts to put on the wrist (and behind them the hand), by whether they are met the
    other way round; each gives (chain of entities up to the hand, others, connections)."""

    name: str
    mine: Callable[[bool], Parts]
    theirs: Callable[[bool], Parts]
    mountings: tuple[bool, ...] = (False, True)


AXIS = (0.48, -0.6, 0.64)


def _hand(name: str = "hand"):
    frames = {"tip": (0.05, -0.1, 0.3)}
    return gs.RigidBody(name, mass=0.8, com=(0.02, 0.03, 0.1), inertia=(0.012, 0.015, 0.006), frames=frames)


def _between(*entities: Any) -> Callable[[bool], Parts]:
    """Entities with ports a and b between the link and the hand, in this order, or every one turned round."""

    def parts(turned: bool) -> Parts:
        hand = _hand()
        before, links = "link.end", []
        for e in entities:
            near, far = ("b", "a") if turned else ("a", "b")
            links.append(gs.connect(before, f"{e.name}.{near}"))
            before = f"{e.name}.{far}"
        return (*entities, hand, *links, gs.connect(before, "hand"))

    return parts


def _leaf(*entities: Any) -> Callable[[bool], Parts]:
    """Something on the hand."""
    return lambda turned: (_hand(), *entities, gs.connect("link.end", "hand"), gs.connect("hand.tip", entities[0].name))


def _their_bob(turned: bool) -> Parts:
    joint = gs.Joint("x", "revolute", axis=AXIS)
    body = gs.RigidBody("bob", mass=0.6, com=(0.1, 0.2, -0.05), inertia=(0.001, 0.001, 0.001))
    return _hand(), gs.connect("link.end", "hand"), gs.chain("hand.tip", joint, body)


def _their_strut(turned: bool) -> Parts:
    tip = np.array([0.1, 0.05, 0.3])
    body = gs.RigidBody("x", mass=1.2, com=tuple(tip / 2), inertia=(0.01, 0.01, 0.01), frames={"b": tuple(tip)})
    near, far = ("b", "origin") if turned else ("origin", "b")
    return body, _hand(), gs.connect("link.end", f"x.{near}"), gs.connect(f"x.{far}", "hand")


def _spring_hinge(turned: bool) -> Parts:
    joint = gs.Joint("x", "revolute", axis=AXIS)
    spring, damper = gs.Spring("k", stiffness=3.0, ground=True), gs.Damper("d", damping=0.4, ground=True)
    return *_between(joint)(turned), spring, damper, gs.connect("x.shaft", "k.a", "d.a")


def _their_carriage(turned: bool) -> Parts:
    slide = gs.Joint("x", "prismatic", axis=AXIS)
    mass = gs.RigidBody("x_mass", mass=0.7, inertia=(0.002, 0.002, 0.002))
    return *_between(slide)(turned), mass, gs.connect("x.b", "x_mass")


def _fork(turned: bool) -> Parts:
    right = gs.RigidBody("right", mass=0.3, com=(0.01, 0, 0.1), inertia=(0.002, 0.002, 0.001))
    links = gs.connect("link.end", "x.a"), gs.connect("x.left", "hand"), gs.connect("x.right", "right")
    return Fork("x", mass=0.5, gap=0.07), _hand(), right, *links


def _their_fork(turned: bool) -> Parts:
    frames = {"left": (0, 0.07, 0), "right": (0, -0.07, 0)}
    fork = gs.RigidBody("palm", mass=0.5, inertia=(0.004, 0.004, 0.004), frames=frames)
    l, r = (gs.Joint(f"x.{k}".replace(".", "_"), "revolute", axis="x") for k in "lr")
    right = gs.RigidBody("right", mass=0.3, com=(0.01, 0, 0.1), inertia=(0.002, 0.002, 0.001))
    return (
        gs.connect("link.end", "palm"),
        fork,
        gs.chain("palm.left", l, _hand()),
        gs.chain("palm.right", r, right),
    )


def _their_tank(turned: bool) -> Parts:
    tank = gs.RigidBody("x", mass=1.1, com=(0.1, 0, 0.02), inertia=(0.011, 0.022, 0.033), frames={"end": (0.2, 0, 0)})
    return tank, _hand(), gs.connect("link.end", "x"), gs.connect("x.end", "hand")


def _tank(turned: bool) -> Parts:
    tank = Tank("x", mass=1.0, com=(0.1, 0, 0.02), inertia=(0.01, 0.02, 0.03), frames={"end": (0.2, 0, 0)}, fill=1.1)
    return tank, _hand(), gs.connect("link.end", "x"), gs.connect("x.end", "hand")


def _disc_inertia() -> tuple[tuple[float, ...], ...]:
    u = np.array(AXIS)
    return tuple(map(tuple, 0.01 * np.eye(3) + 0.01 * np.outer(u, u)))


CASES = {
    case.name: case
    for case in (
        Case(
            "marble",
            _leaf(Pebble("x", mass=2.0, radius=0.1)),
            _leaf(gs.RigidBody("x", mass=2.0, inertia=(0.008, 0.008, 0.008))),
            (False,),
        ),
        Case(
            "disc",
            _leaf(SpinningDisc("x", mass=0.5, across=0.01, axial=0.02, axis=AXIS, speed=100.0, com=(0.1, 0, 0.2))),
            _leaf(
                gs.RigidBody(
                    "x",
                    mass=0.5,
                    com=(0.1, 0, 0.2),
                    inertia=_disc_inertia(),
                    momentum=tuple(2.0 * x for x in AXIS),
                )
            ),
            (False,),
        ),
        Case("bob", _leaf(Bob("x", mass=0.6, arm=(0.1, 0.2, -0.05), axis=AXIS)), _their_bob, (False,)),
        Case("strut", _between(Strut("x", mass=1.2, tip=(0.1, 0.05, 0.3))), _their_strut),
        Case("swivel", _between(Swivel("x", axis=AXIS)), _between(gs.Joint("x", "revolute", axis=AXIS))),
        Case("spring hinge", _between(SprungHinge("x", axis=AXIS, stiffness=3.0, damping=0.4)), _spring_hinge),
        Case("socket", _between(Socket("x")), _between(gs.Joint("x", "spherical"))),
        Case("carriage", _between(Carriage("x", mass=0.7, axis=AXIS)), _their_carriage),
        Case("fork", _fork, _their_fork, (False,)),
        Case("tank", _tank, _their_tank, (False,)),
    )
}


def arm(parts: Parts, base: Any = "fixed", gravity: Any = (0.0, 0.0, -9.81)) -> gs.Model:
    """A trunk, two hinges, a link, and the parts on it."""
    trunk = gs.RigidBody("trunk", mass=3.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.25), frames={"top": (0, 0.1, 0.2)})
    hinges = [gs.Joint(name, "revolute", axis=axis) for name, axis in (("pan", "z"), ("tilt", "y"))]
    link = gs.RigidBody(
        "link", mass=1.0, com=(0.05, 0, 0.2), inertia=(0.1, 0.1, 0.05), frames={"end": (0.02, 0.01, 0.5)}
    )
    return gs.assemble("arm", gs.chain("world", trunk, *hinges, link), *parts, gravity=gravity, base=base)


# ---------------------------------------------------------------------------------------------- a tree in own kinds
class OwnJoint(gs.Joint):
    """Every kind of joint, by rows of somebody else."""


@gs.kinematics.row(OwnJoint)
def _(c, on, motion, q, v, a):
    joint = MOTIONS[c["kind"]](c.props, q, v)
    out, memo = moving(on, motion, joint.reversed() if c.met == "b" else joint, v, a)
    return {name: out for name in c.outports}, memo


@gs.rne.row(OwnJoint)
def _(c, on, motion, memo):
    def action(forces):
        (f,) = forces.values()
        return memo.shift.force(f), memo.S.T @ f

    return action


class OwnBody(gs.RigidBody):
    """A rigid body, by a row of somebody else; its motion is that of a rigid body."""


@gs.rne.row(OwnBody)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"], c["com"], c["inertia"], c["momentum"])
    return lambda forces: (inboard(forces, memo, own), NONE)


def in_own_kinds(model: gs.Model, rng: np.random.Generator, share: float = 0.5) -> gs.Model:
    """The same model, a share of its joints and bodies by rows of somebody else."""
    kinds = {gs.Joint: OwnJoint, gs.RigidBody: OwnBody}

    def other(entity: Any) -> Any:
        kind = kinds.get(type(entity))
        if kind is None or rng.random() > share:
            return entity
        return kind(**{key: getattr(entity, key) for key in type(entity).model_fields})

    return gs.Model(model.name, [other(e) for e in model.entities], model.connections, model.context)
