"""Refusals during a run: states that are not finite, rates that nothing has, and a crawl that would never end."""

from __future__ import annotations

import math

import numpy as np

from gyrostat.simulate.methods.method import Step, StepFailure

Array = np.ndarray
FASTEST, GROWTH = 1e7, 100.0
"""Rates [rad/s, m/s] beyond which a motion is out of bounds: nothing turns or flies so fast. A run that starts with
such rates may grow to so many times as much."""
CRAWL, HOPELESS = 10_000, 3e7
"""Progress is looked at every so many steps; a run of more steps than this, hours of work, is given up."""


class Runaway:
    """Looks at every step of a run from t_start to t_end [s]. ``adaptive``: whether the method chooses its steps."""

    def __init__(self, t_start: float, t_end: float, adaptive: bool = True):
        self.span, self.adaptive = t_end - t_start, adaptive
        self.since, self.steps = t_start, 0
        self.fastest = FASTEST

    def start(self, v: Array) -> None:
        """The rates at the start."""
        self.fastest = max(FASTEST, GROWTH * max(map(abs, v.tolist())))

    def go_on(self, t: float, t_end: float) -> None:
        """A stretch from t to t_end [s] begins."""
        self.span, self.since, self.steps = t_end - t, t, 0

    def __call__(self, step: Step) -> None:
        """Raise :class:`StepFailure` if the run makes no sense any more."""
        if not all(math.isfinite(x.sum()) for x in (step.q1, step.v1, step.p1)):
            raise StepFailure("the state is not finite", hint="a smaller step")
        fastest = int(np.argmax(np.abs(step.v1)))
        if abs(step.v1[fastest]) > self.fastest:
            hint = "the law that drives it may be unstable, for example gains too high for its sample time"
            hint += "" if self.adaptive else "; or dt is too long for it: a smaller dt, or an implicit method"
            raise StepFailure("the motion grows without bound", fastest, hint)
        self.counted(1, step.t1)

    def counted(self, steps: int, t: float) -> None:
        """So many steps more have come to t; those of compiled methods have been looked at in machine code."""
        self.steps += steps
        if self.adaptive and self.steps >= CRAWL:
            self._progress(t)

    def _progress(self, t: float) -> None:
        way = (t - self.since) / self.span
        if way < 0.5 * self.steps / HOPELESS:
            raise StepFailure(
                f"{self.steps} steps have come {t - self.since:.3g} s far, the whole run would take "
                f"{self.steps / max(way, 1e-300):.1g} steps",
                hint="the problem is stiff (method='bdf' or 'radau'), its efforts jump all the time, or they are no "
                "function of (t, q, v), as noise is",
            )
        self.since, self.steps = t, 0
