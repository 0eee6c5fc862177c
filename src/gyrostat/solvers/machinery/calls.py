"""The ways in which solvers are called, each written once: with q; q, v; q, v, a; q, v, tau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gyrostat.errors import ShapeError, nearest
from gyrostat.solvers.machinery.state_solver import StateSolver

OPTIONS = ("wrenches", "t", "out", "threads", "nonfinite")


def by_name(who: str, names: Sequence[str], state: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Parts of a state, given by position and by name, in the order of ``names``."""
    known = dict(zip(names, state, strict=False))
    for name, value in named.items():
        if name not in names:
            raise ShapeError(f"{who}: is no function of {name!r}. Hint: {nearest(name, [*names, *OPTIONS])}")
        if name in known:
            raise ShapeError(f"{who}: {name!r} is given twice, by position and by name. Hint: keep one of them")
        known[name] = value
    if len(known) < len(names) or len(state) > len(names):
        raise ShapeError(f"{who}: got {', '.join(known) or 'nothing'}, expected all of {', '.join(names)}")
    return [known[name] for name in names]


class OfConfiguration(StateSolver):
    """A function of q (..., nq)."""

    state = ("q",)

    def __call__(self, q: Any, *, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        """The result for q (..., nq)."""
        return self.serve((q,), None, t, out, threads, nonfinite)


class OfMotion(StateSolver):
    """A function of q (..., nq) and v (..., nv)."""

    state = ("q", "v")

    def __call__(
        self, q: Any, v: Any, *, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise"
    ) -> Any:
        """The result for q (..., nq), v (..., nv)."""
        return self.serve((q, v), None, t, out, threads, nonfinite)


class OfAcceleration(StateSolver):
    """A function of q (..., nq), v and a (..., nv)."""

    state = ("q", "v", "a")

    def __call__(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Any:
        """The result for q (..., nq), v, a (..., nv), and wrenches by port where they are taken."""
        return self.serve((q, v, a), wrenches, t, out, threads, nonfinite)


class OfForce(StateSolver):
    """A function of q (..., nq), v and tau (..., nv)."""

    state = ("q", "v", "tau")

    def __call__(
        self,
        q: Any,
        v: Any,
        tau: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Any:
        """The result for q (..., nq), v, tau (..., nv), and wrenches by port where they are taken."""
        return self.serve((q, v, tau), wrenches, t, out, threads, nonfinite)
