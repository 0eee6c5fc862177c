"""``gs.export_fmu``: a model or a block as an FMU with its own sources in C."""

from __future__ import annotations

import hashlib
import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gyrostat.engine.c_names import identifier
from gyrostat.errors import StateError, clipped, nearest
from gyrostat.fmi.archive import zipped
from gyrostat.fmi.binary import Binary, compiled
from gyrostat.fmi.description import Description
from gyrostat.fmi.model_text import model_text
from gyrostat.fmi.of_block import block_system
from gyrostat.fmi.of_model import WHO, model_system
from gyrostat.fmi.system import System
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.results.files import place_of, written
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

_log = logging.getLogger("gyrostat")

KINDS = ("co-simulation", "model-exchange")
VERSIONS = ("2.0", "3.0")
METHODS = ("dopri5", "rk4")


@dataclass(frozen=True)
class ExportedFMU:
    """What was written: ``path``; ``fmi``, ``kinds``; ``token``: hash of its content; names of the variables by what
    they are; ``binary``: place of the library in the archive, or "" and ``why_no_binary``."""

    path: Path
    fmi: str
    kinds: tuple[str, ...]
    token: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    binary: str
    why_no_binary: str

    def __str__(self) -> str:
        told = self.binary or f"sources alone, {self.why_no_binary}"
        return (
            f"{self.path}: FMI {self.fmi}, {' and '.join(self.kinds)}, {len(self.states)} states, "
            f"{len(self.inputs)} inputs, {len(self.outputs)} outputs, {len(self.parameters)} parameters; {told}"
        )


def export_fmu(
    model: Model | Block,
    path: str | os.PathLike[str],
    kind: str | Sequence[str] = "co-simulation",
    fmi: str = "3.0",
    *,
    torque: Any = None,
    q0: Any = None,
    v0: Any = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Any = None,
    wrenches: Any = None,
    signals: Any = None,
    fixed: Sequence[str] = (),
    method: str = "dopri5",
    dt: float | None = None,
    rtol: float = 1e-9,
    t_start: float = 0.0,
    t_end: float = 1.0,
    binary: bool = True,
    compiler: str | None = None,
) -> ExportedFMU:
    """Write a model, or a block, as an FMU: sources in C, ``modelDescription.xml``, and a library for this platform if
    a C compiler is found; without one a warning is logged, and ``why_no_binary`` says why.

    ``kind``: "co-simulation", "model-exchange", or both of them. ``fmi``: "2.0" or "3.0".

    **A model.** ``torque``, ``wrenches``, ``parameters``: what drives it inside, as ``gs.simulate`` takes it; a
    function or block must be one that is compiled there. Digital parts are sampled inside (co-simulation) or by time
    events (model exchange). Variables: states ``q[<coordinate>]``, ``v[<rate>]``, ``p[<k>]`` of the law; ``a[<rate>]``;
    start values ``q0``, ``v0``. ``inputs``: names of joints or rates, whose efforts ``tau_in[<rate>]`` are added to
    those of the law, and of ports, whose wrenches are ``wrench_in[<port>].force_z`` and so on, in the port's axes; by
    default all rates if there is no law, else none. ``outputs``: of "q", "v", "a", "tau" (the default without "tau" if
    there is no law), and ports, whose positions in the world are ``position[<port>].x`` and so on. ``parameters``:
    paths of physical properties and arguments of the law, names alone or with values; they may change during a run,
    but for those in ``fixed``.

    **A block** (``gs.blocks``): its signals become inputs and outputs ``q[0]``, ``q[1]``, ... ``signals``: their sizes,
    ``{"q": 2, "v": 2}``, or a model, for blocks that read q and v of it.

    Co-simulation integrates by ``method`` "dopri5" with tolerance ``rtol`` (another one by the tool), or "rk4" with
    steps of at most ``dt`` [s]; inputs are held during a communication step. Directional and, in FMI 3.0, adjoint
    derivatives are exact. States can be saved and restored. ``t_start``, ``t_end``: what tools begin with.

    Refused by name: loops that are constraints, rigid contacts, dry friction that sticks, functions that run in
    Python."""
    kinds = _kinds(kind)
    if fmi not in VERSIONS:
        raise StateError(f"{WHO}: there is no FMI {clipped(fmi)} here. Hint: {nearest(str(fmi), VERSIONS)}")
    tolerance, step = _integration(method, dt, rtol)
    times = _times(t_start, t_end)
    if isinstance(model, Block):
        given = {"torque": torque, "q0": q0, "v0": v0, "inputs": inputs, "outputs": outputs, "parameters": parameters}
        for name, value in (given | {"wrenches": wrenches}).items():
            if value is not None:
                raise StateError(f"{WHO}: {name} belongs to models, and {model.who} is a block. Hint: leave it out")
        system = block_system(model, signals)
    else:
        expect_model(model, WHO)
        if signals is not None:
            raise StateError(f"{WHO}: signals belong to blocks, a model has inputs. Hint: inputs=['elbow']")
        system = model_system(model, torque, q0, v0, inputs, outputs, parameters, wrenches, times[0], step)
    names = {x.name for x in system.parameters}
    for name in fixed:
        if name not in names:
            raise StateError(f"{WHO}: fixed names '{name}', which is no parameter. Hint: {nearest(str(name), names)}")
    interval = step or system.sample_time or (times[1] - times[0]) / 500.0
    about = (identifier(system.name), kinds, times, interval, tolerance, frozenset(fixed))
    entries, token, library = _entries(system, fmi, about, step, binary, compiler)
    place = written(place_of(path, ".fmu"), zipped(entries))
    shown = tuple(x.name for x in (*system.states, *system.rates) if x.output) + _names(system.outputs)
    done = ExportedFMU(
        place, fmi, kinds, token, _names(system.states), _names(system.inputs), shown, _names(system.parameters),
        library.place, library.why,
    )  # fmt: skip
    if binary and library.why:
        _log.warning("%s: %s has sources alone: %s. Hint: the tool that runs it compiles them", WHO, place, library.why)
    return done


