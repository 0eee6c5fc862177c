"""Runs whose structure changes on the way: results of the structures one after the other, as one.

Where coordinates stay the same, the parts become one :class:`Result`, with the model in force in its ``phases``. Where
they change, there are no arrays q and v of the whole: ``parts`` has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gyrostat.errors import StateError
from gyrostat.simulate.results.result import Counted, JointHistory, Result
from gyrostat.solvers.machinery.wrench import Wrench

Array = np.ndarray
SUMMED = (
    "rhs_evaluations", "residual_evaluations", "jacobian_evaluations", "output_evaluations", "steps", "rejected",
    "wall_time", "build_time", "simulated_time",
)  # fmt: skip


class PartedResult(Result):
    """A run whose coordinates change on the way: ``parts``, one :class:`Result` for each structure, with its model.

    ``t``, ``work``, ``wall``, energies, ``events``, ``counters``, ``impulses`` and ``contact_phases`` are those of the
    whole run, and so is ``result["elbow"]`` of a joint that all structures have. Everything that needs one set of
    coordinates refuses and names the change."""

    q = property(lambda self: self._refuse("q"))  # type: ignore[assignment]
    v = property(lambda self: self._refuse("v"))  # type: ignore[assignment]
    a = property(lambda self: self._refuse("a"))  # type: ignore[assignment]
    tau = property(lambda self: self._refuse("tau"))  # type: ignore[assignment]
    closure = property(lambda self: self._refuse("closure"))  # type: ignore[assignment]
    rolling_forces = property(lambda self: self._refuse("rolling_forces"))  # type: ignore[assignment]
    contact_forces = property(lambda self: self._refuse("contact_forces"))  # type: ignore[assignment]
    contact_moments = property(lambda self: self._refuse("contact_moments"))  # type: ignore[assignment]

    @classmethod
    def of(cls, parts: Sequence[Result]) -> PartedResult:
        """Of the results of its structures."""
        result, last = cls.__new__(cls), parts[-1]
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("t", "work", "wall", "p")}
        starts = np.cumsum([0, *(len(part.t) for part in parts)]).tolist()
        phases = [(start + k, model) for part, start in zip(parts, starts, strict=False) for k, model in part.phases]
        result.__dict__.update(
            joined, model=parts[0].model, events=_chained(part.events for part in parts), phases=tuple(phases),
            counters=added([part.counters for part in parts]), status=last.status, message=last.message,
            method=last.method, settings=parts[0].settings, wrenches={}, sensitivities={},
            impulses=_chained(part.impulses for part in parts),
            contact_phases=_chained(part.contact_phases for part in parts), _parts=tuple(parts),
        )  # fmt: skip
        return result

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @property
    def parts(self) -> tuple[Result, ...]:
        return self.__dict__["_parts"]

    def _refuse(self, what: str) -> NoReturn:
        one, two = next((x, y) for x, y in pairwise(self.parts) if x.model.coordinates != y.model.coordinates)
        at = [e for e in one.events if e.kind == "structure"][-1:]
        when = f" at t = {at[0].t:.9g} s (event '{at[0].name}')" if at else ""
        raise StateError(
            f"result: there is no {what} of the whole run: its structure changes{when} from nq = {one.model.nq} of "
            f"'{one.model.name}' to nq = {two.model.nq} of '{two.model.name}'. Hint: result.parts has one result for "
            "each structure"
        )

    def __getitem__(self, joint: str) -> JointHistory:
        missing = [part.model.name for part in self.parts if joint not in part.model.layout.of]
        if missing and any(joint in part.model.layout.of for part in self.parts):
            raise StateError(
                f"result: '{missing[0]}', a structure of this run, has no joint '{joint}'. Hint: result.parts[k][joint]"
            )
        own = [part[joint] for part in self.parts]
        return JointHistory(*(np.concatenate([getattr(x, key) for x in own]) for key in JointHistory._fields))

    @property
    def kinetic_energy(self) -> Array:  # type: ignore[override]
        return np.concatenate([part.kinetic_energy for part in self.parts])

    @property
    def potential_energy(self) -> Array:  # type: ignore[override]
        return np.concatenate([part.potential_energy for part in self.parts])

    @property
    def power(self) -> Array:
        return np.concatenate([part.power for part in self.parts])

    def frames(self) -> NoReturn:
        self._refuse("table of frames")

    def port_forces(self, ports: Any = None) -> NoReturn:
        self._refuse("table of port forces")

    def plot(
        self, joints: Any = None, *, reference: Any = None, title: str | None = None, figure: Any = None
    ) -> NoReturn:
        self._refuse("figure")

    def plot_phase(self, joints: Any = None, **options: Any) -> NoReturn:
        self._refuse("phase plane")

    def plot_forces(self, ports: Any = None, **options: Any) -> NoReturn:
        self._refuse("figure of forces")

    def view(self, **options: Any) -> NoReturn:
        self._refuse("replay")

    def to_csv(self, path: str | os.PathLike[str]) -> NoReturn:
        self._refuse("table")

    def to_pandas(self) -> NoReturn:
        self._refuse("table")

    def to_xarray(self) -> NoReturn:
        self._refuse("table")

    def to_parquet(self, path: str | os.PathLike[str]) -> NoReturn:
        self._refuse("table")

    def to_mcap(self, path: str | os.PathLike[str]) -> NoReturn:
        self._refuse("recording")

    def save(self, path: str | os.PathLike[str]) -> Path:
        from gyrostat.simulate.results.files import save_parts

        return save_parts(self.parts, path)

    def __repr__(self) -> str:
        sizes = ", ".join(f"'{part.model.name}' nq {part.model.nq}" for part in self.parts)
        return f"<Result of {len(self.parts)} structures ({sizes}): {len(self.t)} samples, {self.status}>"


# ------------------------------------------------------------------------------------------------ made of parts
def joined(parts: Sequence[Result]) -> Result:
    """The whole run: one result where coordinates stay the same, else those of the structures as parts. Work and the
    clock go on from part to part."""
    going, work, wall = list[Result](), 0.0, 0.0
    for part in parts:
        part = _later(part, work, wall)
        work, wall = (float(part.work[-1]), float(part.wall[-1])) if len(part.t) else (work, wall)
        alike = going and going[-1].model.coordinates == part.model.coordinates and _same(going[-1], part)
        going = [*going[:-1], _one(going[-1], part)] if alike else [*going, part]
    return going[0] if len(going) == 1 else PartedResult.of(going)


def _same(one: Result, two: Result) -> bool:
    return one.model.dofs == two.model.dofs and one.p.shape[1] == two.p.shape[1]


def _later(part: Result, work: float, wall: float) -> Result:
    _ = part.a  # made now, if it was left for later
    return replace(part, work=part.work + work, wall=part.wall + wall) if work or wall else part


def _one(first: Result, second: Result) -> Result:
    """Two results of the same coordinates, one after the other."""
    names = ("t", "q", "v", "a", "tau", "p", "work", "wall")
    arrays = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    count = len(first.t)
    ports = [port for port in first.wrenches if port in second.wrenches]
    wrenches = {port: _wrench(first.wrenches[port], second.wrenches[port]) for port in ports}
    forces, moments = (_by_contact(first, second, name) for name in ("contact_forces", "contact_moments"))
    return replace(
        first, **arrays, events=first.events + second.events, counters=added([first.counters, second.counters]),
        status=second.status, message=second.message, wrenches=wrenches, contact_forces=forces,
        contact_moments=moments,
        phases=(*first.phases, *((count + k, model) for k, model in second.phases)),
        impulses=first.impulses + second.impulses, contact_phases=first.contact_phases + second.contact_phases,
    )  # fmt: skip


def _by_contact(first: Result, second: Result, what: str) -> dict[str, Any]:
    """Arrays (T, 3) of both, zeros where a contact is known in one of them."""
    both = [(getattr(part, what), np.zeros((len(part.t), 3))) for part in (first, second)]
    names = dict.fromkeys(name for known, _ in both for name in known)
    return {name: np.concatenate([known.get(name, none) for known, none in both]) for name in names}


def _wrench(one: Wrench, two: Wrench) -> Wrench:
    return Wrench(np.concatenate([one.value, two.value]), one.expressed_in)


def added(counters: Sequence[Counted]) -> Counted:
    """What all of them have cost."""
    sums = {name: sum(getattr(x, name) for x in counters) for name in SUMMED}
    python: dict[str, tuple[int, float]] = {}
    for one in counters:
        for part, (calls, seconds) in one.python.items():
            known = python.get(part, (0, 0.0))
            python[part] = known[0] + calls, known[1] + seconds
    last = {f.name: getattr(counters[-1], f.name) for f in fields(Counted)}
    texts = "; ".join(dict.fromkeys(x.in_python for x in counters if x.in_python))
    compiled = all(x.compiled for x in counters)
    given: dict[str, Any] = last | sums | {"python": python, "in_python": texts, "compiled": compiled}
    return Counted(**given)


def _chained(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(x for part in parts for x in part)
