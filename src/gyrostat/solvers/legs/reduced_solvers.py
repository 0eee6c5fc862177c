"""Reduced dynamics as functions of a state: q_I, v_I and the forces tau of all joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import Held, held_frames
from gyrostat.algorithms.contact.frame_contact import FrameContact
from gyrostat.algorithms.contact.reduced_dynamics import Partition, Reduced, reduced_motion, sensitivities
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.rne import Loads, no_loads
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.configuration.manifold import integrate, neutral
from gyrostat.configuration.packing import packed
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.derivatives import forward_mode
from gyrostat.solvers.dynamics.leg_partition import WHO, contact_rows
from gyrostat.solvers.legs.leg_closure import ClosedLeg
from gyrostat.solvers.machinery.call_signatures import of_force
from gyrostat.solvers.machinery.joint_order import JointOrder
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model

STRETCHED = 1e-12
"""Smallest singular value of J_D over its largest, below which a leg counts as singular."""

NEARBY = 0.01
"""How far test vectors are from a configuration in which legs reach their places [rad, m]."""


class ReducedMotion(NamedTuple):
    """``a`` (..., independent): accelerations of the independent rates; ``forces`` (..., contacts, 6): torque [N m],
    then force [N] on the robot, in the axes of each frame, about its origin; ``q`` (..., nq), ``v`` (..., nv): the
    whole state that satisfies the contacts."""

    a: Array
    forces: Array
    q: Array
    v: Array


class ReducedSensitivities(NamedTuple):
    """``a`` as in :class:`ReducedMotion`; ``da_dq``, ``da_dv`` (..., independent, independent), ``da_dtau`` (...,
    independent, nv) along the independent rates; ``df_dq``, ``df_dv``, ``df_dtau`` of the forces, (..., contacts, 6,
    any)."""

    a: Array
    forces: Array
    da_dq: Array
    da_dv: Array
    da_dtau: Array
    df_dq: Array
    df_dv: Array
    df_dtau: Array


class ReducedSolver(StateSolver):
    """Abstract: a function of (q_I, v_I, tau), where legs have closed forms, or (q, v_I, tau) with q closed before."""

    name = WHO
    state = ("q", "v", "tau")
    __call__ = of_force
    inverts = True
    takes_wrenches = True

    def __init__(
        self,
        model: Model,
        contacts: Sequence[FrameContact],
        parts: Partition,
        joints: Sequence[str],
        legs: Sequence[ClosedLeg] | None,
        stance: Array,
        live: Sequence[str] = (),
        mode: str = "auto",
        near: Array | None = None,
    ):
        super().__init__(model, "body", None, live, mode)
        self.near = near
        """A configuration (nq,) in which the legs reach their places; test vectors of exported C are near it."""
        self.contacts, self.parts, self.legs = tuple(contacts), parts, legs
        self.own = JointOrder(model, joints)
        if legs:
            self._live["stance"] = stance

    def options(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().options().items() if k in ("live", "mode")}
        own = {"contacts": self.contacts, "parts": self.parts, "joints": self.own.joints, "legs": self.legs}
        return kept | own | {"stance": self._live.get("stance", np.zeros((0, 4, 4))), "near": self.near}

    def in_order(self, joints: Sequence[str]) -> Self:
        """Refused: q_I and v_I have the order of the independent joints, and all joints take part."""
        raise GyrostatError(
            f"{self.name}.in_order: the independent joints {', '.join(self.own.joints)} are the order of q and v, "
            "others follow. Hint: ReducedDynamics(model, contacts, independent=[...]), or gs.ContactDynamics"
        )

    # ------------------------------------------------------------------ sizes and arrays
    def inputs(self) -> dict[str, tuple[int, ...]]:
        nq, nv = self.own.sizes
        return {"q": (nq if self.legs is not None else self.model.nq,), "v": (nv,), "tau": (self.model.nv,)}

    def _reduced(self, name: str) -> bool:
        return name == "v" or (name == "q" and self.legs is not None)

    def _packed(self, state: Sequence[Any]) -> list[Array]:
        self.expect(state)
        joints = self.own.joints
        return [
            packed(self.model, x, name, self.name, joints if self._reduced(name) else None)
            for x, name in zip(state, self.state, strict=True)
        ]

    def _by_model(self, x: Any, name: str) -> Any:
        return self.own.whole(self.model, x, name, self.name) if self._reduced(name) else x

    def _example(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        if name in self._live:
            return self._live[name]
        if name == "q" and self.legs and self.near is not None:
            step = np.zeros(self.model.nv)
            step[list(self.parts.independent)] = rng.uniform(-NEARBY, NEARBY, len(self.parts.independent))
            return np.take(integrate(self.model, self.near, step), self.own.of(name))
        whole = super()._example(name, (self.model.nq if name == "q" else self.model.nv,), rng)
        return np.take(whole, self.own.of(name)) if self._reduced(name) else whole

    def _entries(self) -> dict[str, Sequence[str]]:
        names = dict(super()._entries())
        for name in ("q", "v"):
            if self._reduced(name):
                names[name] = tuple(str(names[name][k]) for k in self.own.of(name))
        names["a"] = tuple(self.model.dofs[k] for k in self.parts.independent)
        return names

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        """Raise what is wrong with a state: numbers, a foot out of reach, a leg that is stretched."""
        super().examine(state, nonfinite)
        if nonfinite != "raise" or not self.contacts:
            return
        q = self._packed(state)[0]
        for row in q.reshape(-1, q.shape[-1]):
            self._examine_legs(row)

    def _examine_legs(self, q: Array) -> None:
        on = self.setting(0.0)
        if self.legs is not None:
            with np.errstate(all="ignore"):
                q = self.standing(self.network, on, q, self._live["stance"]).astype(float)
            for leg in self.legs:
                if not np.isfinite(q[leg.places]).all():
                    raise StateError(
                        f"{self.name}: '{leg.block.frame}' cannot stand where it does, {leg.block.called} has no "
                        "solution. Hint: the base is too far away; place(q) moves the feet"
                    )
        J = contact_rows(self.model, self.held(self.network), q)
        for rows, rates in self.parts.groups:
            names = [self.model.dofs[self.parts.dependent[k]] for k in rates]
            values = np.linalg.svd(J[np.ix_(rows, [self.parts.dependent[k] for k in rates])], compute_uv=False)
            if values[-1] <= STRETCHED * values[0]:
                raise StateError(
                    f"{self.name}: {', '.join(names)} are in a singular position, their rates do not follow from the "
                    "others. Hint: bend the knee; or name other independent joints"
                )

    # ------------------------------------------------------------------ the motion
    def held(self, net: Network) -> tuple[Held, ...]:
        """The contacts on a network."""
        return held_frames(net, self.contacts)

    def solved(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> tuple[Array, Reduced]:
        """The whole q (nq,), and the motion there."""
        q, v = x["q"], x["v"]
        if len(v) == self.model.nv:  # interpreted states come in the order of the model
            v = v[list(self.parts.independent)]
        if self.legs is not None:
            q = self.standing(net, on, q, x.get("stance", self._live.get("stance")))
        return q, reduced_motion(net, on, q, v, x["tau"], self.held(net), self.parts, given)

    def standing(self, net: Network, on: Setting, q: Array, stance: Any) -> Array:
        """The whole q for that of the independent joints: the legs by their closed forms."""
        whole: Any = np.array(neutral(self.model), dtype=object)
        whole[self.own.q] = q[self.own.q] if len(q) == self.model.nq else q
        start = whole.copy()
        for k, leg in enumerate(self.legs or ()):
            whole[leg.places] = leg.angles(net, on, start, stance[k])
        return whole

    def wrenches(self, net: Network, f: Array) -> Array:
        """Q^T f (contacts, 6, ...) for f (rows, ...)."""
        if not self.contacts:
            return np.zeros((0, 6, *np.shape(f)[1:]))
        return np.stack([h.contact.selector.T @ f[h.at] for h in self.held(net)])


class ReducedMotionSolver(ReducedSolver):
    """a_I, forces of the contacts, and the whole state."""

    Result = ReducedMotion

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, found = self.solved(net, on, x, given)
        a = found.a[list(self.parts.independent)]
        return {"a": a, "forces": self.wrenches(net, found.f), "q": q, "v": found.v}


class ReducedSensitivitySolver(ReducedSolver):
    """a_I, forces, and their derivatives by q_I, v_I and tau."""

    Result = ReducedSensitivities

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, found = self.solved(net, on, x, given)
        closed_form = given is no_loads and not uncovered(net, on)
        at = (net, on, q, found.v, found.a)
        slopes = rnea_derivatives(*at) if closed_form else forward_mode(*at, given)
        d = sensitivities(net, on, q, self.held(net), found, slopes)
        by_row = {"df_dq": d.f_q, "df_dv": d.f_v, "df_dtau": d.f_tau}
        forces = {name: self.wrenches(net, f) for name, f in by_row.items()}
        own = {"a": found.a[list(self.parts.independent)], "forces": self.wrenches(net, found.f)}
        return own | {"da_dq": d.a_q, "da_dv": d.a_v, "da_dtau": d.a_tau} | forces
