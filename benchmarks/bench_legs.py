"""Reduced dynamics of a humanoid with exact sensitivities (H04 5.4.4), beside Pinocchio's constraint dynamics."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of
from gyrostat.robots.leg_kinematics import leg_solvers

NOTES = (
    "gs.robots.humanoid(), 18 rates: both soles held (12 rows, 6 independent rates) or one (6 rows, 12 rates).",
    "gyrostat: gs.ReducedDynamics with the legs in closed form: q_D, v_D, a_I, forces; sensitivities are all exact"
    " derivatives of accelerations and forces by q_I, v_I and tau in the same call."
    " H04: 1.6 ms on a Pentium IV of 2 GHz. build: recording, and compiling or finding it in the cache.",
    "Pinocchio: constraintDynamics and computeConstraintDynamicsDerivatives at the same state, which is given to it"
    " whole: no inverse kinematics, no reduction.",
)
SOLES = ("left_foot.sole", "right_foot.sole")
STATES = 1000


def measure(effort: Effort) -> list[Row]:
    model = gs.robots.humanoid()
    legs, q0 = leg_solvers(model), gs.neutral(model)
    q0[7:] = [0.1, 0.05, -0.4, 0.8, -0.4, -0.05, -0.1, -0.05, -0.3, 0.7, -0.4, 0.05]
    rows: list[Row] = []
    for case, soles in (("both feet", SOLES), ("one foot", SOLES[:1])):
        rows += _case(case, model, list(soles), legs, q0, effort)
    return rows


def _case(case: str, model: gs.Model, soles: list[str], legs: Any, q0: np.ndarray, effort: Effort) -> list[Row]:
    import pinocchio as pin

    rng = np.random.default_rng(0)
    reduced = gs.ReducedDynamics(model, soles, legs=legs, q0=q0)
    own = list(reduced.parts.independent)
    n = 10 if effort.number is not None else STATES
    q, v, tau = reduced.reduced(q0), rng.normal(size=len(own)), rng.normal(size=model.nv)
    Q, V, T = (np.tile(x, (n, 1)) for x in (q, v, tau))
    found = reduced(q, v, tau)
    peer = _Peer(model, soles, found.q, found.v, tau)
    np.testing.assert_allclose(peer.a[own], found.a, rtol=1e-8, atol=1e-8)
    start = time.perf_counter()
    np.testing.assert_allclose(reduced.sensitivities(q, v, tau).a, found.a, rtol=1e-9, atol=1e-9)
    seconds = time.perf_counter() - start
    rows = [Row("build", f"{case}: sensitivities to the first result", "gyrostat", seconds)]

    def add(what: str, program: str, call: Any, states: int = 1, other: bool = False) -> None:
        rows.append(Row("run", f"{case}: {what}", program, best_of(call, effort.repeat, effort.number), states, other))

    add("dynamics, one call", "gyrostat", lambda: reduced(q, v, tau))
    add("dynamics, one call", "Pinocchio", lambda: peer.dynamics(pin), other=True)
    add("with sensitivities, one call", "gyrostat", lambda: reduced.sensitivities(q, v, tau))
    add("with sensitivities, one call", "Pinocchio", lambda: peer.derivatives(pin), other=True)
    add(f"with sensitivities, {n} states", "gyrostat", lambda: reduced.sensitivities(Q, V, T), n)
    return rows


class _Peer:
    """The robot in Pinocchio, from a URDF of it, with soles as contacts."""

    def __init__(self, model: gs.Model, soles: list[str], q: np.ndarray, v: np.ndarray, tau: np.ndarray):
        import pinocchio as pin

        bare = gs.robots.humanoid()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "humanoid.urdf"
            gs.save(bare.replace({"context.base": "fixed"}), path)
            self.model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        names = list(self.model.names)[2:]
        at_q = {name: k for k, name in enumerate(bare.coordinates)}
        at_v = {name: k for k, name in enumerate(bare.dofs)}
        linear, angular = [3, 4, 5], [0, 1, 2]
        self.order = np.array([*linear, *angular, *(at_v[name] for name in names)])
        self.q = np.concatenate([q[:7], [q[at_q[name]] for name in names]])
        self.v, self.tau = v[self.order], tau[self.order]
        self.contacts, self.contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for sole in soles:
            foot = gs.fk(bare, q)[sole.replace(".sole", ".origin")]
            place = gs.fk(bare, q)[sole]
            joint = self.model.getJointId(sole.replace("foot.sole", "ankle_roll"))
            at = pin.SE3(foot.R.T @ place.R, foot.R.T @ (place.p - foot.p))
            contact = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D, self.model, joint, at, pin.ReferenceFrame.LOCAL
            )
            self.contacts.append(contact)
        for contact in self.contacts:
            self.contact_data.append(contact.createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.contact_data)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)
        self.a = np.zeros(len(v))
        self.a[self.order] = self.dynamics(pin)

    def dynamics(self, pin: Any) -> np.ndarray:
        return np.array(
            pin.constraintDynamics(
                self.model, self.data, self.q, self.v, self.tau, self.contacts, self.contact_data, self.settings
            )
        )

    def derivatives(self, pin: Any) -> None:
        self.dynamics(pin)
        pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.contacts, self.contact_data, self.settings)
