"""One-line functions over solvers, which are built once for each model and cached on it.

``@answered_by(InverseDynamics)`` above a signature and a docstring is all there is to such a function: its parameters
after ``*`` are options of the solver's class, all others go to the call of the solver. ``options`` are those of every
solver's call: ``t`` (time [s], where the base moves by itself), ``out``, ``threads``, ``nonfinite``; see
:class:`InverseDynamics`. A plain call of a model that was asked before goes from machine code to the machine code of
its solver, see :mod:`gyrostat.engine.cpython.dispatch`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.cpython.dispatch import quick, remember
from gyrostat.solvers.dynamics.bias_forces import Bias, GravityForces
from gyrostat.solvers.dynamics.center_of_mass import CenterOfMass, Centre, Mass, TotalInertia
from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMatrix, CentroidalMomentum
from gyrostat.solvers.dynamics.contact_inverse_dynamics import contact_efforts
from gyrostat.solvers.dynamics.coriolis_matrix import Coriolis
from gyrostat.solvers.dynamics.derivatives import (
    ForwardDerivatives,
    ForwardDynamicsDerivatives,
    InverseDerivatives,
    InverseDynamicsDerivatives,
)
from gyrostat.solvers.dynamics.energy import KineticEnergy, PotentialEnergy
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import InverseMassMatrix, MassMatrix
from gyrostat.solvers.dynamics.operational_space import InverseOperationalInertia, OperationalInertia, contacts_key
from gyrostat.solvers.dynamics.reference_dynamics import ReferenceDynamics
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.machinery.companion_arguments import refuse_companions
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
F = TypeVar("F", bound=Callable[..., Any])


def answered_by(solver: type[StateSolver], **instead: Callable[..., Any]) -> Callable[[F], F]:
    """Turn the declaration of a function of a model into that function: what ``solver`` of the model returns; or what
    ``instead`` does, where a keyword of that name is given."""

    def made(declared: F) -> F:
        parameters = inspect.signature(declared).parameters.values()
        usual = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in instead}

        @functools.wraps(declared)
        def answer(*arguments: Any, **keywords: Any) -> Any:
            declared(*arguments, **keywords)  # arguments that do not fit are refused here, in Python's own words
            for name, other in instead.items():
                if keywords.get(name) is not None:
                    return other(*arguments, **keywords)
                keywords.pop(name, None)
                refuse_companions(declared.__name__, name, other, usual, keywords)
            model, *state = arguments or (keywords.pop("model"),)
            chosen = {name: keywords.pop(name, value) for name, value in usual.items()}
            solver_of_model = cached_solver(model, solver, **chosen)
            if chosen == usual:
                remember(function, model, solver_of_model)
            return solver_of_model(*state, **keywords)

        function = quick(answer)
        return function  # type: ignore[return-value]

    return made


# ------------------------------------------------------------------------------------------------ dynamics
@answered_by(InverseDynamics, contacts=contact_efforts)
def rnea(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    wrenches: Any = None,
    *,
    representation: str = "body",
    contacts: Any = None,
    **options: Any,
) -> Any:
    """Inverse dynamics: generalised forces tau (..., nv) for q (..., nq), v, a (..., nv); see
    :class:`InverseDynamics`.

    With ``contacts`` (as of :class:`ContactDynamics`): ``.tau``, zero where nothing drives the robot (a free base,
    passive joints, joints behind the spring of a drive, those that ``passive`` names), and ``.forces[name]`` (..., 6)
    on the robot in the frames' axes, with M a + h = tau + J^T f. Of all such forces those of least norm, inside the
    friction cones of contacts that have friction: these only push, along their normal (extra ``control``). One state
    after the other, not recorded; what no forces can do is refused; that ``a`` keeps the contacts is not checked."""
    ...


@answered_by(ForwardDynamics)
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
    ...


@answered_by(MassMatrix)
def crba(model: Model, q: Any, *, algorithm: str = "crba", representation: str = "body", **options: Any) -> Array:
    """Mass matrix M(q) (..., nv, nv); see :class:`MassMatrix`."""
    ...


@answered_by(InverseMassMatrix)
def inverse_mass_matrix(model: Model, q: Any, **options: Any) -> Array:
    """M(q)^-1 (..., nv, nv), without inverting; see :class:`InverseMassMatrix`."""
    ...


@answered_by(Coriolis)
def coriolis(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """C(q, v) (..., nv, nv) with dM/dt = C + C^T; see :class:`Coriolis`."""
    ...


@answered_by(GravityForces)
def gravity(model: Model, q: Any, **options: Any) -> Array:
    """Generalised forces (..., nv) that hold the robot against its weight; see :class:`GravityForces`."""
    ...


@answered_by(Bias)
def bias(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Generalised forces (..., nv) without acceleration, tau = M a + bias; see :class:`Bias`."""
    ...


