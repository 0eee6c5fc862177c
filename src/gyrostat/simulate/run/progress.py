"""The progress of a run: simulated time, step size, remaining time; on a terminal, or when asked for.

A bar on a terminal; elsewhere, where it is asked for, a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

from gyrostat.errors import GyrostatError, clipped

EVERY, LINES = 0.1, 1.0
"""Seconds between two pictures of the bar, and between two lines."""


class Progress:
    """A bar in the terminal, or nothing. ``asked``: True, False, or None for a terminal and runs that take long.

    A function in its place is called with (t, step size, fraction of the run). ``unit`` "runs" counts runs."""

    def __init__(self, asked: Any, t_start: float, t_end: float, unit: str = "s"):
        if not (asked is None or isinstance(asked, bool) or callable(asked)):
            raise GyrostatError(f"simulate: progress must be True, False, None or a function, got {clipped(asked)}")
        self.t_start, self.t_end, self.unit = t_start, t_end, unit
        self.told = asked if callable(asked) else None
        self.wanted = asked is True or (asked is None and sys.stderr.isatty())
        self.patient, self.terminal = asked is None, sys.stderr.isatty()
        self.began = self.last = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, t: float, h: float) -> None:
        """The run has come to t with a step h."""
        if not self.wanted and self.told is None:
            return
        now = time.perf_counter()
        every = EVERY if self.terminal or self.told is not None else LINES
        if now - self.last < every or (self.patient and now - self.began < 1.0):
            return
        self.last = now
        share = (t - self.t_start) / (self.t_end - self.t_start)
        if self.told is not None:
            self.told(t, h, share)
            return
        at, step = f"{t:.4g} of {self.t_end:.4g} {self.unit}", f"step {h:.2g} s" if self.unit == "s" else "finished"
        if not self.terminal:
            left = (now - self.began) * (1.0 / share - 1.0) if share > 0.0 else float("inf")
            print(f"simulate: {at}, {step}, {left:.0f} s left", file=sys.stderr)
            return
        self._opened().update(self._task, completed=share, time=at, step=step)

    def _opened(self) -> Any:
        if self._bar is not None:
            return self._bar
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.fields[time]}"), BarColumn(), TextColumn("{task.fields[step]}"))
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("simulate", total=1.0, time="", step="")
        return self._bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
