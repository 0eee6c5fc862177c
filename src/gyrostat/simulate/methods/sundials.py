"""CVODE and IDA of SUNDIALS [Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363-396] through scikit-sundae, one
internal step at a time.

What the library gives between two steps is a polynomial: it is asked for as many points of it as make it known, so that
the dense output stays when the library has gone on. A result of ours that is not finite is handed over as NaN: Newton's
iteration does not converge with it, and the library tries a smaller step."""

from __future__ import annotations

import sys
import threading
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.vector_system import VectorSystem

Array = np.ndarray
HINT = "the efforts may jump or grow there"


class SundialsMethod(Method):
    """What CVODE and IDA share. ``statistics``: ``restarts`` at events, sampling instants, and where quaternions were
    far from unit length."""

    order, adaptive = 5, True
    share: ClassVar[float]
    """Part of the tolerances that the estimate for a single step gets: errors add up, and a thirtieth keeps them at the
    size of the tolerances in the end."""
    system: VectorSystem
    degree = 5
    """Of the polynomials between two steps, at most."""

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self._solver: Any = None
        self._begin: tuple[float, Array] | None = None
        self._seen: set[float] = set()
        self.statistics["restarts"] = 0

    @abstractmethod
    def _restarted(self, t: float, y: Array) -> None:
        """Make the solver, if there is none, and let it begin at y."""

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self._begin = (t, self.system.joined(q, v, p))

    def settings(self) -> dict[str, Any]:
        """What both solvers are told."""
        rtol = max(self.share * self.rtol, 3e-14)
        atol = self.system.absolute(rtol, self.share * self.atol)
        return {"rtol": rtol, "atol": atol, "max_step": 0.0 if np.isinf(self.max_step) else self.max_step}

    def step(self, t_limit: float) -> Step:
        first = self._begin is not None
        if self._begin is not None:
            (self.t, self.y), self._begin = self._begin, None
            self.statistics["restarts"] += self._solver is not None
            self._restarted(self.t, self.y)
        t0, y0 = self.t, self.y
        self._seen.clear()
        self._cause = ""
        answer = self._advanced(t0, t_limit)
        tried = 1 if first else sum(t > t0 for t in self._seen)  # every try ends at another instant
        self.rejected += max(0, tried - 1)
        self.t, self.y = float(answer.t), answer.y
        if self.system.strayed(self.y):
            self._begin = (self.t, self.system.joined(*self.system.state(self.y)))
        q, v, p = self.system.state(self.y)
        return Step(t0, self.t, q, v, p, None, None, self._dense(t0, y0, self.t, self.y))

    # ------------------------------------------------------------------ with the library
    def _asked(self, t: float, mode: str, t_limit: float | None) -> Any:
        """What the library answers."""
        quiet.begin()
        try:
            answer = self._solver.step(t, mode, t_limit)
        finally:
            told = quiet.end()
        if answer.status < 0:
            raise StepFailure(self._cause or (told or answer.message).rstrip(". "), hint=HINT)
        return answer

    def _advanced(self, t0: float, t_limit: float) -> Any:
        """The library's result of one internal step."""
        least = 16.0 * np.spacing(abs(t0))
        answer = self._asked(t_limit, "onestep", t_limit)
        if answer.t - t0 < least:  # after interpolation, the first answer is the end of the step before
            answer = self._asked(t_limit, "onestep", t_limit)
        if answer.t - t0 < least and answer.t != t_limit:
            cause = self._cause or "the error of a step exceeds the tolerance however small it is"
            raise StepFailure(f"{cause}; steps became smaller than rounding of the time allows", hint=HINT)
        return answer

    def guarded(self, function: Callable[[], Array], out: Array) -> None:
        """A call from the library: NaN for what is not finite. Other exceptions come out of the library as they are."""
        try:
            out[...] = function()
        except NonFiniteError as error:
            self._cause = str(error)
            out[...] = np.nan

    def _dense(self, t0: float, y0: Array, t1: float, y1: Array) -> Callable[[Any], tuple[Array, Array, Array]]:
        nodes, h = _nodes(self.degree), t1 - t0
        inside = [self._asked(t0 + h * s, "normal", None).y for s in nodes[1:-1]]
        rows, state = np.array([y0, *inside, y1]), self.system.state
        return lambda t: state(_weights(nodes, (np.asarray(t, dtype=float) - t0) / h) @ rows)


def _nodes(degree: int) -> Array:
    """degree + 1 points of Chebyshev on [0, 1], with both ends."""
    return 0.5 - 0.5 * np.cos(np.pi * np.arange(degree + 1) / degree)


def _weights(nodes: Array, s: Array) -> Array:
    """Weights (..., nodes) of the values at the nodes in the polynomial through them, at s (...): the barycentric
    formula."""
    signs = (-1.0) ** np.arange(len(nodes))
    signs[[0, -1]] *= 0.5
    apart = s[..., None] - nodes
    there = apart == 0.0
    weights = np.where(there.any(axis=-1, keepdims=True), there, signs / np.where(there, 1.0, apart))
    return weights / weights.sum(axis=-1, keepdims=True)


class Quiet:
    """What SUNDIALS says about errors is printed by scikit-sundae: it is taken from the standard output, for the
    exception that follows. What others print meanwhile goes on to where it belongs."""

    def __init__(self) -> None:
        self.lock, self.users, self.told = threading.Lock(), 0, ""
        self.output: Any = None

    def begin(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1 and sys.stdout is not None:
                self.output, self.told = sys.stdout, ""
                sys.stdout = self  # type: ignore[assignment]

    def end(self) -> str:
        """What was told."""
        with self.lock:
            self.users -= 1
            told, self.told = self.told.strip(), ""
            if not self.users and sys.stdout is self:
                sys.stdout = self.output
            return told.partition("] ")[2]

    def write(self, text: str) -> int:
        if (text.startswith("\n[") and ", Error: " in text) or (self.told and not text.strip()):
            self.told += text
            return len(text)
        return self.output.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.output, name)


quiet = Quiet()
