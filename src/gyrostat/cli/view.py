"""``gyrostat diagram`` and ``gyrostat view``: pictures of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrostat.cli.options import Force, Json, ModelName, Out, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from collections.abc import Callable

    from gyrostat.spec.model import Model

MOST = 1_000_000
"""Rows of a trajectory that a page can hold."""


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("diagram lwr -o lwr.svg", "diagram robot.urdf > robot.svg"))(reads(diagram))
    app.command(
        epilog=examples(
            "view lwr",
            "view robot.urdf --trajectory motion.csv",
            "view robot.urdf --html robot.html",
            "view robot.urdf --port 8081 --no-browser",
        )
    )(reads(view))


def diagram(
    model: ModelName,
    out: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """The component diagram as SVG: entities, ports, connections."""
    from gyrostat.cli.files import may_write, write_text
    from gyrostat.cli.output import MisuseError, note, show_json
    from gyrostat.view.diagram.diagram import diagram as draw

    if json and out is None:
        raise MisuseError("--json tells about the file that was written. Hint: add -o FILE")
    if out is not None:
        may_write(out, force)
    write_text(out, draw(reading.load(model, quiet)), force)
    if json:
        show_json({"file": str(out)})
    elif out is not None:
        note(str(out), quiet)


def view(
    model: ModelName,
    trajectory: Annotated[
        str | None,
        typer.Option("--trajectory", metavar="FILE.csv", help="A motion to replay: columns t, q.NAME, maybe v, a."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one self-contained page instead of starting the viewer."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where the viewer listens.")] = 8080,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    force: Force = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """See the robot in a browser, with sliders for its joints.

    Shows frames, centres of mass and the torques under gravity. Runs until it is interrupted with Ctrl-C.
    """
    from gyrostat.cli.files import may_write
    from gyrostat.cli.log import told
    from gyrostat.cli.output import note
    from gyrostat.view.viewer.viewer import view as show

    if html is not None:
        may_write(html, force)
    loaded = reading.load(model, quiet)
    motion = {} if trajectory is None else motion_of(loaded, trajectory)
    roots: Any = reading.root or ()
    with told(quiet):
        if html is not None:
            show(loaded, **motion, html=html, roots=roots)
            note(str(html), quiet)
        else:
            _serve(lambda: show(loaded, **motion, port=port, block=False, roots=roots), browser)


def _serve(start: Callable[[], Any], browser: bool) -> None:
    """Until Ctrl-C, which is the proper end from the moment the viewer begins to start."""
    import time
    import webbrowser

    viewer = None
    try:
        viewer = start()
        if browser:
            webbrowser.open(viewer.url)
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        pass
    finally:
        if viewer is not None:
            viewer.close()


def motion_of(model: Model, file: str) -> dict[str, Any]:
    """t, q and, where they are there, v and a of a trajectory."""
    import numpy as np

    from gyrostat.cli.trajectory import opened, read_blocks, read_header, refuse

    with opened(file) as text:
        columns = read_header(text, file, model)
        if columns.t is None:
            raise refuse(file, 1, "columns", "there is no column t", "add the times [s]")
        values: list[Any] = []
        count = 0
        for block in read_blocks(text, file, columns):
            values.append(block.values)
            count += len(block.values)
            if count > MOST:
                raise refuse(file, block.lines[-1], "rows", f"there are more than {MOST} rows", "show a part of them")
    if count < 2:
        raise refuse(file, 0, "rows", f"there are only {count}", "a motion has two rows at least")
    rows = np.concatenate(values)
    parts = {"q": columns.q, "v": columns.v, "a": columns.a}
    return {"t": rows[:, columns.t], **{k: rows[:, places] for k, places in parts.items() if places is not None}}
