"""A simulator in a file: everything that its next steps depend on, without pickles.

An .npz file of version 1 holds ``meta``, UTF-8 JSON with names, settings and counts, and arrays: the state, memory of
digital parts, parameters, what is held, which constraints act, and the memory of the method (:mod:`method_memory`), by
their names. Only arrays of names and shapes that the simulator has itself are taken from it. Machine code reads these
numbers, counts among them: what another process has written is taken only from whoever says that he trusts it."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.errors import LoadError, Problem, StateError
from gyrostat.simulate.events.crossings import Watch
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods.method_memory import give_back, saved
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.task import with_held

Array = np.ndarray
Simulator = Any
"""What is saved: :class:`gyrostat.Simulator`, which reads this file."""
WHO = "Simulator"
VERSION = 1
MAX_BYTES = 2**30
"""Size of all arrays of a file together that is read."""
METHOD = "method."
KEY = os.urandom(32)
"""Secret of this process."""
WRITER = "give what Simulator.save has written"


# ------------------------------------------------------------------------------------------------ writing
def saved_bytes(sim: Simulator) -> bytes:
    """The .npz file."""
    _expect_compiled(sim)
    arrays = _state(sim) | {METHOD + name: x for name, x in saved(sim._method.memory_arrays()).items()}
    meta = _meta(sim) | {"digest": _digest(arrays), "seal": _seal(arrays)}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode("utf-8"), dtype=np.uint8)
    data = io.BytesIO()
    np.savez(data, allow_pickle=False, **arrays)
    return data.getvalue()


def _expect_compiled(sim: Simulator) -> None:
    if not sim._run.method.compiled:
        known = ", ".join(sorted(name for name, method in METHODS.items() if method.compiled))
        raise StateError(
            f"{WHO}: method '{sim.method}' keeps its memory in Python, and cannot be saved in the middle. "
            f"Hint: {known} can"
        )


def _meta(sim: Simulator) -> dict[str, Any]:
    task, run = sim._task, sim._run
    names = {name: np.asarray(x).tolist() for name, x in sim.parameters.items()}
    settings = {"method": sim.method, "dt": sim.dt, "rtol": task.rtol, "atol": task.atol, "max_step": task.max_step}
    return {
        "gyrostat_simulator": VERSION,
        "model": {"name": sim.model.name, "nq": sim.model.nq, "nv": sim.model.nv},
        "settings": settings | {"options": dict(task.options), "parameters": names},
        "sampling": {"next": list(run.instants.values()), "due": run.due},
    }


def _state(sim: Simulator) -> dict[str, Array]:
    """Arrays of the run beside the method's."""
    run = sim._run
    t, q, v, p = run.state
    plant, friction = run.plant, run.transitions.stick_slip
    clock = [t, sim._origin, sim._count, run.settings["t_start"], run.last_event, sim._method.fastest]
    arrays = {
        "clock": clock, "q": q, "v": v, "p": p, "memory": plant.memory, "work": run.recorder.harvest.done_work,
        "held": sim._source.held, "on": plant.active.on, "directions": plant.active.directions,
        "happened": [run.just_happened, run.often], "watches": [_watched(watch) for watch in run.watches.all],
        "sliding": np.zeros(0) if friction is None else [friction.reach, *friction.since],
    }  # fmt: skip
    return {name: np.array(x, dtype=float) for name, x in arrays.items()}


def _watched(watch: Watch) -> list[float]:
    return [watch.sign, watch.last, watch.fresh, watch.looks]


# ------------------------------------------------------------------------------------------------ reading
def settings_of(source: bytes | str | os.PathLike[str], trust: bool) -> dict[str, Any]:
    """Arguments of a simulator that goes on with a file."""
    settings = dict(_read(source, trust)[0]["settings"])
    options = settings.pop("options")
    return {**settings, **options, "parameters": settings["parameters"] or None}


def given_back(sim: Simulator, source: bytes | str | os.PathLike[str], trust: bool) -> None:
    """Set a simulator to what was saved; it stays as it is if that does not fit."""
    _expect_compiled(sim)
    meta, arrays = _read(source, trust)
    _expect(sim, meta, arrays, _named(source))
    _parameters(sim, meta["settings"]["parameters"])
    sim._restart(float(arrays["clock"][3]))
    _stand(sim, arrays)
    _try_a_step(sim)
    _expect_method(sim, arrays, _named(source))
    give_back(sim._method.memory_arrays(), {name.removeprefix(METHOD): x for name, x in arrays.items()})
    _stand(sim, arrays)
    run = sim._run
    run.instants = dict(zip(run.instants, (int(k) for k in meta["sampling"]["next"]), strict=True))
    run.due = [float(T) for T in meta["sampling"]["due"]]


