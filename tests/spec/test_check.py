"""Every rule of a specification: broken on purpose, it gives one problem that names entity, value and remedy."""

import ast
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import gyrostat.spec
from gyrostat.errors import GyrostatError, LoadError, Problem, SaveError, SpecError, clipped, nearest
from gyrostat.spec.assemble import assemble, assembly, chain, connect
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.cam import Cam, ScotchYoke
from gyrostat.spec.check import check, problems
from gyrostat.spec.connecting_rod import ConnectingRod
from gyrostat.spec.contact import ContactPair, ContactPoint, Ground
from gyrostat.spec.contact_law import ContactSurface
from gyrostat.spec.context import CentralGravity, Context, GravityField, HarmonicMotion, UniformGravity
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor
from gyrostat.spec.pair_forces import Bushing, PointSpring
from gyrostat.spec.polynomial_coupling import PolynomialCoupling
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.sensor import Sensor
from gyrostat.spec.shaft_elements import Backlash, Damper, Spring
from gyrostat.spec.shape import Shape
from gyrostat.spec.solver_spec import SolverSpec
from gyrostat.spec.values import Euler, axis_angle, euler, quaternion

NAN, INF = math.nan, math.inf
UNIT_INERTIA = (1.0, 1.0, 1.0)


class ForeignShaft(Entity):
    """Something of another author: one scalar port at each end, and a property that shapes nothing."""

    stiffness: float = 1.0
    turns: int = 0

    @property
    def ports(self):
        return Port("in", "scalar"), Port("out", "scalar")


def hinge(name="hinge", kind="revolute", **properties):
    return Joint(name, kind, **({"axis": "y"} | properties if kind == "revolute" else properties))


def rod(name="rod", **properties):
    return RigidBody(name, **({"mass": 1.0, "frames": {"tip": (0, 0, 1)}} | properties))


def arm(*parts, **context):
    """world - hinge - rod, and whatever else is given."""
    return assemble("arm", chain("world", hinge(), rod()), *parts, **context)


def specified(solver, **options):
    """The arm with the specification of a solver beside it."""
    return arm().with_solvers({"mine": SolverSpec(solver, **options)})


def with_body(**properties):
    return assemble("arm", chain("world", hinge(), rod(**properties)))


def with_joint(*args, **properties):
    return assemble("arm", chain("world", Joint("j", *args, **properties), rod()))


def with_turn(rotation):
    return assemble("arm", chain("world", Displacement("shift", rotation=rotation), hinge(), rod()))


def leg(name="leg", exposes=None, connections=None, entities=None):
    return Assembly(
        name,
        entities=entities if entities is not None else [hinge("knee"), rod("shin")],
        connections=connections if connections is not None else [["knee.b", "shin.origin"]],
        exposes=exposes if exposes is not None else {"top": "knee.a", "foot": "shin.tip", "drive": "knee.shaft"},
    )


def driven(**drive):
    return arm().with_drive("hinge", **drive)


def grounded(element):
    """An element on the shaft of the hinge."""
    return arm(element, connect("hinge.shaft", element.name))


def geared(gear, motor, joint, *more):
    """A gear between two joints."""
    parts = gear, chain("rod.tip", hinge("elbow"), rod("fore")), connect("elbow.shaft", motor)
    return arm(*parts, connect("hinge.shaft", joint), *more)


def matrix(**entries):
    J = np.eye(3)
    for where, value in entries.items():
        J["xyz".index(where[0]), "xyz".index(where[1])] = value
    return J


class ForeignPose(Entity):
    """A slide and a ball in one: five coordinates for four rates."""

    @property
    def ports(self):
        return Port("a"), Port("b")

    @property
    def coordinates(self):
        return "s", "x", "y", "z", "w"

    @property
    def rates(self):
        return "s", "wx", "wy", "wz"

    @property
    def quaternion_at(self):
        return 1


# name of the case -> (model, entity, rule, what the message says, what the remedy says)
def looped(*more, **options):
    """Two hinged rods whose tips a third joint could join."""
    return assemble(
        "loop", chain("world", hinge("a"), rod("x")), chain("world", hinge("b"), rod("y")), *more, **options
    )


def clamped(**properties):
    """A beam that is clamped to the world."""
    section = {"area": 1e-4, "I_y": 1e-9, "I_z": 1e-9, "J": 2e-9}
    steel = {"E": 2e11, "G": 8e10, "density": 7850.0, "length": 1.0}
    beam = gyrostat.FlexibleBeam("beam", **(steel | ({} if "section" in properties else section) | properties))
    return gyrostat.assemble("clamped", beam, gyrostat.connect("world", "beam.a"))


def held(first=0.0, stiffness=((1.0,),)):
    """A body with one shape, held by its first interface, which moves by ``first``."""
    still = {"displacement": np.full((3, 1), first), "turn": np.zeros((3, 1))}
    tip = {"translation": (1.0, 0.0, 0.0), "displacement": [[0.0], [0.0], [1.0]], "turn": np.zeros((3, 1))}
    S = np.zeros((3, 3, 1, 1))
    S[2, 2] = 0.25
    body = gyrostat.FlexibleBody(
        "plate", mass=1.0, first_moment=(0.5, 0, 0), second_moment=np.diag([0.34, 0.01, 0.01]),
        C1=[[0.0], [0.0], [0.4]], C2=np.zeros((3, 3, 1)), S=S, stiffness=stiffness,
        interfaces={"base": still, "tip": tip},
    )  # fmt: skip
    return gyrostat.assemble("held", body, gyrostat.connect("world", "plate.base"))


