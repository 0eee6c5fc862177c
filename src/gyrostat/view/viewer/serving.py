"""Start and end of the web server, the first picture, and the export to one HTML file."""

from __future__ import annotations

import contextlib
import html as html_text
import io
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rich

from gyrostat.errors import GyrostatError, SaveError
from gyrostat.view.viewer.actor import all_between
from gyrostat.view.viewer.companions import Cast
from gyrostat.view.viewer.given_motion import RATE
from gyrostat.view.viewer.recording import record_motion
from gyrostat.view.viewer.stage import Stage

Array = np.ndarray
_log = logging.getLogger("gyrostat")


class ViewError(GyrostatError):
    """The viewer cannot start: a package is missing, or no port is free."""


def start(host: str, port: int) -> Any:
    """A viser server, seen from this machine only unless ``host`` says otherwise."""
    try:
        import viser
    except ImportError:
        raise ViewError("view: the viewer needs the package viser. Hint: pip install 'gyrostat[view]'") from None
    with _silence():  # it greets with a table
        server = viser.ViserServer(host=host, port=port, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
    return server


def stop(server: Any) -> None:
    """End a server without a word."""
    with _silence():
        server.stop()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing is printed, nor shown below the cell of a notebook, where rich does not print."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before


def set_out(stage: Stage, q: Array, t: Array | None, data: dict[str, Array]) -> None:
    """The robots where they begin, and a camera that sees all of their motion."""
    some = np.unique(np.linspace(0, len(t) - 1, 12).astype(int)) if t is not None else np.zeros(1, int)
    stage.look(q[None] if t is None else data["q"][some], np.zeros(1) if t is None else t[some])
    stage.perform(q, 0.0 if t is None else float(t[0]))


def scene_html(cast: Cast, q: Array, t: Array | None, data: dict[str, Array]) -> str:
    """HTML that shows a scene, with a trajectory if there is one; it holds all that it needs."""
    server = start("127.0.0.1", 8080)
    try:
        stage = cast.stage(server)
        set_out(stage, q, t, data)
        record = server.get_scene_serializer()
        if t is not None:
            times = np.arange(t[0], t[-1] + 0.5 / RATE, 1.0 / RATE)
            poses = all_between(cast.scene.model, t, data["q"], times)
            record_motion(record, stage, *stage.placements(poses, times), 1.0 / RATE, stage.scales(times))
        text = record.as_html()
    finally:
        stop(server)
    for line in stage.missing[:1]:
        _log.warning("view: %d shapes are not shown: %s", len(stage.missing), line)
    title = html_text.escape(cast.scene.model.name)
    return text.replace("<title>Viser</title>", f"<title>{title}</title>", 1)


def export_html(cast: Cast, q: Array, t: Array | None, data: dict[str, Array], path: str | os.PathLike[str]) -> Path:
    """One HTML file that shows a scene, with a trajectory if there is one."""
    text, target = scene_html(cast, q, t, data), Path(path)
    try:
        target.write_text(text, "utf-8")
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise SaveError.one(f"file '{target}'", "file", message, "choose a folder that exists") from None
    return target
