"""Public names, listed once: type checkers and editors read them here, and ``__init__.py`` where each of them is.

To add one, write ``from module import name as name`` on a line of its own below its subject.
"""
# ruff: noqa: I001 - in order of subjects

__version__: str

# ---- robots that come with gyrostat
from gyrostat import robots as robots

# ---- specification: models and their parts
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
from gyrostat.spec.connecting_rod import ConnectingRod as ConnectingRod
from gyrostat.spec.displacement import DHDisplacement as DHDisplacement
from gyrostat.spec.displacement import Displacement as Displacement
from gyrostat.spec.entity import Entity as Entity
from gyrostat.spec.entity import Port as Port
from gyrostat.spec.flexible_beam import FlexibleBeam as FlexibleBeam
from gyrostat.spec.force_element import ForceElement as ForceElement
from gyrostat.spec.cam import Cam as Cam
from gyrostat.spec.cam import ScotchYoke as ScotchYoke
from gyrostat.spec.polynomial_coupling import PolynomialCoupling as PolynomialCoupling
from gyrostat.spec.gear import Gear as Gear
from gyrostat.spec.joint import JOINT_KINDS as JOINT_KINDS
from gyrostat.spec.joint import Joint as Joint
from gyrostat.spec.model import Model as Model
from gyrostat.spec.motor import Motor as Motor
from gyrostat.spec.pair_forces import Bushing as Bushing
from gyrostat.spec.pair_forces import PointSpring as PointSpring
from gyrostat.spec.reference_frame import ReferenceFrame as ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody as RigidBody
from gyrostat.spec.relations import CurveRelation as CurveRelation
from gyrostat.spec.relations import LinearRelation as LinearRelation
from gyrostat.spec.rotor import LockedRotor as LockedRotor
from gyrostat.spec.rotor import RotorInertia as RotorInertia
from gyrostat.spec.shaft_elements import Backlash as Backlash
from gyrostat.spec.shaft_elements import Damper as Damper
from gyrostat.spec.shaft_elements import Friction as Friction
from gyrostat.spec.shaft_elements import Spring as Spring
from gyrostat.spec import sections as sections
from gyrostat.spec.shape import Shape as Shape
from gyrostat.spec.solver_spec import SolverSpec as SolverSpec
from gyrostat.spec.values import axis_angle as axis_angle
from gyrostat.spec.values import euler as euler
from gyrostat.spec.values import quaternion as quaternion
from gyrostat.spec.values import rpy as rpy

# ---- flexible links
from gyrostat import flexible as flexible
from gyrostat.finite_elements.reduce_fe import reduce_fe as reduce_fe
from gyrostat.spec.flexible_body import FlexibleBody as FlexibleBody

# ---- contact
from gyrostat.spec.rolling import Rolling as Rolling
from gyrostat.solvers.kinematics.grasp import grasp as grasp
from gyrostat.solvers.kinematics.grasp import release as release
from gyrostat.spec.contact import ContactPair as ContactPair
from gyrostat.spec.contact import ContactPoint as ContactPoint
from gyrostat.spec.contact import Ground as Ground
from gyrostat.spec.contact_law import ContactSurface as ContactSurface
from gyrostat.environments.gym_env import gym_env as gym_env
from gyrostat.environments.task import GymTask as GymTask

# ---- files
from gyrostat.io.audit import Audit as Audit
from gyrostat.io.dh.from_table import from_dh as from_dh
from gyrostat.io.dh.table import DHRow as DHRow
from gyrostat.robots.by_name import audit as audit
from gyrostat.robots.by_name import load as load
from gyrostat.io.files import save as save
from gyrostat.io.strings import audit_string as audit_string
from gyrostat.io.strings import load_string as load_string

# ---- networks
from gyrostat.graph.connectivity import connectivity as connectivity
from gyrostat.graph.network import Network as Network
from gyrostat.graph.network import network as network
from gyrostat.graph.rewrite import RULES as RULES

# ---- configurations q and rates v
from gyrostat.configuration.loop_reports import loops as loops
from gyrostat.graph.loops.plan_data import LoopReport as LoopReport
from gyrostat.configuration.manifold import difference as difference
from gyrostat.configuration.manifold import integrate as integrate
from gyrostat.configuration.manifold import neutral as neutral
from gyrostat.configuration.manifold import random_configuration as random_configuration
from gyrostat.configuration.manifold import tangent as tangent

