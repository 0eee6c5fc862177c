"""Semi-implicit (symplectic) Euler with fixed steps: rates first, coordinates with the new rates. Order 1, one
evaluation a step.

    v1 = v0 + h a(q0, v0),   q1 = q0 (+) h v1,   p1 = p0 + h p'.

Without forces that depend on v it is symplectic: the energy of a conservative motion oscillates with an amplitude
proportional to h, and does not drift [Hairer, Lubich, Wanner, Geometric Numerical Integration, VI.3]. Where the mass
matrix depends on q there are such forces: ``"variational"`` is for those. Its steps are machine code:
:mod:`~gyrostat.simulate.methods.drivers.semi_implicit_steps`."""

from __future__ import annotations

from gyrostat.simulate.methods.drivers.semi_implicit_steps import semi_implicit_steps
from gyrostat.simulate.methods.fixed_steps import FixedSteps


class SemiImplicitEuler(FixedSteps):
    """``"semi-implicit-euler"``: fixed steps ``dt``; what lies between them is the end of a shorter step."""

    name, order, degree = "semi-implicit-euler", 1, 2
    steps = semi_implicit_steps
