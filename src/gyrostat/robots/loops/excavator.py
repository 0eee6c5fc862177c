"""A hydraulic excavator: three cylinders on hinges, and the four-bar of its bucket."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import GREY, ORANGE, STEEL, Vector, box_inertia, tube
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

Point = tuple[float, float]
# Pins in the plane of the arm (x along the link, z up), each seen from the joint at which its body begins [m]
FOOT, BOOM_FOOT = (0.30, 1.80), (0.80, 1.35)  # on the turntable: boom, its cylinder
BOOM_PIN, STICK_FOOT, BOOM = (2.60, 0.75), (2.90, 1.10), (5.70, 0.0)  # on the boom
STICK_PIN, BUCKET_FOOT, ROCKER, STICK = (-0.75, 0.35), (0.10, 0.75), (2.45, 0.10), (2.90, 0.0)  # on the stick
BUCKET_PIN, TEETH = (0.10, 0.45), (1.50, -0.10)  # on the bucket
ROCKER_LENGTH, LINK_LENGTH = 0.62, 0.60
STROKES = {"boom": (2.20, 3.08), "stick": (2.48, 3.73), "bucket": (2.22, 2.98)}  # shortest and longest [m]
START = {"boom": 0.55, "stick": -1.90, "bucket": -1.00}  # [rad]
# Ours: mass [kg], centre of mass (x, z) and edges of the box with the same inertia [m]
LINKS: dict[str, tuple[float, Point, Vector]] = {
    "boom_link": (1450.0, (2.80, 0.35), (5.8, 0.5, 0.7)),
    "stick_link": (720.0, (1.00, 0.15), (3.5, 0.4, 0.5)),
    "bucket_link": (650.0, (0.65, -0.15), (1.3, 1.2, 1.0)),
}


def excavator(load: float = 800.0, loops: LoopTreatment = "auto") -> Model:
    """A machine of about 20 t: turntable, boom, stick, bucket, moved by cylinders; all figures ours::

                          stick_cylinder
                    o===========----o
             boom  /  \\              \\  stick, with bucket_cylinder on its back
                  /     o             o
                 /     / boom_cylinder \\ o rocker          x forward, z up
        turntable o---o                  |\\ o link          hinges about -y: positive angles lift
                  | swing (z)            o bucket           gravity (0, 0, -9.81)

    Driven: ``swing`` [rad] and ``boom_cylinder``, ``stick_cylinder``, ``bucket_cylinder`` [m], lengths from pin to pin,
    which are the independent coordinates. ``boom``, ``stick``, ``bucket``, ``rocker`` follow. Each cylinder is a
    barrel on a hinge (``..._foot``), a slide, and a rod on a pin (``..._pin``): with its length known, the triangle
    gives the link's angle and the barrel's. The bucket's cylinder turns the rocker, and the four-bar of stick, rocker,
    link and bucket gives the bucket. Order: as found, see ``gs.loops(model)``.

    ``load`` [kg]: in the bucket, as a point 0.65 m from its hinge. ``bucket_link.teeth`` is the cutting edge."""
    parts: list[Parts | Entity] = []
    turntable = RigidBody(
        "turntable",
        mass=9500.0,
        com=(-0.8, 0.0, 1.1),
        inertia=box_inertia(9500.0, 4.0, 2.6, 1.4),
        frames={"boom_foot": _at(BOOM_FOOT), "boom": _at(FOOT)},
        shapes=(Shape(kind="box", size=(4.0, 2.6, 1.4), translation=(-0.8, 0.0, 1.1), color=ORANGE),),
    )
    frames = {
        "boom_link": {"boom_pin": BOOM_PIN, "stick_foot": STICK_FOOT, "tip": BOOM},
        "stick_link": {"stick_pin": STICK_PIN, "bucket_foot": BUCKET_FOOT, "rocker": ROCKER, "tip": STICK},
        "bucket_link": {"link": BUCKET_PIN, "load": (0.65, -0.15), "teeth": TEETH},
    }
    links = {name: _link(name, load if name == "bucket_link" else 0.0, frames[name]) for name in LINKS}
    swing = Joint("swing", "revolute", axis="z", passive=False)
    parts.append(chain("world", swing, turntable, _hinge("boom"), links["boom_link"], _hinge("stick")))
    parts.append(chain("stick.b", links["stick_link"], _hinge("bucket"), links["bucket_link"]))
    parts.append(chain("stick_link.rocker", _hinge("rocker"), _small("rocker_link", 45.0, ROCKER_LENGTH)))
    parts.append(chain("rocker_link.tip", _hinge("link"), _small("link_link", 50.0, LINK_LENGTH), _hinge("link_pin")))
    parts.append(connect("link_pin.b", "bucket_link.link"))
    parts += _cylinder("boom", "turntable.boom_foot", "boom_link.boom_pin", 1.0)
    parts += _cylinder("stick", "boom_link.stick_foot", "stick_link.stick_pin", 1.1)
    parts += _cylinder("bucket", "stick_link.bucket_foot", "rocker_link.tip", 0.9)
    cylinders = ["boom_cylinder", "stick_cylinder", "bucket_cylinder"]
    return assemble("excavator", *parts, reference=_reference(), independent=cylinders, loops=loops)


def _at(point: Point) -> Vector:
    return point[0], 0.0, point[1]


def _hinge(name: str) -> Joint:
    return Joint(name, "revolute", axis=(0.0, -1.0, 0.0))


def _link(name: str, load: float, frames: dict[str, Point]) -> RigidBody:
    mass, (x, z), edges = LINKS[name]
    own = box_inertia(mass, *edges)
    total = mass + load
    at = (0.65, -0.15)
    com = (mass * x + load * at[0]) / total, (mass * z + load * at[1]) / total
    shift = [(mass, (x - com[0], z - com[1])), (load, (at[0] - com[0], at[1] - com[1]))]
    ixx, iyy, izz = (
        own[0] + sum(m * d[1] ** 2 for m, d in shift),
        own[1] + sum(m * (d[0] ** 2 + d[1] ** 2) for m, d in shift),
        own[2] + sum(m * d[0] ** 2 for m, d in shift),
    )
    ixz = -sum(m * d[0] * d[1] for m, d in shift)
    inertia = ((ixx, 0.0, ixz), (0.0, iyy, 0.0), (ixz, 0.0, izz))
    places = {key: _at(point) for key, point in frames.items()}
    last = list(places.values())[-1]
    shapes = (tube((0.0, 0.0, 0.0), last, 0.15, ORANGE if name != "bucket_link" else GREY),)
    return RigidBody(name, mass=total, com=_at(com), inertia=inertia, frames=places, shapes=shapes)


def _small(name: str, mass: float, length: float) -> RigidBody:
    across = mass * length**2 / 12.0
    shape = tube((0.0, 0.0, 0.0), (length, 0.0, 0.0), 0.04, GREY)
    return RigidBody(
        name,
        mass=mass,
        com=(length / 2.0, 0.0, 0.0),
        inertia=(0.01 * mass, across + 0.005 * mass, across + 0.005 * mass),
        frames={"tip": (length, 0.0, 0.0)},
        shapes=(shape,),
    )


def _cylinder(name: str, foot: str, pin: str, barrel: float) -> list[Parts | Entity]:
    """A barrel that begins at its foot and a rod that ends at its pin; ``barrel``: its length [m]."""
    body = RigidBody(
        f"{name}_barrel",
        mass=110.0,
        com=(barrel / 2.0, 0.0, 0.0),
        inertia=(0.5, 110.0 * barrel**2 / 12.0, 110.0 * barrel**2 / 12.0),
        shapes=(tube((0.0, 0.0, 0.0), (barrel, 0.0, 0.0), 0.08, GREY),),
    )
    rod = RigidBody(
        f"{name}_rod",
        mass=70.0,
        com=(-barrel / 2.0, 0.0, 0.0),
        inertia=(0.2, 70.0 * barrel**2 / 12.0, 70.0 * barrel**2 / 12.0),
        shapes=(tube((-barrel, 0.0, 0.0), (0.0, 0.0, 0.0), 0.05, STEEL),),
    )
    lower, upper = STROKES[name]
    slide = Joint(f"{name}_cylinder", "prismatic", axis="x", lower=lower, upper=upper, passive=False)
    return [
        chain(foot, _hinge(f"{name}_foot"), body, slide, rod, "origin", _hinge(f"{name}_pin")),
        connect(f"{name}_pin.b", pin),
    ]


# ------------------------------------------------------------------------------------------------ the reference
def _turned(point: Point, angle: float) -> Point:
    c, s = math.cos(angle), math.sin(angle)
    return c * point[0] - s * point[1], s * point[0] + c * point[1]


def _plus(one: Point, two: Point) -> Point:
    return one[0] + two[0], one[1] + two[1]


def _polar(start: Point, end: Point) -> tuple[float, float]:
    return math.dist(start, end), math.atan2(end[1] - start[1], end[0] - start[0])


def _reference() -> dict[str, float]:
    """Angles and lengths of the configuration START, by the law of cosines."""
    boom_pin = _plus(FOOT, _turned(BOOM_PIN, START["boom"]))
    stick_pin = _plus(BOOM, _turned(STICK_PIN, START["stick"]))
    bucket_pin = _plus(STICK, _turned(BUCKET_PIN, START["bucket"]))
    way, direction = _polar(ROCKER, bucket_pin)
    inside = (ROCKER_LENGTH**2 + way**2 - LINK_LENGTH**2) / (2.0 * ROCKER_LENGTH * way)
    rocker = direction + math.acos(inside)
    elbow = _plus(ROCKER, _turned((ROCKER_LENGTH, 0.0), rocker))
    _, link = _polar(elbow, bucket_pin)
    found = {**START, "rocker": rocker, "link": link - rocker}
    for name, foot, pin in (
        ("boom", BOOM_FOOT, boom_pin),
        ("stick", STICK_FOOT, stick_pin),
        ("bucket", BUCKET_FOOT, elbow),
    ):
        found[f"{name}_cylinder"], found[f"{name}_foot"] = _polar(foot, pin)
    return found