# ---- algorithms: tables that new components add rows to
from gyrostat.algorithms.constrained.constraint import ConstraintRows as ConstraintRows
from gyrostat.algorithms.constrained.constraint import constraints as constraints
from gyrostat.algorithms.recursions.kinematics import kinematics as kinematics
from gyrostat.algorithms.recursions.rne import rne as rne
from gyrostat.algorithms.shafts.elements import shafts as shafts
from gyrostat.algorithms.stored_energy import stored_energy as stored_energy
from gyrostat.algorithms.matrices.body_jacobians import pseudo_velocities as pseudo_velocities

# ---- functions of a model and a state
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

# ---- sensors
from gyrostat.simulate import sensors as sensors

# ---- robots on legs
from gyrostat.solvers.dynamics.centroidal_momentum import CentroidalMomentumRate as CentroidalMomentumRate
from gyrostat.solvers.dynamics.centroidal_momentum import centroidal_momentum_rate as centroidal_momentum_rate
from gyrostat.solvers.dynamics.capture_point import CapturePoint as CapturePoint
from gyrostat.solvers.dynamics.capture_point import capture_point as capture_point
from gyrostat.solvers.dynamics.contact_velocities import ContactVelocities as ContactVelocities
from gyrostat.solvers.dynamics.contact_velocities import contact_velocities as contact_velocities
from gyrostat.solvers.dynamics.friction_margins import FrictionMargins as FrictionMargins
from gyrostat.solvers.dynamics.friction_margins import friction_margins as friction_margins
from gyrostat.solvers.legs.reduced_dynamics import ReducedDynamics as ReducedDynamics
from gyrostat.solvers.dynamics.support_polygon import StabilityMargin as StabilityMargin
from gyrostat.solvers.dynamics.support_polygon import SupportPolygon as SupportPolygon
from gyrostat.solvers.dynamics.support_polygon import stability_margin as stability_margin
from gyrostat.solvers.dynamics.support_polygon import support_polygon as support_polygon
from gyrostat.solvers.dynamics.zero_moment_point import ZeroMomentPoint as ZeroMomentPoint
from gyrostat.solvers.dynamics.zero_moment_point import center_of_pressure as center_of_pressure
from gyrostat.solvers.dynamics.zero_moment_point import zero_moment_point as zero_moment_point

# ---- solvers: dynamics
from gyrostat.solvers.dynamics.actuator_dynamics import ActuatorDynamics as ActuatorDynamics
from gyrostat.solvers.dynamics.actuator_efforts import ActuatorEfforts as ActuatorEfforts
from gyrostat.solvers.dynamics.actuator_efforts import actuator_efforts as actuator_efforts
from gyrostat.solvers.dynamics.base_parameters import base_parameters as base_parameters
from gyrostat.solvers.dynamics.beam_stress import BeamStress as BeamStress
from gyrostat.solvers.dynamics.beam_stress import beam_stress as beam_stress
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
from gyrostat.solvers.dynamics.derivatives import InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives
from gyrostat.solvers.dynamics.elastic_inverse_dynamics import ElasticInverseDynamics as ElasticInverseDynamics
from gyrostat.solvers.dynamics.energy import KineticEnergy as KineticEnergy
from gyrostat.solvers.dynamics.energy import PotentialEnergy as PotentialEnergy
from gyrostat.solvers.dynamics.equilibrium import Equilibrium as Equilibrium
from gyrostat.solvers.dynamics.equilibrium import equilibrium as equilibrium
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

# ---- solvers: kinematics
from gyrostat.solvers.kinematics.closed_configuration import close as close
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics as ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian as Jacobian
from gyrostat.solvers.kinematics.frame_jacobian import JacobianRate as JacobianRate
from gyrostat.solvers.kinematics.frame_jacobian import ParameterJacobian as ParameterJacobian
from gyrostat.solvers.kinematics.inverse.branches import Branches as Branches
from gyrostat.solvers.kinematics.inverse.branches import inverse_kinematics_branches as inverse_kinematics_branches
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import InverseKinematics as InverseKinematics
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import inverse_kinematics as inverse_kinematics

# ---- shapes that can meet
from gyrostat.solvers.collision.collision_pairs import collision_pairs as collision_pairs
from gyrostat.solvers.collision.distances import Distances as Distances
from gyrostat.solvers.collision.distances import distances as distances
from gyrostat.solvers.collision.distances import in_collision as in_collision

# ---- inverse kinematics as tasks; the whole package
from gyrostat import tasks as tasks