WRONG = {
    # ---------------------------------------------------------------------------------------------------- beams
    "a body that feeds its own bending": (
        lambda: held(stiffness=((-1.0,),)), "flexible body 'plate'", "shapes", "'stiffness' has the eigenvalue -1",
        "check its signs"),
    "a body that leaves its floating frame": (
        lambda: held(first=0.1), "flexible body 'plate'", "floating-frame",
        "interface 'base' is the first, and is not, or does not stay, at the origin",
        "the floating frame is the first interface"),
    "a beam that pushes": (
        lambda: clamped(E=-1.0), "flexible beam 'beam'", "beam-positive", "'E' must be positive, got -1 Pa", "Pa"),
    "a beam that feeds vibrations": (
        lambda: clamped(damping=-1e-3),
        "flexible beam 'beam'", "beam-damping", "'damping' must not be negative, got -0.001", "check its sign"),
    "a frame behind the end of a beam": (
        lambda: clamped(frames={"tool": 1.5}),
        "flexible beam 'beam'", "beam-frame", "frame 'tool' is at x = 1.5 m, outside of 0 ... 1", "along the beam"),
    "sections that end before the beam": (
        lambda: clamped(section=((0.0, gyrostat.sections.round(0.01)), (0.5, gyrostat.sections.round(0.02)))),
        "flexible beam 'beam'", "beam-section", "the places of its sections are", "let them rise from 0 to the length"),
    "segments of a beam in pieces": (
        lambda: clamped(method="in-cut", segments=2),
        "flexible beam 'beam'", "beam-method", "'segments' is 2: a beam with in-cut joints", "elements=... alone"),
    # ---------------------------------------------------------------------------------------------------- loops
    "a rod of no length": (
        lambda: looped(gyrostat.ConnectingRod("link", 0.0), connect("x.tip", "link.a"), connect("y.tip", "link.b")),
        "connecting rod 'link'", "rod-length", "'length' must be positive, got 0", "spherical joint"),
    "a wheel of no radius": (
        lambda: looped(gyrostat.Rolling("w", 0.0), connect("world", "w.ground"), connect("y.tip", "w.wheel")),
        "rolling 'w'", "rolling-radius", "'radius' must be positive, got 0", "metres"),
    "a tyre that is larger than its wheel": (
        lambda: looped(
            gyrostat.Rolling("wheel", 0.3, crown=0.4), connect("world", "wheel.ground"), connect("y.tip", "wheel.wheel")
        ),
        "rolling 'wheel'", "rolling-radius", "'crown' must be from 0 to the radius 0.3, got 0.4", "knife edge"),
    "a rod that carries a body": (
        lambda: looped(gyrostat.ConnectingRod("link", 1), rod("z"), connect("x.tip", "link.a"), connect("z", "link.b")),
        "connecting rod 'link'", "rod-closes", "closes no loop", "needs Joint"),
    "a passive joint with a drive": (
        lambda: assemble("driven", chain("world", hinge("a", passive=True), rod())).with_drive("a", rotor_inertia=1e-3),
        "joint 'a'", "passive-drive", "said to be passive, but has a drive", "leave 'passive' out"),
    "a reference of a joint that is not there": (
        lambda: looped(reference={"aa": 0.3}), "context", "loop-joint", "'reference' names 'aa'", "did you mean 'a'"),
    "independent coordinates without a loop": (
        lambda: looped(independent=["a"]), "context", "loop-joint", "the model has no closed loop", "leave it out"),
    "a reference with too many numbers": (
        lambda: looped(reference={"a": [0.3, 0.1]}), "context", "reference-size", "has 2 number(s), expected 1", "rad"),
    # ---------------------------------------------------------------------------------------------------- solvers
    "a solver in the order of a joint that is not there": (
        lambda: specified("MassMatrix", order=["hing"]), "solver 'mine'", "unknown-joint",
        "order: 'hing' is no joint with coordinates", "did you mean 'hinge'?"),
    "a live property that is not there": (
        lambda: specified("MassMatrix", live=["rod.mas"]), "solver 'mine'", "unknown-path",
        "live: 'rod.mas': there is no 'mas'", "did you mean 'mass'?"),
    "a solver of a frame that is not there": (
        lambda: specified("Jacobian", frames=["rod.tpi"]), "solver 'mine'", "unknown-frame",
        "frames: there is no frame or port 'rod.tpi'", "did you mean 'rod.tip'"),
    # ------------------------------------------------------------------------------------------ kinds from elsewhere
    "coordinates that its rates do not give": (
        lambda: assemble("arm", chain("world", ForeignPose("pose"), rod())),
        "foreign pose 'pose'", "state", "has 5 coordinates, a quaternion at 1, and 4 rates", "two components"),
    # ---------------------------------------------------------------------------------------------------- numbers
    "a mass that is not a number": (
        lambda: with_body(mass=NAN), "rigid body 'rod'", "finite", "'mass' must be finite, got nan", "give a number"),
    "an infinite centre of mass": (
        lambda: with_body(com=(0, -INF, 0)), "rigid body 'rod'", "finite", "'com' must be finite, got -inf", "NaN"),
    "an infinite inertia": (
        lambda: with_body(inertia=(1, 1, INF)), "rigid body 'rod'", "finite", "'inertia' must be finite", "infinity"),
    "an infinite momentum": (
        lambda: with_body(momentum=(INF, 0, 0)), "rigid body 'rod'", "finite", "'momentum' must be finite", "number"),
    "a frame at no place": (
        lambda: with_body(frames={"tip": (0, NAN, 0)}),
        "rigid body 'rod'", "finite", "'frames.tip.translation' must be finite, got nan", "give a number"),
    "a frame turned by no angle": (
        lambda: with_body(frames={"tip": ((0, 0, 0), euler((0, NAN, 0)))}),
        "rigid body 'rod'", "finite", "'frames.tip.rotation.euler' must be finite, got nan", "give a number"),
    "an axis that is not a number": (
        lambda: with_joint("revolute", axis=(0, 0, NAN)), "joint 'j'", "finite", "'axis' must be finite", "number"),
    "a pitch that is not a number": (
        lambda: with_joint("helical", axis="z", pitch=INF), "joint 'j'", "finite", "'pitch' must be finite, got inf",
        ""),
    "an integer beyond every float": (
        lambda: with_body(mass=10**400), "rigid body 'rod'", "finite", "'mass' must be finite, got inf", "number"),
    "a shift that is not a number": (
        lambda: assemble("a", chain("world", Displacement("d", translation=(NAN, 0, 0)), hinge(), rod())),
        "displacement 'd'", "finite", "'translation' must be finite, got nan", "give a number"),
    "a turn that is not a number": (
        lambda: with_turn(quaternion(0, 0, NAN, 1)),
        "displacement 'shift'", "finite", "'rotation.quaternion' must be finite, got nan", "give a number"),
    "a Denavit-Hartenberg angle that is not a number": (
        lambda: assemble("a", chain("world", DHDisplacement("d", alpha=NAN), hinge(), rod())),
        "dh displacement 'd'", "finite", "'alpha' must be finite, got nan", "give a number"),
    "a force that is not a number": (
        lambda: arm(ForceElement("push", wrench=(0, 0, 0, 0, 0, INF)), connect("rod.tip", "push")),
        "force element 'push'", "finite", "'wrench' must be finite, got inf", "give a number"),
    "a gravity that is not a number": (
        lambda: arm(gravity=(0, 0, NAN)), "context", "finite", "'gravity' must be finite, got nan", "give a number"),
    "a centre of gravity that is not a number": (
        lambda: arm(gravity=CentralGravity(mu=1, centre=(0, 0, INF))),
        "context", "finite", "'gravity.centre' must be finite, got inf", "give a number"),
    "a field of gravity without functions": (
        lambda: arm(gravity=GravityField()),
        "context", "gravity-field", "'gravity' has neither a field nor a potential", "give potential=f"),
    "a base that moves by no number": (
        lambda: arm(base=HarmonicMotion(frequency=INF)),
        "context", "finite", "'base.frequency' must be finite, got inf", "give a number"),
    # ---------------------------------------------------------------------------------------------------- mass
    "a negative mass": (
        lambda: with_body(mass=-2),
        "rigid body 'rod'", "mass", "mass must not be negative, got -2 kg", "give the mass in kg"),
    "a mass that no atom has": (
        lambda: with_body(mass=1e-310),
        "rigid body 'rod'", "mass-small", "mass must be zero or at least 1e-50 kg, got 1e-310 kg",
        "give the mass in kg, or zero"),
    "an inertia that no atom has": (
        lambda: with_body(inertia=(1e-310, 1e-310, 1e-310)),
        "rigid body 'rod'", "inertia-small", "inertia must be zero or at least 1e-50 kg m^2",
        "zero is a point mass"),
    "a body that moves and has no mass": (
        lambda: with_body(mass=0),
        "rigid body 'rod'", "moving-mass", "moves, but its mass is 0 kg and nothing with mass is fixed to it",
        "give its mass; a massless link is a Displacement"),
    "a massless body between two joints": (
        lambda: assemble("a", chain("world", hinge("a"), rod("m", mass=0), hinge("b"), rod())),
        "rigid body 'm'", "moving-mass", "moves, but its mass is 0 kg", "give its mass"),
    "a joint that moves nothing": (
        lambda: arm(chain("rod.tip", hinge("wrist"))),
        "joint 'wrist'", "moved-mass", "moves nothing that has mass", "attach a RigidBody, or make the joint fixed"),
    "a joint that moves a displacement only": (
        lambda: arm(chain("rod.tip", hinge("wrist"), Displacement("flange"))),
        "joint 'wrist'", "moved-mass", "moves nothing that has mass", "attach a RigidBody"),
    "a joint that moves a force only": (
        lambda: arm(chain("rod.tip", hinge("wrist"), ForceElement("push", wrench=(0, 0, 0, 0, 0, 1)))),
        "joint 'wrist'", "moved-mass", "moves nothing that has mass", "attach a RigidBody"),
    "a free base without any mass": (
        lambda: assemble("a", chain("world", rod(mass=0)), base="free"),
        "reference frame 'world'", "moved-mass", "is free, but nothing in the model has mass", "or fix the base"),
    "an inertia without mass": (
        lambda: assemble("a", chain("world", rod(mass=0, inertia=UNIT_INERTIA))),
        "rigid body 'rod'", "inertia-without-mass", "has inertia ((1, 0, 0), (0, 1, 0), (0, 0, 1)) but mass 0",
        "give the mass in kg; a massless link is a Displacement"),
    "an inertia that is not symmetric": (
        lambda: with_body(inertia=matrix(xy=0.1, yx=0.2)),
        "rigid body 'rod'", "inertia-symmetric", "inertia must be symmetric, Ixy = 0.1 but Iyx = 0.2",
        "use one product of inertia for both entries"),
    "an inertia that is slightly not symmetric": (
        lambda: with_body(inertia=matrix(yz=0.1, zy=0.10000001)),
        "rigid body 'rod'", "inertia-symmetric", "Iyz = 0.1 but Izy = 0.10000001", "use one product"),
    "a negative moment of inertia": (
        lambda: with_body(inertia=(1, 1, -0.25)),
        "rigid body 'rod'", "inertia-positive",
        "inertia must be positive, its smallest principal moment is -0.25 kg m^2",
        "check signs and the order of the entries"),
    "products of inertia that are too large": (
        lambda: with_body(inertia=matrix(xy=2, yx=2)),
        "rigid body 'rod'", "inertia-positive", "its smallest principal moment is -1 kg m^2", "never negative"),
    "moments that no body can have": (
        lambda: with_body(inertia=(1, 1, 3)),
        "rigid body 'rod'", "inertia-triangle",
        "inertia violates the triangle inequality on principal moments, 1 + 1 = 2 < 3 kg m^2",
        "check units, and that they refer to the centre of mass"),
    "huge moments that no body can have": (
        lambda: with_body(inertia=(1e308, 1e308, -1e308)),
        "rigid body 'rod'", "inertia-positive", "its smallest principal moment is -1e+308", "check signs"),
    # ---------------------------------------------------------------------------------------------------- joints
    "an axis of length zero": (
        lambda: with_joint("revolute", axis=(0, 0, 0)),
        "joint 'j'", "unit-axis", "'axis' must be non-zero, got (0, 0, 0)",
        "give the direction of the axis in frame a"),
    "an axis of the wrong length": (
        lambda: with_joint("revolute", axis=(3, 0, 4)),
        "joint 'j'", "unit-axis", "'axis' must have unit length, got (3, 0, 4) of length 5", "write [0.6, 0, 0.8]"),
    "an axis of almost the right length": (
        lambda: with_joint("prismatic", axis=(0, 0, 1.00001)),
        "joint 'j'", "unit-axis", "got (0, 0, 1.00001) of length 1.00001", "write [0, 0, 1]"),
    "an axis of enormous length": (
        lambda: with_joint("prismatic", axis=(1e308, 1e308, 0)),
        "joint 'j'", "unit-axis", "'axis' must have unit length", "write [0.7071067812, 0.7071067812, 0]"),
    "a second axis of the wrong length": (
        lambda: with_joint("universal", axis="x", second_axis=(0, 2, 0)),
        "joint 'j'", "unit-axis", "'second_axis' must have unit length, got (0, 2, 0) of length 2", "write [0, 1, 0]"),
    "a base that turns about a wrong axis": (
        lambda: arm(base=HarmonicMotion(axis=(0, 0, 2))),
        "context", "unit-axis", "'base.axis' must have unit length, got (0, 0, 2) of length 2", "a unit vector"),
    "a revolute joint without axis": (
        lambda: with_joint("revolute"), "joint 'j'", "joint-properties", "a revolute joint needs 'axis'", "add 'axis'"),
    "a helical joint without pitch": (
        lambda: with_joint("helical", axis="z"),
        "joint 'j'", "joint-properties", "a helical joint needs 'pitch'", "add 'pitch'"),
    "a universal joint with one axis": (
        lambda: with_joint("universal", axis="z"),
        "joint 'j'", "joint-properties", "a universal joint needs 'second_axis'", "add 'second_axis'"),
    "a spherical joint with an axis": (
        lambda: with_joint("spherical", axis="z"),
        "joint 'j'", "joint-properties", "a spherical joint has no 'axis', got (0, 0, 1)", "choose another kind"),
    "a revolute joint with a pitch": (
        lambda: with_joint("revolute", axis="z", pitch=0.5),
        "joint 'j'", "joint-properties", "a revolute joint has no 'pitch', got 0.5", "take it out"),
    "a universal joint with parallel axes": (
        lambda: with_joint("universal", axis="z", second_axis="-z"),
        "joint 'j'", "joint-axes", "the two axes are parallel: axis (0, 0, 1), second_axis (0, 0, -1)",
        "perpendicular"),
    "a planar joint with a direction out of its plane": (
        lambda: with_joint("planar", axis="z", second_axis=(0.6, 0, 0.8)),
        "joint 'j'", "joint-axes", "second_axis must be perpendicular to axis", "in the plane normal to the axis"),
    # ---------------------------------------------------------------------------------------------------- rotations
    "a quaternion of the wrong length": (
        lambda: with_turn(quaternion(0, 0, 1, 1)),
        "displacement 'shift'", "rotation",
        "'rotation' must be a unit quaternion, got (0, 0, 1, 1) of length 1.414213562",
        "divide it by its length; the order is x, y, z, w"),
    "a matrix that is not orthonormal": (
        lambda: with_turn(((1, 0, 0), (0, 1, 0.1), (0, 0, 1))),
        "displacement 'shift'", "rotation", "'rotation' must be a rotation matrix, its rows are not orthonormal",
        "columns are the right-handed unit axes of b in a"),
    "a matrix of enormous numbers": (
        lambda: with_turn(((1e300, 0, 0), (0, -1e300, 0), (0, 0, 1))),
        "displacement 'shift'", "rotation", "its rows are not orthonormal", "unit axes"),
    "a matrix that mirrors": (
        lambda: with_turn(np.diag([1, 1, -1])),
        "displacement 'shift'", "rotation", "its determinant is -1: left-handed axes", "right-handed"),
    "an axis and angle with a wrong axis": (
        lambda: with_turn(axis_angle((0, 3, 4), 1)),
        "displacement 'shift'", "rotation", "'rotation.axis' must have unit length, got (0, 3, 4) of length 5",
        "write [0, 0.6, 0.8]"),
    "an axis and angle without axis": (
        lambda: with_turn(axis_angle((0, 0, 0), 1)),
        "displacement 'shift'", "rotation", "'rotation.axis' must be non-zero, got (0, 0, 0)", "direction of the axis"),
    "Euler axes that do not exist": (
        lambda: with_turn(euler((1, 2, 3), "xyw")),
        "displacement 'shift'", "rotation", "'rotation' has Euler axes 'xyw', expected three letters such as 'xyz'",
        "lower case turns about fixed axes, upper case about moving ones"),
    "Euler axes that repeat": (
        lambda: with_turn(euler((1, 2, 3), "xxz")),
        "displacement 'shift'", "rotation", "'rotation' has Euler axes 'xxz'", "lower case"),
    "Euler axes both fixed and moving": (
        lambda: with_turn(euler((1, 2, 3), "xYz")),
        "displacement 'shift'", "rotation", "'rotation' has Euler axes 'xYz'", "lower case"),
    "a frame with a wrong rotation": (
        lambda: with_body(frames={"tip": ((0, 0, 0), quaternion(0, 0, 0, 2))}),
        "rigid body 'rod'", "rotation", "'frames.tip.rotation' must be a unit quaternion", "divide it by its length"),
    # ---------------------------------------------------------------------------------------------------- connections
    "a connection to an entity that does not exist": (
        lambda: arm(connect("rod.tip", "hnige.a")),
        "connection [rod.tip, hnige.a]", "dangling-connection", "there is no entity 'hnige'", "did you mean 'hinge'?"),
    "a connection to a port that does not exist": (
        lambda: arm(rod("hand"), connect("rod.tpi", "hand")),
        "connection [rod.tpi, hand]", "dangling-connection", "'rod' has no port 'tpi'", "did you mean 'tip'?"),
    "a connection that does not say which port": (
        lambda: arm(rod("hand"), Joint("weld", "fixed"), connect("rod.tip", "weld"), connect("weld.b", "hand")),
        "connection [rod.tip, weld]", "dangling-connection", "'weld' has several ports and none was named",
        "known: 'a', 'b'"),
    "a connection of one port": (
        lambda: arm(connect("rod.tip")),
        "connection [rod.tip]", "dangling-connection", "joins 1 port(s), expected two or more", "add the other port"),
    "a connection of nothing": (
        lambda: arm(connect()),
        "connection []", "dangling-connection", "joins 0 port(s), expected two or more", "or remove it"),
    "a connection of a port with itself": (
        lambda: arm(connect("rod.tip", "rod.tip")),
        "connection [rod.tip, rod.tip]", "self-connection", "joins port 'rod.tip' with itself", "two different ports"),
    "a connection of two ports of one entity": (
        lambda: arm(connect("rod.tip", "rod.origin")),
        "rigid body 'rod'", "self-connection", "'rod.origin' and 'rod.tip' are connected to each other",
        "an entity cannot be closed on itself"),
    "a connection that is there twice": (
        lambda: arm(connect("rod", "hinge.b")),
        "connection [rod, hinge.b]", "duplicate-connection", "'rod.origin' and 'hinge.b' are connected already",
        "remove one of the connections"),
    "a connection that others imply": (
        lambda: arm(rod("hand"), rod("tool"), connect("rod.tip", "hand", "tool"), connect("tool", "rod.tip")),
        "connection [tool, rod.tip]", "duplicate-connection", "are connected already", "remove one"),
    "a frame connected to a shaft": (
        lambda: arm(connect("rod.tip", "hinge.shaft")),
        "connection [rod.tip, hinge.shaft]", "port-kind",
        "joins ports of different kinds: 'rod.tip' is spatial, 'hinge.shaft' is scalar", "shafts to shafts"),
    "a part that hangs in the air": (
        lambda: arm(chain("ball.tip", hinge("loose"), rod("stray")), rod("ball")),
        "joint 'loose'", "unreachable", "cannot be reached from the reference frame (and with it ball, stray)",
        "connect one of its ports, or remove it"),
    "a single entity that hangs in the air": (
        lambda: arm(rod("ball")),
        "rigid body 'ball'", "unreachable", "cannot be reached from the reference frame", "or remove it"),
    # ---------------------------------------------------------------------------------------------------- names
    "a name with a dot": (
        lambda: assemble("a", rod("a.b")), "rigid body 'a.b'", "name", "name 'a.b' is not usable",
        "without spaces, dots"),
    "a name with a space": (
        lambda: assemble("a", rod("a b")), "rigid body 'a b'", "name", "name 'a b' is not usable", "128 characters"),
    "an empty name": (
        lambda: assemble("a", rod("")), "rigid body ''", "name", "name '' is not usable", "use up to 128 characters"),
    "a name with a control character": (
        lambda: assemble("a", rod("a\x07")), "rigid body 'a\x07'", "name", r"name 'a\x07' is not usable", "use up to"),
    "a name of many characters": (
        lambda: assemble("a", rod("x" * 129)), "rigid body 'xxx", "name", "is not usable", "use up to 128 characters"),
    "a frame with a comma in its name": (
        lambda: with_body(frames={"a,b": (0, 0, 0)}), "rigid body 'rod'", "name", "port 'a,b' is not usable", "commas"),
    "a frame called like a property": (
        lambda: with_body(frames={"com": (0, 0, 0)}),
        "rigid body 'rod'", "name", "the frame 'com' is called like a property", "so that 'rod.com' means one thing"),
    "an entity called like the context": (
        lambda: assemble("a", chain("world", hinge(), rod("context"))),
        "rigid body 'context'", "name", "the name 'context' is reserved", "choose another name"),
    "an entity called like the model": (
        lambda: assemble("a", chain("world", hinge(), rod("model"))),
        "rigid body 'model'", "name", "the name 'model' is reserved", "choose another name"),
    "an entity called like a way to give forces": (
        lambda: assemble("a", chain("world", hinge(), rod("aligned"))),
        "rigid body 'aligned'", "name", "the name 'aligned' is reserved", "choose another name"),
    "an entity called like the world": (
        lambda: assemble("a", chain("ground", hinge(), rod("world")), ReferenceFrame("ground")),
        "rigid body 'world'", "name", "the name 'world' is reserved for the reference frame", "choose another name"),
    "a model with a name that cannot be printed": (
        lambda: assemble("a\nb", chain("world", hinge(), rod())),
        "model", "name", r"name 'a\nb' holds characters that cannot be printed", "use letters"),
    "two entities of one name": (
        lambda: arm(Joint("rod", "fixed")),
        "joint 'rod'", "unique-name", "another rigid body has the same name", "rename one of them"),
    "a frame called like the origin": (
        lambda: with_body(frames={"origin": (0, 0, 0)}),
        "rigid body 'rod'", "unique-name", "has 2 ports called 'origin'", "rename all but one"),
    # ---------------------------------------------------------------------------------------------------- the whole
    "no reference frame": (
        lambda: Model("m", [rod()]),
        "model", "one-reference-frame", "has no reference frame", "add a reference frame 'world'"),
    "two reference frames": (
        lambda: assemble("m", ReferenceFrame("a"), ReferenceFrame("b"), connect("a", "b")),
        "model", "one-reference-frame", "has 2 reference frames: a, b", "keep one of them"),
    # ---------------------------------------------------------------------------------------------------- assemblies
    "an assembly that exposes a port of nothing": (
        lambda: arm(leg(exposes={"top": "kne.a"}), connect("rod.tip", "leg.top")),
        "assembly 'leg'", "dangling-connection", "exposes 'top', but there is no entity 'leg.kne'", "'knee'"),
    "an assembly that exposes a port that its part lacks": (
        lambda: arm(leg(exposes={"top": "knee.c"}), connect("rod.tip", "leg.top")),
        "assembly 'leg'", "dangling-connection", "exposes 'top', but 'leg.knee' has no port 'c'", "known: 'a', 'b'"),
    "an assembly without the port that is asked for": (
        lambda: arm(leg(), connect("rod.tip", "leg.hip")),
        "connection [rod.tip, leg.hip]", "dangling-connection", "'leg' has no port 'hip'", "known: 'top', 'foot'"),
    "a frame connected to an exposed shaft": (
        lambda: arm(leg(), connect("rod.tip", "leg.top"), connect("leg.foot", "leg.drive")),
        "connection [leg.foot, leg.drive]", "port-kind", "'leg.shin.tip' is spatial, 'leg.knee.shaft' is scalar",
        "shafts"),
    "a broken connection inside an assembly": (
        lambda: arm(leg(connections=[["knee.b", "shn.origin"]]), connect("rod.tip", "leg.top")),
        "connection [knee.b, shn.origin] of assembly 'leg'", "dangling-connection", "there is no entity 'leg.shn'",
        "did you mean 'shin'?"),
    "a mistake of an entity inside an assembly": (
        lambda: arm(leg(entities=[hinge("knee"), rod("shin", mass=-1)]), connect("rod.tip", "leg.top")),
        "rigid body 'leg.shin'", "mass", "mass must not be negative, got -1 kg", "give the mass"),
    "a bad name inside an assembly": (
        lambda: arm(leg(entities=[hinge("knee"), rod("shin"), rod("a|b")]), connect("rod.tip", "leg.top")),
        "rigid body 'leg.a|b'", "name", "name 'a|b' is not usable", "use up to 128"),
    "one name twice inside an assembly": (
        lambda: arm(leg(entities=[hinge("knee"), rod("shin"), rod("shin")]), connect("rod.tip", "leg.top")),
        "rigid body 'leg.shin'", "unique-name", "another rigid body has the same name", "rename one of them"),
    "a part of an assembly that hangs in the air": (
        lambda: arm(leg(entities=[hinge("knee"), rod("shin"), rod("toe")]), connect("rod.tip", "leg.top")),
        "rigid body 'leg.toe'", "unreachable", "cannot be reached from the reference frame",
        "connect one of its ports"),
    # ---------------------------------------------------------------------------------------------------- drives
    "limits the wrong way round": (
        lambda: with_joint("revolute", axis="z", lower=1, upper=-1),
        "joint 'j'", "joint-limits", "'lower' 1 is greater than 'upper' -1", "exchange them"),
    "a limit for a speed that is negative": (
        lambda: with_joint("prismatic", axis="z", velocity_limit=-3),
        "joint 'j'", "joint-limits", "'velocity_limit' must not be negative, got -3", "give a magnitude"),
    "a limit of a joint with several rates": (
        lambda: with_joint("cylindrical", axis="z", effort_limit=3),
        "joint 'j'", "joint-properties", "a cylindrical joint has no 'effort_limit', got 3", "take it out"),
    "a limit that is not a number": (
        lambda: with_joint("revolute", axis="z", upper=NAN),
        "joint 'j'", "finite", "'upper' must be finite, got nan", "give a number"),
    "a rotor without inertia": (
        lambda: driven(rotor_inertia=0),
        "rotor inertia 'hinge_drive.rotor'", "rotor-inertia", "inertia must be positive, got 0 kg m^2",
        "about the spin axis"),
    "a rotor of negative mass": (
        lambda: driven(rotor_inertia=1, lumped=False, rotor={"mass": -1}),
        "rotor inertia 'hinge_drive.rotor'", "rotor-inertia", "'mass' must not be negative, got -1", "check the sign"),
    "a rotor that is lumped and has a mass": (
        lambda: driven(rotor_inertia=1, rotor={"mass": 1}),
        "rotor inertia 'hinge_drive.rotor'", "rotor-lumped", "'mass' is given, but its carrier contains it already",
        "lumped=False"),
    "a rotor without carrier that has a place": (
        lambda: arm(RotorInertia("r", inertia=1, position=(0, 0, 1)), connect("hinge.shaft", "r")),
        "rotor inertia 'r'", "rotor-lumped", "'position' is given, but it has no carrier", "take it out"),
    "a rotor of impossible moments": (
        lambda: driven(rotor_inertia=1, lumped=False, rotor={"mass": 1, "transverse": 0.2}),
        "rotor inertia 'hinge_drive.rotor'", "inertia-triangle", "transverse is 0.2, less than half of inertia 1",
        "no distribution of mass"),
    "a rotor about a long axis": (
        lambda: driven(rotor_inertia=1, rotor_axis=(0, 0, 2)),
        "rotor inertia 'hinge_drive.rotor'", "unit-axis", "'axis' must have unit length", "write [0, 0, 1]"),
    "a rotor that nothing carries": (
        lambda: arm(RotorInertia("r", inertia=1, axis="z"), connect("hinge.shaft", "r.shaft")),
        "rotor inertia 'r'", "rotor-carrier", "its port 'carrier' is connected to no frame", "connect it to a body"),
    "a gear that does not turn": (
        lambda: driven(rotor_inertia=1, gear_ratio=0),
        "gear 'hinge_drive.gear'", "gear-ratio", "ratio must not be zero, got 0", "turns of the motor"),
    "a gear with a row of zeros": (
        lambda: geared(Gear("g", [[1, 1], [0, 0]]), "g.motor1", "g.joint1"),
        "gear 'g'", "gear-ratio", "ratio has a row or a column of zeros", "turns of the motor"),
    "a gear with too many offsets": (
        lambda: geared(Gear("g", 2, offset=(1, 2)), "g.motor", "g.joint"),
        "gear 'g'", "gear-offset", "offset has 2 numbers for 1 motor shaft(s)", "one for each motor shaft"),
    "gears that contradict each other": (
        lambda: geared(Gear("g", 2), "g.motor", "g.joint", Gear("h", 2, offset=0.1), connect("g.motor", "h.motor"),
                       connect("g.joint", "h.joint")),
        "gear 'h'", "gear-loop", "contradicts other gears: it asks for an angle that differs by 0.1 rad", "offset"),
    "gears that lock each other": (
        lambda: geared(Gear("g", 2), "g.motor", "g.joint", Gear("h", 3), connect("g.motor", "h.motor"),
                       connect("g.joint", "h.joint")),
        "gear 'h'", "gear-loop", "locks its shafts: together with other gears it allows one angle only", "a ratio"),
    "a cam without follower": (
        lambda: arm(Cam("c", [0, 1], [0, 1]), connect("hinge.shaft", "c.driver")),
        "cam 'c'", "open-shaft", "its shaft 'follower' is connected to nothing", "a joint, a rotor or a gear"),
    "a cam with a lift too few": (
        lambda: geared(Cam("c", [0, 1, 2], [0, 1]), "c.follower", "c.driver"),
        "cam 'c'", "cam-table", "has 3 angles and 2 lifts", "one lift for each angle"),
    "a cam of one point": (
        lambda: geared(Cam("c", [0], [0]), "c.follower", "c.driver"),
        "cam 'c'", "cam-table", "has 1 point(s), expected 2 or more", "more angles"),
    "a periodic cam of three points": (
        lambda: geared(Cam("c", [0, 1, 2], [0, 1, 0], periodic=True), "c.follower", "c.driver"),
        "cam 'c'", "cam-table", "has 3 point(s), expected 4 or more", "more angles"),
    "a cam that turns back": (
        lambda: geared(Cam("c", [0, 2, 1], [0, 1, 2]), "c.follower", "c.driver"),
        "cam 'c'", "cam-table", "'angles' must increase, got (0, 2, 1)", "sort them"),
    "a periodic cam that does not close": (
        lambda: geared(Cam("c", [0, 1, 2, 3], [0, 1, 2, 3], periodic=True), "c.follower", "c.driver"),
        "cam 'c'", "cam-table", "is periodic, but its first lift is 0, its last 3", "end the table with its first"),
    "a scotch yoke without crank": (
        lambda: geared(ScotchYoke("y", 0), "y.follower", "y.driver"),
        "scotch yoke 'y'", "scotch-yoke", "radius must not be zero", "radius of the crank"),
    "friction below zero": (
        lambda: arm(Ground("floor", friction=-0.5)),
        "ground 'floor'", "contact-law", "'friction' must not be negative, got -0.5", "Coulomb's coefficient"),
    "more friction in motion than at rest": (
        lambda: arm(Ground("floor", friction=(0.5, 0.6))),
        "ground 'floor'", "contact-law", "not be larger in motion than at rest, got (0.5, 0.6)", "(static, dynamic)"),
    "a bounce that gains energy": (
        lambda: arm(Ground("floor", restitution=1.2)),
        "ground 'floor'", "contact-law", "'restitution' must be between 0 and 1, got 1.2", "1 without loss"),
    "a compliant contact with a restitution": (
        lambda: arm(Ground("floor", restitution=0.5, stiffness=1e4)),
        "ground 'floor'", "contact-law", "'restitution' is 0.5, but the contact is compliant", "from its damping"),
    "a contact without stiffness": (
        lambda: arm(Ground("floor", stiffness=0.0)),
        "ground 'floor'", "contact-law", "'stiffness' must be above zero, got 0", "leave it out"),
    "a contact whose damping is negative": (
        lambda: arm(Ground("floor", stiffness=1.0, damping=-1.0)),
        "ground 'floor'", "contact-law", "'damping' must not be negative, got -1", "give a magnitude"),
    "a contact that is softer than linear": (
        lambda: arm(Ground("floor", stiffness=1.0, exponent=0.5)),
        "ground 'floor'", "contact-law", "'exponent' must be 1 or more, got 0.5", "1.5 Hertz"),
    "a rigid contact with damping": (
        lambda: arm(Ground("floor", damping=1.0)),
        "ground 'floor'", "contact-law", "'damping' is 1, but no contact has a stiffness: it has no", "compliant"),
    "a rigid pair with an exponent": (
        lambda: arm(Ground("f"), ContactPoint("p"), connect("p", "rod"), ContactPair("f", "p", exponent=1.5)),
        "contact pair 'f_p'", "contact-law", "'exponent' is 1.5, but no contact has a stiffness", "compliant"),
    "a rigid shape with a slip speed": (
        lambda: with_body(shapes=[Shape(kind="sphere", size=[1.0], contact=ContactSurface(slip_speed=0.1))]),
        "rigid body 'rod'", "contact-law", "'shapes.0.contact.slip_speed' is 0.1, but no contact", "compliant"),
    "a shape with a wrong law": (
        lambda: with_body(shapes=[Shape(kind="sphere", size=[1.0], contact=ContactSurface(restitution=2.0))]),
        "rigid body 'rod'", "contact-law", "'shapes.0.contact.restitution' must be between 0 and 1", "without loss"),
    "a contact point with a negative radius": (
        lambda: arm(ContactPoint("p", radius=-0.1), connect("p", "rod.tip")),
        "contact point 'p'", "radius", "'radius' must not be negative, got -0.1", "0 is a point"),
    "a contact point that is nowhere": (
        lambda: arm(ContactPoint("p")),
        "contact point 'p'", "unreachable", "cannot be reached from the reference frame", "connect one of its ports"),
    "a sensor that is nowhere": (
        lambda: arm(Sensor("imu", measures="imu", at="rof")),
        "sensor 'imu'", "sensor", "'at' is 'rof', there is no such frame", "rod"),
    "an encoder of a body": (
        lambda: arm(Sensor("encoder", measures="encoder", at="rod")),
        "sensor 'encoder'", "sensor", "measures encoder at 'rod', which is no joint that moves", "name a joint"),
    "a pair of a surface with itself": (
        lambda: arm(Ground("floor"), ContactPair("floor", "floor")),
        "contact pair 'floor_floor'", "contact-pair", "'a' and 'b' are both 'floor'", "name two surfaces"),
    "a pair that excludes and says a law": (
        lambda: arm(Ground("f"), ContactPoint("p"), connect("p", "rod"),
                    ContactPair("f", "p", exclude=True, friction=1)),
        "contact pair 'f_p'", "contact-pair", "excludes the contact, but says 'friction'", "leave one of them out"),
    "a pair that names nothing": (
        lambda: arm(Ground("floor"), ContactPair("rof", "floor", exclude=True)),
        "contact pair 'rof_floor'", "contact-pair", "'a' is 'rof', there is no such entity", "floor"),
    "a pair with a body that cannot touch": (
        lambda: arm(Ground("floor"), ContactPair("rod", "floor")),
        "contact pair 'rod_floor'", "contact-pair", "'a' is 'rod', which has nothing that can touch", "role='collis"),
    "a polynomial that is a constant": (
        lambda: geared(PolynomialCoupling("p", [0.3, 0, 0]), "p.follower", "p.driver"),
        "polynomial coupling 'p'", "polynomial", "beyond the first must not all be zero", "make the follower a fixed"),
    "a rod without length": (
        lambda: assemble("m", chain("world", hinge(), rod()), ConnectingRod("c", 0.0),
                         connect("world", "c.a"), connect("rod.tip", "c.b")),
        "connecting rod 'c'", "rod-length", "'length' must be positive, got 0", "a spherical joint"),
    "two cams for one follower": (
        lambda: geared(Cam("c", [0, 1], [0, 1]), "c.follower", "c.driver", ScotchYoke("y", 1),
                       connect("c.follower", "y.follower"), connect("c.driver", "y.driver")),
        "scotch yoke 'y'", "curve-loop", "its follower follows 'c' already", "take one of them out"),
    "a cam and a gear between the same joints": (
        lambda: geared(Cam("c", [0, 1], [0, 1]), "c.follower", "c.driver", Gear("g", 2),
                       connect("c.follower", "g.motor"), connect("c.driver", "g.joint")),
        "cam 'c'", "curve-loop", "drives itself: its driver depends on its follower", "that does not follow it"),
    "two cams that drive each other": (
        lambda: geared(Cam("c", [0, 1], [0, 1]), "c.follower", "c.driver", ScotchYoke("y", 1),
                       connect("c.follower", "y.driver"), connect("c.driver", "y.follower")),
        "cam 'c'", "curve-loop", "drives itself, through 'y'", "that does not follow it"),
    "a gear between two followers": (
        lambda: geared(Cam("c", [0, 1], [0, 1]), "c.follower", "c.driver", ScotchYoke("y", 1), Gear("g", 2),
                       chain("fore.tip", hinge("wrist"), rod("hand")), connect("c.driver", "y.driver"),
                       connect("wrist.shaft", "y.follower", "g.motor"), connect("c.follower", "g.joint")),
        "gear 'g'", "curve-loop", "ties shafts to each other that follow curves already: those of 'y', 'c'",
        "take one of them out"),
    "a spring without partner": (
        lambda: arm(Spring("s", stiffness=1), connect("hinge.shaft", "s.a")),
        "spring 's'", "open-shaft", "its shaft 'b' is connected to nothing", "or write ground=True"),
    "a gear without motor": (
        lambda: arm(Gear("g", 3), connect("hinge.shaft", "g.joint")),
        "gear 'g'", "open-shaft", "its shaft 'motor' is connected to nothing", "a joint, a rotor or a gear"),
    "a spring to a shaft without inertia": (
        lambda: arm(Spring("s", stiffness=1), Motor("m"), connect("hinge.shaft", "s.a"), connect("s.b", "m")),
        "spring 's'", "massless-shaft", "the shaft [s.b, m.shaft] can turn by itself", "add a RotorInertia"),
    "a spring without stiffness": (
        lambda: grounded(Spring("s", ground=True)),
        "spring 's'", "spring-law", "needs 'stiffness' or 'curve'", "give one of them"),
    "a spring with two laws": (
        lambda: grounded(Spring("s", ground=True, stiffness=1, curve=[(0, 0), (1, 1)])),
        "spring 's'", "spring-law", "has both 'stiffness' and 'curve'", "give one of them"),
    "a progressive curve": (
        lambda: grounded(Spring("s", ground=True, cubic=1, curve=[(0, 0), (1, 1)])),
        "spring 's'", "spring-law", "has both 'curve' and 'cubic'", "take 'cubic' out"),
    "a spring that pushes": (
        lambda: grounded(Spring("s", ground=True, stiffness=-1)),
        "spring 's'", "drive-value", "'stiffness' must be positive, got -1", "give a positive number"),
    "a curve of one point": (
        lambda: grounded(Spring("s", ground=True, curve=[(0, 0)])),
        "spring 's'", "curve", "'curve' has one point", "give two or more"),
    "a curve that goes back": (
        lambda: grounded(Spring("s", ground=True, curve=[(0, 0), (0, 1)])),
        "spring 's'", "curve", "the points of 'curve' do not go from left to right", "sort them"),
    "a damper that drives": (
        lambda: grounded(Damper("d", ground=True, damping=-1)),
        "damper 'd'", "drive-value", "'damping' must be zero or positive, got -1", "give a magnitude"),
    "a gap of negative width": (
        lambda: grounded(Backlash("b", ground=True, gap=-1, stiffness=1)),
        "backlash 'b'", "drive-value", "'gap' must be zero or positive, got -1", "give a magnitude"),
    "friction that drives": (
        lambda: driven(coulomb=(1, -2)),
        "friction 'hinge_drive.friction'", "drive-value", "'coulomb' must be zero or positive, got (1, -2)",
        "magnitude"),
    "sticking without a speed": (
        lambda: driven(coulomb=1, friction={"static": 2}),
        "friction 'hinge_drive.friction'", "friction-law", "'static' and 'stribeck' belong together", "both or none"),
    "sticking less than sliding": (
        lambda: driven(coulomb=1, friction={"static": 0.5, "stribeck": 0.1}),
        "friction 'hinge_drive.friction'", "friction-law", "'static' 0.5 is less than 'coulomb' 1", "the greater one"),
    "a motor of negative strength": (
        lambda: driven(torque_limit=-1),
        "motor 'hinge_drive.motor'", "drive-value", "'torque_limit' must be positive, got -1", "positive number"),
    "a motor that pulls at negative speed": (
        lambda: grounded(Motor("m", torque_speed=[(-1, 1), (1, 0)])),
        "motor 'm'", "torque-speed", "'torque_speed' has negative numbers", "both directions are alike"),
    "a motor with resistance alone": (
        lambda: grounded(Motor("m", resistance=1)),
        "motor 'm'", "motor-electric", "has electric figures, but no 'torque_constant'", "N m/A"),
    "a motor with voltage and no resistance": (
        lambda: grounded(Motor("m", voltage_limit=24, torque_constant=0.1)),
        "motor 'm'", "motor-electric", "'voltage_limit' needs 'resistance'", "ohm"),
    "a spring between one point": (
        lambda: arm(PointSpring("p", stiffness=1), connect("rod.tip", "p.a")),
        "point spring 'p'", "pair-force", "its port 'b' is connected to no frame", "the reference frame"),
    "a spring that pushes points apart": (
        lambda: arm(PointSpring("p", stiffness=-1), connect("rod.tip", "p.a"), connect("world", "p.b")),
        "point spring 'p'", "drive-value", "'stiffness' must be zero or positive, got -1", "magnitude"),
    "a bushing that is not a number": (
        lambda: arm(Bushing("p", stiffness=(1, 1, 1, 1, NAN, 1)), connect("rod.tip", "p.a"), connect("world", "p.b")),
        "bushing 'p'", "finite", "'stiffness' must be finite, got nan", "give a number"),
}  # fmt: skip

