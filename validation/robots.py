"""Robot after robot, against another program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import gyrostat as gs
from validation.compare import Difference, Peer, compare, compare_dynamics
from validation.coupled_robot import CoupledRobot
from validation.mujoco_robot import MujocoRobot, UnsuitedError
from validation.pinocchio_robot import PinocchioRobot
from validation.urdf_files import RobotFile, opened, robot_files

BASES = ("fixed", "free")


@dataclass
class RobotRow:
    """What was found for one file. ``errors``: base -> quantity -> difference."""

    name: str
    dofs: int = 0
    audit: tuple[str, ...] = ()
    refused: str = ""
    errors: dict[str, dict[str, Difference]] = field(default_factory=dict)

    @property
    def differences(self) -> list[Difference]:
        return [one for by_quantity in self.errors.values() for one in by_quantity.values()]

    @property
    def failed(self) -> bool:
        return any(one.failed for one in self.differences)


MakePeer = Callable[[RobotFile, gs.Model, str], Peer]
PEERS: dict[str, MakePeer] = {"Pinocchio": PinocchioRobot, "MuJoCo": MujocoRobot}


def files(only: tuple[str, ...] = ()) -> list[Path]:
    return robot_files(only)


def compared(path: Path, peers: list[str], mode: str = "interpret") -> dict[str, RobotRow]:
    """One robot against each of the peers, on a fixed and on a free base."""
    file = opened(path)
    rows = {peer: RobotRow(file.name, audit=tuple(sorted(set(file.errors)))) for peer in peers}
    for base in BASES:
        try:
            model = file.load(base)
        except gs.GyrostatError as error:
            for row in rows.values():
                row.refused = _reason(error)
            return rows
        for peer, row in rows.items():
            row.dofs = model.nv if base == "fixed" else row.dofs
            try:
                row.errors[base] = compare(model, PEERS[peer](file, model, base), not file.singular, mode)
            except UnsuitedError as error:
                row.refused = str(error)
    return rows


def as_loaded(path: Path) -> RobotRow | None:
    """Everything in the file, as ``gs.load`` reads it; None where that is no more than the bare mechanism."""
    file = opened(path)
    row = RobotRow(file.name, audit=tuple(sorted(set(file.errors))))
    for base in BASES:
        try:
            model = file.load(base, everything=True)
        except gs.GyrostatError:
            return None  # told with the other comparisons
        peer = CoupledRobot(file, model, base)
        if not peer.says_more:
            return None
        row.dofs = model.nv if base == "fixed" else row.dofs
        row.errors[base] = compare_dynamics(model, peer, not file.singular)
    return row


def _reason(error: gs.GyrostatError) -> str:
    """The message without the file's place on this machine."""
    (problem, *_) = getattr(error, "problems", None) or [None]
    return problem.message if problem is not None else type(error).__name__
