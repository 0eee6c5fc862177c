"""Every public solver of a state, with the options that it cannot do without, for tests that loop over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.solvers.machinery.state_solver import StateSolver

TIP = "end.tip"


def branched(base: str = "fixed") -> gs.Model:
    """Two arms on a trunk with six joints of three kinds, a geared rotor and a spherical joint: nq 7, nv 6."""
    inertia = (0.02, 0.03, 0.04)
    trunk = [
        gs.RigidBody("plinth", mass=5.0, inertia=inertia),
        gs.Joint("waist", "revolute", axis="z"),
        gs.RigidBody("trunk", mass=3.0, com=(0.0, 0.1, 0.2), inertia=inertia, frames={"side": (0.0, 0.2, 0.4)}),
    ]
    left = [
        gs.Displacement("left_offset", translation=(0.1, 0.0, 0.3)),
        gs.Joint("shoulder", "spherical"),
        gs.RigidBody("arm", mass=1.2, com=(0.2, 0.0, 0.0), inertia=inertia),
    ]
    right = [
        gs.Joint("slide", "prismatic", axis="y"),
        gs.RigidBody("end", mass=0.7, com=(0.0, 0.1, 0.1), inertia=inertia, frames={"tip": (0.1, 0.2, 0.3)}),
    ]
    model = gs.assemble(
        "two_arms",
        gs.chain("world", *trunk),
        gs.chain("trunk", *left),
        gs.chain("trunk.side", *right),
        base=base,
    )
    return model.with_drive("waist", rotor_inertia=1e-4, gear_ratio=50.0, viscous=0.1)


def elastic() -> gs.Model:
    """Two elastic joints."""
    links = [gs.RigidBody(f"link{k}", mass=1.0, com=(0, 0, 0.2), inertia=(0.01, 0.01, 0.01)) for k in (1, 2)]
    joints = [gs.Joint("j1", "revolute", axis="x"), gs.Joint("j2", "revolute", axis="x")]
    model = gs.assemble("elastic", gs.chain("world", joints[0], links[0], joints[1], links[1]))
    for name in ("j1", "j2"):
        model = model.with_drive(name, rotor_inertia=1e-4, gear_ratio=100.0, stiffness=1e4)
    return model


OPTIONS: dict[str, dict[str, Any]] = {
    "Jacobian": {"frame": TIP, "expressed_in": "local"},
    "JacobianRate": {"frame": TIP, "expressed_in": "aligned"},
    "ParameterJacobian": {"frame": TIP, "parameters": ["slide.axis", "left_offset.translation"]},
    "ParameterDerivatives": {"parameters": ["arm.mass", "arm.inertia"], "wrt_wrenches": ["end"]},
    "InverseOperationalInertia": {"contacts": {TIP: "point"}},
    "ContactDynamics": {"contacts": {TIP: "point"}},
    "ContactDynamicsDerivatives": {"contacts": {TIP: "point"}},
    "Impact": {"contacts": {TIP: "point"}, "restitution": 0.5},
    "ContactVelocities": {"contacts": {TIP: [[0, 0, 0, 0, 1, 0]]}},
    "FrictionMargins": {"contacts": {TIP: {"kind": "point", "friction": 0.7}}},
    "StabilityMargin": {"points": [TIP, "trunk.origin", "arm.origin"]},
    "CapturePoint": {"height": -50.0},
}


def solver_classes() -> dict[str, type]:
    """Public classes that have derivatives, CasADi functions and C, by name; those made of others have their own
    tests."""
    found = {name: getattr(gs, name) for name in gs.__all__ if name not in ("Solvers", "BlockSolver")}
    return {k: c for k, c in found.items() if isinstance(c, type) and issubclass(c, StateSolver)}


def state_of(solver: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """A random state for a solver: as many arrays as it is called with."""
    if isinstance(solver, gs.ElasticInverseDynamics):
        return [rng.normal(size=(solver.order + 1, len(solver.joints)))]
    model, state = solver.model, []
    for name in solver.state:
        state.append(gs.random_configuration(model, rng) if name == "q" else rng.normal(size=model.nv))
    return state
