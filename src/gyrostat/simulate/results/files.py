"""Results in .npz files, with a version and without pickles.

An .npz file of version 1 holds the arrays t, q, v, a, tau, p, work, wall, event_q, event_v, event_v_after, and if there
were any wrench, contact (T, contacts, 3), moment (T, contacts with moments, 3) and sensitivity (T, 2 nv + np, columns);
``meta``: UTF-8 JSON with the rest, the model as YAML text. Reading is bounded, and checks every array."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import LoadError, Problem, SaveError
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.simulate.constraints.contact_transitions import ContactPhase, Impulse
from gyrostat.simulate.events.event_record import Happened
from gyrostat.simulate.results.parts import PartedResult
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.simulate.results.sensitivity import Sensitivity
from gyrostat.solvers.machinery.wrench import Wrench
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
VERSION = 1
PART = "part{}.npz"
"""Of a run of several structures: the file of each within its own."""
MAX_BYTES = 2**32
"""Size of all arrays of a file together that is read."""
MAX_META = 2**26
ARRAYS = {"t": (), "q": ("nq",), "v": ("nv",), "a": ("nv",), "tau": ("nv",), "p": ("np",), "work": (), "wall": ()}
EVENTS = {"event_q": "nq", "event_v": "nv", "event_v_after": "nv"}


# ------------------------------------------------------------------------------------------------ npz
def save_result(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write the run; the ending .npz is added if there is none. The file is complete or untouched."""
    return written(place_of(path, ".npz"), _bytes(result))


def save_parts(parts: Sequence[Result], path: str | os.PathLike[str]) -> Path:
    """Write a run of several structures: a file of one, ``part<k>.npz``, for each."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as file:
        for k, part in enumerate(parts):
            file.writestr(PART.format(k), _bytes(part))
    return written(place_of(path, ".npz"), data.getvalue())


def _bytes(result: Result) -> bytes:
    try:
        model: str | None = to_text(result.model)
    except SaveError:  # a Python function in the context: load_result is then given the model
        model = None
    meta = {
        "gyrostat_result": VERSION,
        "model": model,
        "model_name": result.model.name,
        "sizes": {"nq": result.model.nq, "nv": result.model.nv, "np": int(result.p.shape[1])},
        "status": result.status,
        "message": result.message,
        "method": result.method,
        "settings": {key: _plain(value) for key, value in result.settings.items()},
        "counters": {key: _plain(value) for key, value in asdict(result.counters).items()},
        "events": [{"t": e.t, "name": e.name, "kind": e.kind} for e in result.events],
        "wrenches": [{"port": port, "expressed_in": w.expressed_in} for port, w in result.wrenches.items()],
        "sensitivities": [{"name": name, "columns": s.q.shape[2]} for name, s in result.sensitivities.items()],
        "contacts": list(result.contact_forces),
        "contact_moments": list(result.contact_moments),
        "impulses": [{"t": x.t, "name": x.name, "impulse": x.impulse.tolist()} for x in result.impulses],
        "contact_phases": [[float(x.t_start), float(x.t_end), x.name, x.phase] for x in result.contact_phases],
        "phases": [{"start": k, "model": to_text(m)} for k, m in result.phases[1:]],
    }
    arrays = {name: getattr(result, name) for name in ARRAYS}
    for name, size in EVENTS.items():
        rows = [getattr(e, name.removeprefix("event_")) for e in result.events]
        arrays[name] = np.array(rows, dtype=float).reshape(len(rows), getattr(result.model, size))
    if result.wrenches:
        arrays["wrench"] = np.stack([w.value for w in result.wrenches.values()], axis=1)
    if result.contact_forces:
        arrays["contact"] = np.stack(list(result.contact_forces.values()), axis=1)
    if result.contact_moments:
        arrays["moment"] = np.stack(list(result.contact_moments.values()), axis=1)
    if result.sensitivities:
        columns = [np.concatenate([s.q, s.v, s.p], axis=1) for s in result.sensitivities.values()]
        arrays["sensitivity"] = np.concatenate(columns, axis=2)
    arrays["meta"] = np.frombuffer(json.dumps(meta, allow_nan=True).encode("utf-8"), dtype=np.uint8)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.lib.format.write_array(one, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            file.writestr(f"{name}.npy", one.getvalue())
    return data.getvalue()


def _plain(value: Any) -> Any:
    """As JSON can say it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(x) for x in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def load_result(path: str | os.PathLike[str], model: Model | None = None) -> Result:
    """A run that :meth:`Result.save` has stored. ``model`` is needed where the file could not hold it, because its
    context has a Python function."""
    name = os.fspath(path)
    name = f"{name}.npz" if not os.path.exists(name) and os.path.exists(f"{name}.npz") else name
    try:
        with zipfile.ZipFile(name) as file:
            total = sum(info.file_size for info in file.infolist())
            if total > MAX_BYTES:
                raise _refused(name, f"holds {total} bytes, at most {MAX_BYTES} are read", "keep fewer samples")
            if PART.format(0) in file.namelist():
                parts = [file.read(PART.format(k)) for k in range(len(file.namelist()))]
                return PartedResult.of([_loaded(io.BytesIO(part), f"{name}, part {k}") for k, part in enumerate(parts)])
        return _loaded(name, name, model)
    except FileNotFoundError:
        raise _refused(name, "does not exist", "check the path") from None
    except (OSError, zipfile.BadZipFile, KeyError, RuntimeError) as error:
        raise _refused(name, f"is no result of gyrostat: {error}", "give a file that Result.save has written") from None


