"""Sensors over the samples of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.solvers.machinery.wrench import Wrench
from gyrostat.solvers.sensors.measured import FORCES, SensorValues, measured
from gyrostat.spec.sensor import sensors_of

if TYPE_CHECKING:
    from gyrostat.simulate.results.result import Result


def sensor_history(run: Result) -> SensorValues:
    """Values (T, n) of every sensor that all models of a run have."""
    parts: list[SensorValues] = []
    for model, at in run._spans():
        sensors = sensors_of(model.wiring)
        through = [name for name, sensor in sensors.items() if sensor.measures in FORCES]
        if through and run.contact_forces:
            raise GyrostatError(
                f"sensors: '{through[0]}' measures forces through a port, which those of rigid contacts have a part "
                "in: they are not known here. Hint: gs.sensors.measured(model, q, v, a, wrenches), contacts among them"
            )
        forces: Any = run.port_forces() if through else None
        some = None if forces is None else {port: w[at] for port, w in forces.items()}
        wrenches = {port: Wrench(w.value[at], w.expressed_in) for port, w in run.wrenches.items()}
        t = None if isinstance(model.context.base, str) else run.t[at]
        parts.append(measured(model, run.q[at], run.v[at], run.a[at], wrenches or None, t=t, forces=some))
    names = [name for name in parts[0] if all(name in part for part in parts)] if parts else []
    return SensorValues({name: np.concatenate([part[name] for part in parts]) for name in names})