def _parameters(sim: Simulator, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        current = sim.parameters[name]
        if not np.array_equal(current, value):
            sim.parameters[name] = value


def _stand(sim: Simulator, arrays: Mapping[str, Array]) -> None:
    """The state of the run, and what acts in it."""
    run, plant = sim._run, sim._run.plant
    t, sim._origin, count, _, run.last_event, fastest = (float(x) for x in arrays["clock"])
    sim._count = int(count)
    run.state = (t, *(arrays[name].copy() for name in "qvp"))
    plant.memory = arrays["memory"].copy()
    plant.active = type(plant.active)(plant.constraints, arrays["on"].astype(bool), arrays["directions"].copy())
    sim._held = arrays["held"].tobytes()
    plant.numbered(with_held(sim._numbers, arrays["held"].copy()))
    sim._method.fastest = run.runaway.fastest = fastest
    run.recorder.harvest.done_work[:] = arrays["work"]
    _watch(run, arrays)


def _watch(run: Run, arrays: Mapping[str, Array]) -> None:
    run.watches.follow_active()
    for watch, (sign, last, fresh, looks) in zip(run.watches.all, arrays["watches"], strict=True):
        watch.sign, watch.last, watch.fresh, watch.looks = int(sign), float(last), bool(fresh), int(looks)
    run.just_happened, run.often = bool(arrays["happened"][0]), int(arrays["happened"][1])
    friction = run.transitions.stick_slip
    if friction is not None:
        friction.reach, friction.since[:] = float(arrays["sliding"][0]), arrays["sliding"][1:]


def _try_a_step(sim: Simulator) -> None:
    """A step whose end nobody sees: after it the method has all of its memory, which is then written to."""
    run = sim._run
    sim._method.start(*run.state)
    try:
        sim._method.advance(run.t + sim.dt)
    except Exception:  # it may fail; the next real one tells
        sim._machine.failure()
    run.recorder.harvest.take()


def _read(source: bytes | str | os.PathLike[str], trust: bool) -> tuple[dict[str, Any], dict[str, Array]]:
    name = _named(source)
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
            total = sum(info.file_size for info in file.infolist())
        if total > MAX_BYTES:
            raise _refused(name, f"holds {total} bytes, at most {MAX_BYTES} are read", WRITER)
        with np.load(io.BytesIO(source) if isinstance(source, bytes) else source, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        meta = json.loads(arrays.pop("meta").tobytes().decode("utf-8"))
        version, digest = meta["gyrostat_simulator"], meta["digest"]
    except FileNotFoundError:
        raise _refused(name, "does not exist", "check the path") from None
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError, RecursionError) as error:
        raise _refused(name, f"is no simulator of gyrostat: {error}", WRITER) from None
    if version != VERSION:
        raise _refused(name, f"has version {version!r}, expected {VERSION}", "use the gyrostat that has written it")
    if digest != _digest(arrays):
        raise _refused(name, "is damaged: its arrays are not those that were written", WRITER)
    if trust is not True and not hmac.compare_digest(str(meta.get("seal")).encode(), _seal(arrays).encode()):
        message = "was written by another process, and machine code would read its numbers as they are"
        raise _refused(name, message, "trust=True, if it is a file of your own")
    return meta, arrays


def _digest(arrays: Mapping[str, Array]) -> str:
    """Of names and bits. Machine code will read these numbers: a file that was damaged must not get there."""
    h = hashlib.sha256()
    for name, x in sorted(arrays.items()):
        h.update(f"{name} {x.dtype} {x.shape}".encode() + x.tobytes())
    return h.hexdigest()


def _seal(arrays: Mapping[str, Array]) -> str:
    """What only this process can know."""
    return hmac.new(KEY, _digest(arrays).encode(), hashlib.sha256).hexdigest()


def _named(source: Any) -> str:
    return "bytes" if isinstance(source, bytes) else os.fspath(source)


def _expect(sim: Simulator, meta: Mapping[str, Any], arrays: Mapping[str, Array], name: str) -> None:
    """Refuse what another simulator has written."""
    settings = meta["settings"]
    if settings["method"] != sim.method:
        message = f"is of method '{settings['method']}', this simulator's is '{sim.method}'"
        raise _refused(name, message, "Simulator.load(path, model, torque) takes the method from the file")
    if float(settings["dt"]) != sim.dt:
        raise _refused(name, f"has dt = {settings['dt']:g} s, this simulator {sim.dt:g} s", "give the same dt")
    if list(settings["parameters"]) != list(sim.parameters):
        message = f"has the parameters {list(settings['parameters'])}, this simulator {list(sim.parameters)}"
        raise _refused(name, message, "give the same names in parameters={...}")
    for key, x in _state(sim).items():
        _expect_array(name, key, arrays.get(key), x if key != "watches" else arrays.get(key, x))
        if key in ("q", "v", "p", "memory", "held") and not np.isfinite(arrays[key]).all():
            raise _refused(name, f"array '{key}' holds numbers that are not finite", "save it again")
    _expect_method(sim, arrays, name)


def _expect_method(sim: Simulator, arrays: Mapping[str, Array], name: str) -> None:
    """Its memory may be smaller before the first step."""
    for key, x in sim._method.memory_arrays().items():
        if METHOD + key in arrays:
            _expect_array(name, METHOD + key, arrays[METHOD + key], x)


def _expect_array(name: str, key: str, there: Array | None, x: Array) -> None:
    if there is None or there.shape != x.shape or there.dtype != x.dtype:
        what = "is missing" if there is None else f"is {there.dtype} {there.shape}, expected {x.dtype} {x.shape}"
        raise _refused(name, f"array '{key}' {what}", "the model, torque or constraints may be others")


def _refused(name: str, message: str, remedy: str) -> LoadError:
    return LoadError([Problem(f"file '{name}'", "simulator-file", message, remedy, name)])
