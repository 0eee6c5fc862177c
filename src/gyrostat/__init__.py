"""gyrostat: one specification of a robot, every computation consistent."""

from importlib.metadata import version as _version

from gyrostat import robots

# ---- algorithms, for new components
from gyrostat.algorithms.kinematics import kinematics
from gyrostat.algorithms.rne import rne

# ---- solvers
from gyrostat.algorithms.stacked import pseudo_velocities

# ---- errors
from gyrostat.errors import (
    CompileError,
    FrameError,
    GyrostatError,
    LoadError,
    LoopError,
    NonFiniteError,
    Problem,
    RecordError,
    RowError,
    SaveError,
    ShapeError,
    SpecError,
    StateError,
)

# ---- networks
from gyrostat.graph.connectivity import connectivity
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import RULES

# ---- files
from gyrostat.io.audit import Audit, audit
from gyrostat.io.files import load, save
from gyrostat.solvers.dynamics_derivatives import (
    DeltaAcceleration,
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
    ParameterDerivatives,
)
from gyrostat.solvers.equations_of_motion import Bias, Coriolis, EquationsOfMotion, GravityForces, ReferenceDynamics
from gyrostat.solvers.forward_dynamics import ForwardDynamics
from gyrostat.solvers.forward_kinematics import ForwardKinematics
from gyrostat.solvers.frame_jacobian import Jacobian, JacobianRate, ParameterJacobian
from gyrostat.solvers.functions import (
    aba,
    aba_derivatives,
    bias,
    center_of_mass,
    centroidal_matrix,
    centroidal_momentum,
    coriolis,
    crba,
    fk,
    gravity,
    inverse_mass_matrix,
    jacobian,
    jacobian_rate,
    kinetic_energy,
    operational_inertia,
    potential_energy,
    rnea,
    rnea_derivatives,
    rnea_reference,
    total_inertia,
)
from gyrostat.solvers.inverse_dynamics import InverseDynamics
from gyrostat.solvers.manifold import difference, integrate, neutral, random_configuration, tangent
from gyrostat.solvers.mass_matrix import Innovations, InverseMassMatrix, MassMatrix
from gyrostat.solvers.operational_space import InverseOperationalInertia
from gyrostat.solvers.operators import operators
from gyrostat.solvers.regressor import Regressor, base_parameters, inertial_parameters
from gyrostat.solvers.whole_body import (
    CenterOfMass,
    CentroidalMatrix,
    CentroidalMomentum,
    KineticEnergy,
    PotentialEnergy,
    TotalInertia,
)
from gyrostat.solvers.wrench import Wrench

# ---- specification
from gyrostat.spec.assemble import assemble, assembly, chain, connect
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import check
from gyrostat.spec.context import CentralGravity, Context, GravityField, HarmonicMotion, MovingBase, UniformGravity
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import axis_angle, euler, quaternion, rpy

__version__ = _version("gyrostat")

__all__ = [
    "JOINT_KINDS",
    "RULES",
    "Assembly",
    "Audit",
    "Bias",
    "CenterOfMass",
    "CentralGravity",
    "CentroidalMatrix",
    "CentroidalMomentum",
    "CompileError",
    "Context",
    "Coriolis",
    "DHDisplacement",
    "DeltaAcceleration",
    "Displacement",
    "Entity",
    "EquationsOfMotion",
    "ForceElement",
    "ForwardDynamics",
    "ForwardDynamicsDerivatives",
    "ForwardKinematics",
    "FrameError",
    "GravityField",
    "GravityForces",
    "GyrostatError",
    "HarmonicMotion",
    "Innovations",
    "InverseDynamics",
    "InverseDynamicsDerivatives",
    "InverseDynamicsSecondDerivatives",
    "InverseMassMatrix",
    "InverseOperationalInertia",
    "Jacobian",
    "JacobianRate",
    "Joint",
    "KineticEnergy",
    "LoadError",
    "LoopError",
    "MassMatrix",
    "Model",
    "MovingBase",
    "Network",
    "NonFiniteError",
    "ParameterDerivatives",
    "ParameterJacobian",
    "Port",
    "PotentialEnergy",
    "Problem",
    "RecordError",
    "ReferenceDynamics",
    "ReferenceFrame",
    "Regressor",
    "RigidBody",
    "RowError",
    "SaveError",
    "ShapeError",
    "SpecError",
    "StateError",
    "TotalInertia",
    "UniformGravity",
    "Wrench",
    "aba",
    "aba_derivatives",
    "assemble",
    "assembly",
    "audit",
    "axis_angle",
    "base_parameters",
    "bias",
    "center_of_mass",
    "centroidal_matrix",
    "centroidal_momentum",
    "chain",
    "check",
    "connect",
    "connectivity",
    "coriolis",
    "crba",
    "difference",
    "euler",
    "fk",
    "gravity",
    "inertial_parameters",
    "integrate",
    "inverse_mass_matrix",
    "jacobian",
    "jacobian_rate",
    "kinematics",
    "kinetic_energy",
    "load",
    "network",
    "neutral",
    "operational_inertia",
    "operators",
    "potential_energy",
    "pseudo_velocities",
    "quaternion",
    "random_configuration",
    "rne",
    "rnea",
    "rnea_derivatives",
    "rnea_reference",
    "robots",
    "rpy",
    "save",
    "tangent",
    "total_inertia",
]
