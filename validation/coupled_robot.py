"""A URDF file with all it says, by Pinocchio's plain mechanism: couplings are a projection, losses are added.

With the rates v of the joints that are left, those of all joints are u = G v, one row of G per joint: 1 where it is
left, the multiplier where it follows another one. Equal power gives tau = G^T t, M = G^T M_u G. Damping d and friction
f of every joint, those that follow among them, are losses d u + f sign(u).
"""

from __future__ import annotations

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

import gyrostat as gs
from validation.pinocchio_robot import PinocchioRobot
from validation.urdf_files import RobotFile


class CoupledRobot:
    """Torques, accelerations and mass matrix of ``model``, which was loaded with friction and couplings."""

    def __init__(self, file: RobotFile, model: gs.Model, base: str):
        self.model, self.plain = model, file.load(base)
        self.robot = PinocchioRobot(file, self.plain, base)
        self.follows = _followers(file)
        self.G = np.array([self._row(name) for name in self.plain.dofs]).reshape(self.plain.nv, model.nv)

    def _row(self, name: str) -> np.ndarray:
        if name in self.model.dofs:
            return np.eye(self.model.nv)[self.model.dofs.index(name)]
        leader, multiplier, _ = self.follows[name]
        return multiplier * self._row(leader)

    def _coordinate(self, name: str, q: np.ndarray) -> float:
        if name in self.model.coordinates:
            return q[self.model.coordinates.index(name)]
        leader, multiplier, offset = self.follows[name]
        return multiplier * self._coordinate(leader, q) + offset

    def _q(self, q: np.ndarray) -> np.ndarray:
        return np.array([self._coordinate(name, q) for name in self.plain.coordinates])

    def _losses(self, u: np.ndarray) -> np.ndarray:
        """Damping and friction, which Pinocchio stores and no algorithm of it uses."""
        there, stored = self.robot.T @ u, self.robot.model
        return self.robot.T.T @ (stored.damping * there + stored.upperDryFrictionLimit * np.sign(there))

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        u = self.G @ v
        return self.G.T @ (self.robot.torques(self._q(q), u, self.G @ a) + self._losses(u))

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        return self.G.T @ self.robot.mass_matrix(self._q(q)) @ self.G

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.mass_matrix(q), tau - self.torques(q, v, np.zeros_like(v)))

    @property
    def says_more(self) -> bool:
        """Whether the file has couplings or losses."""
        stored = self.robot.model
        return self.G.shape[0] != self.G.shape[1] or bool(stored.damping.any() or stored.upperDryFrictionLimit.any())


def _followers(file: RobotFile) -> dict[str, tuple[str, float, float]]:
    """Joint -> the one it follows, multiplier, offset; by their names in the model."""
    root = etree.parse(str(file.path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    mimics = {}
    for mimic in root.findall("joint/mimic"):
        name, leader = (file.joints.get(x, x) for x in (mimic.getparent().get("name"), mimic.get("joint")))
        mimics[name] = leader, float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
    return mimics