FOLLOWS = {  # a second problem that the same case must have
    "a name with a dot": "unreachable",
    "a name with a space": "unreachable",
    "an empty name": "unreachable",
    "a name with a control character": "unreachable",
    "a name of many characters": "unreachable",
    "a bad name inside an assembly": "unreachable",
    "a gear with a row of zeros": "open-shaft",
}


@pytest.mark.parametrize("case", WRONG)
def test_each_mistake_gives_one_problem_that_names_entity_rule_value_and_remedy(case):
    model, entity, rule, message, remedy = WRONG[case]
    found = problems(model())
    assert [p.rule for p in found if p.rule != FOLLOWS.get(case)] == [rule], found
    problem = next(p for p in found if p.rule == rule)
    assert problem.entity.startswith(entity)
    assert message in problem.message
    assert remedy in problem.remedy
    assert problem.where is None, "a model made in Python has no file"


@pytest.mark.parametrize("case", WRONG)
def test_the_text_of_a_problem_is_two_sentences(case):
    for problem in problems(WRONG[case][0]()):
        assert str(problem).startswith(f"{problem.entity}: {problem.message}. Hint: ")
        assert str(problem)[-1] in ".?"
        assert "?." not in str(problem)
        assert ".." not in str(problem).replace("...", "")


# name of the case -> (a call that fails at once, entity, rule, message, remedy)
REFUSED = {
    "a tube of no diameter": (
        lambda: gyrostat.sections.tube(0.0, 0.001),
        "section tube", "section", "'diameter' must be positive, got 0 m", "give it in m"),
    "a pair with a number": (
        lambda: ContactPair("floor", 3),
        "contact pair 'floor_3'", "property-type", "'b' is 3: input should be a valid string", "change the value"),
    "three numbers of friction": (
        lambda: Ground("floor", friction=(1, 2, 3)),
        "ground 'floor'", "property-type", "must be a number or two of them (static, dynamic)", "[0.8, 0.6]"),
    "layers that are no bits": (
        lambda: Ground("floor", layers=-1),
        "ground 'floor'", "property-type", "'layers' must be a whole number of 32 bits, got -1", "0 for none"),
    "a solver that does not exist": (
        lambda: SolverSpec("MasMatrix"), "solver specification", "unknown-solver", "there is no solver 'MasMatrix'",
        "did you mean 'MassMatrix'"),
    "angles of a cam as inputs": (
        lambda: gyrostat.Cam("slot", [0.0, 1.0, 2.0], [0.0, 0.1, 0.3]).curves(lambda key: [0.0, 1.1, 2.0]),
        "cam 'slot'", "live-property", "'angles' cannot be live", "lifts may be live"),
    "what is no model": (lambda: check("arm"), "check", "model", "expected a Model, got str", "gyrostat.load"),
    "a property that is missing": (
        lambda: RigidBody("rod"), "rigid body 'rod'", "missing-property", "needs the property 'mass'", "add 'mass'"),
    "a property that does not exist": (
        lambda: rod(mas=1), "rigid body 'rod'", "unknown-property", "has no property 'mas'", "did you mean 'mass'"),
    "a solid without density or mass": (
        lambda: RigidBody.from_shape("rod", "sphere", size=[0.1]), "rigid body 'rod'", "from-shape",
        "needs density [kg/m^3] or mass [kg], got none", "give one of them"),
    "a property that resembles none": (
        lambda: rod(colour=1), "rigid body 'rod'", "unknown-property", "has no property 'colour'",
        "known: 'mass', 'com'"),
    "a property of a frame that does not exist": (
        lambda: rod(frames={"tip": {"translatoin": (0, 0, 1)}}),
        "rigid body 'rod'", "unknown-property", "has no property 'frames.tip.translatoin'",
        "did you mean 'translation'"),
    "a property of a rotation that is nothing like any": (
        lambda: Displacement("d", rotation={"quaternion": (0, 0, 0, 1), "###": 1}),
        "displacement 'd'", "unknown-property", "has no property 'rotation.###'", "take it out"),
    "a text for a number": (
        lambda: rod(mass="heavy"),
        "rigid body 'rod'", "property-type", "'mass' must be a number, got 'heavy'", "write a number such as 0.5"),
    "a truth value for a number": (
        lambda: rod(mass=True), "rigid body 'rod'", "property-type", "'mass' must be a number, got True",
        "write a number"),
    "nothing for a number": (
        lambda: rod(mass=None), "rigid body 'rod'", "property-type", "'mass' must be a number, got nothing", "0.5"),
    "two numbers for three": (
        lambda: rod(com=(1, 2)),
        "rigid body 'rod'", "property-type", "'com' must be three numbers, got (1, 2)", "write three numbers such as"),
    "a list with a text in it": (
        lambda: rod(com=(1, 2, "x")),
        "rigid body 'rod'", "property-type", "'com' must be three numbers, got (1, 2, 'x')", "write three numbers"),
    "two rows for three": (
        lambda: rod(inertia=np.ones((2, 3))),
        "rigid body 'rod'", "property-type", "'inertia' must be three numbers or three rows of three numbers, got",
        "write the principal moments as in [0.1, 0.1, 0.02], or three rows"),
    "a ragged inertia": (
        lambda: rod(inertia=[1, [2], 3]),
        "rigid body 'rod'", "property-type", "'inertia' must be three numbers or three rows", "principal moments"),
    "frames without names": (
        lambda: rod(frames=[(0, 0, 1)]),
        "rigid body 'rod'", "property-type", "'frames' must map names to places", "{tip: {translation: [0, 0, 0.5]}}"),
    "a frame with a number for a name": (
        lambda: rod(frames={1: (0, 0, 1)}),
        "rigid body 'rod'", "property-type", "input should be a valid string", "change the value"),
    "a frame at two numbers": (
        lambda: rod(frames={"tip": (0, 0)}),
        "rigid body 'rod'", "property-type", "'frames.tip.translation' must be three numbers, got (0, 0)",
        "three numbers"),
    "an axis that is no letter": (
        lambda: Joint("j", "revolute", axis="w"),
        "joint 'j'", "property-type", "'axis' must be three numbers or one of x, y, z, -x, -y, -z, got 'w'",
        "write z or"),
    "a kind of joint that is misspelt": (
        lambda: Joint("j", "revolut"), "joint 'j'", "property-value", "'kind' is 'revolut'",
        "did you mean 'revolute'?"),
    "a kind of joint that is nothing": (
        lambda: Joint("j", "xyz"), "joint 'j'", "property-value", "'kind' is 'xyz'", "expected 'fixed', 'revolute'"),
    "a joint without a kind": (
        lambda: Joint("j"), "joint 'j'", "missing-property", "needs the property 'kind'", "add 'kind'"),
    "five numbers for a wrench": (
        lambda: ForceElement("f", wrench=range(5)),
        "force element 'f'", "property-type", "'wrench' must be six numbers (torque, then force), got range(0, 5)",
        "write them as in [0, 0, 0, 0, 0, -9.81]"),
    "three numbers for a quaternion": (
        lambda: Displacement("d", rotation={"quaternion": (0, 0, 1)}),
        "displacement 'd'", "property-type", "'rotation.quaternion' must be four numbers x, y, z, w, got (0, 0, 1)",
        "the scalar part last"),
    "a rotation that is a number": (
        lambda: Displacement("d", rotation=1.5),
        "displacement 'd'", "property-type", "'rotation' must be a rotation, got 1.5",
        "write one of {euler: [a, b, c]"),
    "a rotation with an axis and no angle": (
        lambda: Displacement("d", rotation={"axis": "z"}),
        "displacement 'd'", "missing-property", "needs the property 'rotation.angle'", "add 'rotation.angle'"),
    "a rotation with two rows": (
        lambda: Displacement("d", rotation=[[1, 0, 0], [0, 1, 0]]),
        "displacement 'd'", "property-type", "'rotation.matrix' must be three rows of three numbers", "[[1, 0, 0]"),
    "Euler angles that are two": (
        lambda: euler((1, 2)), "euler", "property-type", "'euler' must be three numbers, got (1, 2)", "write three"),
    "a gravity that is a number": (
        lambda: Context(gravity=9.81),
        "context", "property-type",
        "'gravity' must be three numbers [m/s^2], a mapping or a function of position, got 9.81",
        "write [0, 0, -9.81]"),
    "a gravity of two numbers": (
        lambda: Context(gravity=(0, -9.81)), "context", "property-type", "'gravity' must be three numbers, got",
        "write"),
    "a gravity of unknown form": (
        lambda: Context(gravity={"G": 1}), "context", "property-type", "'gravity' must be three numbers", "{mu:"),
    "a base that is nothing": (
        lambda: Context(base="floating"),
        "context", "property-type",
        "'base' must be fixed, free, a harmonic motion or a function of time, got 'floating'",
        "write fixed, free or"),
    "a motion that does not exist": (
        lambda: HarmonicMotion(frequncy=1),
        "harmonic motion", "unknown-property", "has no property 'frequncy'", "did you mean 'frequency'"),
    "a context property that does not exist": (
        lambda: Context(gravty=1), "context", "unknown-property", "has no property 'gravty'",
        "did you mean 'gravity'?"),
    "an assembly of numbers": (
        lambda: Assembly("a", entities=[1]),
        "assembly 'a'", "property-type", "'entities.0' is 1: input should be an instance of Entity",
        "change the value"),
    "an assembly with connections of numbers": (
        lambda: Assembly("a", entities=[], connections=[[1, 2]]),
        "assembly 'a'", "property-type", "'connections' must be a list of ports, got [1, 2]",
        "[elbow.b, forearm.origin]"),
    "an assembly with one connection for many": (
        lambda: Assembly("a", entities=[], connections="a.b"),
        "assembly 'a'", "property-type", "'connections' must be a list of connections, got 'a.b'", "write [["),
    "an assembly that exposes a number": (
        lambda: Assembly("a", entities=[], exposes=3),
        "assembly 'a'", "property-type", "'exposes' must map outer port names to inner ports, got 3",
        "{hip: thigh.origin}"),
    "an entity with a number for a name": (
        lambda: rod(5), "rigid body '5'", "property-type", "'name' is 5: input should be a valid string", "change"),
    "a property of another author, of the wrong type": (
        lambda: ForeignShaft("s", turns="many"), "foreign shaft 's'", "property-type",
        "'turns' is 'many': input should be a valid integer", ""),
    "a model with a number for a name": (
        lambda: Model(5, []), "model", "property-type", "name must be a text, got 5", "give the name first"),
    "a model of numbers": (
        lambda: Model("m", [5]), "model 'm'", "property-type", "entities must be a list of Entity objects, got 5",
        "assemble"),
    "a model of nothing": (
        lambda: Model("m", None), "model 'm'", "property-type", "entities must be a list of Entity objects, got",
        "assemble"),
    "a model with a text for a connection": (
        lambda: Model("m", [], ["a.b"]),
        "model 'm'", "property-type", "connections: must be a list of ports, got 'a.b'", "[elbow.b, forearm.origin]"),
    "a model with a mapping for a context": (
        lambda: Model("m", [], [], {}), "model 'm'", "property-type", "context must be a Context, got {}",
        "Context(gravity="),
    "a path that leads nowhere": (
        lambda: arm()["rod.mas"], "rigid body 'rod'", "unknown-path", "'rod.mas': there is no 'mas'",
        "did you mean 'mass'"),
    "a chain that begins with an entity": (
        lambda: chain(rod(), rod("b")), "chain", "chain", "expected the name of a port", 'write chain("world", ...)'),
    "a chain that leaves nothing": (
        lambda: chain("world", "tip"), "chain", "chain", "the port 'tip' follows no entity", "put it after an entity"),
    "a chain with a connection in it": (
        lambda: chain("world", connect("a", "b")), "chain", "chain", "expected entities and names of their ports, got",
        "beside"),
    "a chain with a number in it": (
        lambda: chain("world", 5), "chain", "chain", "expected entities and names of their ports, got 5",
        "write chain("),
    "a chain through a part without frames": (
        lambda: chain("world", ForeignShaft("s")), "foreign shaft 's'", "chain",
        "has no spatial port to be entered by", "expose one"),
    "an assembly of what is no part": (
        lambda: assemble("m", "rod"),
        "assemble", "parts", "expected entities, chain(...) or connect(...), got 'rod'",
        "write assemble(name, chain(...)"),
    "a drive of nothing": (
        lambda: driven(), "drive of 'hinge'", "drive", "nothing is given", "give rotor_inertia"),
    "a drive of a body": (
        lambda: arm().with_drive("rod", viscous=1), "drive of 'rod'", "drive", "is no joint", "hinge"),
    "a gear with rows of different length": (
        lambda: Gear("g", [[1, 2], [3]]), "gear 'g'", "property-type", "'ratio' must have rows of equal length",
        "[[1, 1], [1, -1]]"),
    "three magnitudes of friction": (
        lambda: driven(coulomb=(1, 2, 3)), "friction 'hinge_drive.friction'", "property-type",
        "'coulomb' must be a number or two of them (plus, minus), got (1, 2, 3)", "[0.3, 0.25]"),
    "three numbers for a bushing": (
        lambda: Bushing("b", stiffness=(1, 2, 3)), "bushing 'b'", "property-type",
        "'stiffness' must be six numbers (rotations, then shifts), got (1, 2, 3)", "write them as in"),
    "a class with a name that is taken": (
        lambda: type("Joint", (Entity,), {"__module__": "elsewhere"}),
        "entity class Joint", "class-name", "'joint' is already the kind of gyrostat.spec.joint.Joint",
        "another class name"),
    "a class with a property called like its kind": (
        lambda: type("Spool", (Entity,), {"__module__": "elsewhere", "__annotations__": {"spool": float}}),
        "entity class Spool", "class-name", "'spool' is both the kind and one of its properties", "rename one of them"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_made_is_refused_in_our_words(case):
    make, entity, rule, message, remedy = REFUSED[case]
    with pytest.raises(SpecError) as caught:
        make()
    (problem,) = caught.value.problems
    assert problem.rule == rule
    assert problem.entity.startswith(entity)
    assert message in problem.message
    assert remedy in problem.remedy
    assert str(caught.value) == str(problem)


def rules_in_the_source():
    """The rule of every problem that spec/ can report: the constants in calls that make one."""
    place = {"problem": 0, "add": 0, "Problem": 1, "one": 1, "_refused": None}
    for path in Path(gyrostat.spec.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                index = place.get(name)
                if index is not None and len(node.args) > max(index, 1) and isinstance(node.args[index], ast.Constant):
                    yield node.args[index].value


def test_every_rule_in_the_source_has_a_case_here():
    rules = set(rules_in_the_source())
    assert len(rules) > 20
    assert rules <= {case[2] for case in [*WRONG.values(), *REFUSED.values()]}


# ------------------------------------------------------------------------------------------------ what is not a mistake
@pytest.mark.parametrize(
    "model",
    [
        arm(),
        arm(base="free"),
        assemble("massless base", chain("world", rod(mass=0), "tip", hinge(), rod("b"))),
        assemble("massless link fixed to one with mass", chain("world", hinge(), rod("a", mass=0), rod("b"))),
        assemble("two joints in a row", chain("world", hinge("a"), hinge("b"), rod())),
        assemble("displacement between joints", chain("world", hinge("a"), Displacement("d"), hinge("b"), rod())),
        assemble("bare world"),
        assemble("rod of zero thickness", chain("world", hinge(), rod(inertia=(1, 1, 0)))),
        assemble("flat plate, rounded", chain("world", hinge(), rod(inertia=(0.1, 0.2, 0.3 + 1e-12)))),
        assemble("almost unit axis", chain("world", hinge(axis=(0.6 + 1e-8, 0, 0.8)), rod())),
        assemble("every name that is allowed", chain("world", hinge("ヒンジ"), rod("#1:a-b/c?*&!%@`~<>=^$(;)é"))),
        arm(leg("left"), leg("right"), connect("rod.tip", "left.top", "right.top")),
        arm(assembly("body", leg(), exposes={"top": "leg.top"}), connect("rod.tip", "body.top")),
        arm(gravity=CentralGravity(mu=1.0), base=HarmonicMotion(amplitude=(0, 0, 1), frequency=1)),
        arm(
            ForeignShaft("s"),
            ForeignShaft("t"),
            RotorInertia("wheel", inertia=1),
            connect("hinge.shaft", "s.in"),
            connect("s.out", "t.in", "wheel"),
        ),
        driven(rotor_inertia=1, gear_ratio=-100, stiffness=5, damping=1, viscous=1, coulomb=(1, 2), torque_limit=3),
        geared(
            Gear("g", 2),
            "g.motor",
            "g.joint",
            Gear("h", 2),
            connect("g.motor", "h.motor"),
            connect("g.joint", "h.joint"),
        ),
    ],
    ids=lambda model: model.name,
)
def test_a_good_model_has_no_problems(model):
    assert problems(model) == []
    assert check(model) is None


def test_entities_inside_assemblies_may_have_reserved_names():
    inside = {"entities": [hinge("knee"), rod("context")], "connections": [["knee.b", "context"]]}
    model = arm(leg(exposes={"top": "knee.a"}, **inside), connect("rod.tip", "leg.top"))
    assert problems(model) == []


# ------------------------------------------------------------------------------------------------ all at once
def test_all_mistakes_come_in_one_exception():
    model = assemble(
        "wrong",
        chain(
            "world",
            hinge("a", axis=(0, 0, 2)),
            rod("b", mass=-1, inertia=(1, 1, 3)),
            hinge("c"),
            rod("d", com=(0, 0, NAN)),
        ),
        connect("d.tip", "e.a"),
        rod("stray name"),
        gravity=(0, 0, INF),
    )
    with pytest.raises(SpecError) as caught:
        check(model)
    rules = sorted(p.rule for p in caught.value.problems)
    assert rules == ["dangling-connection", "finite", "finite", "inertia-triangle", "mass", "name", "unit-axis"]
    assert str(caught.value).startswith("7 problems:\n")
    assert len(str(caught.value).splitlines()) == 8


def test_a_misspelt_connection_is_not_reported_again_as_a_part_in_the_air_or_a_joint_without_mass():
    parts = chain("world", hinge("a"), rod("b")), hinge("c"), rod("d"), connect("b.tip", "c.a")
    assert [p.rule for p in problems(assemble("m", *parts, connect("c.b", "dd.origin")))] == ["dangling-connection"]
    assert [p.rule for p in problems(assemble("m", *parts, connect("c.b", "d.orign")))] == ["dangling-connection"]
    assert [p.rule for p in problems(assemble("m", *parts, connect("c.b", "whatever")))] == ["dangling-connection"]
    assert [p.rule for p in problems(assemble("m", *parts, connect("c.b")))] == ["dangling-connection"]


def test_a_misspelt_connection_does_not_hide_another_mistake_far_from_it():
    parts = chain("world", hinge("a"), rod("b")), hinge("c"), rod("d"), connect("b.tip", "c.a")
    far = chain("b.tip", hinge("e")), rod("in_the_air")
    found = problems(assemble("m", *parts, *far, connect("c.b", "dd.origin")))
    assert sorted(p.rule for p in found) == ["dangling-connection", "moved-mass", "unreachable"]


def test_a_wrong_exposure_is_reported_once_however_often_it_is_used():
    model = arm(rod("x"), leg(exposes={"top": "kne.a"}), connect("rod.tip", "leg.top"), connect("leg.top", "x"))
    assert [p.rule for p in problems(model)] == ["dangling-connection"]


def test_three_entities_of_one_name_are_two_problems_and_the_mistakes_of_all_three():
    found = problems(arm(rod("rod", mass=-1), rod("rod", mass=-2)))
    assert [p.rule for p in found] == ["mass", "mass", "unique-name", "unique-name"]


def test_the_value_of_a_problem_is_what_stands_in_the_model():
    (problem,) = problems(with_body(mass=-2))
    assert problem.value == -2.0
    (problem,) = problems(with_body(frames={"tip": ((0, 0, 0), euler((0, 0, 0), "xxx"))}))
    assert problem.value == Euler(euler=(0, 0, 0), axes="xxx")
    (problem,) = problems(arm(connect("rod.tip", "hnige.a")))
    assert problem.value == ("rod.tip", "hnige.a")
    (problem,) = problems(arm(gravity=UniformGravity(g=(0, 0, INF))))
    assert problem.value == (0.0, 0.0, INF)


def test_an_entity_of_another_author_can_have_rules_of_its_own():
    class ForeignMagnet(Entity):
        strength: float

        def problems(self):
            weak = self.strength < 1.0
            return (
                [self.problem("strength", f"is too weak, got {self.strength:g}", "buy a better one", 7)] if weak else []
            )

    model = arm(ForeignMagnet("m", strength=0.5), connect("rod.tip", "m"))
    (problem,) = problems(model)
    assert str(problem) == "foreign magnet 'm': is too weak, got 0.5. Hint: buy a better one."
    assert problem.value == 7


def test_nan_hides_in_no_comparison():
    """A rule whose comparison is false for NaN must not call NaN good."""
    for model in (
        with_turn(((NAN, 0, 0), (0, 1, 0), (0, 0, 1))),
        with_body(inertia=matrix(xy=NAN, yx=NAN)),
        with_joint("universal", axis=(NAN, 0, 0), second_axis=(NAN, 0, 0)),
    ):
        assert [p.rule for p in problems(model)].count("finite") >= 1


# ------------------------------------------------------------------------------------------------ exceptions
def test_every_exception_is_a_gyrostat_error_and_survives_a_trip_to_another_process():
    for kind in (SpecError, LoadError, SaveError):
        error = kind([Problem("joint 'a'", "unit-axis", "is long", "cut it", 2.0, "a.yaml:3")])
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, GyrostatError)
        assert type(again) is kind
        assert again.problems == error.problems
        assert str(again) == str(error) == "joint 'a' (a.yaml:3): is long. Hint: cut it."


def test_a_thousand_problems_are_kept_but_not_all_printed():
    error = SpecError(Problem("x", "rule", f"is wrong {n}", "mend it") for n in range(1000))
    assert len(error.problems) == 1000
    assert str(error).startswith("1000 problems:\nx: is wrong 0.")
    assert str(error).endswith("x: is wrong 99. Hint: mend it.\n... and 900 more, in .problems of this exception")


def test_long_values_are_cut_in_messages():
    assert clipped([1.0, 2.0]) == "[1.0, 2.0]"
    assert clipped(None) == "nothing"
    assert len(clipped("x" * 10**6)) == 80
    assert clipped(10**5000) == "a very long int"
    with pytest.raises(SpecError) as caught:
        rod(com="x" * 10**6)
    assert len(str(caught.value)) < 300


def test_near_names_are_suggested_and_otherwise_the_first_ones_listed():
    assert nearest("elbwo", ["wrist", "elbow"]) == "did you mean 'elbow'?"
    assert nearest("zzz", "abcdefghij") == "known: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ..."
    assert nearest("x", []) == "there are none to choose from"
