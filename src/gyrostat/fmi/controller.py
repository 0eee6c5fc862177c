"""A controller that comes as an FMU (from Simulink, from Modelica tools), run by FMPy, as a block."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import StateError, clipped, nearest
from gyrostat.simulate.blocks.sampled import Sampled, sampled

Array = np.ndarray


class FmuController:
    """One instance of an FMU for co-simulation: f(t, *signals) -> outputs. At a sample its inputs are set, and it takes
    one step of ``sample_time`` from there; what it gives at the end of that step is held until the next sample, as of
    a digital controller that answers what it has just read."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        sample_time: float,
        inputs: Sequence[str],
        outputs: Sequence[str],
        parameters: Mapping[str, float] | None = None,
    ):
        self.path, self.sample_time = Path(path), float(sample_time)
        fmpy = _fmpy()
        folder = tempfile.mkdtemp(prefix="gyrostat-fmu-")
        weakref.finalize(self, shutil.rmtree, folder, True)
        try:
            about = fmpy.read_model_description(str(self.path))
            fmpy.extract(str(self.path), folder)
        except Exception as error:  # FMPy's own and those of zip, XML and files
            raise StateError(f"fmu '{self.path}': cannot be read: {error}. Hint: is it an FMU 2.0 or 3.0?") from None
        if about.coSimulation is None or about.fmiVersion not in ("2.0", "3.0"):
            told = f"is FMI {about.fmiVersion} without co-simulation" if about.coSimulation is None else "is too old"
            raise StateError(f"fmu '{self.path}': {told}. Hint: export it for co-simulation, FMI 2.0 or 3.0.")
        self._numbers = {
            v.name: (v.valueReference, v.causality) for v in about.modelVariables if v.type in ("Real", "Float64")
        }
        self._old = about.fmiVersion == "2.0"
        self._inputs, self._outputs = ([self._known(name) for name in names] for names in (inputs, outputs))
        given = {self._known(name): float(x) for name, x in (parameters or {}).items()}
        try:
            self._fmu = fmpy.simulation.instantiate_fmu(folder, about, "CoSimulation")
            if self._old:
                self._fmu.setupExperiment(startTime=0.0)
            self._set(list(given), list(given.values()))
            self._fmu.enterInitializationMode(**({} if self._old else {"startTime": 0.0}))
            self._ready = False  # until it has seen its first inputs
        except Exception as error:
            hint = "has it a library for this system? FMPy compiles sources: fmpy.util.compile_platform_binary"
            raise StateError(f"fmu '{self.path}': cannot be started: {error}. Hint: {hint}.") from None

    def _known(self, name: str) -> int:
        if name not in self._numbers:
            hint = nearest(str(name), self._numbers)
            raise StateError(f"fmu '{self.path}': there is no variable {clipped(name)} of real numbers. Hint: {hint}")
        return self._numbers[name][0]

    def _set(self, references: list[int], values: list[float]) -> None:
        if references:
            (self._fmu.setReal if self._old else self._fmu.setFloat64)(references, values)

    def __call__(self, t: float, *signals: Array) -> Array:
        values = np.concatenate([np.atleast_1d(x) for x in signals]) if signals else np.zeros(0)
        if len(values) != len(self._inputs):
            told = f"has {len(self._inputs)} inputs, its signals {len(values)} numbers"
            raise StateError(f"fmu '{self.path}': {told}. Hint: inputs= names one variable for each number.")
        try:
            self._set(self._inputs, values.tolist())
            if not self._ready:
                self._fmu.exitInitializationMode()
                self._ready = True
            self._fmu.doStep(currentCommunicationPoint=float(t), communicationStepSize=self.sample_time)
            return np.array((self._fmu.getReal if self._old else self._fmu.getFloat64)(self._outputs))
        except Exception as error:  # what FMPy says of a call that was refused
            hint = "it takes steps from 0 on, one after the other: make a new block for each run"
            raise StateError(f"fmu '{self.path}' at t = {t:g} s: {error}. Hint: {hint}.") from None


def fmu_block(
    path: str | os.PathLike[str],
    sample_time: float,
    inputs: Sequence[str],
    outputs: Sequence[str],
    reads: Sequence[str] = ("q", "v"),
    target: str = "tau",
    parameters: Mapping[str, float] | None = None,
) -> Sampled:
    """An FMU for co-simulation (FMI 2.0, 3.0) as a digital block of :func:`gyrostat.simulate`.

    ``inputs``: its variables, one for each number of the signals ``reads``, in their order; ``outputs``: those that
    make the signal ``target``; ``parameters``: values by name. It reads and answers every ``sample_time`` [s].
    It remembers: make a new block for each run. Needs FMPy (extra ``fmi``). An FMU is machine code of whoever made
    it."""
    made = FmuController(path, sample_time, inputs, outputs, parameters)
    return sampled(made, sample_time, reads=tuple(reads), target=target, size=len(made._outputs))


def _fmpy() -> Any:
    try:
        import fmpy
        import fmpy.simulation
    except ImportError as error:
        raise StateError(f"fmu_block needs FMPy ({error}). Hint: pip install 'gyrostat[fmi]'.") from None
    return fmpy
