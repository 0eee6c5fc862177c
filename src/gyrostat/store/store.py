"""``gs.store("folder")``: models, tasks and runs of studies; nothing is lost when a process ends at any instant."""

from __future__ import annotations

import datetime
import math
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from gyrostat.errors import StoreError, clipped, nearest
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.model import Model
from gyrostat.store.array_files import ArrayFiles
from gyrostat.store.database import Database, Sqlite
from gyrostat.store.provenance import as_text, digest, provenance
from gyrostat.store.schema import prepare
from gyrostat.store.stored_values import real, record, whole
from gyrostat.store.tables import compare, export, to_pandas

Array = np.ndarray
FILE = "store.sqlite"
ARRAYS = "arrays"
YOUNG = 3600.0
"""Seconds for which ``gc`` leaves a file of arrays alone that no run names: somebody may be writing."""


@dataclass(frozen=True)
class StoredRun:
    """A point of a task: its inputs, its numbers by name, its arrays; or why it failed."""

    point: int
    inputs: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    seconds: float = 0.0
    failure: str | None = None


@dataclass(frozen=True)
class StoredTask:
    """What is to be done: ``kind`` and ``data`` as a job has them, the model by its hash."""

    number: int
    hash: str
    name: str
    kind: str
    data: dict[str, Any]
    model: str | None
    created: str


