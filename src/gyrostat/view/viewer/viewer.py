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
from gyrostat.view.scene.scene import Scene, scene
from gyrostat.view.viewer.holding_efforts import efforts
from gyrostat.view.viewer.inline import HEIGHT, InlineScene, in_notebook
from gyrostat.view.viewer.replay import RATE, Replay
from gyrostat.view.viewer.serving import export_html, scene_html, set_out, start, stop
from gyrostat.view.viewer.sliders import Sliders
from gyrostat.view.viewer.stage import LAYERS, Stage

Array = np.ndarray
_log = logging.getLogger("gyrostat")


class Viewer:
    """A robot in the browser. ``url``: where; ``q``: the configuration that is shown."""

    def __init__(self, server: Any, drawn: Scene, q: Array, t: Array | None, data: dict[str, Array]):
        self.scene, self.model, self.q = drawn, drawn.model, np.array(q)
        self._server, self._lock, self._time = server, threading.RLock(), 0.0 if t is None else float(t[0])
        self.stage = Stage(server, drawn)
        set_out(self.stage, drawn, self.q, t, data)
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
        with gui.add_folder("Show"):
            for name in LAYERS:
                if self.stage.layers[name]:
                    self._layer(name)
            opacity = gui.add_slider("opacity", 0.1, 1.0, 0.05, 1.0)
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
        self.stage.place(*self.scene.placements(self.q, t))
        self._told()

    def _told(self) -> None:
        """The read-out: what the drives must give to hold the robot against its weight."""
        if self.model.nv:
            self._efforts.content = efforts(self.model, self.q)

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


def _given(model: Model, q: Any, t: Any, more: dict[str, Any]) -> tuple[Array, Array | None, dict[str, Array]]:
    """The first configuration; times and arrays of a trajectory, if there is one."""
    if q is None:
        if t is not None:
            raise ShapeError("view: t was given without q. Hint: a trajectory is t (T,) and q (T, nq)")
        return neutral(model), None, {}
    configurations = coordinates(model, q, "view", "raise")
    if not model.nv:
        return neutral(model), None, {}
    if configurations.ndim == 1 and t is None:
        return configurations, None, {}
    times = np.arange(len(configurations)) / RATE if t is None else np.asarray(t, dtype=float)
    if configurations.ndim != 2 or times.shape != (len(configurations),) or len(configurations) < 2:
        wanted = f"t (T,) and q (T, {model.nq}) with at least two rows"
        raise ShapeError(
            f"view: t has shape {times.shape}, q has {configurations.shape}, expected {wanted}. Hint: np.stack"
        )
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0.0) or times[-1] <= times[0]:
        raise ShapeError("view: t must be finite and grow. Hint: sort the samples by time")
    data = {"q": configurations}
    for name, value in more.items():
        if value is None:
            continue
        x = np.asarray(value, dtype=float)
        if x.shape != (len(times), model.nv):
            wanted = f"({len(times)}, {model.nv})"
            raise ShapeError(f"view: {name} has shape {x.shape}, expected {wanted}. Hint: one row for each time")
        data[name] = x
    return configurations[0], times, data


def view(
    model: Model,
    q: Any = None,
    t: Any = None,
    *,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
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

    ``html``: write one HTML file instead, which needs no network and no server; its path is returned. ``block``: wait
    until interrupted; by default in scripts, not in interactive sessions. ``host``: "0.0.0.0" lets other machines look
    on. In a notebook the scene appears below the cell, without a server and without sliders; ``block=False`` starts
    the viewer there too. ``roots``: folders in which meshes are looked for, besides that of the model's file.
    """
    expect_model(model, "view")
    first, times, data = _given(model, q, t, {"v": v, "a": a, "tau": tau})
    drawn = scene(model, roots)
    if html is not None:
        return export_html(drawn, first, times, data, html)
    if block is None and in_notebook():
        return InlineScene(model.name, scene_html(drawn, first, times, data))
    viewer = Viewer(start(host, port), drawn, first, times, data)
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
