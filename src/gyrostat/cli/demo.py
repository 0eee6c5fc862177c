"""``gyrostat demo``: small demonstrations that need no files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gyrostat.cli.options import Force, Json, Quiet, examples


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("demo", "demo lwr", "demo pendulum -o pictures"))(demo)


def demo(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which one; without it, they are listed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Draw a figure into this folder.")
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List or run small demonstrations that need no files."""
    from gyrostat.cli.demos import DEMOS
    from gyrostat.cli.output import MisuseError, note, say, show_json, show_table
    from gyrostat.errors import clipped, nearest

    if name is None:
        rows = [(key, (run.__doc__ or "").splitlines()[0]) for key, run in DEMOS.items()]
        if json:
            show_json([{"name": key, "text": text} for key, text in rows])
        else:
            show_table("", ("name", "what it shows"), rows)
        return
    if name not in DEMOS:
        raise MisuseError(f"there is no demonstration {clipped(name)}. Hint: {nearest(name, DEMOS)}")
    experiment = DEMOS[name]()
    path = None if out is None else _draw(experiment, out / f"{name}.png", force)
    if json:
        data = {
            "title": experiment.title,
            "columns": list(experiment.head),
            "rows": [list(row) for row in experiment.rows],
        }
        show_json(data | {"remark": experiment.remark, "figure": None if path is None else str(path)})
        return
    show_table(
        experiment.title,
        experiment.head,
        [[f"{round(x, 9) + 0.0:.6g}" for x in row] for row in experiment.rows],
        right=range(len(experiment.head)),
    )
    say(experiment.remark)
    note("add -o FOLDER for a figure" if path is None else f"figure: {path.resolve()}", quiet)


def _draw(experiment: object, path: Path, force: bool) -> Path:
    from gyrostat.cli.demos import draw
    from gyrostat.cli.files import failed, may_write

    may_write(path, force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draw(experiment, path)  # type: ignore[arg-type]
    except OSError as error:
        raise failed(path, error) from None
    return path
