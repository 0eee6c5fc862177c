"""FMUs opened by FMPy, function by function, with the two versions of FMI behind the same names."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave

__all__ = ["FMICallException", "Unit"]

CLASSES = {("2", False): FMU2Model, ("2", True): FMU2Slave, ("3", False): FMU3Model, ("3", True): FMU3Slave}


class Unit:
    """One instance of an FMU; ``messages``: what it has logged."""

    def __init__(self, path: Path, folder: Path, co_simulation: bool = False, name: str = "one", token: str = ""):
        self.about = fmpy.read_model_description(str(path))
        self.two = self.about.fmiVersion == "2.0"
        kind = self.about.coSimulation if co_simulation else self.about.modelExchange
        if not folder.exists():
            fmpy.extract(str(path), str(folder))
        self.vr = {x.name: x.valueReference for x in self.about.modelVariables}
        self.names = {x.name: x for x in self.about.modelVariables}
        given = {
            "guid": token or self.about.guid,
            "unzipDirectory": str(folder),
            "modelIdentifier": kind.modelIdentifier,
        }
        self.fmu = CLASSES[self.about.fmiVersion[0], co_simulation](**given, instanceName=name)
        self.messages: list[str] = []
        self.co_simulation = co_simulation
        if self.two:
            self._log = fmpy.fmi2.fmi2CallbackLoggerTYPE(lambda e, n, s, c, m: self.messages.append(m.decode()))
            calls = fmpy.fmi2.fmi2CallbackFunctions()
            calls.logger = self._log
            calls.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
            calls.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
            self.fmu.instantiate(callbacks=calls)
        else:
            self.fmu.instantiate(logMessage=lambda e, s, c, m: self.messages.append(m.decode()))

    @property
    def states(self) -> list[str]:
        """Names of the states, in their order."""
        return [x.variable.derivative.name for x in self.about.derivatives]

    def set(self, values: dict[str, float]) -> None:
        put: Any = self.fmu.setReal if self.two else self.fmu.setFloat64
        put([self.vr[name] for name in values], list(values.values()))

    def get(self, *names: str) -> np.ndarray:
        return self.read([self.vr[name] for name in names])

    def read(self, vr: list[int]) -> np.ndarray:
        return np.array((self.fmu.getReal if self.two else self.fmu.getFloat64)(vr))

    def begin(self, t: float = 0.0, tolerance: float | None = None, **start: float) -> Unit:
        """To the end of the initialization; model exchange goes on to continuous time."""
        self.set(start) if start else None
        if self.two:
            self.fmu.setupExperiment(startTime=t, tolerance=tolerance)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=t, tolerance=tolerance)
        self.fmu.exitInitializationMode()
        if not self.co_simulation:
            self.next_event = self.events()
            self.fmu.enterContinuousTimeMode()
        return self

    def events(self) -> float | None:
        """Event iteration; the time of the next one."""
        if self.two:
            info = self.fmu.newDiscreteStates()
            needed, defined, t = info[0], info[4], info[5]
        else:
            needed, _, _, _, defined, t = self.fmu.updateDiscreteStates()
        assert not needed
        return t if defined else None

    def rates(self, x: np.ndarray, t: float = 0.0) -> np.ndarray:
        """x' at a state of model exchange."""
        x = np.ascontiguousarray(x, dtype=float)
        self.fmu.setTime(t)
        dx = np.zeros(len(x))
        pointer = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (x, dx)]
        self.fmu.setContinuousStates(pointer[0], len(x))
        (self.fmu.getDerivatives if self.two else self.fmu.getContinuousStateDerivatives)(pointer[1], len(x))
        return dx

    def step(self, t: float, h: float) -> None:
        self.fmu.doStep(currentCommunicationPoint=t, communicationStepSize=h)

    def directional(self, unknown: list[str], known: list[str], seed: list[float]) -> np.ndarray:
        args = [self.vr[n] for n in unknown], [self.vr[n] for n in known], seed
        return np.array(self.fmu.getDirectionalDerivative(*args))

    def saved(self) -> bytes:
        """The state as bytes."""
        f = self.fmu
        state = f.getFMUstate() if self.two else f.getFMUState()
        data = f.serializeFMUstate(state) if self.two else f.serializeFMUState(state)
        (f.freeFMUstate if self.two else f.freeFMUState)(state)
        return data

    def restore(self, data: bytes) -> None:
        f = self.fmu
        state = f.deSerializeFMUstate(data) if self.two else f.deserializeFMUState(data)
        (f.setFMUstate if self.two else f.setFMUState)(state)
        (f.freeFMUstate if self.two else f.freeFMUState)(state)

    def close(self) -> None:
        self.fmu.freeInstance()
