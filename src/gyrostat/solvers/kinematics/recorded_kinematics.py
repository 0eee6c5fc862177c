"""Forward kinematics to a given derivative as one program of a state: for CasADi, and beside other answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.engine.tracing.casadi_functions import to_casadi
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.kinematics.frame_motion import TRAILING, Motions, frame_quantities, motions_of
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    import casadi as ca


class RecordedKinematics(StateSolver):
    """Motions of ``frames`` (all spatial ports by default): placements for ``derivatives=0``, with velocities for 1,
    with accelerations for 2; called with as many of q, v, a. Outputs R (..., f, 3, 3), p (..., f, 3), V, A (..., f, 6);
    see :class:`~gyrostat.solvers.kinematics.frame_motion.FrameMotion`."""

    loops = "any"
    name = "fk"
    rate_axes = (("R", ()), ("p", ()), ("V", ()), ("A", ()))

    def __init__(
        self,
        model: Model,
        frames: Iterable[str] | None = None,
        derivatives: int = 0,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        if isinstance(derivatives, bool) or derivatives not in (0, 1, 2):
            raise StateError(f"fk: derivatives must be 0, 1 or 2, got {derivatives!r}. Hint: 1 for velocities")
        super().__init__(model, representation, rules, live, mode)
        wanted = self.network.located if frames is None else [frames] if isinstance(frames, str) else frames
        self.frames = tuple(dict.fromkeys(self.network.port(name) for name in wanted))
        self.derivatives = derivatives
        self.state = ("q", "v", "a")[: derivatives + 1]

    def options(self) -> dict[str, Any]:
        return super().options() | {"frames": self.frames, "derivatives": self.derivatives}

    def __call__(self, *state: Any, t: Any = None, threads: int = 1, nonfinite: str = "raise") -> Motions:
        """The motions for q (..., nq) and, as far as they are needed, v and a (..., nv)."""
        return self.serve(state, None, t, None, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        rest = np.zeros(net.model.nv)
        quantities = frame_quantities(net, on, self.frames, x["q"], x.get("v", rest), x.get("a", rest))
        return {k: np.array(quantities[k]).reshape(len(self.frames), *TRAILING[k]) for k in self.outputs}

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple("RpVA"[: self.derivatives + 2])

    def returned(self, outputs: Mapping[str, Array]) -> Motions:
        return motions_of(outputs, self.frames, self.network)

    def casadi(self) -> ca.Function:
        """One output for each quantity of each frame."""
        return to_casadi(by_frame(self.main_kernel().program, self.frames))


def by_frame(program: Program, frames: Sequence[str]) -> Program:
    """The program with its outputs R, p, V, A taken apart: ``hand.frame.R`` (3, 3) and so on, frame by frame."""
    outputs: list[Slot] = []
    results: list[Any] = []
    for f, frame in enumerate(frames):
        for slot, nodes in zip(program.outputs, program.results, strict=True):
            size = int(np.prod(TRAILING[slot.name]))
            outputs.append(Slot(f"{frame}.{slot.name}", TRAILING[slot.name]))
            results.append(nodes[f * size : (f + 1) * size])
    return replace(program, outputs=tuple(outputs), results=tuple(results))
