"""Results as tables: CSV, pandas, xarray, Parquet. Libraries are imported where they are used."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.results.files import place_of, written
from gyrostat.simulate.results.result import Result

Array = np.ndarray


def columns(result: Result) -> dict[tuple[str, str], Array]:
    """All numbers by (quantity, name), (T,) each; own states of the torque source by their number."""
    model = result.model
    table: dict[tuple[str, str], Array] = {}
    for key, names in (("q", model.coordinates), ("v", model.dofs), ("a", model.dofs), ("tau", model.dofs)):
        table |= {(key, name): getattr(result, key)[:, k] for k, name in enumerate(names)}
    table |= {("p", str(k)): result.p[:, k] for k in range(result.p.shape[1])}
    for name, f in result.contact_forces.items():
        table |= {("contact", f"{name}.{axis}"): f[:, k] for k, axis in enumerate(("n", "t1", "t2"))}
    for name, m in result.contact_moments.items():
        table |= {("contact moment", f"{name}.{axis}"): m[:, k] for k, axis in enumerate(("n", "t1", "t2"))}
    return table | {("work", ""): result.work}


def _flat(result: Result) -> dict[str, Array]:
    return {"t": result.t} | {f"{key}.{name}" if name else key: x for (key, name), x in columns(result).items()}


def write_csv(result: Result, path: str | os.PathLike[str]) -> Path:
    """Commas, a head of names such as ``q.elbow``, numbers with all their digits."""
    table = _flat(result)
    rows = zip(*(x.tolist() for x in table.values()), strict=True)
    lines = [",".join(_quoted(name) for name in table), *(",".join(map(repr, row)) for row in rows)]
    return written(place_of(path, ".csv"), ("\n".join(lines) + "\n").encode("utf-8"))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if any(c in name for c in ',"\n\r') else name


def to_pandas(result: Result) -> Any:
    """A DataFrame with the index t and columns (quantity, name)."""
    pandas = needed("pandas", "to_pandas")
    table = columns(result)
    index = pandas.Index(result.t, name="t")
    head = pandas.MultiIndex.from_tuples(list(table), names=["quantity", "name"])
    return pandas.DataFrame(np.stack(list(table.values()), axis=1), index=index, columns=head)


def runs_to_pandas(runs: Sequence[Result]) -> Any:
    """The tables of several runs below each other, with the index (run, t)."""
    pandas = needed("pandas", "to_pandas")
    if not runs:
        raise GyrostatError("to_pandas: there are no runs. Hint: results[:10] of a batch that has some")
    return pandas.concat([to_pandas(run) for run in runs], keys=range(len(runs)), names=["run", "t"])


def to_xarray(result: Result) -> Any:
    """A Dataset with named axes."""
    xarray = needed("xarray", "to_xarray")
    model = result.model
    rates = {name: (("t", "rate"), getattr(result, name)) for name in ("v", "a", "tau")}
    data = {"q": (("t", "coordinate"), result.q), **rates, "work": (("t",), result.work)}
    names = {"t": result.t, "coordinate": list(model.coordinates), "rate": list(model.dofs)}
    return xarray.Dataset(data, names, {"model": model.name, "method": result.method, "status": result.status})


def write_parquet(result: Result, path: str | os.PathLike[str]) -> Path:
    """The columns of the CSV file."""
    arrow, parquet = needed("pyarrow", "to_parquet"), needed("pyarrow.parquet", "to_parquet")
    data = io.BytesIO()
    parquet.write_table(arrow.table(_flat(result)), data)
    return written(place_of(path, ".parquet"), data.getvalue())


def needed(module: str, who: str) -> Any:
    """A library that is not always there."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise GyrostatError(f"{who} needs {package}. Hint: pip install {package}") from error
