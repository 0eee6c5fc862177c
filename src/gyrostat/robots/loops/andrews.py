"""Andrews' squeezing mechanism: seven bodies, three loops."""

from __future__ import annotations

from gyrostat.robots.loops.links import STEEL, Vector, tube
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import PointSpring
from gyrostat.spec.rigid_body import RigidBody

DRIVE = 0.033
"""Constant torque at ``beta`` [N m]."""
A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)  # [m]
# mass [kg], moment about z [kg m^2], centre of mass, other frames [m]
D, DA, E, EA, RR, RA, SS, SA, SB, SC, SD = (
    0.028,
    0.0115,
    0.02,
    0.01421,
    0.007,
    0.00092,
    0.035,
    0.01874,
    0.01043,
    0.018,
    0.02,
)
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
BODIES: dict[str, tuple[float, float, Vector, dict[str, Vector]]] = {
    "K1": (0.04325, 2.194e-6, (RA, 0.0, 0.0), {"tip": (RR, 0.0, 0.0)}),
    "K2": (0.00365, 4.410e-7, (-DA, 0.0, 0.0), {"P": (-D, 0.0, 0.0)}),
    "K3": (0.02373, 5.255e-6, (SB, -SA, 0.0), {"D": (SD, -SC, 0.0), "P": (0.0, -SS, 0.0)}),
    "K4": (0.00706, 5.667e-7, (0.0, -(E - EA), 0.0), {"P": (0.0, -E, 0.0)}),
    "K5": (0.07050, 1.169e-5, (TA, TB, 0.0), {"tip": (ZT, 0.0, 0.0)}),
    "K6": (0.00706, 5.667e-7, (ZF - FA, 0.0, 0.0), {"P": (ZF, 0.0, 0.0)}),
    "K7": (0.05498, 1.912e-5, (-UB, -UA, 0.0), {"tip": (0.0, -U, 0.0)}),
}
START = {
    "beta": -0.06171389001427645,
    "theta": 0.0,
    "gamma": 0.45527981916307037,
    "phi": 0.22266839016588588,
    "delta": 0.48736497954384256,
    "omega": -0.22266839016588588,
    "epsilon": 1.2305474445498212,
}


def andrews_squeezer(loops: LoopTreatment = "auto") -> Model:
    """Andrews' squeezer (Giles 1978, Manning 1981; Hairer and Wanner II, VI.7; Test Set for IVP Solvers, ``andrews``):
    seven planar bodies, three loops through the point P, a spring from D on K3 to the fixed point C, no gravity::

                    C                         beta     world - K1 at O = (0, 0)
                     \\ spring                 theta    K1 - K2
              B o-----D                        gamma    world - K3 at B
                |   K3                         delta    world - K5 at A,    phi    K5 - K4
                |             K2     K1        epsilon  world - K7 at A,    omega  K7 - K6
                P o----------------o---o O     p3, p4, p6: hinges of K3, K4, K6 with K2 at P
              K4 / \\ K6
                o   o
             K5  \\ /  K7
                  A

    P = R(beta) (rr, 0) + R(beta + theta) (-d, 0). The independent coordinate is beta, which a constant torque of
    ``gyrostat.robots.loops.andrews.DRIVE`` = 0.033 N m turns from rest: after 0.03 s it has made two and a half
    turns. Loop 1 is solved for theta and gamma, loop 2 for delta and phi, loop 3 for epsilon and omega.

    Figures as printed there; centres of mass of K3, K5, K7 by Hairer and Wanner (only their distance from the pivot
    has an influence); moments about x and y, which have none, are ours."""
    O = (0.0, 0.0, 0.0)
    bodies = {}
    for name, (mass, moment, com, frames) in BODIES.items():
        shape = tube(O, list(frames.values())[-1], 0.0012, STEEL)
        inertia = (0.6 * moment, 0.6 * moment, moment)
        bodies[name] = RigidBody(name, mass=mass, com=com, inertia=inertia, frames=frames, shapes=(shape,))

    def hinge(name: str) -> Joint:
        return Joint(name, "revolute", axis="z")

    return assemble(
        "andrews_squeezer",
        chain("world", hinge("beta"), bodies["K1"], "tip", hinge("theta"), bodies["K2"]),
        chain("world", Displacement("B", translation=B), hinge("gamma"), bodies["K3"], "P", hinge("p3")),
        chain("world", Displacement("A", translation=A), hinge("delta"), bodies["K5"], "tip", hinge("phi")),
        chain("phi.b", bodies["K4"], "P", hinge("p4")),
        chain("A.b", hinge("epsilon"), bodies["K7"], "tip", hinge("omega"), bodies["K6"], "P", hinge("p6")),
        connect("K2.P", "p3.b", "p4.b", "p6.b"),
        chain("world", Displacement("C", translation=C)),
        PointSpring("spring", stiffness=4530.0, rest_length=0.07785),
        connect("spring.a", "K3.D"),
        connect("spring.b", "C.b"),
        gravity=(0.0, 0.0, 0.0),
        reference=START,
        independent=["beta"],
        loops=loops,
    )
