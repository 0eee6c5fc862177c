"""Drives and controllers as data: blocks with named signals, composed, recorded and compiled with the robot.

Controllers whose output is "tau": :func:`p`, :func:`pi`, :func:`pd`, :func:`pid`, :func:`computed_torque`,
:func:`feedforward`. Everything else is put together with :func:`diagram`, :func:`series`, :func:`parallel` and
:func:`per_joint`."""

from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.blocks.callback import Function, function
from gyrostat.simulate.blocks.compose import Diagram, Parallel, Renamed, Series, diagram, parallel, renamed, series
from gyrostat.simulate.blocks.controllers import computed_torque, feedforward, p, pd, pi, pid
from gyrostat.simulate.blocks.digital import Delay, discretise, hold
from gyrostat.simulate.blocks.drives import MotorCurrent
from gyrostat.simulate.blocks.hydraulic import HydraulicCylinder
from gyrostat.simulate.blocks.joints import Joints, at_joints, per_joint
from gyrostat.simulate.blocks.linear import (
    StateSpace,
    filtered_derivative,
    first_order,
    lead_lag,
    second_order,
    state_space,
    transfer_function,
)
from gyrostat.simulate.blocks.model_based import ComputedTorque, GravityCompensation, InverseDynamicsFeedforward
from gyrostat.simulate.blocks.pid import PID
from gyrostat.simulate.blocks.rate_limit import RateLimit
from gyrostat.simulate.blocks.reference import Reference
from gyrostat.simulate.blocks.sampled import Sampled, sampled
from gyrostat.simulate.blocks.samples import Samples
from gyrostat.simulate.blocks.shaping import (
    Constant,
    DeadZone,
    Gain,
    Quantiser,
    Saturation,
    Sum,
    difference,
    sum_of,
)
from gyrostat.simulate.blocks.table import Table
from gyrostat.simulate.blocks.whole_body import WholeBody
from gyrostat.solvers.legs.tasks import CenterOfMassTask, FrameTask, MomentumTask, PostureTask

__all__ = [
    "PID",
    "Block",
    "CenterOfMassTask",
    "ComputedTorque",
    "Constant",
    "DeadZone",
    "Delay",
    "Diagram",
    "FrameTask",
    "Function",
    "Gain",
    "GravityCompensation",
    "HydraulicCylinder",
    "InverseDynamicsFeedforward",
    "Joints",
    "MomentumTask",
    "MotorCurrent",
    "Parallel",
    "PostureTask",
    "Quantiser",
    "RateLimit",
    "Reference",
    "Renamed",
    "Sampled",
    "Samples",
    "Saturation",
    "Series",
    "StateSpace",
    "Sum",
    "Table",
    "WholeBody",
    "at_joints",
    "computed_torque",
    "diagram",
    "difference",
    "discretise",
    "feedforward",
    "filtered_derivative",
    "first_order",
    "function",
    "hold",
    "lead_lag",
    "p",
    "parallel",
    "pd",
    "per_joint",
    "pi",
    "pid",
    "renamed",
    "sampled",
    "second_order",
    "series",
    "state_space",
    "sum_of",
    "transfer_function",
]
