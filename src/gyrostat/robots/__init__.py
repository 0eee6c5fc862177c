"""Robots that come with gyrostat: of the source documents, of the literature, our own; and generators."""

from gyrostat.robots.arm6 import arm6
from gyrostat.robots.catalogue import catalogue as catalogue
from gyrostat.robots.chain import chain
from gyrostat.robots.elastic_arm import elastic_arm
from gyrostat.robots.hydraulic import hydraulic_manipulator
from gyrostat.robots.knee import elastic_knee
from gyrostat.robots.lwr import kuka_lwr4
from gyrostat.robots.pendulum import pendulum
from gyrostat.robots.puma560 import puma560
from gyrostat.robots.quadruped import quadruped
from gyrostat.robots.trainer import spatial_disorientation_trainer
from gyrostat.robots.tree import tree
from gyrostat.robots.two_link import two_link
from gyrostat.robots.wrist import differential_wrist

__all__ = [
    "arm6",
    "chain",
    "differential_wrist",
    "elastic_arm",
    "elastic_knee",
    "hydraulic_manipulator",
    "kuka_lwr4",
    "pendulum",
    "puma560",
    "quadruped",
    "spatial_disorientation_trainer",
    "tree",
    "two_link",
]
