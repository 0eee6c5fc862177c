"""gyrostat: one specification of a robot, every computation consistent."""

from importlib.metadata import version as _version

from gyrostat import robots

# ---- algorithms, for new components
from gyrostat.algorithms.kinematics import kinematics
from gyrostat.algorithms.rne import rne

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
from gyrostat.io.files import load, save

# ---- solvers
from gyrostat.solvers.forward_kinematics import ForwardKinematics
from gyrostat.solvers.functions import fk, rnea
from gyrostat.solvers.inverse_dynamics import InverseDynamics
from gyrostat.solvers.operators import operators
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
    "CentralGravity",
    "CompileError",
    "Context",
    "DHDisplacement",
    "Displacement",
    "Entity",
    "ForceElement",
    "ForwardKinematics",
    "FrameError",
    "GravityField",
    "GyrostatError",
    "HarmonicMotion",
    "InverseDynamics",
    "Joint",
    "LoadError",
    "LoopError",
    "Model",
    "MovingBase",
    "Network",
    "NonFiniteError",
    "Port",
    "Problem",
    "RecordError",
    "ReferenceFrame",
    "RigidBody",
    "RowError",
    "SaveError",
    "ShapeError",
    "SpecError",
    "StateError",
    "UniformGravity",
    "Wrench",
    "assemble",
    "assembly",
    "axis_angle",
    "chain",
    "check",
    "connect",
    "connectivity",
    "euler",
    "fk",
    "kinematics",
    "load",
    "network",
    "operators",
    "quaternion",
    "rne",
    "rnea",
    "robots",
    "rpy",
    "save",
]