@final
class Store:
    """Open it with :func:`store`; ``with gs.store("results") as kept`` closes it at the end.

    One object serves one process; processes and machines may write at the same time. What ``put`` has returned from is
    kept, whatever happens to the process afterwards."""

    def __init__(self, database: Database, arrays: Path | None, where: str):
        self._database, self._where = database, where
        try:
            self._arrays = ArrayFiles(arrays)
            prepare(database)
        except BaseException:
            database.close()
            raise

    # ------------------------------------------------------------------------------------------ what is kept
    def add_model(self, model: Model) -> str:
        """The hash of the model, which is kept once however often it is added."""
        text = to_text(model)
        key = digest(text)
        with self._database.transaction():
            self._database.rows(
                "INSERT INTO models (hash, name, text, created) VALUES (:hash, :name, :text, :created)"
                " ON CONFLICT (hash) DO NOTHING",
                hash=key, name=model.name, text=text, created=_now(),
            )  # fmt: skip
        return key

    def model(self, hash: str) -> Model:
        """The model of a hash, or of its first letters."""
        rows = self._database.rows("SELECT hash, text FROM models WHERE hash LIKE :start", start=f"{_hex(hash)}%")
        if len(rows) != 1:
            what = "no model" if not rows else f"{len(rows)} models"
            raise StoreError(f"{self!r} has {what} whose hash begins with '{hash}'. Hint: models() lists them.")
        ((key, text),) = rows
        if digest(text) != key:
            raise StoreError(f"{self!r}: model {key[:12]} is not what its hash says. Hint: take a copy from a backup.")
        return from_text(text)

    def add_task(self, kind: str, data: Mapping[str, Any], model: Model | None = None, name: str = "") -> StoredTask:
        """A task is known by what it says: adding it again gives the one that is there."""
        key = None if model is None else self.add_model(model)
        text = as_text(data)
        hash = digest(as_text([kind, text, key]))
        with self._database.transaction():
            self._database.rows(
                "INSERT INTO tasks (number, hash, name, kind, data, model, created) VALUES"
                " ((SELECT COALESCE(MAX(number), 0) + 1 FROM tasks), :hash, :name, :kind, :data, :model, :created)"
                " ON CONFLICT (hash) DO NOTHING",
                hash=hash, name=name or kind, kind=kind, data=text, model=key, created=_now(),
            )  # fmt: skip
        return self.task(hash)

    def task(self, which: int | str | StoredTask) -> StoredTask:
        """By number, by hash or its first letters, or by name (the last one of that name)."""
        if isinstance(which, StoredTask):
            return which
        tasks = self.tasks()
        if isinstance(which, int):
            found = [t for t in tasks if t.number == which]
        else:
            found = [t for t in tasks if t.name == which][-1:] or [t for t in tasks if t.hash.startswith(which)]
        if len(found) != 1:
            names = [t.name for t in tasks]
            raise StoreError(f"{self!r} has {len(found)} tasks {which!r}. Hint: {nearest(str(which), names)}")
        return found[0]

    def tasks(self) -> list[StoredTask]:
        """All of them, in the order in which they were added."""
        rows = self._database.rows("SELECT number, hash, name, kind, data, model, created FROM tasks ORDER BY number")
        return [
            StoredTask(whole(n, self), h, name, kind, record(data, self), m, c) for n, h, name, kind, data, m, c in rows
        ]

    def models(self) -> list[dict[str, str]]:
        """Hash, name and instant of every model."""
        rows = self._database.rows("SELECT hash, name, created FROM models ORDER BY created, hash")
        return [dict(zip(("hash", "name", "created"), row, strict=True)) for row in rows]

    # ------------------------------------------------------------------------------------------ runs
    def put(
        self,
        task: int | str | StoredTask,
        runs: Sequence[StoredRun],
        again: bool = False,
        made: Mapping[str, Any] | None = None,
    ) -> int:
        """Keep runs, all of them or none; how many were new. A point that is done is left as it is; one that failed is
        replaced if ``again``. Returned from, it is kept. ``made``: provenance, that of this process if not given."""
        number = self.task(task).number
        if not runs:
            return 0
        for run in runs:
            _expect_finite(run)
        points = [run.point for run in runs]
        if len(set(points)) < len(points):
            raise StoreError(f"{self!r}: points occur twice among those to be kept. Hint: a point has one run.")
        with_arrays = [run for run in runs if run.arrays]
        file = self._arrays.write([run.arrays for run in with_arrays]) if with_arrays else ""
        source = as_text(provenance() if made is None else made)
        key = digest(source)
        with self._database.transaction():
            if again:
                self._forget(number, points, "failed")
            there = {p for p, _ in self._states(number, points)}
            new = [run for run in runs if run.point not in there]
            self._database.rows(
                "INSERT INTO provenance (hash, data) VALUES (:hash, :data) ON CONFLICT (hash) DO NOTHING",
                hash=key, data=source,
            )  # fmt: skip
            created = _now()
            self._database.many(
                "INSERT INTO runs (task, point, status, reason, inputs, seconds, created, provenance) VALUES"
                " (:task, :point, :status, :reason, :inputs, :seconds, :created, :provenance)",
                [
                    {
                        "task": number, "point": run.point, "status": "done" if run.failure is None else "failed",
                        "reason": run.failure or "", "inputs": as_text(run.inputs), "seconds": float(run.seconds),
                        "created": created, "provenance": key,
                    }
                    for run in new
                ],
            )  # fmt: skip
            self._database.many(
                "INSERT INTO metrics (task, point, name, value) VALUES (:task, :point, :name, :value)",
                [
                    {"task": number, "point": run.point, "name": name, "value": float(value)}
                    for run in new
                    for name, value in run.metrics.items()
                ],
            )
            places = {id(run): k for k, run in enumerate(with_arrays)}
            self._database.many(
                "INSERT INTO arrays (task, point, name, file, place) VALUES (:task, :point, :name, :file, :place)",
                [
                    {"task": number, "point": run.point, "name": name, "file": file, "place": places[id(run)]}
                    for run in new
                    for name in run.arrays
                ],
            )
        return len(new)

    def add_run(self, task: int | str | StoredTask, run: StoredRun) -> int:
        """Keep one run under the next free number of the task, which is returned; ``run.point`` is not looked at."""
        number = self.task(task).number
        while True:
            ((last,),) = self._database.rows(
                "SELECT COALESCE(MAX(point), -1) FROM runs WHERE task = :task", task=number
            )
            numbered = StoredRun(last + 1, run.inputs, run.metrics, run.arrays, run.seconds, run.failure)
            if self.put(number, [numbered]):
                return last + 1

    def _states(self, number: int, among: Sequence[int] | None = None) -> list[tuple[int, str]]:
        """(point, status) of the points that are there, between the least and the largest of ``among``."""
        low, high = (0, 2**62) if among is None else (min(among), max(among))
        return self._database.rows(
            "SELECT point, status FROM runs WHERE task = :task AND point BETWEEN :low AND :high",
            task=number, low=low, high=high,
        )  # fmt: skip  # type: ignore[return-value]

    def points(self, task: int | str | StoredTask, status: str | None = None) -> set[int]:
        """Points of a task that are there: 'done', 'failed', or both."""
        return {point for point, state in self._states(self.task(task).number) if status in (None, state)}

    def forget(self, task: int | str | StoredTask, points: Iterable[int] | None = None) -> None:
        """Delete runs of a task: those of these points, or all."""
        number = self.task(task).number
        with self._database.transaction():
            self._forget(number, self.points(number) if points is None else set(points), None)

    def _forget(self, number: int, points: Collection[int], status: str | None) -> None:
        chosen = set(points)
        states = self._states(number, list(chosen)) if chosen else []
        gone = [{"task": number, "point": p} for p, s in states if p in chosen and status in (None, s)]
        for table in ("metrics", "arrays", "runs"):
            self._database.many(f"DELETE FROM {table} WHERE task = :task AND point = :point", gone)

    def runs(self, task: int | str | StoredTask) -> list[StoredRun]:
        """All runs of a task by point, without their arrays."""
        number = self.task(task).number
        metrics: dict[int, dict[str, float]] = {}
        found = self._database.rows(
            "SELECT point, name, value FROM metrics WHERE task = :task ORDER BY point, name", task=number
        )
        for point, name, value in found:
            metrics.setdefault(point, {})[name] = real(value, self)
        rows = self._database.rows(
            "SELECT point, status, reason, inputs, seconds FROM runs WHERE task = :task ORDER BY point", task=number
        )
        return [
            StoredRun(
                whole(p, self), record(inputs, self), metrics.get(p, {}), {}, real(seconds, self),
                None if status == "done" else str(reason or "no reason is given"),
            )
            for p, status, reason, inputs, seconds in rows
        ]  # fmt: skip

    def arrays(self, task: int | str | StoredTask, point: int) -> dict[str, Array]:
        """The arrays of a run by name."""
        number = self.task(task).number
        rows = self._database.rows(
            "SELECT name, file, place FROM arrays WHERE task = :task AND point = :point ORDER BY name",
            task=number, point=point,
        )  # fmt: skip
        if not rows and point not in self.points(number):
            raise StoreError(f"{self!r}: task {number} has no run {point}. Hint: points() lists them.")
        return {name: self._arrays.read(file, place, name) for name, file, place in rows}

    def provenance(self, task: int | str | StoredTask, point: int) -> dict[str, Any]:
        """Versions, processor and commit that made a run."""
        number = self.task(task).number
        rows = self._database.rows(
            "SELECT p.data FROM runs r JOIN provenance p ON r.provenance = p.hash"
            " WHERE r.task = :task AND r.point = :point",
            task=number, point=point,
        )  # fmt: skip
        if not rows:
            raise StoreError(f"{self!r}: task {number} has no run {point}. Hint: points() lists them.")
        return record(rows[0][0], self)

    # ------------------------------------------------------------------------------------------ tables
    def to_pandas(self, task: int | str | StoredTask) -> Any:
        """A row for each point: inputs, metrics, status, reason, seconds."""
        return to_pandas(self.runs(task))

    def compare(self, one: int | str | StoredTask, other: int | str | StoredTask) -> Any:
        """Metrics of two tasks beside each other, point by point, and their differences."""
        return compare(self.runs(one), self.runs(other), f"{self!r}: tasks {one!r} and {other!r}")

    def export(self, task: int | str | StoredTask, path: str | os.PathLike[str]) -> Path:
        """The table of a task as a file: .csv, .parquet or .json, complete or untouched."""
        return export(self.to_pandas(task), path)

    # ------------------------------------------------------------------------------------------ upkeep
    def gc(self, young: float = YOUNG) -> dict[str, int]:
        """Delete what nothing refers to: files of arrays older than ``young`` seconds, models and provenance."""
        used = {file for (file,) in self._database.rows("SELECT DISTINCT file FROM arrays")}
        files = 0
        for name in sorted(self._arrays.names() - used):
            path = self._arrays.folder / name
            with suppress(FileNotFoundError):  # another one was quicker
                if time.time() - path.lstat().st_mtime >= young:
                    path.unlink()
                    files += 1
        counts = {"files": files}
        with self._database.transaction():
            for table, users in (("models", ("tasks", "model")), ("provenance", ("runs", "provenance"))):
                of = f"hash NOT IN (SELECT {users[1]} FROM {users[0]} WHERE {users[1]} IS NOT NULL)"
                ((counts[table],),) = self._database.rows(f"SELECT COUNT(*) FROM {table} WHERE {of}")
                self._database.rows(f"DELETE FROM {table} WHERE {of}")
        return counts

    def faults(self) -> list[str]:
        """What is not as it was written, in words: arrays that are missing or changed, models changed."""
        rows = self._database.rows("SELECT DISTINCT file FROM arrays ORDER BY file")
        told = [f"arrays {file} are missing or changed" for (file,) in rows if not self._arrays.sound(file)]
        texts = self._database.rows("SELECT hash, text FROM models ORDER BY hash")
        return told + [f"model {key[:12]} is not what its hash says" for key, text in texts if digest(text) != key]

    def close(self) -> None:
        """Nothing more is read or written."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        folder = self._arrays.place
        return store, (self._where, None if folder is None else str(folder))  # opened anew in another process

    def __repr__(self) -> str:
        return f"store '{self._database.name}'"


def store(where: str | os.PathLike[str], arrays: str | os.PathLike[str] | None = None) -> Store:
    """The store in a folder (made if it is not there), or behind an address ``postgresql://user@host/name``.

    A server holds the tables; arrays, if there are any, lie in a folder that all writers see, ``arrays``."""
    if not isinstance(where, str | os.PathLike) or not os.fspath(where):
        raise StoreError(f"store: must be a folder or an address, got {clipped(where)}. Hint: gs.store('results')")
    address = os.fspath(where)
    if address.startswith(("postgresql://", "postgres://")):
        from gyrostat.store.server import Server  # SQLAlchemy is asked for with the address of a server only

        return Store(Server(address), None if arrays is None else Path(arrays), address)
    if "://" in address:
        kind = address.partition("://")[0]
        raise StoreError(f"no store is known behind '{kind[:60]}://'. Hint: a folder, or postgresql://user@host/name.")
    folder = Path(address)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder '{folder}' cannot be made: {error.strerror}. Hint: is it a file?") from None
    beside = folder / ARRAYS if arrays is None else Path(arrays)
    return Store(Sqlite(folder / FILE), beside, address)


def _hex(text: str) -> str:
    if not text or set(text) - set("0123456789abcdef"):
        raise StoreError(f"'{text[:60]}' is no hash of a model. Hint: models() lists them.")
    return text


def _expect_finite(run: StoredRun) -> None:
    for name, value in run.metrics.items():
        if not math.isfinite(value):
            hint = "a run without a number has failed: say why in failure="
            raise StoreError(f"run {run.point}: '{name}' is {value}. Hint: {hint}.")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
