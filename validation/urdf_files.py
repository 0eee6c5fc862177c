"""The URDF files of the wheel ``example-robot-data``, and how both sides load them."""

from __future__ import annotations

import logging
import re
import sysconfig
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gyrostat as gs

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


@dataclass(frozen=True)
class RobotFile:
    """One file, and what its audit says: errors that are accepted, names that differ in the model."""

    path: Path
    errors: tuple[str, ...]
    links: dict[str, str]
    joints: dict[str, str]

    @property
    def name(self) -> str:
        return self.path.relative_to(FOLDER).as_posix() if self.path.is_relative_to(FOLDER) else self.path.name

    @property
    def singular(self) -> bool:
        """A joint moves no mass: the mass matrix has no inverse."""
        return "moving-massless" in self.errors

    def load(self, base: Any, everything: bool = False) -> gs.Model:
        """The mechanism that Pinocchio computes by default, or ``everything`` in the file: friction and couplings."""
        with _quiet():
            return gs.load(self.path, base=base, friction=everything, mimic=everything)


def robot_files(only: tuple[str, ...] = ()) -> list[Path]:
    """Every URDF file of the wheel, or those whose path contains one of the given texts."""
    paths = sorted(FOLDER.rglob("*.urdf"))
    return [path for path in paths if not only or any(text in path.as_posix() for text in only)]


def opened(path: Path) -> RobotFile:
    """Audit a file; it is loaded as by default, errors accepted."""
    audit = gs.audit(path)
    names: dict[str, dict[str, str]] = {"link": {}, "joint": {}}
    for finding in audit if audit.ok else gs.audit(path, policy="accept"):
        where = re.fullmatch(r"robot/(link|joint)\[(.*)\]", finding.element)
        called = re.search(r"called '(.*)' in the model", finding.what)
        if finding.rule == "name" and where and called:
            names[where[1]][where[2]] = called[1]
    return RobotFile(path, tuple(f.rule for f in audit.errors), names["link"], names["joint"])


@contextmanager
def _quiet() -> Iterator[None]:
    """What the reader tells is in the audit already."""
    logger = logging.getLogger("gyrostat")
    before, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gs.ModelWarning)
            yield
    finally:
        logger.disabled = before
