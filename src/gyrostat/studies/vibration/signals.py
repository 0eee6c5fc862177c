"""Names of what goes in and of what is looked at, as columns and rows of the linear system.

| input | what it is |
|---|---|
| ``"elbow"``, ``"boom.y1"``, ``"elbow_drive.rotor"`` | generalised force on a rate of the model [N m, N] |
| ``"elbow_drive.motor"`` | torque of a motor on its shaft [N m] |
| ``"tool.fx"``, ``fy fz`` / ``mx my mz`` | force [N] / moment [N m] on a frame |
| ``"base.ax"``, ``ay az`` | acceleration of the base along the axes of the world [m/s^2] |

| output | what it is |
|---|---|
| ``"elbow"``, or ``"d elbow"`` | displacement along a rate of the model [rad, m] |
| ``"tool.x"``, ``y z`` / ``rx ry rz`` | displacement [m] / rotation [rad] of a frame |
| ``"v elbow"``, ``"v tool.x"`` | its rate of change |
| ``"a elbow"``, ``"a tool.x"`` | its acceleration |
| ``"tau elbow"`` | effort of the controller, and of the input, on a rate [N m, N] |

A name that is a rate of the model is meant as that rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import names_of
from gyrostat.errors import FrameError, StateError, nearest
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.derivatives import SourceDerivatives
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model

Array = np.ndarray
MOVES = {"rx": 0, "ry": 1, "rz": 2, "x": 3, "y": 4, "z": 5}
LOADS = {"mx": 0, "my": 1, "mz": 2, "fx": 3, "fy": 4, "fz": 5}
ACCELERATIONS = {"ax": 0, "ay": 1, "az": 2}
ORDER = {"d": 0, "v": 1, "a": 2}


class Outputs(NamedTuple):
    """y = s^order (``d`` d) + ``w`` w + ``p`` p + ``u`` u: rows on displacements, rates, states of the controller and
    generalised forces; ``order`` (rows,) of differentiation."""

    d: Array
    w: Array
    p: Array
    u: Array
    order: Array


class Signals:
    """Of one model at one pose q (nq,); ``expressed_in``: axes of frames, ``"aligned"`` (world) or ``"local"``."""

    def __init__(self, model: Model, q: Array, expressed_in: str, who: str):
        if expressed_in not in ("aligned", "local"):
            raise FrameError(
                f"{who}: expressed_in must be 'aligned' (axes of the world) or 'local', got {expressed_in!r}. "
                "Hint: 'aligned'"
            )
        self.model, self.q, self.expressed_in, self.who = model, q, expressed_in, who

    # ------------------------------------------------------------------ in
    def inputs(self, names: Any) -> tuple[tuple[str, ...], Array]:
        """Names, and generalised forces (nv, m) that a unit of each input makes."""
        asked = self._some(names, "inputs")
        return asked, np.stack([self._forces(name) for name in asked], axis=1)

    def _forces(self, name: str) -> Array:
        if name in self.model.dofs:
            return np.eye(self.model.nv)[self.model.dofs.index(name)]
        for element in kept_network(self.model).transmission.elements:
            if element.name == name and "shaft" in element.shafts:
                return self._on_shaft(element.shafts["shaft"])
        frame, _, part = name.rpartition(".")
        if frame == "base" and part in ACCELERATIONS:
            return self._of_base(np.eye(3)[ACCELERATIONS[part]])
        if part in LOADS:
            return self._jacobian(frame, name, "inputs")[LOADS[part]]
        raise self._unknown(name, "inputs", f"a force on a frame is '{frame or 'tool'}.fz'")

    def _on_shaft(self, shaft: Any) -> Array:
        forces = np.zeros(self.model.nv)
        for k, factor in shaft.ties:
            forces[k] += float(factor)
        return forces

    def _of_base(self, direction: Array) -> Array:
        """Inertial forces -m J_c^T a of an acceleration of the base: those of gravity -a."""
        if self.model.context.base != "fixed":
            raise StateError(
                f"{self.who}: the base of '{self.model.name}' is not fixed, so nothing accelerates it. "
                "Hint: name a force on it, 'base_body.fx'"
            )
        if not isinstance(self.model.context.gravity, UniformGravity):
            raise StateError(f"{self.who}: base accelerations need uniform gravity. Hint: a force on a frame")
        solver = cached_solver(self.model, InverseDynamics, representation="body", live=("context.gravity",))
        g, rest = np.array(self.model["context.gravity"].g), np.zeros((2, self.model.nv))
        loaded = [self.model.replace({"context.gravity": tuple(x)}) for x in (g - direction, g + direction)]
        forces = []
        for there in loaded:
            solver.refresh(there)
            forces.append(solver(self.q, *rest))
        return -0.5 * (forces[0] - forces[1])

    # ------------------------------------------------------------------ out
    def outputs(self, names: Any, law: SourceDerivatives) -> tuple[tuple[str, ...], Outputs]:
        """Names, and their rows."""
        asked = self._some(names, "outputs")
        n, m = self.model.nv, len(law.p_p)
        d, w, p, u = (np.zeros((len(asked), size)) for size in (n, n, m, n))
        rows = Outputs(d, w, p, u, np.zeros(len(asked), dtype=int))
        for i, name in enumerate(asked):
            kind, _, what = name.rpartition(" ")
            if kind == "tau":
                k = self._rate(what, name)
                rows.d[i], rows.w[i], rows.p[i], rows.u[i] = law.tau_q[k], law.tau_v[k], law.tau_p[k], np.eye(n)[k]
                continue
            if kind not in ("", *ORDER):
                raise self._unknown(name, "outputs", f"'v {what}' is a rate, 'a {what}' an acceleration")
            order = ORDER.get(kind, 0)
            (rows.w if order else rows.d)[i] = self._moves(what, name)
            rows.order[i] = max(0, order - 1)
        return asked, rows

    def _rate(self, what: str, name: str) -> int:
        if what not in self.model.dofs:
            raise self._unknown(name, "outputs", "'tau' goes with a rate of the model")
        return self.model.dofs.index(what)

    def _moves(self, what: str, name: str) -> Array:
        """Row (nv,) of a displacement."""
        if what in self.model.dofs:
            return np.eye(self.model.nv)[self.model.dofs.index(what)]
        frame, _, part = what.rpartition(".")
        if part in MOVES:
            return self._jacobian(frame, name, "outputs")[MOVES[part]]
        raise self._unknown(name, "outputs", f"the displacement of a frame is '{frame or 'tool'}.z'")

    # ------------------------------------------------------------------ names
    def _jacobian(self, frame: str, name: str, what: str) -> Array:
        try:
            solver = cached_solver(self.model, Jacobian, frame=frame, expressed_in=self.expressed_in)
        except FrameError as error:
            raise StateError(f"{self.who}: {what} name '{name}', and {error}") from None
        return solver(self.q)

    def _some(self, names: Any, what: str) -> tuple[str, ...]:
        asked = names_of(names, self.who, what)
        if not asked:
            raise StateError(
                f"{self.who}: no {what} are named. Hint: {what}=['{next(iter(self.model.dofs), 'elbow')}']"
            )
        return asked

    def _unknown(self, name: str, what: str, hint: str) -> StateError:
        near = nearest(name.rpartition(" ")[2], self.model.dofs)
        return StateError(
            f"{self.who}: {what} name '{name}', which is neither a rate of '{self.model.name}' nor a part of a frame. "
            f"Hint: {hint}; {near}"
        )


def every(names: Sequence[str], asked: Any, what: str, who: str) -> int:
    """Number of an input or output by its name or number."""
    if isinstance(asked, int | np.integer) and -len(names) <= asked < len(names):
        return int(asked)
    if isinstance(asked, str) and asked in names:
        return names.index(asked)
    raise StateError(f"{who}: there is no {what} {asked!r}. Hint: {nearest(str(asked), names)}")
