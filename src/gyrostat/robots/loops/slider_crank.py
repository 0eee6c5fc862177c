"""The slider-crank of the SUNDIALS examples, with a spring and a damper."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import STEEL, tube
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import PointSpring
from gyrostat.spec.rigid_body import RigidBody

CRANK, ROD = 0.5, 1.0  # lengths [m]


def slider_crank(loops: LoopTreatment = "auto") -> Model:
    """SUNDIALS, example ``idaSlCrank_dns``: a crank of 0.5 m, a rod of 1 m whose end slides along x, a spring with a
    damper between their middles, a constant force on the rod; no gravity::

             pin
              o
             /   .  rod
      crank /       .
           o - - - - - o==> slide (x)     y
        crank_angle  rod_angle            +--x

    Coordinates: ``crank_angle`` q about z, the independent one; ``slide`` x; ``rod_angle`` p about z, that of the
    direction from the pin to the slide: x = cos p + 0.5 cos q, 0 = sin p + 0.5 sin q. Their masses are 1 kg m^2,
    1 kg, 2 kg m^2: the rod's centre of mass is on the slide, and the crank is balanced. k = 1 N/m, d = 1 N s/m, rest
    length 1 m; the force of 1 N along x acts, as in the example's code, 1 m beyond the slide. The reference, with
    which the example starts at rest, is q = pi/2. The crank's mass, which has no influence, is ours."""
    crank = RigidBody(
        "crank",
        mass=1.0,
        inertia=(0.5, 0.5, 1.0),
        frames={"middle": (CRANK / 2, 0.0, 0.0), "tip": (CRANK, 0.0, 0.0)},
        shapes=(tube((0.0, 0.0, 0.0), (CRANK, 0.0, 0.0), 0.03),),
    )
    rod = RigidBody(
        "rod",
        mass=1.0,
        inertia=(1.0, 1.0, 2.0),
        frames={"pin": (-ROD, 0.0, 0.0), "middle": (-ROD / 2, 0.0, 0.0), "pushed": (ROD, 0.0, 0.0)},
        shapes=(tube((-ROD, 0.0, 0.0), (0.0, 0.0, 0.0), 0.02, STEEL),),
    )
    p = math.asin(-CRANK)
    return assemble(
        "slider_crank",
        chain("world", Joint("crank_angle", "revolute", axis="z"), crank, "tip", Joint("pin", "revolute", axis="z")),
        chain("world", Joint("slide", "prismatic", axis="x"), Joint("rod_angle", "revolute", axis="z"), rod),
        connect("pin.b", "rod.pin"),
        PointSpring("spring", stiffness=1.0, damping=1.0, rest_length=1.0),
        connect("spring.a", "crank.middle"),
        connect("spring.b", "rod.middle"),
        ForceElement("push", wrench=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0), expressed_in="aligned"),
        connect("push.frame", "rod.pushed"),
        gravity=(0.0, 0.0, 0.0),
        reference={"crank_angle": math.pi / 2, "slide": math.cos(p), "rod_angle": p},
        independent=["crank_angle"],
        loops=loops,
    )
