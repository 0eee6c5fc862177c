"""The ways in which solvers are called, each written once: with q; q, v; q, v, a; q, v, tau.

A class of solvers takes one of them: ``__call__ = of_motion`` beside ``state = ("q", "v")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gyrostat.errors import ShapeError, nearest

if TYPE_CHECKING:
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


def name_call(cls: Any) -> None:
    """Give a class its own copy of a ``__call__`` that others share: Python names it in its own messages."""
    call = cls.__call__
    shared = "__call__" not in cls.__dict__ or getattr(call, "__name__", "") != "__call__"
    if shared and isinstance(call, FunctionType):
        own = FunctionType(call.__code__, call.__globals__, cls.__name__, call.__defaults__, call.__closure__)
        own.__kwdefaults__, own.__doc__ = call.__kwdefaults__, call.__doc__
        own.__annotations__, own.__qualname__ = call.__annotations__, cls.__name__
        cls.__call__ = own


def of_configuration(
    self: StateSolver, q: Any, *, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise"
) -> Any:
    """The result for q (..., nq)."""
    return self.serve((q,), None, t, out, threads, nonfinite)


def of_motion(
    self: StateSolver, q: Any, v: Any, *, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise"
) -> Any:
    """The result for q (..., nq), v (..., nv)."""
    return self.serve((q, v), None, t, out, threads, nonfinite)


def of_acceleration(
    self: StateSolver,
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


def of_force(
    self: StateSolver,
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
