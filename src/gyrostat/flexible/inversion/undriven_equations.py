"""Which equations determine the motion of what no motor drives, while outputs are prescribed.

Rates of a model are driven (a motor acts on them), or not: deflections of links, joints behind the springs of their
drives, passive joints. With the outputs y = g(q) prescribed, as many as there are driven rates,

    0 = F(t, q, v, a): the rows without motor of M a + h(q, v), then g(q) - y(t)

determine everything; torques are the other rows. Where outputs are coordinates (the joints, by default), these are
known. All states of a batch are evaluated at once, in machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.errors import ShapeError, SpecError, clipped
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.solvers.functions import fk, jacobian, rnea, rnea_derivatives
from gyrostat.spec.model import Model

Array = np.ndarray
Outputs = Callable[[Array], tuple[Array, Array]]
WHO = "flexible.inverse_dynamics"
AXES = "xyz"


def refused(rule: str, model: Model, message: str, remedy: str) -> SpecError:
    return SpecError.one(WHO, rule, f"'{model.name}': {message}", remedy)


@dataclass(frozen=True)
class UndrivenEquations:
    """``driven``, ``known``, ``free`` (indices of rates): with a motor, prescribed, unknown; ``outputs``: g (N, p) and
    its Jacobian (N, p, nv) at q (N, nv) where outputs are no coordinates, else None; ``names`` of the outputs."""

    model: Model
    driven: Array
    undriven: Array
    known: Array
    free: Array
    outputs: Outputs | None
    names: tuple[str, ...]

    def states(self, y: Array, z: Array, dz: Array, ddz: Array) -> tuple[Array, Array, Array]:
        """q, v, a (N, nv) from the outputs y (N, 3, p) and the unknowns (N, n) with their derivatives."""
        q, v, a = np.zeros((3, len(z), self.model.nv))
        for k, (whole, part) in enumerate(((q, z), (v, dz), (a, ddz))):
            whole[:, self.free] = part
            whole[:, self.known] = y[:, k] if self.outputs is None else 0.0
        return q, v, a

    def residual(self, y: Array, q: Array, v: Array, a: Array) -> Array:
        """F (N, n)."""
        F = rnea(self.model, q, v, a)[:, self.undriven]
        if self.outputs is None:
            return F
        return np.concatenate([F, self.outputs(q)[0] - y[:, 0]], axis=1)

    def slopes(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """dF/dq, dv, da (N, n, nv)."""
        D = rnea_derivatives(self.model, q, v, a)
        rows = [x[:, self.undriven] for x in (D.dtau_dq, D.dtau_dv, D.dtau_da)]
        if self.outputs is None:
            return rows[0], rows[1], rows[2]
        J = self.outputs(q)[1]
        parts = [np.concatenate([x, j], axis=1) for x, j in zip(rows, (J, 0.0 * J, 0.0 * J), strict=True)]
        return parts[0], parts[1], parts[2]

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """tau (N, nv): of the driven rates, zero elsewhere."""
        tau = np.zeros_like(v)
        tau[:, self.driven] = rnea(self.model, q, v, a)[:, self.driven]
        return tau


def undriven_equations(model: Model, outputs: Any = None) -> UndrivenEquations:
    """The equations of a model for its outputs: None for the joints, (frame, axes) such as ("boom.b", "xy") for a place
    in the world, or a matrix C (p, nv), y = C q."""
    kept_network(model).refuse_loops(WHO)
    if model.nq != model.nv or model.context.base != "fixed":
        raise refused(
            "joints", model, "has a base or joints that no motor moves one by one", "fix the base, take hinges"
        )
    everywhere = np.arange(model.nv)
    bent = deflections(model)
    idle = bent.copy()
    idle[list(behind_springs(model))] = True
    idle[[k for k, name in enumerate(model.dofs) if _passive(model, name)]] = True
    driven, undriven = everywhere[~idle], everywhere[idle]
    if not len(undriven):
        raise refused(
            "flexible-links", model, "has no flexible link and no elastic joint", "gs.rnea needs nothing else"
        )
    names: tuple[str, ...]
    if outputs is None:
        moved = ~bent
        moved[[k for k, name in enumerate(model.dofs) if name in model.shafts.rotors]] = False
        moved[[k for k, name in enumerate(model.dofs) if _passive(model, name)]] = False
        known, g = everywhere[moved], None
        names = tuple(model.dofs[k] for k in known)
    elif isinstance(outputs, tuple) and len(outputs) == 2 and all(isinstance(x, str) for x in outputs):
        known, g, names = everywhere[:0], _place(model, *outputs), tuple(f"{outputs[0]}.{x}" for x in outputs[1])
    else:
        known, (g, names) = everywhere[:0], _combination(model, outputs)
    if len(names) != len(driven):
        message = f"{len(names)} outputs ({', '.join(names)}) for {len(driven)} motors ({_listed(model, driven)})"
        raise refused("outputs", model, message, "prescribe as many numbers as there are driven rates")
    return UndrivenEquations(model, driven, undriven, known, np.setdiff1d(everywhere, known), g, names)


def _listed(model: Model, rates: Array) -> str:
    return ", ".join(model.dofs[k] for k in rates)


def _passive(model: Model, name: str) -> bool:
    entity = model.wiring.entities.get(name)
    return entity is not None and getattr(entity, "passive", None) is True


def _place(model: Model, frame: str, axes: str) -> Outputs:
    """Coordinates of a frame's origin in the world."""
    if not axes or set(axes) - set(AXES) or len(set(axes)) < len(axes):
        raise refused("outputs", model, f"axes {clipped(axes)} of '{frame}'", "some of 'xyz', each once: (frame, 'xz')")
    port = kept_network(model).port(frame)
    at = [AXES.index(x) for x in axes]

    def outputs(q: Array) -> tuple[Array, Array]:
        J = jacobian(model, q, port, expressed_in="aligned")
        return fk(model, q)[port].p[:, at], J[:, [3 + k for k in at]]

    return outputs


def _combination(model: Model, matrix: Any) -> tuple[Outputs, tuple[str, ...]]:
    try:
        C = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        C = np.array([], dtype=float)
    if C.ndim != 2 or C.shape[1] != model.nv or not np.isfinite(C).all():
        raise ShapeError(
            f"{WHO}: outputs is {clipped(matrix)}, expected None, (frame, axes) or a finite matrix (p, {model.nv}) of "
            f"'{model.name}'. Hint: rows say which sums of coordinates are prescribed"
        )

    def outputs(q: Array) -> tuple[Array, Array]:
        return q @ C.T, np.broadcast_to(C, (len(q), *C.shape))

    return outputs, tuple(f"output {k + 1}" for k in range(len(C)))
