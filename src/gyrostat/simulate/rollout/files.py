"""Rollouts in .npz files, without pickles, and as tables. Robots that diverged have NaN in their later rows."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import LoadError, Problem, StateError
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.simulate.results.files import MAX_BYTES, place_of, read_array, written
from gyrostat.simulate.results.tables import needed
from gyrostat.simulate.rollout.result import Rollout
from gyrostat.spec.model import Model

Array = np.ndarray
VERSION = 1
ARRAYS = ("t", "q", "v", "p", "tau", "diverged")


def save_rollout(rollout: Rollout, path: str | os.PathLike[str]) -> Path:
    """Write states, efforts and model; the ending .npz is added if there is none. The file is complete or untouched."""
    meta = {"gyrostat_rollout": VERSION, "model": to_text(rollout.model)}
    arrays = {name: np.asarray(getattr(rollout, name), dtype=float) for name in ARRAYS}
    data = io.BytesIO()
    told = np.frombuffer(json.dumps(meta).encode("utf-8"), dtype=np.uint8)
    np.savez_compressed(data, allow_pickle=False, meta=told, **arrays)
    return written(place_of(path, ".npz"), data.getvalue())


def load_rollout(path: str | os.PathLike[str]) -> Rollout:
    """A rollout that :meth:`Rollout.save` has stored: states and efforts. Derivatives need the rollout itself, contact
    forces too."""
    name = os.fspath(path)
    name = f"{name}.npz" if not os.path.exists(name) and os.path.exists(f"{name}.npz") else name
    try:
        with zipfile.ZipFile(name) as file:
            if sum(info.file_size for info in file.infolist()) > MAX_BYTES:
                raise _refused(name, f"holds more than {MAX_BYTES} bytes", "keep fewer rows: every=...")
            meta = json.loads(read_array(file, "meta", name).tobytes().decode("utf-8"))
            if not isinstance(meta, dict) or meta.get("gyrostat_rollout") != VERSION:
                raise _refused(name, "is no rollout of this version", "give a file that Rollout.save has written")
            arrays = {key: read_array(file, key, name, finite=False) for key in ARRAYS}
    except FileNotFoundError:
        raise _refused(name, "does not exist", "check the path") from None
    except (OSError, zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, RuntimeError) as error:
        told = f"is no rollout of gyrostat: {error}"
        raise _refused(name, told, "give a file that Rollout.save has written") from None
    model = from_text(str(meta["model"]), name)
    _expect_shapes(name, model, arrays)
    tau, diverged = arrays.pop("tau"), arrays.pop("diverged").astype(int)
    gone = partial(_gone, name)
    return Rollout(model, **arrays, diverged=diverged, _torque=lambda: tau, _gradient=gone, _contact=_Nothing(name))


def _expect_shapes(name: str, model: Model, arrays: dict[str, Array]) -> None:
    rows, lead = arrays["t"].shape, arrays["q"].shape[1:-1]
    wanted = {"q": model.nq, "v": model.nv, "tau": model.nv, "p": arrays["p"].shape[-1] if arrays["p"].ndim else -1}
    right = len(rows) == 1 and len(lead) <= 1 and arrays["diverged"].shape == lead
    if not right or any(arrays[key].shape != (*rows, *lead, n) for key, n in wanted.items()):
        raise _refused(name, "has arrays that do not belong together", "give a file that Rollout.save has written")


class _Nothing:
    """Stands for contact records that a file does not hold."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, what: str) -> Any:
        raise StateError(f"rollout: '{self._name}' does not hold contact {what}. Hint: run the rollout again")


def _gone(name: str, *_: Any) -> Any:
    raise StateError(f"rollout: '{name}' holds states, not the rollout: no derivatives. Hint: run the rollout again")


def _refused(name: str, message: str, remedy: str) -> LoadError:
    return LoadError([Problem(f"file '{name}'", "file", message, remedy, name)])


# ------------------------------------------------------------------------------------------------ tables
def by_lane(rollout: Rollout, names: Sequence[str] = ("q", "v", "tau", "p")) -> dict[str, Array]:
    """Quantities (rows, N, n), with an axis of robots also for one."""
    one = rollout.q.ndim == 2
    return {name: getattr(rollout, name)[:, None] if one else getattr(rollout, name) for name in names}


def to_pandas(rollout: Rollout) -> Any:
    """A DataFrame with the index (robot, t) and columns (quantity, name)."""
    pandas = needed("pandas", "to_pandas")
    model, parts = rollout.model, by_lane(rollout)
    own = [str(k) for k in range(parts["p"].shape[-1])]
    names = {"q": model.coordinates, "v": model.dofs, "tau": model.dofs, "p": own}
    head = [(key, name) for key in names for name in names[key]]
    table = np.concatenate([parts[key] for key in names], axis=2)
    count = table.shape[1]
    index = pandas.MultiIndex.from_product([range(count), rollout.t], names=["robot", "t"])
    columns = pandas.MultiIndex.from_tuples(head, names=["quantity", "name"])
    return pandas.DataFrame(table.swapaxes(0, 1).reshape(-1, len(head)), index=index, columns=columns)


def to_xarray(rollout: Rollout) -> Any:
    """A Dataset with q over (t, robot, coordinate) and v, tau over (t, robot, rate); ``diverged`` over robot."""
    xarray = needed("xarray", "to_xarray")
    model, parts = rollout.model, by_lane(rollout)
    data = {"q": (("t", "robot", "coordinate"), parts["q"])}
    data |= {name: (("t", "robot", "rate"), parts[name]) for name in ("v", "tau")}
    data |= {"diverged": (("robot",), np.atleast_1d(rollout.diverged))}
    names = {"t": rollout.t, "coordinate": list(model.coordinates), "rate": list(model.dofs)}
    return xarray.Dataset(data, names, {"model": model.name})
