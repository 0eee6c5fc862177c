"""The robots of the source documents, and generators."""

from gyrostat.robots.chain import chain
from gyrostat.robots.hydraulic import hydraulic_manipulator
from gyrostat.robots.lwr import kuka_lwr4
from gyrostat.robots.pendulum import pendulum
from gyrostat.robots.trainer import spatial_disorientation_trainer
from gyrostat.robots.tree import tree

__all__ = ["chain", "hydraulic_manipulator", "kuka_lwr4", "pendulum", "spatial_disorientation_trainer", "tree"]
