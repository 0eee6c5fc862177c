"""Kane's spin-up of a beam, 10 m long: its hub takes 15 s to reach 6 rad/s, and the tip lags behind. By gyrostat, and
by geometrically exact beams of Exudyn.

Data of Simo and Vu-Quoc (1987): E A = 2.8e7 N, E I = 1.4e4 N m^2, 1.2 kg/m. The least lag of a beam that is exact is
-0.5738 m: of 32 and 64 elements of Exudyn -0.57379 and -0.57383 m, of four segments with four shapes -0.57385 m."""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

import gyrostat as gs

Array = np.ndarray
LENGTH, EA, EI, LINE, HUB = 10.0, 2.8e7, 1.4e4, 1.2, 1e9
LEAST_LAG = -0.57384
"""[m]"""
TOLERANCES = 1e-4, 1e-5
"""Of Newton's method in Exudyn, relative and absolute: with its own, 1e-8 and 1e-10, which rounding does not let it
reach, it cuts its steps and takes 17 (kept matrix) to 27 times as long."""


def acceleration(t: Any) -> Any:
    """Of the hub [rad/s^2]."""
    return 0.4 * (1.0 - np.cos(2.0 * np.pi * np.minimum(t, 15.0) / 15.0))


def angle(t: float) -> float:
    """Of the hub [rad]."""
    return 0.4 * (t * t / 2 + (7.5 / np.pi) ** 2 * (np.cos(2 * np.pi * t / 15) - 1)) if t <= 15.0 else 6.0 * t - 45.0


def spun_beam(modes: int, segments: int) -> gs.Model:
    """A hub so heavy that the beam does not move it."""
    section = {"area": 1.0, "I_y": 1.0, "I_z": EI / EA, "J": 1.0}
    beam = gs.FlexibleBeam(
        "beam", length=LENGTH, **section, E=EA, G=1.0, density=LINE, modes=(modes, 0), modes_x=0, segments=segments
    )
    hub, tip = gs.RigidBody("hub", mass=1.0, inertia=(HUB,) * 3), gs.RigidBody("tip", mass=1e-9, inertia=(1e-9,) * 3)
    hinge = gs.Joint("hinge", "revolute", axis="z")
    return gs.assemble("spin_up", gs.chain("world", hinge, hub, beam, tip), gravity=(0.0, 0.0, 0.0))


def simulated(model: gs.Model, dt: float, t_end: float, **how: Any) -> tuple[float, float]:
    """Seconds of the processor for a step, and the least lag [m]."""
    n = model.nv

    def drive(t: Any, q: Any, v: Any) -> Any:
        return np.array([HUB * acceleration(t), *[0.0 * q[0]] * (n - 1)])

    how = {"method": "dina", "every": 10, "compiled": True, "progress": False} | how
    began = time.process_time()
    run = gs.simulate(model, drive, t_end=t_end, dt=dt, **how)
    seconds = (time.process_time() - began) / run.counters.steps
    p = gs.ForwardKinematics(model)(run.q)["tip"].p
    return seconds, float((np.cos(run.q[:, 0]) * p[:, 1] - np.sin(run.q[:, 0]) * p[:, 0]).min())


# ------------------------------------------------------------------ Exudyn
def available() -> bool:
    return find_spec("exudyn") is not None


def exudyn_simulated(elements: int, dt: float, t_end: float) -> tuple[float, float]:
    """The same by Exudyn's generalised-alpha with a Newton matrix that is kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of the parameters differ between its versions
        return _exudyn_simulated(elements, dt, t_end)


def _exudyn_simulated(elements: int, dt: float, t_end: float) -> tuple[float, float]:
    exu: Any = import_module("exudyn")
    items: Any = import_module("exudyn.itemInterface")
    mbs = exu.SystemContainer().AddSystem()
    at = [LENGTH * i / elements for i in range(elements + 1)]
    nodes = [mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, 0.0, 0.0])) for x in at]
    for pair in pairwise(nodes):
        mbs.AddObject(items.ObjectBeamGeometricallyExact2D(
            nodeNumbers=list(pair), physicsLength=LENGTH / elements, physicsMassPerLength=LINE,
            physicsCrossSectionInertia=6e-4, physicsBendingStiffness=EI, physicsAxialStiffness=EA,
            physicsShearStiffness=1e7,
        ))  # fmt: skip
    ground = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))
    for k in range(3):
        marker = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        led = {"offsetUserFunction": lambda mbs, t, item, offset: angle(t)} if k == 2 else {}
        mbs.AddObject(items.CoordinateConstraint(markerNumbers=[ground, marker], **led))
    position = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(items.SensorNode(nodeNumber=nodes[-1], storeInternal=True, outputVariableType=position))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    run = settings.timeIntegration
    run.numberOfSteps, run.endTime, run.verboseMode = round(t_end / dt), t_end, 0
    run.generalizedAlpha.spectralRadius = 0.9
    run.newton.useModifiedNewton = True
    run.newton.relativeTolerance, run.newton.absoluteTolerance = TOLERANCES
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 10 * dt
    solver = exu.LinearSolverType
    settings.linearSolverType = solver.EigenSparse if elements > 8 else solver.EXUdense
    began = time.process_time()
    mbs.SolveDynamic(settings)
    seconds = (time.process_time() - began) / run.numberOfSteps
    t, x, y, _ = mbs.GetSensorStoredData(sensor).T
    hub = np.array([angle(s) for s in t])
    return seconds, float((np.cos(hub) * y - np.sin(hub) * x).min())
