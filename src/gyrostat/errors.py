"""Every exception and warning of gyrostat. Pattern of a message: *where: what is wrong, got / expected. Hint.*"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


class GyrostatError(Exception):
    """Base of every exception that gyrostat raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One mistake in a specification: which entity, which rule, which value, where, and what to do about it."""

    entity: str  # for example "joint 'elbow'"
    rule: str  # short stable name of the rule, for example "unit-axis"
    message: str  # what is wrong, with got / expected
    remedy: str
    value: object = None
    where: str | None = None  # "arm.yaml:31" when the specification came from a file

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{_cut(self.entity, 300)}{place}: {_sentence(self.message)} Hint: {_sentence(self.remedy)}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def _sentence(text: str) -> str:
    text = _cut(text, 600)
    return text if text.endswith((".", "?", "!")) else f"{text}."


SHOWN = 100
"""How many problems the text of an exception spells out."""


class SpecError(GyrostatError):
    """The specification breaks rules; ``problems`` lists every one of them."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems: tuple[Problem, ...] = tuple(problems)
        head = [] if len(self.problems) == 1 else [f"{len(self.problems)} problems:"]
        more = len(self.problems) - SHOWN
        tail = [f"... and {more} more, in .problems of this exception"] if more > 0 else []
        super().__init__("\n".join([*head, *map(str, self.problems[:SHOWN]), *tail]))

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)  # to cross from one process to another

    @classmethod
    def one(cls, entity: str, rule: str, message: str, remedy: str, value: object = None) -> SpecError:
        """An error with a single problem."""
        return cls([Problem(entity, rule, message, remedy, value)])


class LoadError(SpecError):
    """A file cannot be read as a specification at all (syntax, size, depth, forbidden constructs)."""


class SaveError(SpecError):
    """A model cannot be stored: it holds a Python function, or the file cannot be written."""


class ModelWarning(UserWarning):
    """A file was loaded although it has errors: numbers were taken as they stand, or parts of it left out.

    ``rules``: how many errors of each rule, {"inertia-triangle": 5}. ``gs.audit(path)`` lists every one of them.
    """

    def __init__(self, message: str, rules: Mapping[str, int] | None = None):
        super().__init__(message)
        self.rules = dict(rules or {})

    def __reduce__(self) -> tuple[type[ModelWarning], tuple[str, dict[str, int]]]:
        return type(self), (str(self), self.rules)


class ShapeError(GyrostatError):
    """An array has the wrong shape or type of number."""


class StateError(GyrostatError):
    """A state is not one of this model: unknown or missing joint, quaternion that is not of unit length."""


class FrameError(GyrostatError):
    """A frame or port that is asked for does not exist."""


class LoopError(GyrostatError):
    """The mechanism has kinematic loops that an algorithm cannot treat; ``loops`` names them."""

    def __init__(self, message: str, loops: Sequence[tuple[str, ...]] = ()):
        self.loops = tuple(loops)
        super().__init__(message)


class ContactError(GyrostatError):
    """Contacts for which there is no motion, or more than one; it tells which."""


class MeshError(GyrostatError):
    """A mesh cannot be read, or is no solid."""


class ReductionError(GyrostatError):
    """Finite-element matrices are no structure, or cannot be reduced as it was asked for."""


class StoreError(GyrostatError):
    """A store of models and results cannot be opened, read or written; it tells which file and why."""


class RowError(GyrostatError):
    """An algorithm has no row for a kind of component."""


class DisagreementError(GyrostatError):
    """A function of the user does not give what the general algorithm gives; ``state`` is where they differ most, by
    ``difference``."""

    def __init__(self, message: str, state: object = None, difference: float = float("nan")):
        super().__init__(message)
        self.state, self.difference = state, difference

    def __reduce__(self) -> tuple[type[DisagreementError], tuple[object, ...]]:
        return type(self), (str(self), self.state, self.difference)


class RecordError(GyrostatError):
    """A function cannot be recorded, or a recorded program is not sound."""


class PerformanceWarning(UserWarning):
    """A function runs in Python at every evaluation, where machine code was meant."""


class CompileError(GyrostatError):
    """Machine code could not be made or loaded."""


class NonFiniteError(GyrostatError):
    """A number is NaN or infinite where a finite one is needed. ``dof``: the entry of the rates to blame, if known."""

    dof: int | None = None


class SimulationError(GyrostatError):
    """A run cannot go on; ``result`` holds it up to the time ``t`` [s]; ``joint`` is the one to blame, if known, and
    ``cause`` says why."""

    def __init__(self, message: str, result: object = None, t: float = float("nan"), joint: str = "", cause: str = ""):
        super().__init__(message)
        self.result, self.t, self.joint, self.cause = result, t, joint, cause

    def __reduce__(self) -> tuple[type[SimulationError], tuple[object, ...]]:
        return type(self), (str(self), self.result, self.t, self.joint, self.cause)


def clipped(value: object, limit: int = 80) -> str:
    """The value as messages show it: ``repr``, cut when it is long; nothing for None.

    >>> clipped([0.0, "x"])
    "[0.0, 'x']"
    """
    try:
        text = "nothing" if value is None else repr(value)
    except ValueError:  # an int with thousands of digits has no repr
        text = f"a very long {type(value).__name__}"
    return _cut(text, limit)


def near(name: str, known: Iterable[str], limit: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that look most like ``name``, the best one first."""
    name = str(name)
    return difflib.get_close_matches(name, list(known), n=limit, cutoff=cutoff) if len(name) <= 200 else []


def nearest(name: str, known: Iterable[str], limit: int = 3) -> str:
    """A hint that lists the names closest to ``name``, or the first known ones when none is close.

    >>> nearest("elbwo", ["elbow", "wrist"])
    "did you mean 'elbow'?"
    """
    names = list(dict.fromkeys(known))
    return suggestion(near(name, names, limit), names)


def suggestion(close: Sequence[str], names: Sequence[str]) -> str:
    """The hint that names ``close`` ones, or the first of all ``names`` when none is close."""
    if close:
        return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    if not names:
        return "there are none to choose from"
    shown = ", ".join(f"'{n}'" for n in names[:8]) + (", ..." if len(names) > 8 else "")
    return f"known: {shown}"
