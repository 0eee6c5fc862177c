"""The variational midpoint rule with fixed steps: symplectic, and momentum-preserving, for long runs without damping.

The action of a step is that of its middle, with the displacement d over the step and q1 = q0 exp(d),

    Ld(q0, q1) = h L(q0 exp(d/2), d/h),

and the motion makes the sum of the steps stationary [Marsden, West, Acta Numerica 10 (2001) 357-514]. As momenta p =
M(q) v at the two ends, with p and the forces g of the Lagrangian in the middle (:mod:`discrete_mechanics`), for angles
and shifts

    p0 = M v - h/2 (g + tau),   p1 = M v + h/2 (g + tau),   v = d/h;

with quaternions the same on the group, with the tangent of the exponential: Jl(d)^-T (p - h/2 Jl(d/2)^T (g + tau)), and
Jr at the end. The first is solved for d by Newton's method, to rounding; the second gives p1, and v1 = M(q1)^-1 p1.
Forces that are none of the Lagrangian, efforts, damping, friction, act in the middle; states of blocks go by the
midpoint rule. Where stops or sticking friction hold something, their forces act in the middle too, and displacement and
rates are those nearest ones that they allow.

Order 2, symmetric in time. Without such forces the map is symplectic: the energy oscillates by an amount of order h^2,
and does not drift; momenta that a symmetry conserves are conserved to rounding. The steps are machine code:
:mod:`~gyrostat.simulate.methods.drivers.variational_steps`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.simulate.kernels import environment as of
from gyrostat.simulate.methods.compiled import NO_SOLUTION
from gyrostat.simulate.methods.drivers import fixed_clock as at
from gyrostat.simulate.methods.drivers import variational_steps as newton
from gyrostat.simulate.methods.fixed_steps import FixedSteps
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine
from gyrostat.simulate.plant.plant import Plant

CAUSES = {
    newton.UNSOLVED: "Newton's method finds no solution of a step",
    newton.NONSENSE: "forces, or their derivatives, are not finite in the middle of a step",
    newton.TURNING_TOO_FAST: f"something turns by more than {newton.TURN:g} rad in one step",
}


class Variational(FixedSteps):
    """``"variational"``: fixed steps ``dt``, and the cubic of Hermite between their ends."""

    name, order, degree = "variational", 2, 3
    kernels = (of.RETRACT, of.MOMENTUM, of.RATES, of.CARRIED, of.ARRIVAL, of.SLOPES, of.LAW_SLOPES)
    steps = newton.variational_steps

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        self.statistics |= {"newton_iterations": 0, "factorisations": 0}

    @staticmethod
    def space_of(plant: Plant) -> int:
        n, p = plant.nv, plant.np
        m = n + p
        states = 4 + m + 3 * n + plant.nq + 9 * n + 2 * p + 4 * n * n
        return states + m * m + m + m + 5 * n * n + 3 * n + 3 * n * p + p * p

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        status = super().run(machine, harvest, budget)
        for name, word in (("newton_iterations", newton.ITERATIONS), ("factorisations", newton.FACTORISATIONS)):
            self.statistics[name] = int(self.words[word])
        return status

    def failure(self, status: int) -> StepFailure:
        if status == NO_SOLUTION:
            return StepFailure(CAUSES[int(self.words[at.REASON])], hint="a smaller dt")
        return super().failure(status)
