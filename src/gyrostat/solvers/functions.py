"""One-line functions over solvers that are built once for each model and kept with it.

``options`` are those of every solver's call: ``t`` (time [s], where the base moves by itself), ``out``, ``threads``,
``nonfinite``; see :class:`InverseDynamics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import kept
from gyrostat.engine.cpython.dispatch import quick, remember
from gyrostat.solvers.dynamics.derivatives import (
    ForwardDerivatives,
    ForwardDynamicsDerivatives,
    InverseDerivatives,
    InverseDynamicsDerivatives,
)
from gyrostat.solvers.dynamics.equations_of_motion import Bias, Coriolis, GravityForces, ReferenceDynamics
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import InverseMassMatrix, MassMatrix
from gyrostat.solvers.dynamics.operational_space import InverseOperationalInertia, OperationalInertia, key_of
from gyrostat.solvers.dynamics.whole_body import (
    CenterOfMass,
    Centre,
    CentroidalMatrix,
    CentroidalMomentum,
    KineticEnergy,
    Mass,
    PotentialEnergy,
    TotalInertia,
)
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


def kept_solver(model: Model, cls: Any, *key: Any, **options: Any) -> Any:
    """The solver of a model with these options, built when first asked for; ``key`` tells equal ones apart."""
    name = (cls, *key, *sorted(options.items()))
    try:
        return model.__dict__["_solvers"][name]
    except (
        AttributeError,
        KeyError,
        TypeError,
    ):  # the first time; or no model, or odd options, which the solver refuses
        solver = cls(model, **options)
    return kept(model).setdefault(name, solver)  # another thread may have been faster: there is one for all


@quick
def rnea(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, representation: str = "body", **options: Any
) -> Array:
    """Inverse dynamics: generalised forces tau (..., nv) for q (..., nq), v, a (..., nv); see
    :class:`InverseDynamics`."""
    solver = kept_solver(model, InverseDynamics, representation=representation)
    if representation == "body":
        remember(rnea, model, solver)
    return solver(q, v, a, wrenches, **options)


@quick
def aba(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Any = None,
    *,
    algorithm: str = "aba",
    representation: str = "body",
    **options: Any,
) -> Array:
    """Forward dynamics: accelerations a (..., nv) for q (..., nq), v, tau (..., nv); see :class:`ForwardDynamics`."""
    solver = kept_solver(model, ForwardDynamics, algorithm=algorithm, representation=representation)
    if algorithm == "aba" and representation == "body":
        remember(aba, model, solver)
    return solver(q, v, tau, wrenches, **options)


@quick
def crba(model: Model, q: Any, *, algorithm: str = "crba", representation: str = "body", **options: Any) -> Array:
    """Mass matrix M(q) (..., nv, nv); see :class:`MassMatrix`."""
    solver = kept_solver(model, MassMatrix, algorithm=algorithm, representation=representation)
    if algorithm == "crba" and representation == "body":
        remember(crba, model, solver)
    return solver(q, **options)


@quick
def inverse_mass_matrix(model: Model, q: Any, **options: Any) -> Array:
    """M(q)^-1 (..., nv, nv), without inverting; see :class:`InverseMassMatrix`."""
    solver = kept_solver(model, InverseMassMatrix)
    remember(inverse_mass_matrix, model, solver)
    return solver(q, **options)


@quick
def coriolis(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """C(q, v) (..., nv, nv) with dM/dt = C + C^T; see :class:`Coriolis`."""
    solver = kept_solver(model, Coriolis)
    remember(coriolis, model, solver)
    return solver(q, v, **options)


@quick
def gravity(model: Model, q: Any, **options: Any) -> Array:
    """Generalised forces (..., nv) that hold the robot against its weight; see :class:`GravityForces`."""
    solver = kept_solver(model, GravityForces)
    remember(gravity, model, solver)
    return solver(q, **options)


@quick
def bias(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Generalised forces (..., nv) without acceleration, tau = M a + bias; see :class:`Bias`."""
    solver = kept_solver(model, Bias)
    remember(bias, model, solver)
    return solver(q, v, **options)


@quick
def rnea_reference(model: Model, q: Any, v: Any, v_r: Any, a_r: Any, **options: Any) -> Array:
    """M a_r + C(q, v) v_r + G (..., nv), with a reference velocity; see :class:`ReferenceDynamics`."""
    solver = kept_solver(model, ReferenceDynamics)
    remember(rnea_reference, model, solver)
    return solver(q, v, v_r, a_r, **options)


