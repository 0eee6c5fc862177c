"""The viewer: a robot in the browser, with sliders, torques under gravity and replay; or one HTML file of it."""

from __future__ import annotations

import html as html_text
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates
from gyrostat.errors import ShapeError
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.view.scene.scene import scene
from gyrostat.view.viewer.companions import Cast, ghost_of, given_spacing, robots_beside
from gyrostat.view.viewer.force_arrows import given_forces
from gyrostat.view.viewer.given_motion import given_motion
from gyrostat.view.viewer.holding_efforts import efforts
from gyrostat.view.viewer.inline import HEIGHT, InlineScene, in_notebook
from gyrostat.view.viewer.replay import Replay
from gyrostat.view.viewer.serving import export_html, scene_html, set_out, start, stop
from gyrostat.view.viewer.sliders import Sliders
from gyrostat.view.viewer.stage import LAYERS

Array = np.ndarray
_log = logging.getLogger("gyrostat")


class Viewer:
    """A robot in the browser. ``url``: where; ``q``: the configuration that is shown."""

    def __init__(self, server: Any, cast: Cast, q: Array, t: Array | None, data: dict[str, Array]):
        self.scene, self.model, self.q = cast.scene, cast.scene.model, np.array(q)
        self._server, self._lock, self._time = server, threading.RLock(), 0.0 if t is None else float(t[0])
        self.stage = cast.stage(server)
        set_out(self.stage, self.q, t, data)
        self.replay: Replay | None = None
        if t is not None:
            self.replay = Replay(server, self.model, t, data, self._play)
        self._panels()
        self._told()

    @property
    def url(self) -> str:
        """Where the browser finds it."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}".replace("127.0.0.1", "localhost")

    def _panels(self) -> None:
        gui = self._server.gui
        gui.set_panel_label(self.model.name)
        if self.model.nv:
            with gui.add_folder("Joints"):
                reset = gui.add_button("All to zero")
                reset.on_click(lambda _: self.set(neutral(self.model)))
                self._sliders = Sliders(self._server, self.model, self.q, self.scene.extent, self._moved)
            with gui.add_folder("Efforts at rest"):
                self._efforts = gui.add_html("")
        if self.stage.arrows is not None:
            with gui.add_folder("Forces"):
                self._forces = gui.add_html("")
        with gui.add_folder("Show"):
            for name in LAYERS:
                if self.stage.layers[name]:
                    self._layer(name)
            opacity = gui.add_slider("opacity", 0.1, 1.0, 0.05, self.stage.opacity)
            opacity.on_update(lambda _: self.stage.fade(float(opacity.value)))
        if self.stage.missing:
            with gui.add_folder("Not shown", expand_by_default=False):
                lines = "".join(f"<li>{html_text.escape(line)}</li>" for line in self.stage.missing[:50])
                gui.add_html(f'<ul style="font-size:12px;margin:4px 12px;padding-left:12px">{lines}</ul>')
            _log.warning("view: %d shapes are not shown: %s", len(self.stage.missing), self.stage.missing[0])

    def _layer(self, name: str) -> None:
        shown = bool(self.stage.layers[name][0].visible)
        box = self._server.gui.add_checkbox(name, shown)
        box.on_update(lambda _: self.stage.show(name, bool(box.value)))

    # ------------------------------------------------------------------ moving
    def set(self, q: Any) -> None:
        """Show the configuration q (nq,), or a mapping of joint names to values."""
        given = coordinates(self.model, q, "view", "raise")
        if given.shape != (self.model.nq,):
            raise ShapeError(f"view: q has shape {given.shape}, expected ({self.model.nq},). Hint: one configuration")
        with self._lock:
            self._show(given, self._time)
            if self.model.nv:
                self._sliders.set(self.q)

    def _moved(self, places: list[int], values: Array) -> None:
        with self._lock:
            q = self.q.copy()
            q[places] = values
            self._show(q, self._time)

    def _play(self, q: Array, t: float) -> None:
        with self._lock:
            self._time = t
            self._show(q, t)
            self._sliders.set(q)

    def _show(self, q: Array, t: float) -> None:
        self.q = np.array(q)
        self.stage.perform(self.q, t)
        self._told()

    def _told(self) -> None:
        """The read-out: what the drives must give to hold the robot against its weight."""
        if self.model.nv:
            self._efforts.content = efforts(self.model, self.q)
        if self.stage.arrows is not None:
            forces = self.stage.arrows.forces
            self._forces.content = forces.table(forces.at(np.array([self._time]))[1][0])

    def close(self) -> None:
        """End the viewer and its web server."""
        if self.replay is not None:
            self.replay.close()
        stop(self._server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        url = html_text.escape(self.url)
        frame = f'<iframe src="{url}" style="width:100%;height:{HEIGHT}px;border:1px solid #ccd"></iframe>'
        return f'<p>{html_text.escape(self.model.name)}: <a href="{url}" target="_blank">{url}</a></p>{frame}'

    def __repr__(self) -> str:
        return f"<viewer of '{self.model.name}' at {self.url}>"


def view(
    model: Model,
    q: Any = None,
    t: Any = None,
    *,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    ghost: Any = None,
    beside: Any = None,
    spacing: float | None = None,
    forces: Any = None,
    force_scale: float | None = None,
    port: int = 8080,
    host: str = "127.0.0.1",
    block: bool | None = None,
    html: str | os.PathLike[str] | None = None,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> Viewer | InlineScene | Path:
    """Show a model in the browser, at http://localhost:8080 (or the next port that is free).

    ``q`` (nq,): the configuration; with ``t`` (T,) [s], q (T, nq) is a trajectory that can be replayed, and v, a, tau
    (T, nv) are plotted with it. The page has sliders by joint name, the efforts that hold the robot against its weight,
    and switches for frames, centres of mass, inertias and collision shapes.

    ``ghost``: where the robot should be, translucent: q (nq,), or a run, a trajectory or a mapping with "q" and perhaps
    "t". ``beside``: robots or runs side by side, played at the same time: a model, (model, q), (model, q, t) or a
    result; several as a list, or as a mapping whose names stand above them; ``spacing`` [m] between their origins, by
    default as they need, 0 for one in another. ``forces``: arrows, a mapping of names to points and forces in the world
    [m, N], each (T, 3), or (3,) for a robot at rest; ``force_scale`` [m/N], by default large forces are a third of the
    robot long. Ghosts and robots beside rest before their first and after their last sample.

    ``html``: write one HTML file instead, which needs no network and no server; its path is returned. ``block``: wait
    until interrupted; by default in scripts, not in interactive sessions. ``host``: "0.0.0.0" lets other machines look
    on. In a notebook the scene appears below the cell, without a server and without sliders; ``block=False`` starts
    the viewer there too. ``roots``: folders in which meshes are looked for, besides that of the model's file.
    """
    expect_model(model, "view")
    first, times, data = given_motion(model, q, t, {"v": v, "a": a, "tau": tau})
    drawn = scene(model, roots)
    others = ghost_of(drawn, ghost, times) + robots_beside(beside, times, roots)
    cast = Cast(drawn, others, given_forces(forces, times, drawn.extent, force_scale), given_spacing(spacing))
    if html is not None:
        return export_html(cast, first, times, data, html)
    if block is None and in_notebook():
        return InlineScene(model.name, scene_html(cast, first, times, data))
    viewer = Viewer(start(host, port), cast, first, times, data)
    print(f"gyrostat viewer of '{model.name}': {viewer.url}", flush=True)
    if block or (block is None and not hasattr(sys, "ps1") and "ipykernel" not in sys.modules):
        _wait(viewer)
    return viewer


def _wait(viewer: Viewer) -> None:
    print("Ctrl+C ends it.", flush=True)
    try:
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        viewer.close()
