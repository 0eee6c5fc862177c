"""From the specification of a solver to the solver (H04 4.2.1, Builder); ``solver.spec`` is the way back."""

from __future__ import annotations

from typing import Any

from gyrostat.errors import GyrostatError
from gyrostat.solvers.builders.answers import CLASSES
from gyrostat.solvers.builders.master_solver import Solvers
from gyrostat.solvers.dynamics.contact_derivatives import ContactDynamicsDerivatives
from gyrostat.solvers.dynamics.contact_dynamics import ContactDynamics
from gyrostat.solvers.dynamics.contact_velocities import ContactVelocities
from gyrostat.solvers.dynamics.elastic_inverse_dynamics import ElasticInverseDynamics
from gyrostat.solvers.dynamics.friction_margins import FrictionMargins
from gyrostat.solvers.dynamics.impact import Impact
from gyrostat.solvers.dynamics.parameter_derivatives import ParameterDerivatives
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import ParameterJacobian
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.solver_spec import SolverSpec

BUILDABLE: dict[str, Any] = CLASSES | {
    cls.__name__: cls
    for cls in (
        ContactDynamics,
        ContactDynamicsDerivatives,
        ContactVelocities,
        ElasticInverseDynamics,
        ForwardKinematics,
        FrictionMargins,
        Impact,
        ParameterDerivatives,
        ParameterJacobian,
        Solvers,
    )
}
"""Solvers that can be specified, by name."""


def build(spec: SolverSpec, model: Model) -> Solver:
    """The solver that a specification describes, for a model."""
    expect_model(model, "SolverSpec.build")
    if not isinstance(spec, SolverSpec):
        raise GyrostatError(f"build: expected a SolverSpec, got {type(spec).__name__}. Hint: SolverSpec('MassMatrix')")
    options = spec.keywords()
    cls, order = BUILDABLE[options.pop("solver")], options.pop("order", None)
    options |= options.pop("answers", {})
    solver = cls(model, **options)
    return solver if order is None else solver.in_order(order)


__all__ = ["SolverSpec", "build"]