# ---- contact: frames that are held, impacts
from gyrostat.algorithms.contact.frame_contact import FrameContact as FrameContact
from gyrostat.solvers.dynamics.contact_derivatives import ContactDynamicsDerivatives as ContactDynamicsDerivatives
from gyrostat.solvers.dynamics.contact_derivatives import contact_dynamics_derivatives as contact_dynamics_derivatives
from gyrostat.solvers.dynamics.contact_dynamics import ContactDynamics as ContactDynamics
from gyrostat.solvers.dynamics.impact import Impact as Impact
from gyrostat.solvers.dynamics.impact import impact as impact

# ---- solvers: several at once, and what they share
from gyrostat.solvers.builders.block_solver import BlockSolver as BlockSolver
from gyrostat.solvers.builders.master_solver import Solvers as Solvers
from gyrostat.solvers.machinery.wrench import Wrench as Wrench

# ---- solvers in other frameworks
from gyrostat.frameworks.jax_function import jax as jax
from gyrostat.frameworks.torch_function import torch as torch

# ---- studies: questions that need many evaluations; the whole package
from gyrostat import studies as studies
from gyrostat.studies.achievable.achievable_motion import AchievableMotion as AchievableMotion
from gyrostat.studies.vibration.eigenfrequencies import eigenfrequencies as eigenfrequencies
from gyrostat.studies.vibration.frequency_map import FrequencyMap as FrequencyMap
from gyrostat.studies.vibration.frequency_map import frequency_map as frequency_map
from gyrostat.studies.vibration.frequency_response import FrequencyResponse as FrequencyResponse
from gyrostat.studies.vibration.frequency_response import frequency_response as frequency_response
from gyrostat.studies.vibration.modes import Eigenfrequencies as Eigenfrequencies

# ---- simulation
from gyrostat.simulate import blocks as blocks
from gyrostat.simulate import trajectories as trajectories
from gyrostat.simulate.events.event import Event as Event
from gyrostat.simulate.constraints.stops import JointLimits as JointLimits
from gyrostat.simulate.results.result import Result as Result
from gyrostat.simulate.results.results import Results as Results
from gyrostat.simulate.results.sensitivity import Sensitivity as Sensitivity
from gyrostat.simulate.results.files import load_result as load_result
from gyrostat.simulate.rollout.rollout import rollout as rollout
from gyrostat.simulate.rollout.result import DivergedError as DivergedError
from gyrostat.simulate.rollout.result import Rollout as Rollout
from gyrostat.simulate.rollout.files import load_rollout as load_rollout
from gyrostat.simulate.run.simulate import simulate as simulate
from gyrostat.simulate.run.simulator import Simulator as Simulator

# ---- other tools
from gyrostat.fmi.controller import fmu_block as fmu_block
from gyrostat.fmi.export import ExportedFMU as ExportedFMU
from gyrostat.fmi.export import export_fmu as export_fmu

# ---- jobs, stores of many runs
from gyrostat.studies.jobs.job import Job as Job
from gyrostat.store.store import StoredRun as StoredRun
from gyrostat.store.store import Store as Store
from gyrostat.store.store import StoredTask as StoredTask
from gyrostat.store.store import store as store

# ---- pictures
from gyrostat.view.diagram.diagram import diagram as diagram
from gyrostat.view.phase import plot_phase as plot_phase
from gyrostat.view.plots import plot_motion as plot_motion
from gyrostat.view.run_figures import plot_energy as plot_energy
from gyrostat.view.run_figures import plot_forces as plot_forces
from gyrostat.view.viewer.viewer import view as view

# ---- errors
from gyrostat.errors import CompileError as CompileError
from gyrostat.errors import DisagreementError as DisagreementError
from gyrostat.errors import FrameError as FrameError
from gyrostat.errors import GyrostatError as GyrostatError
from gyrostat.errors import LoadError as LoadError
from gyrostat.errors import ContactError as ContactError
from gyrostat.errors import LoopError as LoopError
from gyrostat.errors import MeshError as MeshError
from gyrostat.errors import ModelWarning as ModelWarning
from gyrostat.errors import NonFiniteError as NonFiniteError
from gyrostat.errors import PerformanceWarning as PerformanceWarning
from gyrostat.errors import Problem as Problem
from gyrostat.errors import RecordError as RecordError
from gyrostat.errors import ReductionError as ReductionError
from gyrostat.errors import RowError as RowError
from gyrostat.errors import SaveError as SaveError
from gyrostat.errors import ShapeError as ShapeError
from gyrostat.errors import SimulationError as SimulationError
from gyrostat.errors import SpecError as SpecError
from gyrostat.errors import StateError as StateError
from gyrostat.errors import StoreError as StoreError
