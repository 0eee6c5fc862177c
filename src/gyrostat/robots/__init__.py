"""Robots that come with gyrostat: of the source documents, of the literature, our own; and generators."""

from gyrostat.robots.aibo import aibo
from gyrostat.robots.arm6 import arm6
from gyrostat.robots.by_name import available as available
from gyrostat.robots.by_name import search_path as search_path
from gyrostat.robots.catalogue import catalogue as catalogue
from gyrostat.robots.chain import chain
from gyrostat.robots.elastic_arm import elastic_arm
from gyrostat.robots.flexible_arm import flexible_arm
from gyrostat.robots.humanoid import humanoid
from gyrostat.robots.hydraulic import hydraulic_manipulator
from gyrostat.robots.knee import elastic_knee
from gyrostat.robots.loops.andrews import andrews_squeezer
from gyrostat.robots.loops.bicycle import bicycle
from gyrostat.robots.loops.bricard import bricard
from gyrostat.robots.loops.delta import delta
from gyrostat.robots.loops.excavator import excavator
from gyrostat.robots.loops.five_bar import five_bar
from gyrostat.robots.loops.flyball import flyball_governor
from gyrostat.robots.loops.four_bars import four_bars
from gyrostat.robots.loops.palletizer import palletizer
from gyrostat.robots.loops.slider_crank import slider_crank
from gyrostat.robots.loops.stewart import stewart
from gyrostat.robots.loops.suspension import five_point_suspension
from gyrostat.robots.lwr import kuka_lwr4
from gyrostat.robots.pendulum import pendulum
from gyrostat.robots.puma560 import puma560
from gyrostat.robots.quadruped import quadruped
from gyrostat.robots.trainer import spatial_disorientation_trainer
from gyrostat.robots.tree import tree
from gyrostat.robots.two_link import two_link
from gyrostat.robots.wrist import differential_wrist

__all__ = [
    "aibo",
    "andrews_squeezer",
    "arm6",
    "bicycle",
    "bricard",
    "chain",
    "delta",
    "differential_wrist",
    "elastic_arm",
    "elastic_knee",
    "excavator",
    "five_bar",
    "five_point_suspension",
    "flexible_arm",
    "flyball_governor",
    "four_bars",
    "humanoid",
    "hydraulic_manipulator",
    "kuka_lwr4",
    "palletizer",
    "pendulum",
    "puma560",
    "quadruped",
    "slider_crank",
    "spatial_disorientation_trainer",
    "stewart",
    "tree",
    "two_link",
]
