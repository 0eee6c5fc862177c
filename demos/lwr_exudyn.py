"""The experiment of WM15 4.3 once more, in Exudyn: seven rigid bodies with 3 positions and 4 Euler parameters each, 35
constraints of joints and 7 of quaternions; a differential-algebraic system, as ADAMS has it, and nothing of gyrostat.

Every number is typed from the appendix of WM15. A link stands in its centroidal frame, the joint frames on both sides
of joint j are C_ij and C_ji there, and joint j turns by q_j about their z. The torque of the laws (32) acts between the
two frames; Exudyn evaluates it as an expression of its own, without Python."""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray

# Table 2: mass [kg], moments of inertia [kg m^2]
MASS = (3.0, 3.0, 3.0, 2.5, 2.5, 1.0, 0.5)
J = (
    3 * ((1.27e-2, 1.27e-2, 5.4e-3),)
    + 2 * ((1.017e-3, 4.5e-3, 4.5e-3),)
    + (3 * (1.44e-3,), (3.66e-4, 3.66e-4, 2.25e-4))
)
# z of s'_ij on the link before joint j, and of s'_ji on the link behind it [m]
S_BEFORE = (0.0, 0.1, 0.1, 0.1, 0.0975, 0.0975, 0.0)
S_BEHIND = (-0.2105, -0.1, -0.1, -0.0975, -0.0975, 0.0, -0.0309)
GRAVITY = (0.0, -9.81, 0.0)
# (32)-(34)
K = (10.0, 1000.0, 200.0, 100.0, 10.0, 10.0, 10.0)
C = (1000.0, 10000.0, 1000.0, 1000.0, 10.0, 10.0, 10.0)
W = math.pi / 7.0

MISSING = "the comparison with a Cartesian DAE code needs Exudyn. Hint: pip install exudyn"


def available() -> bool:
    return find_spec("exudyn") is not None


def _of(part: str = "") -> Any:
    """Exudyn, or a module of it."""
    exudyn = import_module("exudyn")
    return getattr(exudyn, part) if part == "symbolic" else import_module(f"exudyn.{part}") if part else exudyn


@dataclass(frozen=True)
class Motion:
    """t (T,) [s]; q, v, a (T, 7) [rad, rad/s, rad/s^2]; what it has cost: steps, Newton iterations, wall time [s];
    ``course`` (steps + 1, 2): time and wall time [s] along the way, if it was looked at."""

    t: Array
    q: Array
    v: Array
    a: Array
    steps: int
    newton: int
    wall: float
    course: Array | None = None


def turn(axis: str, angle: float) -> Array:
    """R_x, R_y or R_z (3, 3)."""
    c, s = round(math.cos(angle), 15), round(math.sin(angle), 15)  # quarter turns exactly
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.eye(3)
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def frames() -> list[tuple[Array, Array]]:
    """C_ij and C_ji of joints 1 to 7."""
    elbow, one = turn("z", math.pi / 2) @ turn("y", -math.pi / 2), np.eye(3)
    base = turn("x", -math.pi / 2) @ turn("z", -math.pi / 2)
    return [(base, one), (elbow, elbow), (one, one), (elbow, elbow), (one, one), (elbow, elbow), (one, one)]


def law(mbs: Any, t: Any, item: Any, angle: Any, rate: Any, k: Any, c: Any, offset: Any) -> Any:
    """Torque of the connector, which pulls back: -tau_j of (32), for Exudyn's symbols."""
    symbols = _of("symbolic")
    cos, sin = symbols.cos, symbols.sin
    return k * (angle - 0.5 * math.pi * cos(W * t)) + c * (rate + 0.5 * math.pi * W * sin(W * t))


