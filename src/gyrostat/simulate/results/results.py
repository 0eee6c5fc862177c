"""What came out of a batch of runs: each :class:`Result`, and their arrays in one where they have the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from gyrostat.errors import StateError, clipped
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.results.tables import runs_to_pandas
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Results(Sequence[Result]):
    """N runs: ``results[3]`` is a :class:`Result`, ``results[:10]`` and ``results[[1, 5]]`` are Results.

    ``status`` and ``message`` (N,) of each run; ``failed``: numbers of those that could not go on. ``t`` (T,) [s],
    ``q`` (N, T, nq), ``v``, ``a``, ``tau`` (N, T, nv), ``p`` (N, T, np), ``work`` (N, T) [J] where all runs have the
    same samples: with ``t_eval``, or with fixed steps. A run that ended early (failed, interrupted, or by a terminal
    event) has NaN after its end there; its own arrays, ``results[3].q``, end with its last sample. ``contact_forces``,
    ``impulses`` and ``contact_phases``: lists with those of each run."""

    model: Model
    runs: tuple[Result, ...]
    t_eval: Array | None = None

    # ------------------------------------------------------------------ one after the other
    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.runs)

    @overload
    def __getitem__(self, which: int) -> Result: ...
    @overload
    def __getitem__(self, which: slice | Sequence[int]) -> Results: ...
    def __getitem__(self, which: Any) -> Result | Results:
        if isinstance(which, slice):
            return Results(self.model, self.runs[which], self.t_eval)
        try:
            if np.ndim(which):
                numbers = np.arange(len(self))[np.asarray(which)].tolist()
                return Results(self.model, tuple(self.runs[k] for k in numbers), self.t_eval)
            return self.runs[which]
        except (TypeError, IndexError):
            message = f"results: there is no run {clipped(which)}, expected 0 to {len(self) - 1}"
            raise IndexError(f"{message}. Hint: results[0]['elbow'].q is a joint of a run") from None

    # ------------------------------------------------------------------ how they ended
    @cached_property
    def status(self) -> Array:
        """(N,): "finished", "event", "interrupted" or "failed"."""
        return np.array([run.status for run in self.runs], dtype=str)

    @cached_property
    def message(self) -> Array:
        """(N,): what is said of the end of each run."""
        return np.array([run.message for run in self.runs], dtype=str)

    @property
    def failed(self) -> Array:
        """Numbers of the runs that could not go on."""
        return np.flatnonzero(self.status == "failed")

    # ------------------------------------------------------------------ all in one
    @cached_property
    def t(self) -> Array:
        """(T,) [s]: the instants asked for, or those of the longest run, with which all others must begin."""
        t = self.t_eval if self.t_eval is not None else max((run.t for run in self.runs), key=len, default=np.zeros(0))
        if all(np.array_equal(run.t, t[: len(run.t)]) for run in self.runs):
            return t
        counts = [len(run.t) for run in self.runs]
        raise StateError(
            f"results: the runs have samples of their own, from {min(counts)} to {max(counts)} of them, and no array "
            "holds them all. Hint: t_eval=np.linspace(0, t_end, 101) in simulate, or results[k].q of each run"
        )

    def _stacked(self, name: str) -> Array:
        arrays = [getattr(run, name) for run in self.runs]
        width = arrays[0].shape[1:] if arrays else ()
        stacked = np.full((len(self), len(self.t), *width), np.nan)
        for row, array in zip(stacked, arrays, strict=True):
            row[: len(array)] = array
        return stacked

    @cached_property
    def q(self) -> Array:
        """(N, T, nq)."""
        return self._stacked("q")

    @cached_property
    def v(self) -> Array:
        """(N, T, nv)."""
        return self._stacked("v")

    @cached_property
    def a(self) -> Array:
        """(N, T, nv)."""
        return self._stacked("a")

    @cached_property
    def tau(self) -> Array:
        """(N, T, nv)."""
        return self._stacked("tau")

    @cached_property
    def p(self) -> Array:
        """(N, T, np)."""
        return self._stacked("p")

    @cached_property
    def work(self) -> Array:
        """(N, T) [J]."""
        return self._stacked("work")

    # ------------------------------------------------------------------ contacts, run by run
    @property
    def contact_forces(self) -> list[Mapping[str, Array]]:
        """Of each run, as in :class:`Result`: (T, 3) [N] by name, at the samples of that run."""
        return [run.contact_forces for run in self.runs]

    @property
    def impulses(self) -> list[tuple[Any, ...]]:
        """Of each run, as in :class:`Result`."""
        return [run.impulses for run in self.runs]

    @property
    def contact_phases(self) -> list[tuple[Any, ...]]:
        """Of each run, as in :class:`Result`."""
        return [run.contact_phases for run in self.runs]

    def to_pandas(self) -> Any:
        """A DataFrame with the index (run, t) and columns (quantity, name)."""
        return runs_to_pandas(self.runs)

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.status, return_counts=True)
        told = ", ".join(f"{count} {kind}" for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True))
        steps = sum(run.counters.steps for run in self.runs)
        method = self.runs[0].method if self.runs else "no method"
        return f"<Results of '{self.model.name}': {len(self)} runs, {told or 'none'}; {method}, {steps} steps>"
