"""Replay of a trajectory in the viewer: time slider, play and pause, and plots that follow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.spec.model import Model
from gyrostat.view.channels import Channel, channels
from gyrostat.view.plots import TITLES
from gyrostat.view.viewer.actor import between
from gyrostat.view.viewer.given_motion import RATE

Array = np.ndarray
POINTS = 400
"""How many points of each curve the browser draws."""

TOGETHER = 8
"""How many curves one plot has at most, unless one joint is chosen."""

COLORS = ("#2563a8", "#d97706", "#2f855a", "#7b4fa3", "#c0392b", "#0f8b8d", "#8d6e0f", "#59616e")


class Curves:
    """One plot in the browser: curves of a quantity, and a line at the present time."""

    def __init__(self, server: Any, t: Array, data: Mapping[str, Array], rows: tuple[Channel, ...]):
        import viser.uplot

        self._uplot, self._server, self._t, self._data, self._rows = viser.uplot, server, t, data, rows
        self._pick = np.unique(np.linspace(0, len(t) - 1, min(len(t), POINTS)).astype(int))
        self._handle: Any = None
        self._curves: Array = np.zeros((0, 0))

    def choose(self, quantity: str, joint: str, now: float) -> None:
        """Draw one quantity, of one joint or of the first ones of a unit."""
        rows = [c for c in self._rows if joint in (c.name, "first joints")]
        unit = rows[0].unit(quantity)
        labelled = [
            (c.name if len(c.at(quantity)) == 1 else f"{c.name} {n}", at)
            for c in rows
            if c.unit(quantity) == unit
            for n, at in zip(c.names(quantity), c.at(quantity), strict=True)
        ][:TOGETHER]
        self._curves = self._data[quantity][self._pick][:, [at for _, at in labelled]].T
        series = [self._uplot.Series(label="t [s]")]
        for k, (label, _) in enumerate(labelled):
            series.append(self._uplot.Series(label=label, stroke=COLORS[k % len(COLORS)], width=1.6))
        series.append(self._uplot.Series(label="now", stroke="#111111", width=1.2))
        if self._handle is not None:
            self._handle.remove()
        self._handle = self._server.gui.add_uplot(
            data=self._at(now),
            series=tuple(series),
            title=f"{TITLES[quantity]} {quantity} [{unit}]",
            scales={"x": self._uplot.Scale(time=False, auto=True), "y": self._uplot.Scale(range=self._range())},
            legend=self._uplot.Legend(show=True),
            aspect=1.5,
        )

    def _range(self) -> tuple[float, float]:
        finite = self._curves[np.isfinite(self._curves)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        pad = 0.06 * (high - low) or 0.05 * max(abs(high), 1.0)
        return low - pad, high + pad

    def _at(self, now: float) -> tuple[Array, ...]:
        """Times and curves, with three more points at the present time, at which the last curve goes up and down."""
        t, (low, high) = self._t[self._pick], self._range()
        k = int(np.searchsorted(t, now, side="right"))
        curves = [np.insert(y, [k, k, k], np.interp(now, t, y)) for y in self._curves]
        line = np.insert(np.full(len(t), low), [k, k, k], (low, high, low))
        return (np.insert(t, [k, k, k], now), *curves, line)

    def move(self, now: float) -> None:
        """Put the line at a time."""
        if self._handle is not None:
            self._handle.data = self._at(now)


class Replay:
    """Controls of a trajectory: t (T,) [s], q (T, nq), and further arrays to plot. ``show(q, t)`` moves the robot."""

    def __init__(
        self, server: Any, model: Model, t: Array, data: Mapping[str, Array], show: Callable[[Array, float], None]
    ):
        self.model, self.t, self.data, self._show = model, t, data, show
        self.now = float(t[0])
        self._playing, self._closed = threading.Event(), False
        self._quiet = False
        rows = channels(model)
        step = max((t[-1] - t[0]) / 1000.0, 1e-6)
        with server.gui.add_folder("Trajectory"):
            self._button = server.gui.add_button("Play")
            self._slider = server.gui.add_slider("t [s]", float(t[0]), float(t[-1]), float(step), self.now)
            self._speed = server.gui.add_dropdown("speed", ("0.1", "0.25", "0.5", "1", "2", "5"), initial_value="1")
            self._loop = server.gui.add_checkbox("loop", True)
            quantity = server.gui.add_dropdown("plot", tuple(data), initial_value=next(iter(data)))
            joint = server.gui.add_dropdown("of", ("first joints", *(c.name for c in rows)))
            self._curves = Curves(server, t, data, rows)
            folder = server.gui.add_folder("Curves")

            def choose(_: Any = None) -> None:
                with folder:
                    self._curves.choose(quantity.value, joint.value, self.now)

            choose()
        quantity.on_update(choose)
        joint.on_update(choose)
        self._button.on_click(lambda _: self.play(not self._playing.is_set()))
        self._slider.on_update(self._slid)
        self._thread = threading.Thread(target=self._run, name="gyrostat-replay", daemon=True)
        self._thread.start()

    def _slid(self, event: Any) -> None:
        if not self._quiet and event.client is not None:
            self.seek(float(self._slider.value))

    def play(self, on: bool = True) -> None:
        """Play, or pause."""
        if on and self.now >= self.t[-1]:
            self.now = float(self.t[0])
        (self._playing.set if on else self._playing.clear)()
        self._button.label = "Pause" if on else "Play"

    def seek(self, now: float) -> None:
        """Go to a time [s]."""
        self.now = float(np.clip(now, self.t[0], self.t[-1]))
        self._show(between(self.model, self.t, self.data["q"], self.now), self.now)
        self._quiet = True
        try:
            self._slider.value = self.now
        finally:
            self._quiet = False
        self._curves.move(self.now)

    def _run(self) -> None:
        last = time.monotonic()
        while not self._closed:
            waited = self._playing.wait(0.5)
            if self._closed or not waited:
                last = time.monotonic()
                continue
            moment = time.monotonic()
            now = self.now + min(moment - last, 0.25) * float(self._speed.value)
            last = moment
            if now >= self.t[-1]:
                now = float(self.t[0]) if self._loop.value else float(self.t[-1])
                if not self._loop.value:
                    self.play(False)
            self.seek(now)
            time.sleep(1.0 / RATE)

    def close(self) -> None:
        """Stop playing."""
        self._closed = True
        self._playing.set()
        self._thread.join(2.0)