def _names(variables: Sequence[Any]) -> tuple[str, ...]:
    return tuple(x.name for x in variables)


def _kinds(kind: Any) -> tuple[str, ...]:
    given = (kind,) if isinstance(kind, str) else tuple(kind) if isinstance(kind, Sequence) else ()
    for name in given or (kind,):
        if name not in KINDS:
            raise StateError(f"{WHO}: there is no kind {clipped(name)}. Hint: {nearest(str(name), KINDS)}")
    return tuple(name for name in KINDS if name in given)


def _integration(method: Any, dt: Any, rtol: Any) -> tuple[float, float]:
    """Tolerance, and length of equal steps [s], zero for those that control their error."""
    if method not in METHODS:
        raise StateError(f"{WHO}: there is no method {clipped(method)}. Hint: {nearest(str(method), METHODS)}")
    if not isinstance(rtol, float) or not 1e-14 <= rtol < 1.0:
        raise StateError(f"{WHO}: rtol must be a number from 1e-14 to 1, got {clipped(rtol)}. Hint: rtol=1e-9")
    if (method == "rk4") != (dt is not None):
        raise StateError(f"{WHO}: dt goes with method 'rk4', and with no other. Hint: method='rk4', dt=1e-3")
    if dt is None:
        return rtol, 0.0
    if isinstance(dt, bool) or not isinstance(dt, int | float) or not 0.0 < dt < math.inf:
        raise StateError(f"{WHO}: dt must be a time above 0 s, got {clipped(dt)}. Hint: dt=1e-3")
    return rtol, float(dt)


def _times(start: Any, end: Any) -> tuple[float, float]:
    times = []
    for name, value in (("t_start", start), ("t_end", end)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise StateError(f"{WHO}: {name} must be a finite time [s], got {clipped(value)}. Hint: t_end=1.0")
        times.append(float(value))
    if times[1] <= times[0]:
        raise StateError(f"{WHO}: t_end = {times[1]:g} s is not after t_start = {times[0]:g} s. Hint: t_end=1.0")
    return times[0], times[1]


def _entries(
    system: System, fmi: str, about: Any, step: float, binary: bool, compiler: str | None
) -> tuple[dict[str, bytes], str, Binary]:
    """Files of the archive, the token, the library."""
    name, kinds, times, interval, tolerance, fixed = about
    major = fmi[0]
    own = Path(__file__).parent / "c"
    sources = {file: (own / file).read_text("utf-8") for file in ("core.h", f"fmi{major}.h", f"fmi{major}.c")}
    said = (system, name, kinds)

    def texts(token: str) -> tuple[str, str]:
        description = Description(*said, token, times, interval, tolerance, version("gyrostat"), fixed)
        header = model_text(system, kinds, major == "3", tolerance, step, token)
        return header, description.fmi2() if major == "2" else description.fmi3()

    whole = "\0".join([*texts(""), *sources.values()])
    token = hashlib.sha256(whole.encode()).hexdigest()
    sources["model.h"], described = texts(token)
    entries = {"modelDescription.xml": described.encode()}
    entries |= {f"sources/{file}": text.encode() for file, text in sources.items()}
    if major == "3":
        build = Description(*said, token, times, interval, tolerance, version("gyrostat"), fixed).build()
        entries["sources/buildDescription.xml"] = build.encode()
    library = compiled(sources, f"fmi{major}.c", name, fmi, compiler) if binary else Binary(why="none was asked for")
    if library.place:
        entries[library.place] = library.content
    return entries, token, library
