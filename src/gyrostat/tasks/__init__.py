"""Inverse kinematics as tasks: what frames, the centre of mass and the posture of a robot should do, weighted and in
strict priorities, under limits of joints, rates and distances; see :class:`Stack`."""

from gyrostat.tasks.follow import Followed
from gyrostat.tasks.frame_tasks import Frame, LookAt, Orientation, Position, RelativeFrame
from gyrostat.tasks.limits import CollisionAvoidance, JointLimits, VelocityLimits
from gyrostat.tasks.robot_tasks import CenterOfMass, Posture
from gyrostat.tasks.search import Solution
from gyrostat.tasks.stack import Stack
from gyrostat.tasks.task import Task

__all__ = [
    "CenterOfMass",
    "CollisionAvoidance",
    "Followed",
    "Frame",
    "JointLimits",
    "LookAt",
    "Orientation",
    "Position",
    "Posture",
    "RelativeFrame",
    "Solution",
    "Stack",
    "Task",
    "VelocityLimits",
]
