"""Inverse dynamics of a seven-joint arm: gyrostat in its three coordinate representations, and Pinocchio.

Gyrostat computes the KUKA LWR 4, Pinocchio a chain of the same size (seven revolute joints, seven full inertias) that
is built here. The joint torques therefore differ; the work per state is that of one recursive Newton-Euler pass over
seven bodies in both. What gyrostat's model has beyond that (rotors, gears) is on gyrostat's bill.
"""

from collections.abc import Callable

import numpy as np
import pinocchio as pin

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of

JOINTS = 7
BATCH = 100
REPRESENTATIONS = ("body", "inertial", "absolute")
PINOCCHIO = "Pinocchio"
ONE = "one state"
MANY = f"batch of {BATCH} states"
BUILD = "from a finished model"

NOTES = (
    "gyrostat runs interpreted here (plain NumPy, nothing compiled yet), Pinocchio is compiled C++ called from Python:",
    "ratios below 1 are expected until gyrostat has compiled kernels.",
    "build: gyrostat makes network and solver, Pinocchio its data; reading or writing the model is not included.",
    "batch, Pinocchio: a Python loop over the states, as its rnea takes one state.",
)


def measure(effort: Effort) -> list[Row]:
    """Build times, then run times for one state and for a batch; q in rad, v in rad/s, a in rad/s^2."""
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-1.0, 1.0, (3, BATCH, JOINTS))
    robot = gs.robots.kuka_lwr4()
    solvers = {name: gs.InverseDynamics(robot, representation=name) for name in REPRESENTATIONS}
    check_agreement(solvers, q, v, a)
    chain = revolute_chain()

    def seconds(call: Callable[[], object]) -> float:
        return best_of(call, effort.repeat, effort.number)

    rows = []
    for name in REPRESENTATIONS:
        build = best_of(lambda name=name: gs.InverseDynamics(robot, representation=name), effort.repeat, number=1)
        rows.append(Row("build", BUILD, f"gyrostat, {name}", build))
    rows.append(Row("build", BUILD, PINOCCHIO, best_of(chain.createData, effort.repeat, number=1), peer=True))

    q_1, v_1, a_1 = q[0].copy(), v[0].copy(), a[0].copy()
    for name, solver in solvers.items():
        rows.append(Row("run", ONE, f"gyrostat, {name}", seconds(lambda solver=solver: solver(q_1, v_1, a_1))))
    data = chain.createData()
    rows.append(Row("run", ONE, PINOCCHIO, seconds(lambda: pin.rnea(chain, data, q_1, v_1, a_1)), peer=True))

    for name, solver in solvers.items():
        batch = seconds(lambda solver=solver: solver(q, v, a))
        rows.append(Row("run", MANY, f"gyrostat, {name}", batch, states=BATCH))

    def loop() -> None:
        for i in range(BATCH):
            pin.rnea(chain, data, q[i], v[i], a[i])

    rows.append(Row("run", MANY, PINOCCHIO, seconds(loop), states=BATCH, peer=True))
    return rows


def check_agreement(solvers: dict[str, gs.InverseDynamics], q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """A wrong answer is not worth timing: batch and single state, and all representations, must agree."""
    reference = np.asarray(solvers["body"](q, v, a))
    if reference.shape != q.shape or not np.isfinite(reference).all():
        raise RuntimeError(f"bench_inverse_dynamics: torques must be finite and {q.shape}, got {reference.shape}.")
    tolerance = 1e-9 * np.abs(reference).max()
    for name, solver in solvers.items():
        worst = max(np.abs(solver(q, v, a) - reference).max(), np.abs(solver(q[0], v[0], a[0]) - reference[0]).max())
        if not worst <= tolerance:
            raise RuntimeError(
                f"bench_inverse_dynamics: representation '{name}' differs from a batch in 'body' by {worst:.1e} N m, "
                f"expected at most {tolerance:.1e}."
            )


def revolute_chain() -> pin.Model:
    """Seven revolute joints whose axes alternate between along and across the arm, as in an anthropomorphic arm."""
    chain = pin.Model()
    link = pin.Inertia(2.5, np.array([0.01, -0.02, 0.1]), np.diag([0.020, 0.018, 0.006]))  # kg, m, kg m^2
    parent = 0
    for i in range(JOINTS):
        twist = np.pi / 2 * (-1) ** i if i else 0.0
        placement = pin.SE3(pin.rpy.rpyToMatrix(twist, 0.0, 0.0), np.array([0.0, 0.0, 0.2]))
        parent = chain.addJoint(parent, pin.JointModelRZ(), placement, f"joint_{i + 1}")
        chain.appendBodyToJoint(parent, link, pin.SE3.Identity())
    return chain
