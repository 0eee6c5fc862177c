"""Robot files in folders, by name: those on a search path, and those that installed packages bring along.

Nothing is downloaded, and a name never leads out of a folder: names are words, and links that point elsewhere are
passed over."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = (".urdf", ".xml", ".sdf", ".yaml", ".yml", ".xacro")
"""Files that can be a robot, the preferred ones first."""
VARIABLE = "GYROSTAT_ROBOTS"
DEEPEST, MOST = 6, 50_000
"""Folders below a folder, and entries in all, that are looked at."""
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}")
ENDINGS = ("_description", "_descriptions", "_data", "_robot", "_model")
BESIDE = {"package", "manifest", "model", "scene", "config", "meshes", "textures"}
"""Names of files that are no name of a robot."""


@dataclass(frozen=True)
class RobotFile:
    """A file by the ``name`` of its robot; ``source``: what brought it."""

    name: str
    path: Path
    source: str


@dataclass(frozen=True)
class Folder:
    """Where robots are looked for."""

    path: Path
    source: str


def packages() -> list[Folder]:
    """Folders with robots that installed packages bring along, or have fetched before."""
    site = Path(sysconfig.get_paths()["purelib"])
    cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE") or Path.home() / ".cache" / "robot_descriptions"
    known = (
        Folder(site / "cmeel.prefix" / "share" / "example-robot-data" / "robots", "example-robot-data"),
        Folder(site / "mujoco_menagerie", "mujoco_menagerie"),
        Folder(Path(cache), "robot_descriptions (its cache)"),
    )
    return [folder for folder in known if _is_folder(folder.path)]


def on_search_path(more: Iterable[str | os.PathLike[str]]) -> list[Folder]:
    """Folders that the user named: in the program, then in the environment."""
    named = [Path(os.fsdecode(path)) for path in more]
    variable = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    found = [Folder(path, "gs.robots.search_path") for path in named] + [Folder(path, VARIABLE) for path in variable]
    return [folder for folder in found if _is_folder(folder.path)]


def _is_folder(path: Path) -> bool:
    """Whether it is there and may be looked at."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def files(folder: Folder) -> list[RobotFile]:
    """Robots in a folder and below, by name; of several files with one name the first by kind, depth and alphabet."""
    found: dict[str, tuple[tuple[int, int, str], Path]] = {}
    for path, depth in _walked(folder.path):
        name = path.stem.split(".")[0]
        if name in BESIDE or not WORD.fullmatch(name) or not _is_robot(path):
            continue
        rank = KINDS.index(path.suffix.lower()), depth, str(path)
        if name not in found or rank < found[name][0]:
            found[name] = rank, path
    return [RobotFile(name, path, folder.source) for name, (_, path) in sorted(found.items())]


def matching(name: str, robots: Iterable[RobotFile]) -> list[RobotFile]:
    """The file of a robot that is called so, or so but for an ending; else all those in folders that are called so."""
    wanted, every = _plain(name), list(robots)
    for called in (lambda robot: robot.name == name, lambda robot: wanted in (_plain(robot.name), _bare(robot.name))):
        found = [robot for robot in every if called(robot)]
        if found:
            return [min(found, key=lambda robot: (len(robot.name), robot.name))]
    return [robot for robot in every if wanted in {_bare(part) for part in robot.path.parts[-4:-1]}]


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _bare(name: str) -> str:
    plain = _plain(name)
    return next((plain.removesuffix(end) for end in ENDINGS if plain.endswith(end)), plain)


def _walked(root: Path) -> Iterator[tuple[Path, int]]:
    """Files that could be robots and lie in the folder itself, with their depth."""
    inside, left = root.resolve(), MOST
    for here, folders, names in os.walk(root):
        depth = len(Path(here).relative_to(root).parts)
        folders[:] = [] if depth >= DEEPEST else sorted(f for f in folders if not f.startswith(".") and f != "meshes")
        for name in sorted(names):
            left -= 1
            if left < 0:
                return
            path = Path(here) / name
            if path.suffix.lower() in KINDS and path.resolve().is_relative_to(inside):
                yield path, depth


def _is_robot(path: Path) -> bool:
    """Whether an XML file is one of MuJoCo, a YAML file one of gyrostat; the ending says it of others."""
    sign = {".xml": b"<mujoco", ".yaml": b"gyrostat", ".yml": b"gyrostat"}.get(path.suffix.lower())
    if sign is None:
        return True
    try:
        with path.open("rb") as file:
            return sign in file.read(4096)
    except OSError:
        return False