@answered_by(ReferenceDynamics)
def rnea_reference(model: Model, q: Any, v: Any, v_r: Any, a_r: Any, **options: Any) -> Array:
    """M a_r + C(q, v) v_r + G (..., nv), with a reference velocity; see :class:`ReferenceDynamics`."""
    ...


@answered_by(InverseDynamicsDerivatives)
def rnea_derivatives(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, method: str = "auto", **options: Any
) -> InverseDerivatives:
    """dtau_dq, dtau_dv, dtau_da (..., nv, nv); see :class:`InverseDynamicsDerivatives`."""
    ...


@answered_by(ForwardDynamicsDerivatives)
def aba_derivatives(
    model: Model, q: Any, v: Any, tau: Any, wrenches: Any = None, *, method: str = "auto", **options: Any
) -> ForwardDerivatives:
    """da_dq, da_dv, da_dtau (..., nv, nv); see :class:`ForwardDynamicsDerivatives`."""
    ...


# ------------------------------------------------------------------------------------------------ the whole robot
@answered_by(KineticEnergy)
def kinetic_energy(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Kinetic energy (...) [J]; see :class:`KineticEnergy`."""
    ...


@answered_by(PotentialEnergy)
def potential_energy(model: Model, q: Any, **options: Any) -> Array:
    """Potential energy of gravity (...) [J]; see :class:`PotentialEnergy`."""
    ...


@answered_by(TotalInertia)
def total_inertia(model: Model, q: Any, **options: Any) -> Mass:
    """Total mass, centre of mass and inertia about it; see :class:`TotalInertia`."""
    ...


@answered_by(CentroidalMomentum)
def centroidal_momentum(model: Model, q: Any, v: Any, **options: Any) -> Array:
    """Momentum (..., 6) about the centre of mass; see :class:`CentroidalMomentum`."""
    ...


@answered_by(CentroidalMatrix)
def centroidal_matrix(model: Model, q: Any, **options: Any) -> Array:
    """A(q) (..., 6, nv), momentum about the centre of mass = A v; see :class:`CentroidalMatrix`."""
    ...


# ------------------------------------------------------------------------------------------------ with more to choose
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
    solver = cached_solver(model, ForwardKinematics, representation=representation)
    return solver(q, v, a, t=t, threads=threads, nonfinite=nonfinite)


def jacobian(
    model: Model, q: Any, frame: str, expressed_in: str = "world", *, constrained: bool = False, **options: Any
) -> Array:
    """Jacobian (..., 6, nv) of a frame, angular part first; see :class:`Jacobian`.

    ``expressed_in="world"`` gives the twist about the origin of the world; ``"aligned"`` that of the frame's own origin
    along the axes of the world, whose linear part is its velocity; ``"local"`` the same along its own axes.
    ``constrained=True`` projects onto the motions that loops allow."""
    chosen = (
        {"constrained": True} if constrained is True else {} if constrained is False else {"constrained": constrained}
    )
    return cached_solver(model, Jacobian, frame=frame, expressed_in=expressed_in, **chosen)(q, **options)


def jacobian_rate(model: Model, q: Any, v: Any, frame: str, expressed_in: str = "world", **options: Any) -> Array:
    """Time derivative (..., 6, nv) of :func:`jacobian`; see :class:`JacobianRate`."""
    return cached_solver(model, JacobianRate, frame=frame, expressed_in=expressed_in)(q, v, **options)


def center_of_mass(model: Model, q: Any, v: Any = None, **options: Any) -> Array | Centre:
    """Centre of mass (..., 3) in the world [m]; with v its position and velocity, a :class:`Centre`."""
    if v is None:
        return cached_solver(model, TotalInertia)(q, **options).p
    return cached_solver(model, CenterOfMass)(q, v, **options)


def operational_inertia(
    model: Model, q: Any, contacts: Mapping[str, Any] | Sequence[str] | Iterable[str], **options: Any
) -> OperationalInertia:
    """Lambda and Lambda^-1 (..., m, m) at contacts, ``{"foot": "point"}``; see :class:`InverseOperationalInertia`."""
    expect_model(model, "operational_inertia")
    key = InverseOperationalInertia, contacts_key(contacts)  # selectors are arrays, which are no keys
    cache = cached_on(model)
    if key not in cache:
        cache.setdefault(key, InverseOperationalInertia(model, contacts))
    return cache[key].inertia(q, **options)
