"""Inverse dynamics of robots with elastic joints: motor torques from the motion of the links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.elastic.inverse_dynamics import elastic_inverse
from gyrostat.algorithms.elastic.structure import NEGLIGIBLE, Structure, structure
from gyrostat.algorithms.recursions.rne import Loads, no_loads
from gyrostat.configuration.packing import real_array, together
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.taylor import Taylor, series
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError
from gyrostat.graph.network import Network, network
from gyrostat.solvers.dynamics.inverse_dynamics import economical_rules
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


class ElasticResult(NamedTuple):
    """Of every joint, each (..., n): torque of the motor [N m]; angle, rate and acceleration of its rotor on the motor
    side [rad, rad/s, rad/s^2]; torque u of the spring on the link [N m].

    A joint without a spring: ``theta = N q`` of the motor that turns with it (N = 1 if there is none), ``tau_motor`` at
    that motor, and ``tau_spring`` the torque that the stiff drive exerts on the link."""

    tau_motor: Array
    theta: Array
    theta_dot: Array
    theta_ddot: Array
    tau_spring: Array


class ElasticInverseDynamics(StateSolver):
    """Motor torques for a prescribed motion of the links, with elasticity between motors and links and with the
    gyroscopic coupling of the rotors to the bodies that carry them [H04 3.2.1, Algorithm 1].

    Called with ``derivatives`` (..., order + 1, n): ``derivatives[..., k, :]`` is the k-th time derivative of the joint
    coordinates ``joints`` (not of the rotors' angles, which are results); more orders than needed may be given. Returns
    an :class:`ElasticResult`. ``order`` is the highest derivative that is needed, found from the structure of the
    model: 2 (n + 1) for a chain of n joints with general axes, 4 for one joint or without coupling; ``orders`` has the
    highest one that the torque of each single joint needs.

    ``negligible``: couplings of a rotor with a joint below this share of the rotor's inertia count as zero. Axes of
    files are often perpendicular to a few digits only (1.5708): 1e-4 then saves orders that weigh nothing.

    Springs may be linear, progressive or given by increasing curves. Friction with an exact sign counts as constant on
    either side of standstill: its derivatives there are not in the result. Damping in parallel to a spring, backlash,
    rotors whose joints move them in a circle, a base that is free or moved by a function: each is a clear error, when
    the solver is built."""

    loops_hint = "elastic joints in loops need minimal coordinates"
    name = "elastic_inverse_dynamics"
    Result = ElasticResult
    state = ("q",)
    order: int

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
        negligible: float = NEGLIGIBLE,
    ):
        expect_model(model, self.name)
        super().__init__(model, representation, economical_rules(model) if rules is None else rules, live, mode)
        if not isinstance(negligible, float | int) or not 0.0 <= negligible < 1.0:
            raise GyrostatError(f"{self.name}: negligible must be a share from 0 to 1, got {negligible!r}. Hint: 1e-10")
        self.negligible = float(negligible)
        self.structure: Structure = structure(self._networks(), self.setting(0.0), self.negligible)
        self.order = self.structure.order  # pyright: ignore[reportIncompatibleVariableOverride]
        self.joints: tuple[str, ...] = model.dofs[: self.structure.joints]
        self.orders: dict[str, int] = {
            name: 2 + alpha for name, alpha in zip(self.joints, self.structure.alpha, strict=True)
        }
        self.elastic: tuple[str, ...] = tuple(self.joints[k] for k in sorted(self.structure.drives))

    def _usual_rules(self) -> Iterable[str]:
        return economical_rules(self.model)

    def _networks(self) -> list[Network]:
        """The network, and one with other numbers for what is live: a zero must not depend on these."""
        if not self.live:
            return [self.network]
        rng = np.random.default_rng(7)
        other = {k: x * rng.uniform(0.7, 1.3, x.shape) + 0.05 * rng.random(x.shape) for k, x in self._live.items()}
        return [self.network, network(self.model, self._rules, live=other)]

    def coupling(self) -> Array:
        """Zeros of the coupling (n, rotors): 2 where the equation of a joint contains the acceleration of a rotor, 1
        where it contains its rate only, 0 where neither."""
        coupling = np.zeros((self.structure.joints, self.model.nv - self.structure.joints), dtype=int)
        for (k, r), what in self.structure.acts.items():
            coupling[k, r - self.structure.joints] = what
        return coupling

    def __call__(
        self, derivatives: Any, *, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise"
    ) -> ElasticResult:
        """The result for derivatives (..., order + 1, n) of the joint coordinates."""
        if type(derivatives) is not np.ndarray or derivatives.shape[-2:] != self._shape:
            derivatives = self._needed(derivatives)
        return self.serve((derivatives,), None, t, out, threads, nonfinite)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.order + 1, self.structure.joints

    def _needed(self, given: Any) -> Array:
        """The orders that are needed."""
        x = real_array(given, self.name, "derivatives")
        rows, n = self._shape
        if x.ndim < 2 or x.shape[-1] != n:
            raise ShapeError(
                f"{self.name}: derivatives has shape {x.shape}, expected (..., {rows}, {n}): derivatives of order 0 to "
                f"{self.order} of {', '.join(self.joints[:8])}"
            )
        if x.shape[-2] < rows:
            raise ShapeError(
                f"{self.name}: derivatives has orders 0 to {x.shape[-2] - 1}, expected 0 to {self.order}, which this "
                "robot needs. Hint: take a smoother trajectory; a derivative that is zero must be given as zero"
            )
        return np.ascontiguousarray(x[..., :rows, :], dtype=float)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q = [series(column) for column in x["q"].T]
        if not isinstance(self.model.context.base, str):  # a base that is driven: time itself is a series
            on = replace(on, t=Taylor([on.t, 1.0, *[0.0] * (self.order - 1)]))
        return elastic_inverse(net, on, self.structure, q)

    # ------------------------------------------------------------------ the input is no state of the model
    def inputs(self) -> dict[str, tuple[int, ...]]:
        return {"q": self._shape}

    def _recorded(self, function: Any, inputs: Mapping[str, tuple[int, ...]]) -> Program:
        def renamed(**x: Any) -> Mapping[str, Any]:
            return function(q=x.pop("derivatives"), **x)

        return super()._recorded(renamed, {"derivatives" if k == "q" else k: s for k, s in inputs.items()})

    def options(self) -> dict[str, Any]:
        return {k: v for k, v in super().options().items() if k != "order"} | {"negligible": self.negligible}

    def in_order(self, joints: Sequence[str]) -> NoReturn:
        raise GyrostatError(f"{self.name}: has no in_order. Hint: reorder the columns of the derivatives")

    def _packed(self, state: Sequence[Any]) -> list[Array]:
        return [self._needed(state[0])]

    def _entries(self) -> dict[str, Sequence[str]]:
        return dict.fromkeys(ElasticResult._fields, self.joints)

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        x = self._needed(state[0])
        bad = np.argwhere(~np.isfinite(x))
        if len(bad) and nonfinite == "raise":
            *where, k, joint = (int(i) for i in bad[0])
            at = f" in state {tuple(where)}" if where else ""
            raise NonFiniteError(
                f"{self.name}: derivative {k} of '{self.joints[joint]}'{at} is {x[tuple(bad[0])]}, not a finite number"
            )

    def _interpreted(self, state: Sequence[Any], wrenches: Any, t: Any, out: Any, nonfinite: str) -> Any:
        x = self._needed(state[0])
        self.examine((x,), nonfinite)
        lead, (flat, times) = together(self.name, derivatives=(x, 2), t=(self.times(t), 0))
        with np.errstate(all="ignore"):  # what is not finite is found below
            rows = [
                self.compute(self.network, self.setting(float(s)), {"q": row}, no_loads)
                for row, s in zip(flat, times, strict=True)
            ]
        shape = *lead, self.structure.joints
        outputs = {
            name: np.array([row[name] for row in rows], dtype=float).reshape(shape) for name in ElasticResult._fields
        }
        return self._handed_over(outputs, lead, out, nonfinite, lambda: self.examine((x,), nonfinite))
