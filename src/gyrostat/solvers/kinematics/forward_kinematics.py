"""Forward kinematics: placement, velocity and acceleration of any port or named frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.packing import coordinates, packed, rates, together
from gyrostat.engine.arguments import check_nonfinite, check_threads
from gyrostat.engine.kernel import Kernel
from gyrostat.errors import NonFiniteError, StateError
from gyrostat.graph.loops.explain import refuse_unsolved
from gyrostat.solvers.kinematics.frame_motion import (
    EXPRESSIONS,
    TRAILING,
    FrameMotion,
    Motions,
    frame_quantities,
    motions_of,
)
from gyrostat.solvers.kinematics.recorded_kinematics import RecordedKinematics
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    import casadi as ca

__all__ = ["EXPRESSIONS", "ForwardKinematics", "FrameMotion", "Motions"]

Array = np.ndarray


class ForwardKinematics(Solver):
    """Placements, velocities and accelerations of frames [H04 Table 3.3]. Cost O(n).

    ``frames``: names of ports or entities, all spatial ports by default. Called with q (..., nq) and, if wanted, v
    and a (..., nv); returns :class:`Motions`."""

    loops = "any"
    name = "fk"

    def __init__(
        self,
        model: Model,
        frames: Iterable[str] | None = None,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode)
        wanted = self.network.located if frames is None else [frames] if isinstance(frames, str) else frames
        self.frames = tuple(dict.fromkeys(self.network.port(name) for name in wanted))

    def options(self) -> dict[str, Any]:
        return super().options() | {"frames": self.frames}

    def _spec_options(self) -> dict[str, Any]:
        every = self.frames == tuple(self.network.located)
        return self.options() | ({"frames": None} if every else {})

    def __call__(
        self, q: Any, v: Any = None, a: Any = None, *, t: Any = None, threads: int = 1, nonfinite: str = "raise"
    ) -> Motions:
        if a is not None and v is None:
            raise StateError("fk: a was given without v. Hint: accelerations depend on velocities, pass v too")
        level = 1 + (v is not None) + (a is not None)
        state = [(x, n) for x, n in zip((q, v, a), "qva", strict=True)][:level]
        if self._compiled():
            kernel = self._for_level(level)
            arrays = [packed(self.model, x, n, self.name) for x, n in state]
            quantities = kernel.call(
                *arrays,
                *self._base_inputs(t),
                *self._live.values(),
                threads=threads,
                nonfinite=nonfinite,
                explain=lambda: self._examine(state, nonfinite),
            )
        else:
            check_threads(threads, self.name)
            check_nonfinite(nonfinite, self.name)
            quantities = self._interpreted(state, t, nonfinite)
        return motions_of(quantities, self.frames, self.network)

    def casadi(self, derivatives: int = 0) -> ca.Function:
        """Forward kinematics for CasADi, with one output for each quantity of each frame: ``hand_frame_R`` (3, 3) and
        ``hand_frame_p`` (3, 1) as functions of q; with ``derivatives=1`` also ``..._V`` (6, 1) of q and v, with 2 also
        ``..._A`` of q, v and a: those of :class:`FrameMotion`, in the frame's own axes."""
        options = {"representation": self.representation, "rules": self._rules, "live": self.live}
        return RecordedKinematics(self.model, self.frames, derivatives, **options).casadi()

    def _for_level(self, level: int) -> Kernel:
        """Code for placements (1), with velocities (2), with accelerations (3)."""
        nv = self.model.nv

        def function(**x: Any) -> dict[str, Any]:
            net, on = self._scene(x)
            zero = np.zeros(nv)
            quantities = frame_quantities(net, on, self.frames, x["q"], x.get("v", zero), x.get("a", zero))
            return {k: np.array(quantities[k]).reshape(-1, *TRAILING[k]) for k in "RpVA"[: level + 1]}

        inputs = {"q": (self.model.nq,), "v": (nv,), "a": (nv,)}
        return self._kernel(("fk", level), function, {k: inputs[k] for k in "qva"[:level]})

    def _examine(self, state: list[tuple[Any, str]], nonfinite: str) -> None:
        for x, n in state:
            read = self._given(x, n, nonfinite)
            if n == "q" and nonfinite == "raise":
                refuse_unsolved(self.network, read, self.name)

    def _given(self, x: Any, n: str, nonfinite: str) -> Array:
        if n == "q":
            return coordinates(self.model, x, self.name, nonfinite)
        return rates(self.model, x, self.name, n, nonfinite)

    def _interpreted(self, state: list[tuple[Any, str]], t: Any, nonfinite: str) -> dict[str, Array]:
        given = {n: x for x, n in state}
        zero = np.zeros(self.model.nv)
        shape, states = together(
            self.name,
            **{n: (self._given(given[n], n, nonfinite) if n in given else zero, 1) for n in "qva"},
            t=(self.times(t), 0),
        )
        keys = "RpVA"[: len(state) + 1]
        arrays = {k: np.empty((len(states[0]), len(self.frames), *TRAILING[k])) for k in keys}
        with np.errstate(all="ignore"):  # what is not finite is found below
            for n, (q, v, a, t_n) in enumerate(zip(*states, strict=True)):
                quantities = frame_quantities(self.network, self.setting(t_n), self.frames, q, v, a)
                for k, values in quantities.items():
                    if k in keys:
                        arrays[k][n] = np.array(values).reshape(arrays[k].shape[1:])
        for k in keys:
            if nonfinite == "raise" and not np.all(np.isfinite(arrays[k])):
                self._examine(state, nonfinite)
                raise NonFiniteError(
                    f"{self.name}: {k} is not finite. Hint: the numbers of the state or model are too large"
                )
        return {k: x.reshape((*shape, *x.shape[1:])) for k, x in arrays.items()}
