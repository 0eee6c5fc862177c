"""The robots of the source documents, and generators."""

from gyrostat.robots.chain import chain
from gyrostat.robots.lwr import kuka_lwr4
from gyrostat.robots.pendulum import pendulum
from gyrostat.robots.tree import tree

__all__ = ["chain", "kuka_lwr4", "pendulum", "tree"]
