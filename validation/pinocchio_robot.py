"""A URDF file in Pinocchio, with states and results in gyrostat's order, names and conventions."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from validation.urdf_files import RobotFile


class PinocchioRobot:
    """Rates of both programs: v_pin = T v; hence tau = T^T tau_pin. Free bases have their linear rates first there."""

    def __init__(self, file: RobotFile, model: gs.Model, base: str):
        import pinocchio

        self.pin: Any = pinocchio
        joint = [self.pin.JointModelFreeFlyer()] if base == "free" else []
        self.model = self.pin.buildModelFromUrdf(str(file.path), *joint)
        self.data, self.names = self.model.createData(), file.links
        self.T = np.zeros((self.model.nv, model.nv))
        self.singles: list[tuple[int, int, int]] = []  # coordinate here; first coordinate and their number there
        for k in range(1, self.model.njoints):
            row = self.model.joints[k]
            if row.shortname() == "JointModelFreeFlyer":
                self.T[row.idx_v : row.idx_v + 6, :6] = np.roll(np.eye(6), 3, axis=0)
            else:
                name = file.joints.get(self.model.names[k], self.model.names[k])
                self.singles.append((model.coordinates.index(name), row.idx_q, row.nq))
                self.T[row.idx_v, model.dofs.index(name)] = 1.0
        if self.T.shape[0] != self.T.shape[1] or np.linalg.matrix_rank(self.T) < model.nv:
            raise ValueError(f"{file.name}: the rates {model.dofs} are not those of Pinocchio")

    def _q(self, q: np.ndarray) -> np.ndarray:
        """Continuous joints are cosine and sine there; a free base is the same in both."""
        configuration = self.pin.neutral(self.model)
        if self.model.njoints > 1 and self.model.joints[1].nq == 7:
            configuration[:7] = q[:7]
        for here, there, count in self.singles:
            configuration[there : there + count] = q[here] if count == 1 else (np.cos(q[here]), np.sin(q[here]))
        return configuration

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.T.T @ self.pin.rnea(self.model, self.data, self._q(q), self.T @ v, self.T @ a)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.T.T @ self.pin.aba(self.model, self.data, self._q(q), self.T @ v, self.T @ tau)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(self.pin.crba(self.model, self.data, self._q(q)))
        return self.T.T @ (upper + np.triu(upper, 1).T) @ self.T

    def placements(self, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """R and p of every link, by its name in gyrostat's model."""
        self.pin.framesForwardKinematics(self.model, self.data, self._q(q))
        pairs = zip(self.model.frames, self.data.oMf, strict=True)
        bodies: list[tuple[str, Any]] = [(frame.name, X) for frame, X in pairs if frame.type == self.pin.FrameType.BODY]
        return {self.names.get(name, name): (X.rotation.copy(), X.translation.copy()) for name, X in bodies}

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        """(6, nv), of the link's origin in the world's axes, angular part first."""
        there = {self.names.get(f.name, f.name): f.name for f in self.model.frames}[link]
        self.pin.computeJointJacobians(self.model, self.data, self._q(q))
        self.pin.updateFramePlacements(self.model, self.data)
        frame = self.model.getFrameId(there, self.pin.FrameType.BODY)
        J = self.pin.getFrameJacobian(self.model, self.data, frame, self.pin.LOCAL_WORLD_ALIGNED)
        return np.vstack([J[3:], J[:3]]) @ self.T
