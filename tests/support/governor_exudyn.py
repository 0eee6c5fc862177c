"""The flyball governor (IFToMM A05) by Exudyn: a kinematic tree with two spring-dampers, implicit trapezoidal rule."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

exu = pytest.importorskip("exudyn", reason="Exudyn comes with the extra 'oracles'")


def history(t_end: float, step: float, samples: int) -> np.ndarray:
    """(samples + 1, 4): angle of the shaft, shift of the slider, angles of the rods (downwards from 30 degrees)."""
    from exudyn.itemInterface import (
        MarkerKinematicTreeRigid,
        NodeGenericODE2,
        ObjectKinematicTree,
        SensorNode,
        SpringDamper,
    )
    from exudyn.utilities import InertiaCuboid, InertiaMassPoint, RotationMatrixY

    mbs = exu.SystemContainer().AddSystem()
    rod = InertiaCuboid(3000, [1.0, 0.01, 0.01]).Translated([0.5, 0.0, 0.0])
    rod += InertiaMassPoint(5.0).Translated([1.0, 0.0, 0.0])
    bodies = [InertiaCuboid(3000, [0.01, 0.01, 1.0]), InertiaCuboid(3000, [0.1, 0.1, 0.1]), rod, rod]
    start = {"initialCoordinates": [0.0] * 4, "initialCoordinates_t": [2.0 * np.pi, 0.0, 0.0, 0.0]}
    node = mbs.AddNode(NodeGenericODE2(referenceCoordinates=[0.0] * 4, numberOfODE2Coordinates=4, **start))
    turns = [np.eye(3), np.eye(3), RotationMatrixY(np.pi / 6), RotationMatrixY(np.pi - np.pi / 6)]
    places = [[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.05, 0.0, 0.5], [-0.05, 0.0, 0.5]]
    kind = exu.JointType
    tree = mbs.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[kind.RevoluteZ, kind.PrismaticZ, kind.RevoluteY, kind.RevoluteY],
            linkParents=[-1, 0, 0, 0],
            jointTransformations=_filled(exu.Matrix3DList(), turns),
            jointOffsets=_filled(exu.Vector3DList(), places),
            linkInertiasCOM=_filled(exu.Matrix3DList(), [body.InertiaCOM() for body in bodies]),
            linkCOMs=_filled(exu.Vector3DList(), [body.COM() for body in bodies]),
            linkMasses=[body.Mass() for body in bodies],
            gravity=[0.0, 0.0, -9.81],
        )
    )
    for link, x in ((2, 0.05), (3, -0.05)):
        ends = [
            mbs.AddMarker(MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=k, localPosition=p))
            for k, p in ((1, [x, 0.0, 0.0]), (link, [0.5, 0.0, 0.0]))
        ]
        mbs.AddObject(SpringDamper(markerNumbers=ends, stiffness=8e5, damping=4e4, referenceLength=0.5))
    what = exu.OutputVariableType.Coordinates
    sensor = mbs.AddSensor(SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=what))
    mbs.Assemble()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # names of settings differ between its versions
        settings = exu.SimulationSettings()
        settings.solutionSettings.sensorsWritePeriod = t_end / samples
        settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.numberOfSteps = round(t_end / step)
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.relativeTolerance = 1e-10
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
    return mbs.GetSensorStoredData(sensor)[:, 1:]


def _filled(container, entries):
    for entry in entries:
        container.Append(entry)
    return container