@quick
def rnea_derivatives(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, method: str = "auto", **options: Any
) -> InverseDerivatives:
    """dtau_dq, dtau_dv, dtau_da (..., nv, nv); see :class:`InverseDynamicsDerivatives`."""
    solver = kept_solver(model, InverseDynamicsDerivatives, method=method)
    if method == "auto":
        remember(rnea_derivatives, model, solver)
    return solver(q, v, a, wrenches, **options)


@quick
def aba_derivatives(
    model: Model, q: Any, v: Any, tau: Any, wrenches: Any = None, *, method: str = "auto", **options: Any
) -> ForwardDerivatives:
    """da_dq, da_dv, da_dtau (..., nv, nv); see :class:`ForwardDynamicsDerivatives`."""
    solver = kept_solver(model, ForwardDynamicsDerivatives, method=method)
    if method == "auto":
        remember(aba_derivatives, model, solver)
    return solver(q, v, tau, wrenches, **options)


@quick
def kinetic_energy(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Kinetic energy (...) [J]; see :class:`KineticEnergy`."""
    solver = kept_solver(model, KineticEnergy)
    remember(kinetic_energy, model, solver)
    return solver(q, v, **options)


@quick
def potential_energy(model: Model, q: Any, **options: Any) -> Array:
    """Potential energy of gravity (...) [J]; see :class:`PotentialEnergy`."""
    solver = kept_solver(model, PotentialEnergy)
    remember(potential_energy, model, solver)
    return solver(q, **options)


@quick
def total_inertia(model: Model, q: Any, **options: Any) -> Mass:
    """Total mass, centre of mass and inertia about it; see :class:`TotalInertia`."""
    solver = kept_solver(model, TotalInertia)
    remember(total_inertia, model, solver)
    return solver(q, **options)


@quick
def centroidal_momentum(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Momentum (..., 6) about the centre of mass; see :class:`CentroidalMomentum`."""
    solver = kept_solver(model, CentroidalMomentum)
    remember(centroidal_momentum, model, solver)
    return solver(q, v, **options)


@quick
def centroidal_matrix(model: Model, q: Any, **options: Any) -> Array:
    """A(q) (..., 6, nv), momentum about the centre of mass = A v; see :class:`CentroidalMatrix`."""
    solver = kept_solver(model, CentroidalMatrix)
    remember(centroidal_matrix, model, solver)
    return solver(q, **options)


def fk(
    model: Model,
    q: Any,
    v: Any = None,
    a: Any = None,
    *,
    representation: str = "body",
    t: Any = None,
    threads: int = 1,
    nonfinite: str = "raise",
) -> Motions:
    """Forward kinematics of all frames: ``fk(model, q)["tool.tip"].p``; see :class:`ForwardKinematics`."""
    solver = kept_solver(model, ForwardKinematics, representation=representation)
    return solver(q, v, a, t=t, threads=threads, nonfinite=nonfinite)


def jacobian(model: Model, q: Any, frame: str, expressed_in: str = "world", **options: Any) -> Array:
    """Jacobian (..., 6, nv) of a frame, angular part first; see :class:`Jacobian`.

    ``expressed_in="world"`` gives the twist about the origin of the world; ``"aligned"`` that of the frame's own origin
    along the axes of the world, whose linear part is its velocity; ``"local"`` the same along its own axes."""
    return kept_solver(model, Jacobian, frame=frame, expressed_in=expressed_in)(q, **options)


def jacobian_rate(model: Model, q: Any, v: Any, frame: str, expressed_in: str = "world", **options: Any) -> Array:
    """Time derivative (..., 6, nv) of :func:`jacobian`; see :class:`JacobianRate`."""
    return kept_solver(model, JacobianRate, frame=frame, expressed_in=expressed_in)(q, v, **options)


def center_of_mass(model: Model, q: Any, v: Any = None, **options: Any) -> Array | Centre:
    """Centre of mass (..., 3) in the world [m]; with v its position and velocity, a :class:`Centre`."""
    if v is None:
        return kept_solver(model, TotalInertia)(q, **options).p
    return kept_solver(model, CenterOfMass)(q, v, **options)


def operational_inertia(
    model: Model, q: Any, contacts: Mapping[str, Any] | Sequence[str] | Iterable[str], **options: Any
) -> OperationalInertia:
    """Lambda and Lambda^-1 (..., m, m) at contacts, ``{"foot": "point"}``; see :class:`InverseOperationalInertia`."""
    expect_model(model, "operational_inertia")
    key = key_of(contacts)
    try:
        solver = kept(model)[InverseOperationalInertia, key]
    except KeyError:
        made = InverseOperationalInertia(model, contacts)
        solver = kept(model).setdefault((InverseOperationalInertia, key), made)
    return solver.inertia(q, **options)
