"""The progress of a run: simulated time, step size, remaining time; on a terminal, or when asked for."""

from __future__ import annotations

import sys
import time
from typing import Any

EVERY = 0.1
"""Seconds between two pictures."""


class Progress:
    """A bar in the terminal, or nothing. ``asked``: True, False, or None for a terminal and runs that take long.

    A function in its place is called with (t, step size, fraction of the run)."""

    def __init__(self, asked: Any, t_start: float, t_end: float):
        self.t_start, self.t_end = t_start, t_end
        self.told = asked if callable(asked) else None
        self.wanted = asked is True or (asked is None and sys.stderr.isatty())
        self.patient = asked is None
        self.began = self.last = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, t: float, h: float) -> None:
        """The run has come to t with a step h."""
        if not self.wanted and self.told is None:
            return
        now = time.perf_counter()
        if now - self.last < EVERY or (self.patient and now - self.began < 1.0):
            return
        self.last = now
        share = (t - self.t_start) / (self.t_end - self.t_start)
        if self.told is not None:
            self.told(t, h, share)
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=share, time=f"{t:.4g} of {self.t_end:.4g} s", step=f"step {h:.2g} s")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.fields[time]}"), BarColumn(), TextColumn("{task.fields[step]}"))
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("simulate", total=1.0, time="", step="")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
