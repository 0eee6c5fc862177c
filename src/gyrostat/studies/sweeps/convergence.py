"""When the means of a study are known well enough: a rule over points in their order, so that neither the number of
workers nor their speed decides where it ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gyrostat.store.store import StoredRun

LEAST = 16
"""Points before anything is judged."""


@dataclass
class Convergence:
    """``until``: {output: s / (|mean| sqrt(n))} that is asked for. ``count``: points that were looked at, from the
    first on; they are looked at once."""

    until: Mapping[str, float]
    count: int = 0
    _done: int = 0
    _stopped: bool = False
    _moments: dict[str, tuple[float, float]] = field(default_factory=dict)

    def reached(self, kept: Mapping[int, StoredRun]) -> bool:
        """Whether the points 0, 1, ... that are there, without a gap, are enough; ``count`` says how many were."""
        while not self._stopped and self.count in kept:
            run = kept[self.count]
            self.count += 1
            if run.failure is None:
                self._take(run.metrics)
                self._stopped = self._done >= LEAST and all(map(self._known, self.until))
        return self._stopped

    def _take(self, metrics: Mapping[str, float]) -> None:
        """Mean and sum of squared differences [Welford 1962]."""
        self._done += 1
        for name in self.until:
            mean, squares = self._moments.get(name, (0.0, 0.0))
            off = metrics[name] - mean
            mean += off / self._done
            self._moments[name] = mean, squares + off * (metrics[name] - mean)

    def _known(self, name: str) -> bool:
        mean, squares = self._moments[name]
        return math.sqrt(squares / (self._done - 1) / self._done) <= self.until[name] * abs(mean)
