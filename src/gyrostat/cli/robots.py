"""``gyrostat robots``: what can be loaded by name, and how to get more."""

from __future__ import annotations

from typing import Annotated

import typer

from gyrostat.cli.options import Json, examples

MORE = (
    "More: pip install example-robot-data (about 40 families: Panda, UR, Talos, ANYmal, Solo, iCub, ...);",
    "      pip install robot_descriptions, and let it fetch a robot: what is in its cache is found, nothing is",
    "      downloaded from here; folders of your own: GYROSTAT_ROBOTS=/folder/one:/folder/two, gs.robots.search_path.",
)


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("robots", "robots panda", "robots ur --json"))(robots)


def robots(
    part: Annotated[str | None, typer.Argument(metavar="[PART]", help="Only names that hold this.")] = None,
    json: Json = False,
) -> None:
    """Robots that every command, and gs.load, know by name.

    Looked up in this order: those of gyrostat, folders on the search path, installed packages. Nothing is downloaded.
    """
    from gyrostat.cli.output import note, say, show_json
    from gyrostat.robots.by_name import available

    found = [robot for robot in available() if part is None or part.lower() in robot.name.lower()]
    if json:
        show_json(
            [{"name": r.name, "source": r.source, "path": None if r.path is None else str(r.path)} for r in found]
        )
        return
    for source in dict.fromkeys(robot.source for robot in found):
        say(f"{source}:")
        _columns([robot.name for robot in found if robot.source == source])
    if not found:
        say(f"no robot's name holds '{part}'")
    note("\n".join(MORE))


def _columns(names: list[str], width: int = 100) -> None:
    """Names side by side."""
    from gyrostat.cli.output import say

    size = max(map(len, names)) + 2
    row = max(1, width // size)
    for k in range(0, len(names), row):
        say("  " + "".join(name.ljust(size) for name in names[k : k + row]).rstrip())
