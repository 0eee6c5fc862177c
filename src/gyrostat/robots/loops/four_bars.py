"""The chain of four-bars of the IFToMM benchmarks, A02."""

from __future__ import annotations

import math

from gyrostat.errors import SpecError
from gyrostat.robots.loops.links import bar
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

Part = Parts | Entity


def four_bars(n: int = 2, loops: LoopTreatment = "auto") -> Model:
    """IFToMM benchmark A02: ``n`` four-bars side by side, 2 n + 1 rods of 1 m and 1 kg, one degree of freedom::

        B0   h1   B1   h2   B2
         o---------o---------o
         |         |         |            y
         | v0      | v1      | v2         |      gravity (0, -9.81, 0)
         o         o         o            +--x
        A0        A1        A2

    Hinges about z: ``A0`` ... ``An`` on the ground, 1 m apart, ``B0`` ... between v(i) and h(i+1), ``C1`` ... ``Cn``
    between h(i) and v(i). Rods lie along x where their angles are zero; the reference, with which the benchmark starts,
    has the rods v upright: A = pi/2, and B0 moves with 1 m/s along x: v = -1 rad/s. The independent coordinate is A0.

    Parallelograms are constant ties, A(i) = A0: then M = (n + 1)/3 + n, U = ((n + 1)/2 + n) 9.81 sin(A0), and nothing
    is singular. As constraints (``loops="constraints"``) the flat position A0 = 0, where n + 1 branches meet, is.
    Figures: Gonzalez and others, A collaborative benchmarking framework for multibody system dynamics (2010), A02;
    thin uniform rods."""
    if n < 1:
        message = f"needs at least one four-bar, got n = {n}"
        raise SpecError.one("four_bars", "n", message, "give a positive number", n)
    parts: list[Part] = []
    reference: dict[str, float] = {}
    for i in range(n + 1):
        place = () if i == 0 else (Displacement(f"foot{i}", translation=(float(i), 0.0, 0.0)),)
        parts.append(chain("world", *place, _hinge(f"A{i}"), bar(f"v{i}", 1.0, (1.0, 0.0, 0.0))))
        reference[f"A{i}"] = math.pi / 2
    for i in range(n):
        parts.append(chain(f"v{i}.tip", _hinge(f"B{i}"), bar(f"h{i + 1}", 1.0, (1.0, 0.0, 0.0)), _hinge(f"C{i + 1}")))
        parts.append(connect(f"C{i + 1}.b", f"v{i + 1}.tip"))
        reference |= {f"B{i}": -math.pi / 2, f"C{i + 1}": math.pi / 2}
    about_loops = {"reference": reference, "independent": ["A0"], "loops": loops}
    return assemble(f"four_bars{n}", *parts, gravity=(0.0, -9.81, 0.0), **about_loops)


def _hinge(name: str) -> Joint:
    return Joint(name, "revolute", axis="z")