class Arm:
    """The system of Exudyn; its functions and sensors are kept here, because Exudyn does not."""

    def __init__(self, start: float):
        self.exu, self.items = _of(), _of("itemInterface")
        self.container = self.exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.kept: list[Any] = []
        self.angle: list[Any] = []
        self.rate: list[Any] = []
        self.axis: list[Any] = []
        self.turning: list[Any] = []
        self._build(start)
        self.mbs.Assemble()

    def _build(self, start: float) -> None:
        last, R, p = self.mbs.AddObject(self.items.ObjectGround()), np.eye(3), np.zeros(3)
        for j, (C_before, C_behind) in enumerate(frames()):
            before = (C_before, np.array([0.0, 0.0, S_BEFORE[j]]))
            behind = (C_behind, np.array([0.0, 0.0, S_BEHIND[j]]))
            R_next = R @ C_before @ turn("z", start) @ C_behind.T
            p = p + R @ before[1] - R_next @ behind[1]
            body = self._body(j, R_next, p)
            self._joint(j, last, before, body, behind)
            last, R = body, R_next

    def _body(self, j: int, R: Array, p: Array) -> Any:
        items = self.items
        place = [*p, *_of("rigidBodyUtilities").RotationMatrix2EulerParameters(R)]
        node = self.mbs.AddNode(items.NodeRigidBodyEP(referenceCoordinates=place))
        body = self.mbs.AddObject(items.ObjectRigidBody(mass=MASS[j], inertia=[*J[j], 0.0, 0.0, 0.0], nodeNumber=node))
        weight = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=GRAVITY))
        self.turning.append(self._sensor(body, "AngularAcceleration", body=True))
        self.axis.append(self._sensor(body, "RotationMatrix", body=True))
        return body

    def _joint(self, j: int, one: Any, before: tuple[Array, Array], other: Any, behind: tuple[Array, Array]) -> None:
        items = self.items
        markers = []
        for body, (R, s) in ((one, before), (other, behind)):
            X = np.eye(4)
            X[:3, :3], X[:3, 3] = R, s
            markers.append(self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localHT=X)))
        self.mbs.AddObject(items.ObjectJointRevoluteZ(markerNumbers=markers))
        kind = "ObjectConnectorTorsionalSpringDamper"
        create = _of("advancedUtilities").CreateSymbolicUserFunction
        torque = create(self.mbs, law, "springTorqueUserFunction", itemTypeName=kind)
        self.kept.append(torque)
        turns = self.mbs.AddNode(
            items.NodeGenericData(initialCoordinates=[0.0], numberOfDataCoordinates=1)
        )  # whole turns
        drive = self.mbs.AddObject(
            items.ObjectConnectorTorsionalSpringDamper(
                markerNumbers=markers, nodeNumber=turns, stiffness=K[j], damping=C[j], springTorqueUserFunction=torque
            )
        )
        self.angle.append(self._sensor(drive, "Rotation"))
        self.rate.append(self._sensor(drive, "AngularVelocityLocal"))

    def _sensor(self, item: Any, what: str, body: bool = False) -> Any:
        kind = {"outputVariableType": getattr(self.exu.OutputVariableType, what), "storeInternal": True}
        kind |= {"writeToFile": False}
        items = self.items
        sensor = items.SensorBody(bodyNumber=item, **kind) if body else items.SensorObject(objectNumber=item, **kind)
        return self.mbs.AddSensor(sensor)

    def stored(self, sensor: Any) -> Array:
        return np.array(self.mbs.GetSensorStoredData(sensor))

    def motion(self, steps: int, newton: int, wall: float) -> Motion:
        """With joint axes z and angular accelerations alpha, in the world: a_j = z_j . (alpha_j - alpha_i)."""
        t = self.stored(self.angle[0])[:, 0]
        q = np.stack([self.stored(s)[:, 1] for s in self.angle], axis=1)
        v = np.stack([self.stored(s)[:, -1] for s in self.rate], axis=1)
        alpha = np.stack([self.stored(s)[:, 1:4] for s in self.turning])
        R = np.stack([self.stored(s)[:, 1:10].reshape(-1, 3, 3) for s in self.axis])
        axes = np.stack([R[j] @ C_behind[:, 2] for j, (_, C_behind) in enumerate(frames())])
        change = np.diff(alpha, axis=0, prepend=np.zeros((1, *alpha.shape[1:])))
        return Motion(t, q, v, np.einsum("jti,jti->tj", axes, change), steps, newton, wall)


def simulate(
    t_end: float, step: float, every: float = 0.1, damping: float = 0.6, tolerance: float = 1e-12, clock: bool = False
) -> Motion:
    """The motion from rest at q_j = pi/2, by the generalised-alpha method with a fixed step [s]; ``damping`` is its
    spectral radius at infinity, ``every`` [s] the distance of samples, ``tolerance`` that of its Newton iteration.
    ``clock``: look at the wall clock at every step."""
    arm = Arm(math.pi / 2)
    exu, seen = arm.exu, []
    if clock:
        arm.mbs.SetPreStepUserFunction(lambda mbs, t: seen.append((t - step, time.perf_counter() - began)) or True)
    settings = exu.SimulationSettings()
    time_ = settings.timeIntegration
    time_.endTime, time_.numberOfSteps = t_end, round(t_end / step)
    time_.verboseMode = 0
    time_.adaptiveStep = False
    time_.generalizedAlpha.spectralRadius = damping
    time_.newton.relativeTolerance, time_.newton.absoluteTolerance = tolerance, tolerance
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = every
    settings.parallel.numberOfThreads = 1
    with tempfile.TemporaryDirectory() as folder:
        settings.solution.solverInformationFileName = str(Path(folder) / "solver.txt")
        began = time.perf_counter()
        if not arm.mbs.SolveDynamic(settings):
            raise RuntimeError("Exudyn did not reach the end")
        wall = time.perf_counter() - began
    told = arm.mbs.sys["dynamicSolver"].it
    motion = arm.motion(round(t_end / step), told.newtonStepsCount, wall)
    return replace(motion, course=np.array([*seen, (t_end, wall)])) if clock else motion
