"""Watt's governor of the IFToMM benchmarks, A05."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import ORANGE, bar
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.connecting_rod import ConnectingRod
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import PointSpring
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import rpy

SPEED = 2.0 * math.pi
"""Of the shaft at the start [rad/s]."""
DENSITY, ROD, WIDTH, SLIDER, BALL = 3000.0, 1.0, 0.01, 0.1, 5.0  # [kg/m^3], [m], [m], [m], [kg]
OFFSET, HEIGHT, START, TILT = 0.05, 1.0, 0.5, math.radians(30.0)  # of hinges and slider [m], of rods [rad]
STIFFNESS, DAMPING, LINK = 8e5, 4e4, 0.5  # [N/m], [N s/m], [m]


def flyball_governor(rigid: bool = False, loops: LoopTreatment = "auto") -> Model:
    """IFToMM benchmark A05: two rods with balls hang from a shaft that turns about the vertical; links from their
    middles carry a slider on the shaft::

                  left o--+--o right      height 1 m, hinges 0.05 m off the axis, about y
                     /    |    \\
                    o     |     o         middles of the rods
                  /  \\    |    /  \\
                 O    \\+-----+/    O      balls, 5 kg each
                       |slide|            height 0.5 m + slide
                       +-----+
                          |  spin (z)     gravity (0, 0, -9.81)

    ``spin``, ``slide`` [m] against the start, ``left``, ``right`` [rad], positive upwards against the start, where
    the rods are 30 degrees below the horizontal; at the start the shaft turns with 2 pi rad/s. Shaft, rods
    1 m x 0.01 m x 0.01 m, slider 0.1 m x 0.1 m x 0.1 m, density 3000 kg/m^3.

    The benchmark's links are stiff springs (8e5 N/m) with dampers (4e4 N s/m) of 0.5 m: there is no loop, and the
    system is stiff. With ``rigid=True`` they are connecting rods of that length: two loops, solved for ``left`` and
    ``right``, and ``spin`` and ``slide`` are independent.

    Figures: Gonzalez and others, A collaborative benchmarking framework for multibody system dynamics (2010), A05;
    uniform rods and blocks."""
    shaft = bar("shaft", DENSITY * ROD * WIDTH**2, (0.0, 0.0, HEIGHT), WIDTH, {"middle": (0.0, 0.0, START)})
    moment = DENSITY * SLIDER**5 / 6.0
    slider = RigidBody(
        "slider",
        mass=DENSITY * SLIDER**3,
        inertia=(moment, moment, moment),
        frames={"left": (-OFFSET, 0.0, 0.0), "right": (OFFSET, 0.0, 0.0)},
        shapes=(Shape(kind="box", size=(SLIDER, SLIDER, SLIDER), color=ORANGE),),
    )
    parts: list[Parts | Entity] = [
        chain("world", Joint("spin", "revolute", axis="z"), shaft),
        chain("shaft.middle", Joint("slide", "prismatic", axis="z"), slider),
    ]
    for side, sign in (("left", -1.0), ("right", 1.0)):
        place = Displacement(f"{side}_hinge", translation=(sign * OFFSET, 0.0, 0.0))
        turned = Displacement(f"{side}_tilt", rotation=rpy(0.0, sign * TILT, 0.0))
        hinge = Joint(side, "revolute", axis=(0.0, -sign, 0.0))
        rod = _rod(side, sign)
        parts.append(chain("shaft.tip", place, turned, hinge, rod))
        link = f"{side}_link"
        parts.append(
            ConnectingRod(link, LINK)
            if rigid
            else PointSpring(link, stiffness=STIFFNESS, damping=DAMPING, rest_length=LINK)
        )
        parts += [connect(f"{link}.a", f"slider.{side}"), connect(f"{link}.b", f"{side}_rod.middle")]
    about_loops = {"independent": ["slide"] if rigid else [], "loops": loops}
    return assemble("flyball_governor", *parts, gravity=(0.0, 0.0, -9.81), **about_loops)


def _rod(side: str, sign: float) -> RigidBody:
    """A rod along x with a point mass at its end, as one body."""
    rod = DENSITY * ROD * WIDTH**2
    mass = rod + BALL
    com = (rod * ROD / 2.0 + BALL * ROD) / mass
    about = rod * (ROD**2 + WIDTH**2) / 12.0 + rod * (com - ROD / 2.0) ** 2 + BALL * (ROD - com) ** 2
    end = (sign * ROD, 0.0, 0.0)
    shapes = (
        Shape(kind="box", size=(ROD, WIDTH, WIDTH), translation=(sign * ROD / 2.0, 0.0, 0.0)),
        Shape(kind="sphere", size=(0.06,), translation=end, color=ORANGE),
    )
    return RigidBody(
        f"{side}_rod",
        mass=mass,
        com=(sign * com, 0.0, 0.0),
        inertia=(rod * WIDTH**2 / 6.0, about, about),
        frames={"middle": (sign * ROD / 2.0, 0.0, 0.0), "ball": end},
        shapes=shapes,
    )
