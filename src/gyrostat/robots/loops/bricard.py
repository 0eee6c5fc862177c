"""Bricard's mechanism of the IFToMM benchmarks, A04: overconstrained, and yet it moves."""

from __future__ import annotations

from gyrostat.robots.loops.links import bar
from gyrostat.spec.assemble import Link, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))  # of the hinges, at the start [m]
AXES = "yzxyzx"


def bricard(loops: LoopTreatment = "auto") -> Model:
    """IFToMM benchmark A04: five rods of 1 m, 1 kg and a section of 0.1 m x 0.1 m on six hinges, each axis
    perpendicular to the next; gravity (0, -9.81, 0). Six hinges in space leave no mobility by count (Kutzbach), these
    leave one: the five equations at the cut have rank four::

        hinge     q0 (ground)  q1        q2         q3         q4         q5 (ground)
        point     (0,0,0)      (1,0,0)   (1,-1,0)   (1,-1,1)   (0,-1,1)   (0,0,1)
        axis      y            z         x          y          z          x
        body           rod1         rod2       rod3       rod4       rod5

    All coordinates are zero at the reference, with which the benchmark starts at rest. The frame ``rod3.P3`` is at
    (1, -1, 1), the point whose history the benchmark asks for. There is no closed form: the loop is a constraint
    (``loops="auto"``).

    Figures: Gonzalez and others, A collaborative benchmarking framework for multibody system dynamics (2010), A04;
    uniform rods."""
    links: list[Link] = []
    for k in range(5):
        end = tuple(float(b - a) for a, b in zip(POINTS[k], POINTS[k + 1], strict=True))
        rod = bar(f"rod{k + 1}", 1.0, end, 0.1, {"P3": end} if k == 2 else None)  # type: ignore[arg-type]
        links += [Joint(f"q{k}", "revolute", axis=AXES[k]), rod]
    last = Joint("q5", "revolute", axis=AXES[5])
    foot = chain("world", Displacement("foot", translation=POINTS[5]))
    parts = chain("world", *links, last), foot, connect("q5.b", "foot.b")
    return assemble("bricard", *parts, gravity=(0.0, -9.81, 0.0), loops=loops)