def _loaded(source: str | io.BytesIO, name: str, model: Model | None = None) -> Result:
    """One result."""
    try:
        with zipfile.ZipFile(source) as file:
            total = sum(info.file_size for info in file.infolist())
            if total > MAX_BYTES:
                raise _refused(name, f"holds {total} bytes, at most {MAX_BYTES} are read", "keep fewer samples")
            more = [key for key in ("wrench", "contact", "moment", "sensitivity") if f"{key}.npy" in file.namelist()]
            arrays = {key: read_array(file, key, name) for key in [*ARRAYS, *EVENTS, "meta", *more]}
            meta = json.loads(arrays.pop("meta").tobytes().decode("utf-8"))
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        KeyError,
        EOFError,
        RecursionError,
        RuntimeError,
    ) as error:
        raise _refused(name, f"is no result of gyrostat: {error}", "give a file that Result.save has written") from None
    if not isinstance(meta, dict) or meta.get("gyrostat_result") != VERSION:
        version = meta.get("gyrostat_result") if isinstance(meta, dict) else None
        raise _refused(name, f"has version {version!r}, expected {VERSION}", "use the gyrostat that has written it")
    return _result(name, meta, arrays, model)


def read_array(file: zipfile.ZipFile, key: str, name: str, finite: bool = True) -> Array:
    """One array, never unpickled; its head must fit what is there before anything is made of it."""
    info = file.getinfo(f"{key}.npy")
    most = MAX_META if key == "meta" else MAX_BYTES
    if info.file_size > most:
        raise _refused(name, f"array '{key}' has {info.file_size} bytes, at most {most} are read", "keep fewer samples")
    with file.open(info) as stream:
        data = stream.read(most + 1)
    head = io.BytesIO(data)
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError(f"array '{key}' is of an unknown version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(head)
    kind = np.dtype(np.uint8 if key == "meta" else np.float64)
    body = data[head.tell() :]
    if dtype != kind or fortran or len(body) != math.prod(shape) * kind.itemsize or min(shape, default=0) < 0:
        raise ValueError(f"array '{key}' is not what its head says, or not of type {kind}")
    array = np.frombuffer(body, kind).reshape(shape).copy()
    if finite and kind == np.float64 and not np.isfinite(array).all():
        raise ValueError(f"array '{key}' holds numbers that are not finite")
    return array


def _result(name: str, meta: Mapping[str, Any], arrays: dict[str, Array], model: Model | None) -> Result:
    if model is not None:
        expect_model(model, "load_result")
    text = meta.get("model")
    if model is None:
        if not isinstance(text, str):
            raise _refused(name, "does not hold its model, whose context has a Python function", "give model=...")
        model = from_text(text, name)
    try:
        own = int(meta["sizes"]["np"])
        sizes = {"nq": model.nq, "nv": model.nv, "np": own}
        rows, happened = len(arrays["t"]), list(meta["events"])
        if np.any(np.diff(arrays["t"]) < 0.0):
            k = int(np.argmax(np.diff(arrays["t"]) < 0.0))
            raise _refused(
                name,
                f"array 't' must not descend, got {arrays['t'][k]:g} s, then {arrays['t'][k + 1]:g} s",
                "save it again",
            )
        for key, shape in ARRAYS.items():
            _expect(name, key, arrays[key], (rows, *(sizes[k] for k in shape)))
        for key, size in EVENTS.items():
            _expect(name, key, arrays[key], (len(happened), sizes[size]))
        events = tuple(
            Happened(float(e["t"]), str(e["name"]), str(e["kind"]), *(arrays[key][k] for key in EVENTS))
            for k, e in enumerate(happened)
        )
        counters = _counted(meta["counters"])
        later = [(int(x["start"]), from_text(str(x["model"]), name)) for x in meta["phases"]]
        settings = dict(meta["settings"])
        applied = [(str(x["port"]), str(x["expressed_in"])) for x in meta.get("wrenches", ())]
        W = arrays.get("wrench", np.zeros((rows, 0, 6)))
        _expect(name, "wrench", W, (rows, len(applied), 6))
        contacts = [str(x) for x in meta.get("contacts", ())]
        f = arrays.get("contact", np.zeros((rows, 0, 3)))
        _expect(name, "contact", f, (rows, len(contacts), 3))
        turned = [str(x) for x in meta.get("contact_moments", ())]
        moments = arrays.get("moment", np.zeros((rows, 0, 3)))
        _expect(name, "moment", moments, (rows, len(turned), 3))
        impulses = tuple(
            Impulse(float(x["t"]), str(x["name"]), np.array(x["impulse"], dtype=float).reshape(3))
            for x in meta.get("impulses", ())
        )
        spans = tuple(
            ContactPhase(float(a), float(b), str(who), str(phase))
            for a, b, who, phase in meta.get("contact_phases", ())
        )
        asked = [(str(x["name"]), int(x["columns"])) for x in meta.get("sensitivities", ())]
        sensitivities = _sensitivities(name, arrays.get("sensitivity"), asked, rows, sizes)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refused(name, f"is incomplete: {type(error).__name__} {error}", "save it again") from None
    status, message, method = (str(meta.get(key)) for key in ("status", "message", "method"))
    return Result(
        model,
        *(arrays[key] for key in ("t", "q", "v", "a", "tau", "p", "work", "wall")),
        events=events,
        counters=counters,
        status=status,
        message=message,
        method=method,
        settings=settings,
        phases=((0, model), *later),
        wrenches={port: Wrench(W[:, k], frame) for k, (port, frame) in enumerate(applied)},
        sensitivities=sensitivities,
        contact_forces={who: np.ascontiguousarray(f[:, k]) for k, who in enumerate(contacts)},
        contact_moments={who: np.ascontiguousarray(moments[:, k]) for k, who in enumerate(turned)},
        impulses=impulses,
        contact_phases=spans,
    )


def _counted(given: Mapping[str, Any]) -> Counted:
    """What a run has cost; files of earlier versions say less."""
    known: dict[str, Any] = {"in_python": "", "python": {}, **given}
    known["python"] = {str(part): (int(calls), float(seconds)) for part, (calls, seconds) in known["python"].items()}
    return Counted(**{key: known[key] for key in Counted.__dataclass_fields__})


def _sensitivities(
    name: str, array: Array | None, asked: list[tuple[str, int]], rows: int, sizes: Mapping[str, int]
) -> dict[str, Sensitivity]:
    """By name, from the columns of all of them."""
    n, states = sizes["nv"], sizes["np"]
    total = sum(count for _, count in asked)
    S = np.zeros((rows, 2 * n + states, 0)) if array is None else array
    _expect(name, "sensitivity", S, (rows, 2 * n + states, total))
    if any(count < 1 for _, count in asked):
        raise ValueError("a sensitivity has no columns")
    named: dict[str, Sensitivity] = {}
    start = 0
    for key, count in asked:
        part = np.ascontiguousarray(S[:, :, start : start + count])
        named[key] = Sensitivity(part[:, :n], part[:, n : 2 * n], part[:, 2 * n :])
        start += count
    return named


def _expect(name: str, key: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise _refused(name, f"array '{key}' has shape {array.shape}, expected {shape}", "the model may be another one")


def _refused(name: str, message: str, remedy: str) -> LoadError:
    return LoadError([Problem(f"file '{name}'", "result-file", message, remedy, name)])


# ------------------------------------------------------------------------------------------------ writing
def place_of(path: str | os.PathLike[str], ending: str) -> Path:
    """The path, with this ending if it has none."""
    place = Path(os.fspath(path))
    return place if place.suffix else place.with_suffix(ending)


def written(place: Path, data: bytes) -> Path:
    """A file that is complete or untouched."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, place)
    except OSError as error:
        draft.unlink(missing_ok=True) if draft.parent.is_dir() else None
        message = f"cannot be written: {error.strerror or error}"
        raise SaveError([Problem(f"file '{place}'", "file", message, "check the folder and its permissions")]) from None
    return place
