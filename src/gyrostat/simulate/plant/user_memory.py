"""Functions that remember: noticed, given back as they were, and refused.

A method calls a function of (t, q, v) at every stage, in steps that it gives up, and along the search for an event. A
function that keeps something between its calls comes out wrong there, whatever it is. So it is called a few times
before a run: on recorded values, and on numbers A; from the same start on numbers B; and on A again. It remembers if

* recorded values are left in what it reaches;
* it leaves behind something else after A than after B, which is made of its arguments;
* it leaves behind something new after the second A, or does not return the same then.

What is the same after A and after B, and stays so, is a constant that it keeps for itself. An array that holds the
efforts it returns, and that it does not read, is where it writes them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import integrate, neutral
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.tracing.tape import TAPES
from gyrostat.errors import RecordError
from gyrostat.simulate.plant.user_state import DICE, UserState
from gyrostat.spec.model import Model

Array = np.ndarray
ALIKE = 1e-9
"""Relative difference between two values of a function that is rounding."""
SAMPLED = (
    "gs.blocks.sampled(f, T) runs it once at every sampling instant, in order, as a controller does; compiled=False "
    "calls it at every stage, for logging"
)


class Remembers(RecordError):  # noqa: N818  # users see a RecordError
    """A function has a memory."""


class UserMemory:
    """Functions and blocks of a user's (``roots``), as they are now. ``who`` says whose they are, for messages;
    ``hint``: what to do about a memory."""

    def __init__(self, who: str, told: str, roots: Iterable[Any], hint: str = SAMPLED):
        self.who, self.told, self.roots, self.hint = who, told, tuple(roots), hint
        self.start = self.settled = self.now()
        self.tapes = set(TAPES.live)
        if self.start.one_way:
            raise self.refused(f"it reaches a generator or iterator, '{self.start.one_way[0]}', which only goes on")

    def now(self) -> UserState:
        """What they hold at this moment."""
        return UserState(self.roots)

    def refused(self, what: str, does: str = "keeps what it was given") -> Remembers:
        """The error of a function that remembers; everything is given back."""
        self.start.restore()
        return Remembers(
            f"{self.who}: {self.told} {does}: {what}. It is called at every stage, and in steps that are given up, so "
            f"that it would remember what has never been. Hint: {self.hint}"
        )

    def recorded(self, failed: bool = False) -> None:
        """After a call on recorded values, which may have ``failed``: none of them may be left."""
        recorded = self.now().recorded
        if recorded:
            raise self.refused(f"it changes {_named(recorded)}")
        self.start.restore()
        if not failed:  # an error holds on to them
            self._expect_no_tape()

    def _expect_no_tape(self) -> None:
        """Recorded values that live on are somewhere that was not looked at."""
        if set(TAPES.live) - self.tapes:
            gc.collect()
        if set(TAPES.live) - self.tapes:
            raise self.refused("something of it lives on after the call")

    def numbers(self, calls: Sequence[Callable[[], Array]]) -> None:
        """Call it on numbers A, on numbers B and on A again, where ``calls`` are A and B."""
        one, two = calls
        first = one()
        after_one = self.now()
        self.start.restore()
        second = two()
        self.settled = self.now()
        scratch = self._scratch(one, first, after_one, second, self.settled)
        made = [path for path in after_one.changes(self.settled) if path not in scratch]
        if made:
            raise self.refused(f"it changes {_named(made)}")
        again = one()
        new = [path for path in self.settled.changes(self.now()) if path not in scratch]
        if new:
            raise self.refused(f"it changes {_named(new)}")
        if not alike(first, again):
            raise self.refused(
                f"it returned {first}, then {again} for the same arguments", "is no function of its arguments"
            )
        self.scratch = scratch

    scratch: frozenset[str] = frozenset()

    def _scratch(
        self, call: Callable[[], Array], first: Array, one: UserState, second: Array, two: UserState
    ) -> frozenset[str]:
        """Arrays that hold the efforts, and whose numbers before the call do not matter."""
        paths: set[str] = set()
        for path in self.start.arrays.keys() & one.arrays.keys() & two.arrays.keys():
            held = (one.leaves[path][2], first), (two.leaves[path][2], second)
            x = two.arrays[path]
            if x.dtype != float or not x.flags.writeable or any(data != y.tobytes() for data, y in held):
                continue
            before = x.copy()
            try:
                same = True
                for number in (np.nan, 1e9):
                    x[...] = number
                    same = same and alike(call(), first)
            except Exception:  # it reads what is there
                same = False
            two.restore()
            np.copyto(x, before)
            if same:
                paths.add(path)
        return frozenset(paths)

    def renewed(self) -> bool:
        """Whether something else has changed what they read, as the reset of an event may: that is their state now."""
        now = self.now()
        if not self.settled.changes(now):
            return False
        self.start = self.settled = now
        return True

    @cached_property
    def written_by_samples(self) -> bool:
        """Whether functions that are called at sampling instants reach something that the others reach, too."""
        sampled = self.start.sampled
        return bool(sampled) and not self.start.changeable.isdisjoint(UserState(sampled).changeable)

    def watched(self) -> None:
        """During or after a run: nothing may have been kept that was not there before."""
        ignored = self.scratch | frozenset(DICE if self.start.sampled else ())  # samples may throw dice
        kept = [path for path in self.settled.changes(self.now()) if path not in ignored]
        if kept:
            raise self.refused(f"it changes {_named(kept)}")


def probes(model: Model, late: float) -> list[tuple[float, Array, Array]]:
    """Two states (t, q, v) near the neutral configuration, at t = 0 and at a later time; copies, as functions may write
    into what they are given."""
    kept = cached_on(model)
    if "probes" not in kept:
        rng = np.random.default_rng(1)
        kept["probes"] = [
            (integrate(model, neutral(model), 0.1 * rng.normal(size=model.nv)), rng.normal(size=model.nv))
            for _ in range(2)
        ]
    return [(t, q.copy(), v.copy()) for t, (q, v) in zip((0.0, late), kept["probes"], strict=True)]


LATE = (0.3711, 1e-3, 0.0)
"""Times [s] of the second one, if there is none at the one before: some functions have an end."""


def alike(x: Array, y: Array) -> bool:
    """Whether two results differ by rounding only."""
    same = np.abs(x - y) <= ALIKE * (1.0 + np.abs(y))
    return bool(np.all(same | (np.isnan(x) & np.isnan(y))))


def _named(paths: Sequence[str]) -> str:
    names = list(dict.fromkeys(f"'{path.lstrip('.')}'" for path in paths))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
