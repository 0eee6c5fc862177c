"""Answers that can be asked for together: by the name of the one-line function, or of the solver's class."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from gyrostat.errors import GyrostatError, nearest
from gyrostat.solvers.dynamics.actuator_dynamics import ActuatorDynamics
from gyrostat.solvers.dynamics.bias_forces import Bias, GravityForces
from gyrostat.solvers.dynamics.capture_point import CapturePoint
from gyrostat.solvers.dynamics.center_of_mass import CenterOfMass, TotalInertia
from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMatrix, CentroidalMomentum, CentroidalMomentumRate
from gyrostat.solvers.dynamics.coriolis_matrix import Coriolis
from gyrostat.solvers.dynamics.delta_acceleration import DeltaAcceleration
from gyrostat.solvers.dynamics.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
)
from gyrostat.solvers.dynamics.energy import KineticEnergy, PotentialEnergy
from gyrostat.solvers.dynamics.equations_of_motion import EquationsOfMotion
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import Innovations, InverseMassMatrix, MassMatrix
from gyrostat.solvers.dynamics.operational_space import InverseOperationalInertia
from gyrostat.solvers.dynamics.reference_dynamics import ReferenceDynamics
from gyrostat.solvers.dynamics.regressor import Regressor
from gyrostat.solvers.dynamics.support_polygon import StabilityMargin
from gyrostat.solvers.dynamics.zero_moment_point import ZeroMomentPoint
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.kinematics.recorded_kinematics import RecordedKinematics
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.model import Model
from gyrostat.spec.solver_kinds import ANSWERS

WHO = "Solvers"

CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        ActuatorDynamics, Bias, CapturePoint, CenterOfMass, CentroidalMatrix, CentroidalMomentum,
        CentroidalMomentumRate, Coriolis, DeltaAcceleration, EquationsOfMotion, ForwardDynamics,
        ForwardDynamicsDerivatives, GravityForces, Innovations, InverseDynamics, InverseDynamicsDerivatives,
        InverseDynamicsSecondDerivatives, InverseMassMatrix, InverseOperationalInertia, Jacobian, JacobianRate,
        KineticEnergy, MassMatrix, PotentialEnergy, ReferenceDynamics, Regressor, StabilityMargin, TotalInertia,
        ZeroMomentPoint,
    )
} | {ForwardKinematics.__name__: RecordedKinematics}  # fmt: skip
"""Solvers by the name of the class; forward kinematics goes by its form as a function of a state."""

KNOWN = {answer: CLASSES[name] for answer, name in ANSWERS.items()} | CLASSES

WHOLE = ("live", "mode", "order")
"""Options that belong to all answers together."""


def answering_solver(
    model: Model, name: str, options: Mapping[str, Any], live: Sequence[str], mode: str
) -> StateSolver:
    """The solver for one answer; ``options["solver"]`` says which, where the name is the user's own."""
    if not isinstance(options, Mapping):
        raise GyrostatError(
            f"{WHO}: {name} must have options by name, got {type(options).__name__}. Hint: {name}={{}} takes the usual"
        )
    chosen = {str(key): value for key, value in options.items()}
    kind = chosen.pop("solver", name)
    if kind not in KNOWN:
        hint = nearest(str(kind), KNOWN)
        own = "" if "solver" in options else f"; an answer with a name of your own says solver='{next(iter(ANSWERS))}'"
        raise GyrostatError(f"{WHO}: there is no answer {kind!r}. Hint: {hint}{own}")
    cls = KNOWN[kind]
    taken = inspect.signature(cls).parameters
    for key in chosen:
        if key in WHOLE:
            raise GyrostatError(
                f"{WHO}: {name} has {key!r}, which is one for all answers. Hint: Solvers(model, {key}=..., {name}=...)"
                if key != "order"
                else f"{WHO}: {name} has 'order', which is one for all answers. Hint: Solvers(...).in_order(joints)"
            )
        if key not in taken:
            options_of = [p for p in taken if p not in ("model", *WHOLE)]
            raise GyrostatError(
                f"{WHO}: {name} ({cls.__name__}) has no option {key!r}. Hint: {nearest(key, options_of)}"
            )
    missing = [
        p.name for p in taken.values() if p.default is p.empty and p.name not in ("model", *chosen) and p.kind != 2
    ]
    if missing:
        raise GyrostatError(
            f"{WHO}: {name} ({cls.__name__}) needs {missing[0]!r}. Hint: {name}={{'{missing[0]}': ...}}"
        )
    if "live" in taken:
        chosen["live"] = live
    elif live:
        raise GyrostatError(
            f"{WHO}: {name} ({cls.__name__}) takes no live properties, got {', '.join(live)}. Hint: a solver of its own"
        )
    return cls(model, mode=mode, **chosen)
