"""What the node computes, without ROS: messages in (anything with their fields), torques out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import gyrostat as gs

MODES = ("gravity", "bias", "inverse_dynamics")


class MessageError(gs.GyrostatError):
    """A message from which no torques follow; its text is for the log."""


class TorqueComputer:
    """Torques of a robot, for the joints of its description.

    ``description``: URDF text. ``joints``: names and order of what comes out, all joints with coordinates by default;
    a joint that another one moves (mimic) has none. ``kp`` [1/s^2], ``kd`` [1/s]: feedback of ``inverse_dynamics``,
    tau = M (a_d + kd (v_d - v) + kp (q_d - q)) + b(q, v): one number, or one for each joint."""

    def __init__(
        self,
        description: str,
        mode: str = "gravity",
        joints: Sequence[str] = (),
        kp: float | Sequence[float] = 0.0,
        kd: float | Sequence[float] = 0.0,
    ):
        if mode not in MODES:
            raise gs.GyrostatError(f"gyrostat_ros: mode must be one of {', '.join(MODES)}, got {mode!r}")
        if not description.strip():
            raise gs.GyrostatError(
                "gyrostat_ros: the parameter robot_description is empty. Hint: give the text of the URDF file"
            )
        self.model, self.mode = gs.load_string(description), mode
        if self.model.nq != self.model.nv:
            raise gs.GyrostatError(
                f"gyrostat_ros: '{self.model.name}' has joints that joint_states cannot describe (nq {self.model.nq}, "
                f"nv {self.model.nv}). Hint: joints with one coordinate each"
            )
        self.joints = tuple(joints) or tuple(self.model.dofs)
        unknown = [name for name in self.joints if name not in self.model.dofs]
        if unknown or len(set(self.joints)) < len(self.joints):
            told = unknown[0] if unknown else "a name that occurs twice"
            raise gs.GyrostatError(
                f"gyrostat_ros: joints has {told!r}, '{self.model.name}' has {', '.join(self.model.dofs)}"
            )
        self._columns = [self.model.dofs.index(name) for name in self.joints]
        self.kp, self.kd = self._gains("kp", kp), self._gains("kd", kd)
        self._rnea = gs.InverseDynamics(self.model)
        self._reference: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _gains(self, name: str, given: float | Sequence[float]) -> np.ndarray:
        gains = np.atleast_1d(np.asarray(given, dtype=float))
        if gains.shape not in ((1,), (len(self.joints),)) or not np.isfinite(gains).all() or (gains < 0).any():
            raise gs.GyrostatError(
                f"gyrostat_ros: {name} must be one number or {len(self.joints)}, none negative, got {given}"
            )
        all_of_them = np.zeros(self.model.nv)
        all_of_them[self._columns] = gains
        return all_of_them

    # ------------------------------------------------------------------ messages
    def state(self, message: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v in the order of the model, from a ``sensor_msgs/JointState``, whose names may be in any order and
        may belong to other robots, too. Rates that are not there are zero in mode ``gravity`` only."""
        positions = self._by_name(message.name, message.position, "position")
        if self.mode == "gravity":
            return positions, np.zeros(self.model.nv)
        return positions, self._by_name(message.name, message.velocity, "velocity")

    def _by_name(self, names: Sequence[str], numbers: Sequence[float], what: str) -> np.ndarray:
        if len(numbers) != len(names):
            raise MessageError(f"joint_states: {len(names)} names, {len(numbers)} numbers in {what}")
        known: Mapping[str, float] = dict(zip(names, numbers, strict=True))
        missing = [name for name in self.model.dofs if name not in known]
        if missing:
            raise MessageError(f"joint_states: no {what} of {', '.join(missing)}")
        values = np.array([known[name] for name in self.model.dofs], dtype=float)
        if not np.isfinite(values).all():
            name = self.model.dofs[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise MessageError(f"joint_states: {what} of {name} is not finite")
        return values

    def set_reference(self, point: Any) -> None:
        """Take a ``trajectory_msgs/JointTrajectoryPoint``: positions, velocities and accelerations of ``joints``."""
        found = []
        for what in ("positions", "velocities", "accelerations"):
            numbers = np.asarray(getattr(point, what), dtype=float)
            if numbers.shape not in ((0,), (len(self.joints),)) or (what == "positions" and not numbers.size):
                raise MessageError(f"reference: {what} must be {len(self.joints)} numbers, got {numbers.size}")
            if not np.isfinite(numbers).all():
                raise MessageError(f"reference: {what} are not finite")
            values = np.zeros(self.model.nv)
            values[self._columns] = numbers if numbers.size else 0.0
            found.append(values)
        self._reference = found[0], found[1], found[2]

    # ------------------------------------------------------------------ torques
    def torques(self, message: Any) -> np.ndarray | None:
        """Torques of ``joints`` [N m, N] for a message; None as long as there is no reference to follow."""
        q, v = self.state(message)
        a = np.zeros(self.model.nv)
        if self.mode == "inverse_dynamics":
            if self._reference is None:
                return None
            wanted, rates, accelerations = self._reference
            error = gs.difference(self.model, q, wanted)  # the shorter way round, where a joint has no end
            a = accelerations + self.kd * (rates - v) + self.kp * error
        return self._rnea(q, v, a)[self._columns]


def told_once(seen: set[str], text: str) -> bool:
    """Whether a message for the log is new."""
    if text in seen:
        return False
    seen.add(text)
    return True
