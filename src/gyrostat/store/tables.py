"""Runs of a store as tables: for pandas, for files, and two tasks beside each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gyrostat.errors import StoreError

ENDINGS = (".csv", ".parquet", ".json")


def to_pandas(runs: Sequence[Any]) -> Any:
    """A row for each point: inputs, metrics, then status, reason and seconds. What a point lacks is NaN or None."""
    pandas = _pandas()
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


def compare(one: Sequence[Any], other: Sequence[Any], who: str) -> Any:
    """Metrics of two lists of runs, point by point: a column for each metric and task, and one for the difference."""
    pandas = _pandas()
    tables = [
        pandas.DataFrame([run.metrics for run in runs], index=pandas.Index([run.point for run in runs], name="point"))
        for runs in (one, other)
    ]
    shared = [name for name in tables[0].columns if name in tables[1].columns]
    if not shared:
        raise StoreError(f"{who} have no metric in common. Hint: tasks() lists them.")
    second = tables[1][shared].rename(columns={name: f"{name} of the other" for name in shared})
    joined = tables[0][shared].join(second, how="outer")
    for name in shared:
        joined[f"{name} difference"] = joined[f"{name} of the other"] - joined[name]
    return joined


def export(table: Any, path: str | os.PathLike[str]) -> Path:
    """A table as a file: .csv, .parquet or .json. The file is complete or untouched."""
    place = Path(path)
    if place.suffix not in ENDINGS:
        raise StoreError(f"export: '{place}' ends in '{place.suffix}'. Hint: one of {', '.join(ENDINGS)}")
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
