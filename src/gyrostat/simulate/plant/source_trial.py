"""Whether a torque source may be recorded at all: it is tried at some states, called and recorded."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.plant.source_recording import WHO, SourceRecording
from gyrostat.simulate.plant.user_memory import LATE, Remembers, UserMemory, alike, probes

Array = np.ndarray


class Trial(NamedTuple):
    """Why a source cannot be recorded, or ""; and what its functions could remember."""

    problem: str
    memory: UserMemory


def tried(recording: SourceRecording, recorded: bool = True) -> Trial:
    """A source that has a memory is refused; one whose recording does not give what it gives itself must be called."""
    source = recording.source
    memory = UserMemory(WHO, source.told, source.users)
    with np.errstate(all="ignore"):
        problem = recording.problem() if recorded else "not asked for"
        memory.recorded()
        said = ""
        for late in LATE:
            points = probes(recording.model, late)
            try:
                memory.numbers([lambda x=x: _both(recording, *x) for x in points])
                return Trial(problem or _recorded_otherwise(recording, points), memory)
            except Remembers:
                raise
            except Exception as error:  # what is a function of (t, q, v) may still fail at some states
                memory.start.restore()
                said = str(error) if isinstance(error, GyrostatError) else f"{type(error).__name__}: {error}"
    return Trial(problem or f"it was tried at another state, {said}", memory)


def _both(recording: SourceRecording, t: float, q: Array, v: Array) -> Array:
    """tau and the rates of its states, at the start of these; NaN where it says that the state is none of its own."""
    source = recording.source
    p, m = source.p0, source.m0
    at_home = not source.trouble(t, q, v, p, m)
    return np.concatenate((recording.numbers if at_home else source.evaluate)(t, q, v, p, m))


def _recorded_otherwise(recording: SourceRecording, points: list[Any]) -> str:
    source, code = recording.source, recording.kernels.code
    constants, work = recording.kernels.constants, np.zeros(code.work)
    tau, rate = np.zeros(recording.model.nv), np.zeros(len(source.p0))
    call = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 10)(code.address)
    for t, q, v in points:
        arrays = [*recording.inputs(t, q, v, source.p0, source.m0), constants, tau, rate, work]
        arrays = [np.ascontiguousarray(x, dtype=float) for x in arrays]
        call(*(x.__array_interface__["data"][0] for x in arrays))
        if not alike(np.concatenate([arrays[7], arrays[8]]), _both(recording, t, q, v)):
            return "it does not return the same for the same arguments when it is recorded"
    return ""
