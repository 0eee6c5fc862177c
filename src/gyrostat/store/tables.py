"""Runs of a store as tables: for pandas, for files, and two tasks beside each other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gyrostat.errors import StoreError
from gyrostat.store.store import Store, StoredTask

Which = int | str | StoredTask
ENDINGS = (".csv", ".parquet", ".json")


def to_pandas(store: Store, task: Which) -> Any:
    """A row for each point: inputs, metrics, then status, reason and seconds. What a point lacks is NaN or None."""
    pandas = _pandas()
    runs = store.runs(task)
    rows = [
        {
            **run.inputs,
            **run.metrics,
            "status": "done" if run.failure is None else "failed",
            "reason": run.failure or "",
            "seconds": run.seconds,
        }
        for run in runs
    ]
    return pandas.DataFrame(rows, index=pandas.Index([run.point for run in runs], name="point"))


def compare(store: Store, one: Which, other: Which) -> Any:
    """Metrics of two tasks, point by point: a column for each metric and task, and one for the difference."""
    pandas = _pandas()
    tables = [
        pandas.DataFrame([run.metrics for run in runs], index=pandas.Index([run.point for run in runs], name="point"))
        for runs in (store.runs(one), store.runs(other))
    ]
    shared = [name for name in tables[0].columns if name in tables[1].columns]
    if not shared:
        raise StoreError(f"{store!r}: tasks {one!r} and {other!r} have no metric in common. Hint: tasks() lists them.")
    joined = tables[0][shared].join(tables[1][shared], how="outer", lsuffix="", rsuffix=" of the other")
    for name in shared:
        joined[f"{name} difference"] = joined[f"{name} of the other"] - joined[name]
    return joined


def export(store: Store, task: Which, path: str | os.PathLike[str]) -> Path:
    """The table of a task as a file: .csv, .parquet or .json. The file is complete or untouched."""
    place = Path(path)
    if place.suffix not in ENDINGS:
        raise StoreError(f"export: '{place}' ends in '{place.suffix}'. Hint: one of {', '.join(ENDINGS)}")
    table = to_pandas(store, task)
    part = place.with_name(f".{place.name}.part")
    try:
        if place.suffix == ".csv":
            table.to_csv(part, float_format="%.17g")
        elif place.suffix == ".parquet":
            table.to_parquet(part)
        else:
            table.to_json(part, orient="table", double_precision=15)
        os.replace(part, place)
    except OSError as error:
        raise StoreError(f"export: '{place}' cannot be written: {error.strerror}. Hint: look at the folder.") from None
    return place


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise StoreError(f"tables of a store need pandas ({error}). Hint: pip install 'gyrostat[tables]'.") from None
    return pandas
