"""Contact forces within friction cones next to Pinocchio's solvers (projected Gauss-Seidel, ADMM) and Clarabel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import pinocchio as pin
from scipy import sparse

from benchmarks.harness import Effort, Row, best_of
from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.cone_problem import solve_cones

NOTES = (
    "Delassus' matrix is given; mu = 0.7; residual 1e-8 relative for all; one call from Python, with its checks.",
    "warm: from the forces of a problem whose velocities differ by 1 %. humanoid: 27 rates, two feet of four points",
    "and two hands, 30 rows of rank 18; quadruped: 18 rates, four feet. Pinocchio: dense Delassus operator, the same",
    "complementarity problem. Clarabel: the convex problem with the radii of the discs known, which is less.",
)
MU = 0.7


@dataclass(frozen=True)
class Scene:
    """Rows J (3 k, nv) as normal, t1, t2, and G = J M^-1 J^T; velocities c of two moments."""

    name: str
    G: np.ndarray
    before: np.ndarray
    c: np.ndarray

    @property
    def contacts(self) -> int:
        return len(self.c) // 3


def skew(p: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def scene(name: str, nv: int, limbs: tuple[tuple[int, int], ...]) -> Scene:
    """A free body of 40 kg with limbs: (joints, points at the end) of each."""
    rng = np.random.default_rng(3)
    X = 0.3 * rng.normal(size=(nv, nv))
    M = X @ X.T + np.diag([3.0, 3.0, 1.0, 40.0, 40.0, 40.0, *rng.uniform(0.05, 2.0, nv - 6)])
    rows, first = [], 6
    for k, (joints, points) in enumerate(limbs):
        at = np.array([0.3 * (k // 2), 0.1 - 0.2 * (k % 2), -1.0])
        end = np.zeros((6, nv))
        end[:, :6] = np.eye(6)
        end[3:, :3] = -skew(at)
        end[:, first : first + joints] = 0.5 * rng.normal(size=(6, joints))
        first += joints
        corners = [(0.0, 0.0)] if points == 1 else [(x, y) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
        rows += [(np.hstack([-skew(np.array([x, y, 0.0])), np.eye(3)]) @ end)[[2, 0, 1]] for x, y in corners]
    J = np.vstack(rows)
    v = 0.05 * rng.normal(size=nv)
    v[5] -= 0.05
    moved = v + 0.01 * np.linalg.norm(v) * rng.normal(size=nv) / np.sqrt(nv)
    return Scene(name, J @ np.linalg.solve(M, J.T), J @ v, J @ moved)


SCENES = (
    ("humanoid, 30 rows", 27, ((6, 4), (6, 4), (4, 1), (5, 1))),
    ("quadruped, 12 rows", 18, ((3, 1), (3, 1), (3, 1), (3, 1))),
)


class Pinocchio:
    """Their solvers on a scene; rows in their order t1, t2, normal."""

    def __init__(self, of: Scene, kind: str):
        self.order = np.concatenate([[3 * k + 1, 3 * k + 2, 3 * k] for k in range(of.contacts)])
        model = pin.buildSampleModelManipulator()
        self.models, self.datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for _ in range(of.contacts):
            contact = pin.PointContactConstraintModel(model, 1, pin.SE3.Identity())
            contact.setFriction(MU)
            self.models.append(pin.ConstraintModel(contact))
            self.datas.append(pin.ConstraintData(contact.createData()))
        self.G = pin.DelassusOperatorDense(of.G[np.ix_(self.order, self.order)])
        self.solver = getattr(pin, f"{kind}ConstraintSolver")(len(of.c))
        self.settings, self.result = getattr(pin, f"{kind}SolverSettings")(), getattr(pin, f"{kind}SolverResult")()
        self.settings.max_iterations = 20_000
        for name in ("feasibility", "complementarity"):
            setattr(self.settings, f"absolute_{name}_tol", 1e-10)
            setattr(self.settings, f"relative_{name}_tol", 1e-10)

    def solve(self, c: np.ndarray, start: np.ndarray | None) -> np.ndarray:
        """Impulses in our order."""
        if start is not None:
            self.result.setConstraintImpulseGuess(start[self.order])
        self.solver.solve(self.G, c[self.order], self.models, self.datas, self.settings, self.result)
        P = np.zeros(len(c))
        P[self.order] = np.asarray(self.result.retrieveConstraintImpulses()).ravel()
        return P


class Convex:
    """Clarabel on a scene, with the radii of the discs known."""

    def __init__(self, of: Scene, P: np.ndarray):
        blocks, b, cones = [], [], []
        eye = np.eye(len(of.c))
        for k in range(of.contacts):
            blocks += [-eye[[3 * k]], np.zeros((1, len(of.c))), -eye[3 * k + 1 : 3 * k + 3]]
            b += [0.0, MU * P[3 * k], 0.0, 0.0]
            cones += [clarabel.NonnegativeConeT(1), clarabel.SecondOrderConeT(3)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        given = sparse.csc_matrix(np.triu(of.G)), of.c, sparse.csc_matrix(np.vstack(blocks)), np.array(b)
        self.make = lambda: clarabel.DefaultSolver(*given, cones, settings).solve()


def checked(of: Scene, P: np.ndarray, u: np.ndarray, program: str, within: float) -> None:
    """The same velocities, or no times."""
    difference = np.abs(of.G @ P + of.c - u).max() / np.abs(of.c).max()
    if not difference <= within:
        raise RuntimeError(f"bench_cones: {program} on {of.name} differs by {difference:.1e}")


def _calls(of: Scene) -> dict[str, tuple[Callable[[], Any], bool]]:
    layout = ConeLayout(of.contacts)
    solver = ConeSolver(layout, MU)
    start = solver(of.G, of.before, tolerance=1e-8).P
    found = solver(of.G, of.c, start, 1e-8)
    checked(of, solve_cones(of.G, of.c, layout, MU, start, 1e-8).P, found.u, "NumPy", 1e-6)
    calls: dict[str, tuple[Callable[[], Any], bool]] = {
        "gyrostat": (lambda: solver(of.G, of.c, start, 1e-8), False),
        "gyrostat, cold": (lambda: solver(of.G, of.c, 0.0 * start, 1e-8), False),
        "gyrostat, NumPy": (lambda: solve_cones(of.G, of.c, layout, MU, start, 1e-8), False),
    }
    for kind in ("PGS", "ADMM"):
        peer = Pinocchio(of, kind)
        checked(of, peer.solve(of.c, None), found.u, kind, 1e-4)
        calls[f"pinocchio {kind}"] = (lambda peer=peer: peer.solve(of.c, start), True)
    convex = Convex(of, found.P)
    checked(of, np.array(convex.make().x), found.u, "clarabel", 1e-4)
    return calls | {"clarabel, radii known": (convex.make, True)}


def measure(effort: Effort) -> list[Row]:
    rows = list[Row]()
    for name, nv, limbs in SCENES:
        began = time.perf_counter()
        of = scene(name, nv, limbs)
        ConeSolver(ConeLayout(of.contacts), MU)(of.G, of.c)
        rows.append(Row("build", name, "gyrostat, to the first solution", time.perf_counter() - began))
        for program, (call, peer) in _calls(of).items():
            rows.append(Row("run", f"{name}, warm", program, best_of(call, effort.repeat, effort.number), peer=peer))
    return rows
