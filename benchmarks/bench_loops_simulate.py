"""Motion of mechanisms whose loops are constraints, by ``gs.simulate``, next to Exudyn's generalised-alpha of index 3.

A planar four-bar (0.3, 0.9, 0.7 m on a base of 1 m, rods of 1 kg/m) falls for 10 s from rest. Exudyn has three planar
bodies and four planar hinges, what it does fastest; its model is assembled before the clock starts. Ours is the line of
a user, all told. Ends agree before anything is timed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of

Array = np.ndarray
NOTES = (
    "Exudyn: GeneralizedAlpha, index 3, spectral radius 0.9, h = 1 ms, nothing written. Aim: 15 for the default.",
    "Errors of the crank after 10 s [rad]: see the names of the rows; closure of ours 1e-15 m.",
)
CRANK, COUPLER, ROCKER, BASE = 0.3, 0.9, 0.7, 1.0
START = {"A": -1.0, "B": 0.6, "D": -1.5}
SECONDS = 10.0


def rod(name: str, length: float) -> gs.RigidBody:
    """1 kg/m, slender."""
    moments = length * 2e-4, length**3 / 12.0, length**3 / 12.0
    return gs.RigidBody(name, mass=length, com=(length / 2.0, 0, 0), inertia=moments, frames={"end": (length, 0, 0)})


def four_bar(loops: str) -> gs.Model:
    """In the x-z plane."""

    def hinge(name: str) -> gs.Joint:
        return gs.Joint(name, "revolute", axis="y")

    return gs.assemble(
        "four_bar",
        gs.chain("world", hinge("A"), rod("crank", CRANK), hinge("B"), rod("coupler", COUPLER)),
        gs.chain("world", gs.Displacement("base", translation=(BASE, 0, 0)), hinge("D"), rod("rocker", ROCKER)),
        gs.chain("coupler.end", hinge("C")),
        gs.connect("C.b", "rocker.end"),
        reference=START,
        independent=["A"],
        loops=loops,
    )


def exudyn_four_bar(q: Array, h: float, seconds: float) -> tuple[Callable[[], object], Callable[[], float]]:
    """A run of Exudyn from the configuration (A, B, D), and the crank's angle after it; its plane is x-y."""
    exu: Any = import_module("exudyn")
    items: Any = import_module("exudyn.itemInterface")

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    angles = {"crank": -q[0], "coupler": -(q[0] + q[1]), "rocker": -q[2]}
    ends = {"crank": np.zeros(2), "rocker": np.array([BASE, 0.0])}
    ends["coupler"] = CRANK * np.array([np.cos(angles["crank"]), np.sin(angles["crank"])])
    bodies: dict[str, Any] = {}
    nodes: dict[str, Any] = {}
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        x, y = ends[name] + 0.5 * length * np.array([np.cos(angles[name]), np.sin(angles[name])])
        nodes[name] = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, y, angles[name]]))
        bodies[name] = system.AddObject(
            items.ObjectRigidBody2D(nodeNumber=nodes[name], physicsMass=length, physicsInertia=length**3 / 12.0)
        )
        centre = system.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[name]))
        system.AddLoad(items.LoadMassProportional(markerNumber=centre, loadVector=[0.0, -9.81, 0.0]))

    def marker(body: Any, x: float) -> Any:
        return system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0.0, 0.0]))

    half = {"crank": CRANK / 2, "coupler": COUPLER / 2, "rocker": ROCKER / 2}
    pairs = [
        (marker(ground, 0.0), marker(bodies["crank"], -half["crank"])),
        (marker(bodies["crank"], half["crank"]), marker(bodies["coupler"], -half["coupler"])),
        (marker(bodies["coupler"], half["coupler"]), marker(bodies["rocker"], half["rocker"])),
        (marker(ground, BASE), marker(bodies["rocker"], -half["rocker"])),
    ]
    for pair in pairs:
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=list(pair)))
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(seconds / h)
    settings.timeIntegration.endTime = seconds
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = False
    settings.timeIntegration.generalizedAlpha.useNewmark = False
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = seconds

    def run() -> object:
        return system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)

    def angle() -> float:
        kind, moment = exu.OutputVariableType.Coordinates, exu.ConfigurationType.Current
        turned = system.GetNodeOutput(nodes["crank"], variableType=kind, configuration=moment)[2]
        return -(float(turned) + angles["crank"])

    return run, angle


def measure(effort: Effort) -> list[Row]:
    seconds = 0.1 if effort.number is not None else SECONDS
    repeat = 1 if effort.number is not None else 5
    model, minimal = four_bar("constraints"), four_bar("minimal")
    q = gs.neutral(model)
    at: dict[str, Any] = {"t_eval": [seconds]}
    exact = gs.simulate(minimal, q0=q[:1], method="dop853", rtol=1e-12, atol=1e-13, **at).q[-1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Exudyn itself
        run, angle = exudyn_four_bar(q, 1e-3, seconds)
        run()
    case = f"four-bar, {seconds:g} s"
    error = abs(angle() - exact)
    began = time.perf_counter()
    gs.simulate(four_bar("constraints"), t_end=0.01)
    rows = [Row("build", case, "assembled, and 0.01 s of motion", time.perf_counter() - began)]
    rows += [Row("run", case, f"Exudyn, index 3, error {error:.0e}", best_of(run, repeat, 1), peer=True)]
    runs: dict[str, dict[str, Any]] = {
        "dopri5 1e-9": {"rtol": 1e-9, "atol": 1e-11},
        "dop853 1e-9": {"method": "dop853", "rtol": 1e-9, "atol": 1e-11},
        "dopri5 1e-9, baumgarte": {"rtol": 1e-9, "atol": 1e-11, "stabilisation": "baumgarte"},
        "rk4 1 ms": {"method": "rk4", "dt": 1e-3},
        "generalised-alpha 1 ms, index 3": {"method": "generalised-alpha", "dt": 1e-3, "rho_inf": 0.9, "index": 3},
        "generalised-alpha 1 ms, index 2": {"method": "generalised-alpha", "dt": 1e-3, "rho_inf": 0.9, "index": 2},
        "dina 1 ms": {"method": "dina", "dt": 1e-3},
    }
    for name, options in runs.items():

        def ours(options: dict[str, Any] = options) -> Any:
            return gs.simulate(model, **options, **at)

        found = ours()
        error = abs(found.q[-1, 0] - exact)
        if effort.number is None and error > (1e-5 if "1e-9" in name or "rk4" in name else 0.1):
            raise AssertionError(f"{name}: the crank is {error:g} rad off")
        rows.append(Row("run", case, f"{name}, error {error:.0e}", best_of(ours, 4 * repeat, 1)))
    return rows
