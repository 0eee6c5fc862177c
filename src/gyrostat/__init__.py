"""gyrostat: one specification of a robot, every computation consistent.

``import gyrostat`` loads nothing else: a name is fetched from its module when it is first used (PEP 562).

To add a public name, write it twice: in ``_NAMES`` (for Python) and as an import below ``TYPE_CHECKING`` (for type
checkers and editors); ``tests/project/test_import_time.py`` compares the two. A module that only registers rows must be
imported by the algorithm it extends: nothing is loaded from here for its side effects.
"""

import sys as _sys
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING
from typing import Any as _Any

_NAMES = {
    # ---- robots in the wheel, studies of many evaluations: whole packages
    "gyrostat": "robots studies",
    # ---- specification
    "gyrostat.spec.assemble": "assemble assembly chain connect",
    "gyrostat.spec.assembly": "Assembly",
    "gyrostat.spec.check": "check",
    "gyrostat.spec.context": "CentralGravity Context GravityField HarmonicMotion MovingBase UniformGravity",
    "gyrostat.spec.displacement": "DHDisplacement Displacement",
    "gyrostat.spec.entity": "Entity Port",
    "gyrostat.spec.force_element": "ForceElement",
    "gyrostat.spec.joint": "JOINT_KINDS Joint",
    "gyrostat.spec.model": "Model",
    "gyrostat.spec.reference_frame": "ReferenceFrame",
    "gyrostat.spec.rigid_body": "RigidBody",
    "gyrostat.spec.gear": "Gear",
    "gyrostat.spec.motor": "Motor",
    "gyrostat.spec.pair_forces": "Bushing PointSpring",
    "gyrostat.spec.rotor": "LockedRotor RotorInertia",
    "gyrostat.spec.shape": "Shape",
    "gyrostat.spec.solver_spec": "SolverSpec",
    "gyrostat.spec.shaft_elements": "Backlash Damper Friction Spring",
    "gyrostat.spec.values": "axis_angle euler quaternion rpy",
    # ---- files
    "gyrostat.io.audit": "Audit",
    "gyrostat.io.dh.from_table": "from_dh",
    "gyrostat.io.dh.table": "DHRow",
    "gyrostat.io.files": "audit load save",
    "gyrostat.io.strings": "audit_string load_string",
    # ---- networks
    "gyrostat.graph.connectivity": "connectivity",
    "gyrostat.graph.network": "Network network",
    "gyrostat.graph.rewrite": "RULES",
    # ---- algorithms, for new components
    "gyrostat.algorithms.recursions.kinematics": "kinematics",
    "gyrostat.algorithms.recursions.rne": "rne",
    "gyrostat.algorithms.shafts.elements": "shafts",
    "gyrostat.algorithms.stored_energy": "stored_energy",
    "gyrostat.algorithms.matrices.body_jacobians": "pseudo_velocities",
    # ---- solvers
    "gyrostat.solvers.builders.block_solver": "BlockSolver",
    "gyrostat.solvers.dynamics.bias_forces": "Bias GravityForces",
    "gyrostat.solvers.dynamics.center_of_mass": "CenterOfMass TotalInertia",
    "gyrostat.solvers.dynamics.centroidal_momentum": "CentroidalMatrix CentroidalMomentum",
    "gyrostat.solvers.dynamics.coriolis_matrix": "Coriolis",
    "gyrostat.solvers.dynamics.delta_acceleration": "DeltaAcceleration",
    "gyrostat.solvers.dynamics.derivatives": "ForwardDynamicsDerivatives InverseDynamicsDerivatives",
    "gyrostat.solvers.dynamics.eigenfrequencies": "eigenfrequencies",
    "gyrostat.solvers.dynamics.elastic_inverse_dynamics": "ElasticInverseDynamics",
    "gyrostat.solvers.dynamics.energy": "KineticEnergy PotentialEnergy",
    "gyrostat.solvers.dynamics.equations_of_motion": "EquationsOfMotion",
    "gyrostat.solvers.dynamics.forward_dynamics": "ForwardDynamics",
    "gyrostat.solvers.kinematics.forward_kinematics": "ForwardKinematics",
    "gyrostat.solvers.kinematics.frame_jacobian": "Jacobian JacobianRate ParameterJacobian",
    "gyrostat.solvers.functions": (
        "aba aba_derivatives bias center_of_mass centroidal_matrix centroidal_momentum coriolis crba fk gravity "
        "inverse_mass_matrix jacobian jacobian_rate kinetic_energy operational_inertia potential_energy rnea "
        "rnea_derivatives rnea_reference total_inertia"
    ),
    "gyrostat.solvers.dynamics.inverse_dynamics": "InverseDynamics",
    "gyrostat.solvers.dynamics.linearisation": "linearise",
    "gyrostat.configuration.manifold": "difference integrate neutral random_configuration tangent",
    "gyrostat.solvers.builders.master_solver": "Solvers",
    "gyrostat.solvers.dynamics.mass_matrix": "Innovations InverseMassMatrix MassMatrix",
    "gyrostat.solvers.dynamics.operational_space": "InverseOperationalInertia",
    "gyrostat.solvers.dynamics.operators": "operators",
    "gyrostat.solvers.dynamics.parameter_derivatives": "ParameterDerivatives",
    "gyrostat.solvers.dynamics.reference_dynamics": "ReferenceDynamics",
    "gyrostat.solvers.dynamics.base_parameters": "base_parameters",
    "gyrostat.solvers.dynamics.regressor": "Regressor inertial_parameters",
    "gyrostat.solvers.dynamics.rotor_coupling": "rotor_coupling",
    "gyrostat.solvers.dynamics.second_derivatives": "InverseDynamicsSecondDerivatives",
    "gyrostat.solvers.dynamics.actuator_dynamics": "ActuatorDynamics",
    "gyrostat.studies.achievable.achievable_motion": "AchievableMotion",
    "gyrostat.solvers.kinematics.inverse.inverse_kinematics": "InverseKinematics inverse_kinematics",
    "gyrostat.solvers.kinematics.inverse.branches": "Branches inverse_kinematics_branches",
    "gyrostat.solvers.machinery.wrench": "Wrench",
    # ---- motion
    "gyrostat.simulate": "blocks trajectories",
    "gyrostat.simulate.events.events": "Event",
    "gyrostat.simulate.constraints.stops": "JointLimits",
    "gyrostat.simulate.results.result": "Result",
    "gyrostat.simulate.results.files": "load_result",
    "gyrostat.simulate.rollout.rollout": "rollout",
    "gyrostat.simulate.rollout.result": "DivergedError Rollout",
    "gyrostat.simulate.run": "simulate",
    # ---- pictures
    "gyrostat.view.diagram": "diagram",
    "gyrostat.view.plots": "plot_motion",
    "gyrostat.view.viewer": "view",
    # ---- errors
    "gyrostat.errors": (
        "CompileError DisagreementError FrameError GyrostatError LoadError LoopError ModelWarning NonFiniteError "
        "PerformanceWarning Problem RecordError RowError SaveError ShapeError SimulationError SpecError StateError"
    ),
}
"""Module -> its names that are public here."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

if TYPE_CHECKING:
    from gyrostat import robots as robots
    from gyrostat import studies as studies
    from gyrostat.algorithms.matrices.body_jacobians import pseudo_velocities as pseudo_velocities
    from gyrostat.algorithms.recursions.kinematics import kinematics as kinematics
    from gyrostat.algorithms.recursions.rne import rne as rne
    from gyrostat.algorithms.shafts.elements import shafts as shafts
    from gyrostat.algorithms.stored_energy import stored_energy as stored_energy
    from gyrostat.configuration.manifold import difference as difference
    from gyrostat.configuration.manifold import integrate as integrate
    from gyrostat.configuration.manifold import neutral as neutral
    from gyrostat.configuration.manifold import random_configuration as random_configuration
    from gyrostat.configuration.manifold import tangent as tangent
    from gyrostat.errors import CompileError as CompileError
    from gyrostat.errors import DisagreementError as DisagreementError
    from gyrostat.errors import FrameError as FrameError
    from gyrostat.errors import GyrostatError as GyrostatError
    from gyrostat.errors import LoadError as LoadError
    from gyrostat.errors import LoopError as LoopError
    from gyrostat.errors import ModelWarning as ModelWarning
    from gyrostat.errors import NonFiniteError as NonFiniteError
    from gyrostat.errors import PerformanceWarning as PerformanceWarning
    from gyrostat.errors import Problem as Problem
    from gyrostat.errors import RecordError as RecordError
    from gyrostat.errors import RowError as RowError
    from gyrostat.errors import SaveError as SaveError
    from gyrostat.errors import ShapeError as ShapeError
    from gyrostat.errors import SimulationError as SimulationError
    from gyrostat.errors import SpecError as SpecError
    from gyrostat.errors import StateError as StateError
    from gyrostat.graph.connectivity import connectivity as connectivity
    from gyrostat.graph.network import Network as Network
    from gyrostat.graph.network import network as network
    from gyrostat.graph.rewrite import RULES as RULES
    from gyrostat.io.audit import Audit as Audit
    from gyrostat.io.dh.from_table import from_dh as from_dh
    from gyrostat.io.dh.table import DHRow as DHRow
    from gyrostat.io.files import audit as audit
    from gyrostat.io.files import load as load
    from gyrostat.io.files import save as save
    from gyrostat.io.strings import audit_string as audit_string
    from gyrostat.io.strings import load_string as load_string
    from gyrostat.simulate import blocks as blocks
    from gyrostat.simulate import trajectories as trajectories
    from gyrostat.simulate.constraints.stops import JointLimits as JointLimits
    from gyrostat.simulate.events.events import Event as Event
    from gyrostat.simulate.results.files import load_result as load_result
    from gyrostat.simulate.results.result import Result as Result
    from gyrostat.simulate.rollout.result import DivergedError as DivergedError
    from gyrostat.simulate.rollout.result import Rollout as Rollout
    from gyrostat.simulate.rollout.rollout import rollout as rollout
    from gyrostat.simulate.run import simulate as simulate
    from gyrostat.solvers.builders.block_solver import BlockSolver as BlockSolver
    from gyrostat.solvers.builders.master_solver import Solvers as Solvers
    from gyrostat.solvers.dynamics.actuator_dynamics import ActuatorDynamics as ActuatorDynamics
    from gyrostat.solvers.dynamics.base_parameters import base_parameters as base_parameters
    from gyrostat.solvers.dynamics.bias_forces import Bias as Bias
    from gyrostat.solvers.dynamics.bias_forces import GravityForces as GravityForces
    from gyrostat.solvers.dynamics.center_of_mass import CenterOfMass as CenterOfMass
    from gyrostat.solvers.dynamics.center_of_mass import TotalInertia as TotalInertia
    from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMatrix as CentroidalMatrix
    from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMomentum as CentroidalMomentum
    from gyrostat.solvers.dynamics.coriolis_matrix import Coriolis as Coriolis
    from gyrostat.solvers.dynamics.delta_acceleration import DeltaAcceleration as DeltaAcceleration
    from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives as ForwardDynamicsDerivatives
    from gyrostat.solvers.dynamics.derivatives import InverseDynamicsDerivatives as InverseDynamicsDerivatives
    from gyrostat.solvers.dynamics.eigenfrequencies import eigenfrequencies as eigenfrequencies
    from gyrostat.solvers.dynamics.elastic_inverse_dynamics import ElasticInverseDynamics as ElasticInverseDynamics
    from gyrostat.solvers.dynamics.energy import KineticEnergy as KineticEnergy
    from gyrostat.solvers.dynamics.energy import PotentialEnergy as PotentialEnergy
    from gyrostat.solvers.dynamics.equations_of_motion import EquationsOfMotion as EquationsOfMotion
    from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics as ForwardDynamics
    from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics as InverseDynamics
    from gyrostat.solvers.dynamics.linearisation import linearise as linearise
    from gyrostat.solvers.dynamics.mass_matrix import Innovations as Innovations
    from gyrostat.solvers.dynamics.mass_matrix import InverseMassMatrix as InverseMassMatrix
    from gyrostat.solvers.dynamics.mass_matrix import MassMatrix as MassMatrix
    from gyrostat.solvers.dynamics.operational_space import InverseOperationalInertia as InverseOperationalInertia
    from gyrostat.solvers.dynamics.operators import operators as operators
    from gyrostat.solvers.dynamics.parameter_derivatives import ParameterDerivatives as ParameterDerivatives
    from gyrostat.solvers.dynamics.reference_dynamics import ReferenceDynamics as ReferenceDynamics
    from gyrostat.solvers.dynamics.regressor import Regressor as Regressor
    from gyrostat.solvers.dynamics.regressor import inertial_parameters as inertial_parameters
    from gyrostat.solvers.dynamics.rotor_coupling import rotor_coupling as rotor_coupling
    from gyrostat.solvers.dynamics.second_derivatives import (
        InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives,
    )
    from gyrostat.solvers.functions import aba as aba
    from gyrostat.solvers.functions import aba_derivatives as aba_derivatives
    from gyrostat.solvers.functions import bias as bias
    from gyrostat.solvers.functions import center_of_mass as center_of_mass
    from gyrostat.solvers.functions import centroidal_matrix as centroidal_matrix
    from gyrostat.solvers.functions import centroidal_momentum as centroidal_momentum
    from gyrostat.solvers.functions import coriolis as coriolis
    from gyrostat.solvers.functions import crba as crba
    from gyrostat.solvers.functions import fk as fk
    from gyrostat.solvers.functions import gravity as gravity
    from gyrostat.solvers.functions import inverse_mass_matrix as inverse_mass_matrix
    from gyrostat.solvers.functions import jacobian as jacobian
    from gyrostat.solvers.functions import jacobian_rate as jacobian_rate
    from gyrostat.solvers.functions import kinetic_energy as kinetic_energy
    from gyrostat.solvers.functions import operational_inertia as operational_inertia
    from gyrostat.solvers.functions import potential_energy as potential_energy
    from gyrostat.solvers.functions import rnea as rnea
    from gyrostat.solvers.functions import rnea_derivatives as rnea_derivatives
    from gyrostat.solvers.functions import rnea_reference as rnea_reference
    from gyrostat.solvers.functions import total_inertia as total_inertia
    from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics as ForwardKinematics
    from gyrostat.solvers.kinematics.frame_jacobian import Jacobian as Jacobian
    from gyrostat.solvers.kinematics.frame_jacobian import JacobianRate as JacobianRate
    from gyrostat.solvers.kinematics.frame_jacobian import ParameterJacobian as ParameterJacobian
    from gyrostat.solvers.kinematics.inverse.branches import Branches as Branches
    from gyrostat.solvers.kinematics.inverse.branches import inverse_kinematics_branches as inverse_kinematics_branches
    from gyrostat.solvers.kinematics.inverse.inverse_kinematics import InverseKinematics as InverseKinematics
    from gyrostat.solvers.kinematics.inverse.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from gyrostat.solvers.machinery.wrench import Wrench as Wrench
    from gyrostat.spec.assemble import assemble as assemble
    from gyrostat.spec.assemble import assembly as assembly
    from gyrostat.spec.assemble import chain as chain
    from gyrostat.spec.assemble import connect as connect
    from gyrostat.spec.assembly import Assembly as Assembly
    from gyrostat.spec.check import check as check
    from gyrostat.spec.context import CentralGravity as CentralGravity
    from gyrostat.spec.context import Context as Context
    from gyrostat.spec.context import GravityField as GravityField
    from gyrostat.spec.context import HarmonicMotion as HarmonicMotion
    from gyrostat.spec.context import MovingBase as MovingBase
    from gyrostat.spec.context import UniformGravity as UniformGravity
    from gyrostat.spec.displacement import DHDisplacement as DHDisplacement
    from gyrostat.spec.displacement import Displacement as Displacement
    from gyrostat.spec.entity import Entity as Entity
    from gyrostat.spec.entity import Port as Port
    from gyrostat.spec.force_element import ForceElement as ForceElement
    from gyrostat.spec.gear import Gear as Gear
    from gyrostat.spec.joint import JOINT_KINDS as JOINT_KINDS
    from gyrostat.spec.joint import Joint as Joint
    from gyrostat.spec.model import Model as Model
    from gyrostat.spec.motor import Motor as Motor
    from gyrostat.spec.pair_forces import Bushing as Bushing
    from gyrostat.spec.pair_forces import PointSpring as PointSpring
    from gyrostat.spec.reference_frame import ReferenceFrame as ReferenceFrame
    from gyrostat.spec.rigid_body import RigidBody as RigidBody
    from gyrostat.spec.rotor import LockedRotor as LockedRotor
    from gyrostat.spec.rotor import RotorInertia as RotorInertia
    from gyrostat.spec.shaft_elements import Backlash as Backlash
    from gyrostat.spec.shaft_elements import Damper as Damper
    from gyrostat.spec.shaft_elements import Friction as Friction
    from gyrostat.spec.shaft_elements import Spring as Spring
    from gyrostat.spec.shape import Shape as Shape
    from gyrostat.spec.solver_spec import SolverSpec as SolverSpec
    from gyrostat.spec.values import axis_angle as axis_angle
    from gyrostat.spec.values import euler as euler
    from gyrostat.spec.values import quaternion as quaternion
    from gyrostat.spec.values import rpy as rpy
    from gyrostat.studies.achievable.achievable_motion import AchievableMotion as AchievableMotion
    from gyrostat.view.diagram import diagram as diagram
    from gyrostat.view.plots import plot_motion as plot_motion
    from gyrostat.view.viewer import view as view

    __version__: str
else:
    __all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> _Any:
    """A public name on its first use, a folder of gyrostat (``gs.spatial``), or ``__version__``."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value = version("gyrostat")
    elif name in _MODULE_OF and _MODULE_OF[name] != __name__:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        value = _folder(name)
    globals()[name] = value
    return value


def _folder(name: str) -> _ModuleType:
    from importlib import import_module

    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise  # it exists, and lacks something itself
    from gyrostat.errors import nearest

    raise AttributeError(f"gyrostat has no '{name}'. Hint: {nearest(name, _MODULE_OF)}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, "__version__"})


class _Package(_ModuleType):
    """Importing a folder binds its name in the package; a public function of the same name comes first."""

    def __setattr__(self, name: str, value: _Any) -> None:
        hidden = isinstance(value, _ModuleType) and _MODULE_OF.get(name, __name__) != __name__
        if not hidden:
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
