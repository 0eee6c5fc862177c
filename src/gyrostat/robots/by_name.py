"""Robots by name: ``gs.load("panda")``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gyrostat.errors import LoadError, Problem, SpecError, nearest
from gyrostat.io.audit import Audit, Policy
from gyrostat.io.files import audit as audit_file
from gyrostat.io.files import load as load_file
from gyrostat.io.formats import FOREIGN, READERS, Folders
from gyrostat.robots.catalogue import catalogue, short_names
from gyrostat.robots.found_files import WORD, RobotFile, files, matching, on_search_path, packages
from gyrostat.spec.check import check
from gyrostat.spec.model import Model

search_path: list[str | os.PathLike[str]] = []
"""Folders in which robots are looked for by name, before those of the environment variable GYROSTAT_ROBOTS."""


@dataclass(frozen=True)
class KnownRobot:
    """A robot by ``name``; ``source``: "gs.robots", a folder, or a package; ``path`` of its file, if it has one."""

    name: str
    source: str
    path: Path | None = None


def available() -> tuple[KnownRobot, ...]:
    """All robots that :func:`gyrostat.load` knows by name, in the order in which they are looked up."""
    own = [KnownRobot(name, "gs.robots") for name in catalogue()]
    return (*own, *(KnownRobot(found.name, found.source, found.path) for found in _found_files()))


def _found_files() -> list[RobotFile]:
    return [robot for folder in (*on_search_path(search_path), *packages()) for robot in files(folder)]


def found(name: str) -> KnownRobot | None:
    """The robot of this name, None if there is none."""
    own = {**short_names(), **{full: full for full in catalogue()}}
    if name in own:
        return KnownRobot(own[name], "gs.robots")
    for folder in (*on_search_path(search_path), *packages()):
        robots = matching(name, files(folder))
        if len(robots) > 1:
            message = f"stands for several: {', '.join(robot.name for robot in robots[:8])}"
            raise LoadError([Problem(f"robot '{name}'", "robot-name", message, "name one of them", name)])
        if robots:
            return KnownRobot(robots[0].name, robots[0].source, robots[0].path)
    return None


def is_name(path: Any) -> bool:
    """Whether this is a robot's name: a word without the ending of a file, and no file is called so."""
    if not isinstance(path, str) or not WORD.fullmatch(path) or path.lower().endswith((*READERS, *FOREIGN)):
        return False
    return not Path(path).is_file()


def unknown(name: str) -> LoadError:
    """That there is no robot of this name, with similar ones."""
    names = [*short_names(), *dict.fromkeys(robot.name for robot in available())]
    message = "there is no file and no robot of this name"
    remedy = f"{nearest(name, names)} `gyrostat robots` lists all, and says where more come from"
    return LoadError([Problem(f"robot '{name}'", "robot-name", message, remedy, name)])


def load(
    path: str | os.PathLike[str],
    base: Literal["fixed", "free"] | None = None,
    policy: Policy = "accept",
    roots: Folders = (),
    arguments: Mapping[str, object] | None = None,
    friction: bool = True,
    mimic: bool = True,
    contacts: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
) -> Model:
    """The model in a file, or of a robot by name: ``gs.load("panda")``, ``gs.load("ur5.urdf")``.

    A file that is there comes first. A word without the ending of a file is looked up in ``gs.robots``, in the folders
    of ``gs.robots.search_path`` and of the environment variable GYROSTAT_ROBOTS, then in installed packages
    (example-robot-data; what the cache of robot_descriptions holds). Nothing is downloaded. Options as for files:
    """
    options: dict[str, Any] = {
        "base": base, "policy": policy, "roots": roots, "arguments": arguments, "friction": friction, "mimic": mimic,
        "contacts": contacts, "srdf": srdf,
    }  # fmt: skip
    if not is_name(path):
        return load_file(path, **options)
    robot = found(str(path))
    if robot is None:
        raise unknown(str(path))
    if robot.path is not None:
        return load_file(robot.path, **options)
    return _own(robot.name, options)


load.__doc__ = f"{load.__doc__}\n{load_file.__doc__}"


def _own(name: str, options: Mapping[str, Any]) -> Model:
    usual = {"base": None, "policy": "accept", "roots": (), "arguments": None, "friction": True, "mimic": True}
    given = [key for key, value in options.items() if value != usual.get(key) and key != "base"]
    if given:
        message = f"'{given[0]}' is for files, and this robot comes with gyrostat"
        raise SpecError.one(f"robot '{name}'", "robot-name", message, "leave it out", options[given[0]])
    model = catalogue()[name]()
    base = options["base"]
    if base is None or base == model.context.base:
        return model
    other = model.replace({"context.base": base})
    check(other)
    return other


def audit(path: str | os.PathLike[str], *arguments: Any, **options: Any) -> Audit:
    """As :func:`gyrostat.io.files.audit`, of a file or of a robot by name that has one."""
    if not is_name(path):
        return audit_file(path, *arguments, **options)
    robot = found(str(path))
    if robot is None:
        raise unknown(str(path))
    if robot.path is None:
        message = "comes with gyrostat and has no file"
        raise LoadError([Problem(f"robot '{path}'", "robot-name", message, "gs.check(gs.load(name))", str(path))])
    return audit_file(robot.path, *arguments, **options)


audit.__doc__ = f"{audit.__doc__}\n\n{audit_file.__doc__}"
