"""A URDF file in MuJoCo, with states and results in gyrostat's order, names and conventions.

Shapes are taken out of the file first, so that no meshes are needed; links that are fixed stay bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

import gyrostat as gs
from validation.urdf_files import RobotFile

LEFT_OUT = (
    "visual", "collision", "gazebo", "transmission", "material", "sensor", "mimic", "dynamics", "limit", "mujoco",
)  # fmt: skip


class UnsuitedError(Exception):
    """MuJoCo cannot hold this robot; the message says why."""


class MujocoRobot:
    """v_mj = T v, its derivative T a + b: free bases have linear rates first, in the world's axes."""

    def __init__(self, file: RobotFile, model: gs.Model, base: str):
        import mujoco

        self.mj: Any = mujoco
        self.model = _compiled(self.mj, file, base == "free")
        self.model.opt.disableflags |= self.mj.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = self.mj.MjData(self.model)
        self.nv, self.free, self.names = model.nv, base == "free", file.links
        self.singles: list[tuple[int, int, int, int]] = []  # coordinate and rate here, coordinate and rate there
        for k in range(int(self.free), self.model.njnt):
            joint = self.model.joint(k)
            name = file.joints.get(joint.name, joint.name)
            here = model.coordinates.index(name), model.dofs.index(name)
            self.singles.append((*here, int(joint.qposadr[0]), int(joint.dofadr[0])))
        if self.model.nv != model.nv:
            raise ValueError(f"{file.name}: {model.nv} rates, MuJoCo has {self.model.nv}")

    def _move(self, q: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Set the state; T and b."""
        T, b, v = np.zeros((self.nv, self.nv)), np.zeros(self.nv), np.zeros(self.nv) if v is None else v
        if self.free:
            self.data.qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]  # its quaternions begin with w
            R = np.zeros(9)
            self.mj.mju_quat2Mat(R, self.data.qpos[3:7] / np.linalg.norm(self.data.qpos[3:7]))
            R = R.reshape(3, 3)
            T[:3, 3:6], T[3:6, :3], b[:3] = R, np.eye(3), R @ np.cross(v[:3], v[3:6])
        for q_here, v_here, q_there, v_there in self.singles:
            self.data.qpos[q_there], T[v_there, v_here] = q[q_here], 1.0
        self.data.qvel[:] = T @ v
        return T, b

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        T, b = self._move(q, v)
        self.data.qacc[:] = T @ a + b
        self.mj.mj_inverse(self.model, self.data)
        return T.T @ self.data.qfrc_inverse

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        T, b = self._move(q, v)
        self.data.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        self.mj.mj_forward(self.model, self.data)
        return np.linalg.solve(T, self.data.qacc - b)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        T, _ = self._move(q)
        self.mj.mj_forward(self.model, self.data)
        M = np.zeros((self.nv, self.nv))
        self.mj.mj_fullM(self.model, self.data, M)
        return T.T @ M @ T

    def placements(self, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """R and p of every link, by its name in gyrostat's model."""
        self._move(q)
        self.mj.mj_kinematics(self.model, self.data)
        bodies: list[tuple[str, int]] = [(self.model.body(k).name, k) for k in range(1, self.model.nbody)]
        return {
            self.names.get(name, name): (self.data.xmat[k].reshape(3, 3).copy(), self.data.xpos[k].copy())
            for name, k in bodies
        }

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        """(6, nv), of the link's origin in the world's axes, angular part first."""
        T, _ = self._move(q)
        self.mj.mj_kinematics(self.model, self.data)
        self.mj.mj_comPos(self.model, self.data)
        there = {self.names.get(self.model.body(k).name, self.model.body(k).name): k for k in range(self.model.nbody)}
        linear, angular = np.zeros((2, 3, self.nv))
        self.mj.mj_jacBody(self.model, self.data, linear, angular, there[link])
        return np.vstack([angular, linear]) @ T


def _compiled(mujoco: Any, file: RobotFile, free: bool) -> Any:
    root = etree.parse(str(file.path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    if free and not root.xpath("joint/child[@link='world']") and root.xpath("link[@name='world']"):
        raise UnsuitedError("its root link is the world, which cannot move")
    for element in list(root.iter(*LEFT_OUT)):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", fusestatic="false")
    try:
        spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
        if free:
            spec.worldbody.bodies[0].add_freejoint()
        return spec.compile()
    except ValueError as error:
        raise UnsuitedError(" ".join(str(error).removeprefix("Error: ").split())) from None
