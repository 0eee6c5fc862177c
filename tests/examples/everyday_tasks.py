"""Ten everyday tasks, each as its user writes it, with as many lines as it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs

Q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7, 0.02])
LOAD = gs.RigidBody("load", mass=2.0, com=(0, 0, 0.05), inertia=(0.01, 0.01, 0.01))
HAND = "panda_hand_tcp"


def talos_gravity_compensation_with_foot_wrenches() -> Any:
    talos = gs.load("talos_reduced", base="free")
    q, rest = gs.neutral(talos), np.zeros(talos.nv)
    return talos, gs.rnea(talos, q, rest, rest, contacts={"left_sole_link": "fixed", "right_sole_link": "fixed"})


def payload_on_a_panda_hand() -> Any:
    loaded = gs.load("panda").attach(LOAD, to=HAND)
    return gs.gravity(loaded, Q)


def locked_wrist() -> Any:
    reduced = gs.load("panda").lock({"panda_joint6": 1.5, "panda_joint7": 0.7})
    return reduced, gs.crba(reduced, Q[[0, 1, 2, 3, 4, 7]])


def panda_along_a_line() -> Any:
    panda = gs.load("panda")
    target = gs.fk(panda, Q)[HAND].matrix
    target[:3, 3] += [0.0, 0.2, 0.1]
    return panda, gs.trajectories.cartesian_line(panda, HAND, Q, target, duration=2.0)


def drives_on_a_loaded_panda() -> Any:
    panda = gs.load("panda").attach(LOAD, to=HAND)
    for name in panda.dofs[:7]:
        panda = panda.with_drive(name, rotor_inertia=5e-5, gear_ratio=100.0)
    drives = gs.ActuatorDynamics(panda)
    return drives, drives.torques(Q, np.zeros(8), np.ones(8))


def pd_control_with_a_plot() -> Any:
    panda = gs.load("panda")
    reference = gs.trajectories.point_to_point(Q, Q + 0.3 * (np.arange(8) < 7), 1.0)
    law = gs.blocks.pd(200.0, 30.0, reference, model=panda, feedforward=gs.blocks.GravityCompensation(panda))
    run = gs.simulate(panda, law, Q, t_end=1.5)
    return run, run.plot()


def payload_identification(t: Any, q: Any, v: Any, a: Any, tau: Any) -> Any:
    return gs.studies.identify_payload(gs.load("panda"), t, q, tau, v, a, at=HAND)


def monte_carlo_with_a_plot() -> Any:
    panda = gs.load("panda").attach(LOAD, to=HAND)
    masses = np.random.default_rng(0).uniform(0.5, 3.0, 200)
    law = gs.blocks.pd(400.0, 40.0, Q, model=panda)
    run = gs.rollout(panda, law, Q, dt=1e-3, steps=500, every=10, parameters={"load.mass": masses})
    return run, run.plot(lanes=5)


def c_code_of_two_functions(folder: Path) -> Any:
    panda = gs.load("panda")
    gs.InverseDynamics(panda).export_c(folder, makefile=True)
    gs.MassMatrix(panda).export_c(folder, makefile=True)


def optimal_control_with_an_end_effector_constraint() -> Any:
    arm = gs.robots.two_link()
    phase = gs.studies.Phase(
        arm, duration=1.0, nodes=21, cost="torque", start={"q": [0.2, 0.4], "v": 0}, end={"q": [1.2, 0.5], "v": 0},
        path=lambda s: gs.studies.at_most(s.frame("lower.tip").p[0], -0.3),
    )  # fmt: skip
    return arm, gs.studies.optimal_control(phase)
