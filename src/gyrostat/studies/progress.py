"""The progress of a study: how far it is, what it does, how long it still takes; on a terminal, or when asked for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from gyrostat.errors import GyrostatError, clipped

EVERY, LINES, PATIENCE = 0.1, 2.0, 1.0
"""Seconds between two pictures of the bar, between two lines where there is no terminal, and before the first one."""

Asked = bool | None | Callable[[int, int | None, str], object]


class Progress:
    """``with Progress(progress, "calibrate", total=20) as shown: shown.step(1, "iteration 3")``.

    ``asked`` True, False, or None: shown on a terminal once the study takes more than a second. A function in its place
    is called with (done, total, text) at every step. ``total`` None: nobody knows how many steps there will be."""

    def __init__(self, asked: Any, name: str, total: int | None = None):
        if not (asked is None or isinstance(asked, bool) or callable(asked)):
            raise GyrostatError(f"{name}: progress must be True, False, None or a function, got {clipped(asked)}")
        self.name, self.total, self.done = name, total, 0
        self.told = asked if callable(asked) else None
        self.terminal = sys.stderr.isatty()
        self.wanted = asked is True or (asked is None and self.terminal)
        self.patient = asked is None
        self.began = self.last = time.perf_counter()
        self.before = 0
        self._bar: Any = None
        self._task: Any = None

    def step(self, count: int = 1, text: str = "") -> None:
        """``count`` more steps are done; ``text``: what a reader wants to know of them."""
        self.done += count
        if self.told is not None:
            self.told(self.done, self.total, text)
            return
        now = time.perf_counter()
        early = now - self.last < (EVERY if self.terminal else LINES) or (self.patient and now - self.began < PATIENCE)
        if not self.wanted or early:
            return
        self.last = now
        if self.terminal:
            self._opened().update(self._task, completed=self.done, text=text)
        else:
            print(f"{self.name}: {self._counted(now)}{', ' * bool(text)}{text}", file=sys.stderr)

    def kept(self, count: int, text: str = "") -> None:
        """``count`` steps were done by an earlier run: they say nothing about how long the others take."""
        self.before += count
        self.step(count, text)

    def _counted(self, now: float) -> str:
        if self.total is None:
            return f"{self.done}"
        if self.done == self.before:
            return f"{self.done} of {self.total}"
        left = (now - self.began) / (self.done - self.before) * (self.total - self.done)
        return f"{self.done} of {self.total}, {left:.0f} s left"

    def _opened(self) -> Any:
        if self._bar is not None:
            return self._bar
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn(self.name), BarColumn(), TextColumn("{task.fields[text]}"))
        clock = TimeElapsedColumn() if self.total is None else TimeRemainingColumn()
        self._bar = Progress(*columns, clock, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self.name, total=self.total, text="", completed=self.before)
        return self._bar

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
