"""Where a robot really is for the angles that its controller commands: rigid, or at rest under gravity and load.

Commands are the coordinates of the rigid robot, as its encoders count them: the angle of a motor over the nominal ratio
of its gear. Behind springs, and along flexible links, the robot deflects by s until

    tau_s(q(c), s; p) = 0          generalised forces of gravity, springs, beams at what deflects    [H04 5.3]

which Newton's method solves for all poses at once. Derivatives by parameters p and commands c contain the deflection:

    dy/dp = Y_p - Y_s K^-1 T_p,    K = dtau_s/ds,  T_p = dtau_s/dp,  Y = placement of a frame [H04 3.2.2.1]

so that the rigid, the elastic and the sensitivity model are one program of one specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, ShapeError, StateError, clipped
from gyrostat.graph.loops.explain import refuse_unsolved
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.behind_springs import behind_springs
from gyrostat.spec.gear import Gear
from gyrostat.spec.model import Model
from gyrostat.studies.calibration.static_program import StaticProgram

Array = np.ndarray
ROUNDS, SETTLED = 50, 1e-11
LONGEST = 0.2
"""Greatest step of a deflection [rad, m] in one round."""


@dataclass(frozen=True)
class Placements:
    """R (n, f, 3, 3), p (n, f, 3) and all coordinates q (n, nq)."""

    R: Array
    p: Array
    q: Array


@dataclass(frozen=True)
class Coordinates:
    """Which coordinates are commanded, deflect, or belong to rotors in front of springs."""

    commanded: tuple[int, ...]
    deflecting: tuple[int, ...]
    rotors: tuple[int, ...]
    elastic: tuple[int, ...]  # those that deflect and are commanded through a rotor

    @classmethod
    def of(cls, model: Model, who: str) -> Coordinates:
        if model.nq != model.nv:
            owner = next(n for n, b in model.layout.of.items() if b.q.stop - b.q.start != b.v.stop - b.v.start)
            raise GyrostatError(
                f"{who}: '{owner}' of '{model.name}' has a quaternion; commands are angles and lengths. "
                "Hint: lock it, or replace it by three revolute joints."
            )
        soft = set(behind_springs(model))
        rotors, shapes, passive = [], [], []
        for name, block in model.layout.of.items():
            entity, numbers = model.wiring.entities[name], list(range(block.q.start, block.q.stop))
            if getattr(entity, "deforms", False):
                shapes += numbers
            elif name in model.layout.shafts.rotors:
                rotors += numbers
            elif entity.said_passive and not set(numbers) & soft:
                passive += numbers
        elastic = sorted(soft - set(rotors) - set(shapes))
        every = range(model.nq)
        commanded = tuple(k for k in every if k not in {*rotors, *shapes, *passive})
        return cls(commanded, tuple(sorted({*elastic, *shapes, *passive})), tuple(rotors), tuple(elastic))


class StaticPoses:
    """Of some frames of a model, for commands (n, c) and live properties; ``joints``: names of the commands."""

    def __init__(self, model: Model, frames: Sequence[str], live: Sequence[str] = (), who: str = "calibrate"):
        if model.context.base != "fixed":
            raise GyrostatError(f"{who}: the base of '{model.name}' is not fixed. Hint: calibrate it on a fixed base.")
        kept_network(model).refuse_loops(who)
        self.model, self.frames, self.live, self.who = model, tuple(frames), tuple(live), who
        self.coordinates = Coordinates.of(model, who)
        at = self.coordinates
        self.joints = tuple(model.dofs[k] for k in at.commanded)
        program = StaticProgram(model, frames, [*at.deflecting, *at.rotors], self.live)
        self.live = program.live
        self.kernel = program.derivative_kernel()
        self.base = [np.array(program._live[path]) for path in self.live]
        self.gears = _stiff_gears(model, at, self.live, who)
        self._rotors = self._rotor_angles() if at.rotors else None

    # ------------------------------------------------------------------ commands to coordinates
    def read(self, commands: Any) -> Array:
        """Commands (n, c) as given, or by the names of joints."""
        if isinstance(commands, Mapping):
            unknown = [k for k in commands if k not in self.joints]
            missing = [k for k in self.joints if k not in commands]
            if unknown or missing:
                raise ShapeError(
                    f"{self.who}: commands by name need {', '.join(self.joints)}; "
                    f"got {clipped(list(commands))}. Hint: each of them once."
                )
            commands = np.stack(np.broadcast_arrays(*(np.asarray(commands[k], float) for k in self.joints)), axis=-1)
        c = np.asarray(commands, dtype=float)
        if c.ndim == 0 or c.shape[-1] != len(self.joints):
            raise ShapeError(
                f"{self.who}: q has shape {c.shape}, expected (n, {len(self.joints)}): {', '.join(self.joints)}. "
                "Hint: commanded angles; motors in front of springs count as their joint."
            )
        if not np.all(np.isfinite(c)):
            raise StateError(f"{self.who}: q holds a number that is not finite.")
        return c.reshape(-1, c.shape[-1])

    def _rotor_angles(self) -> tuple[Array, Array]:
        """A, b: rotors = A c + b where no spring is loaded, in the model as it is: what the controller assumes."""
        at, count = self.coordinates, len(self.coordinates.rotors)
        rows = slice(len(at.deflecting), None)

        def torque(q: Array, along: Sequence[int]) -> tuple[Array, Array]:
            _, _, tau, rates = self._run(q[None], self.base, [(k, None, None) for k in along])
            return tau[0, rows], rates["tau"][0, :, rows].T

        q, stiff, J = np.zeros(self.model.nq), np.empty((0, 0)), np.empty((0, 0))
        for _ in range(3):
            tau, J = torque(q, [*at.rotors, *at.commanded])
            stiff = J[:, :count]
            if np.linalg.cond(stiff) > 1e12:
                names = ", ".join(self.model.dofs[k] for k in at.rotors)
                raise GyrostatError(
                    f"{self.who}: springs do not tell where {names} rest(s). Hint: give them a stiffness at rest."
                )
            q[list(at.rotors)] -= np.linalg.solve(stiff, tau)
        return -np.linalg.solve(stiff, J[:, count:]), q[list(at.rotors)]

    def _start(self, c: Array, values: Mapping[str, Array], deflections: Array | None) -> Array:
        """q (n, nq): commands through gears, deflections as they are known."""
        at = self.coordinates
        q = np.zeros((len(c), self.model.nq))
        q[:, list(at.commanded)] = c
        for gear in self.gears:
            q[:, gear.at] = gear.joint(c[:, at.commanded.index(gear.at)], values)
        if self._rotors is not None:
            A, b = self._rotors
            q[:, list(at.rotors)] = c @ A.T + b
        if deflections is not None:
            q[:, list(at.deflecting)] = deflections
        return q

    # ------------------------------------------------------------------ answers
    def rest(
        self, c: Array, values: Mapping[str, Array] | None = None, deflections: Array | None = None
    ) -> tuple[Placements, Array]:
        """Placements at commands c (n, c), and the deflections (n, s); ``values`` of live properties may have an axis
        over the poses."""
        numbers = self._numbers(values)
        q, at = (
            self._start(c, dict(zip(self.live, numbers, strict=True)), deflections),
            list(self.coordinates.deflecting),
        )
        if not at:
            R, p, _, _ = self._run(q, numbers, [])
            return Placements(R, p, q), np.zeros((len(c), 0))
        along = [(k, None, None) for k in at]
        last, step = np.inf, np.zeros((len(c), len(at)))
        for _ in range(ROUNDS):
            R, p, tau, rates = self._run(q, numbers, along)
            K = np.swapaxes(rates["tau"][:, :, : len(at)], 1, 2)
            step = self._newton(K, tau[:, : len(at)])
            size = float(np.abs(step).max(initial=0.0))
            q[:, at] -= step * min(1.0, LONGEST / max(size, LONGEST))
            if size <= SETTLED or (size < 1e-8 and size >= 0.5 * last):
                R, p, _, _ = self._run(q, numbers, [])
                return Placements(R, p, q), q[:, at]
            last = size
        pose, which = np.unravel_index(int(np.abs(step).argmax()), step.shape)
        raise StateError(
            f"{self.who}: '{self.model.dofs[at[which]]}' does not come to rest at pose {pose}. "
            "Hint: its spring is too soft for the load, or something holds it that is no spring."
        )

    def _newton(self, K: Array, tau: Array) -> Array:
        try:
            step = np.linalg.solve(K, tau[..., None])[..., 0]
        except np.linalg.LinAlgError:
            step = np.full(tau.shape, np.nan)
        if np.all(np.isfinite(step)):
            return step
        loose = int(np.argmin(np.abs(K).max(axis=2).min(axis=0)))
        name = self.model.dofs[self.coordinates.deflecting[loose]]
        raise StateError(f"{self.who}: nothing holds '{name}'. Hint: give it a spring, or drive it.")

    def sensitivities(
        self,
        c: Array,
        q: Array,
        values: Mapping[str, Array] | None,
        slopes: Sequence[tuple[str, Array]],
        commands: bool = False,
    ) -> Array:
        """(n, f, 6, m): turn [rad] and shift [m] of frames, in the world's axes, per unit of each of ``slopes``: a live
        property and its derivative; and of each command, if they are wanted."""
        at, numbers = list(self.coordinates.deflecting), self._numbers(values)
        by = dict(zip(self.live, numbers, strict=True))
        along: list[tuple[Any, Any, Any]] = [self._seed(c, q, by, path, d) for path, d in slopes]
        along += [self._command_seed(k, by) for k in range(len(self.joints))] if commands else []
        wanted = len(along)
        along += [(k, None, None) for k in at]
        R, _, _, rates = self._run(q, numbers, along)
        turn = np.einsum("nkfij,nfmj->nkfim", rates["R"], R)
        w = 0.5 * np.stack([turn[..., i, j] - turn[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=-1)
        twist = np.moveaxis(np.concatenate([w, rates["p"]], axis=-1), 1, -1)  # (n, f, 6, m)
        if not at:
            return twist
        T = np.swapaxes(rates["tau"][:, :, : len(at)], 1, 2)
        sag = np.linalg.solve(T[..., wanted:], T[..., :wanted])
        return twist[..., :wanted] - np.einsum("nfis,nsm->nfim", twist[..., wanted:], sag)

    def _seed(self, c: Array, q: Array, by: Mapping[str, Array], path: str, slope: Array) -> tuple[Any, Any, Any]:
        for gear in self.gears:
            if path in (gear.ratio, gear.offset):
                turn = gear.slope(path, q[:, gear.at], by) * slope
                return gear.at, (path, slope), turn
        return None, (path, slope), None

    def _command_seed(self, k: int, by: Mapping[str, Array]) -> tuple[Any, Any, Any]:
        """Direction of q when command k grows."""
        at = self.coordinates.commanded[k]
        direction = np.zeros(self.model.nq)
        if at not in self.coordinates.elastic:
            direction[at] = 1.0
        for gear in self.gears:
            if gear.at == at:
                direction[at] = float(np.mean(gear.gain(by)))
        if self._rotors is not None:
            direction[list(self.coordinates.rotors)] = self._rotors[0][:, k]
        return direction, None, None

    def _numbers(self, values: Mapping[str, Array] | None) -> list[Array]:
        return self.base if values is None else [np.asarray(values[path], dtype=float) for path in self.live]

    def _run(
        self, q: Array, numbers: Sequence[Array], along: Sequence[tuple[Any, Any, Any]]
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Outputs (n, ...) and their rates (n, m, ...) along directions: (coordinate or direction of q, (property,
        slope), rate of the coordinate)."""
        m, n = max(1, len(along)), len(q)
        dq, d = np.zeros((n, m, self.model.nq)), [np.zeros((m, *base.shape)) for base in self.base]
        for k, (coordinate, change, rate) in enumerate(along):
            if isinstance(coordinate, np.ndarray):
                dq[:, k] = coordinate
            elif coordinate is not None:
                dq[:, k, coordinate] = 1.0 if rate is None else rate
            if change is not None:
                d[self.live.index(change[0])][k] = change[1]
        spread = [x[:, None] if x.ndim > base.ndim else x for x, base in zip(numbers, self.base, strict=True)]
        out = self.kernel.call(q[:, None], *spread, dq, *d, explain=lambda: self._explain(q))
        rates = {name: out[f"dot_{name}"] for name in ("R", "p", "tau") if f"dot_{name}" in out}
        tau = out["tau"][:, 0] if "tau" in out else np.zeros((n, 0))
        return out["R"][:, 0], out["p"][:, 0], tau, rates

    def _explain(self, q: Array) -> None:
        refuse_unsolved(kept_network(self.model), q, self.who)


@dataclass(frozen=True)
class StiffGear:
    """A gear without a spring, between a motor that is commanded and the joint at coordinate ``at``:
    ratio joint + offset = nominal ratio command + nominal offset."""

    at: int
    ratio: str
    offset: str
    nominal: tuple[float, float]

    def _numbers(self, by: Mapping[str, Array]) -> tuple[Array, Array]:
        N, b = self.nominal
        return np.asarray(by.get(self.ratio, N)), np.asarray(by.get(self.offset, b))

    def joint(self, c: Array, by: Mapping[str, Array]) -> Array:
        N, b = self._numbers(by)
        return (self.nominal[0] * c + self.nominal[1] - b) / N

    def gain(self, by: Mapping[str, Array]) -> Array:
        return self.nominal[0] / self._numbers(by)[0]

    def slope(self, path: str, q: Array, by: Mapping[str, Array]) -> Array:
        N, _ = self._numbers(by)
        return -q / N if path == self.ratio else -1.0 / N * np.ones_like(q)


def _stiff_gears(model: Model, at: Coordinates, live: Sequence[str], who: str) -> list[StiffGear]:
    """Gears whose ratio or offset is live, and whose joint turns with them."""
    found = []
    for name, entity in model.wiring.entities.items():
        paths = (f"{name}.ratio", f"{name}.offset")
        if not isinstance(entity, Gear) or not set(paths) & set(live):
            continue
        if len(entity.motors) > 1 or len(entity.joints) > 1:
            raise GyrostatError(f"{who}: '{name}' couples several shafts; its numbers cannot be calibrated.")
        joints = [j for j in _at_shaft(model, name, "joint") if j in model.layout.of]
        followed = [j for j in _at_shaft(model, name, "motor") if model.wiring.entities[j].is_joint]
        if joints and not followed:
            k = model.layout.of[joints[0]].q.start
            if k in at.commanded:
                nominal = float(model[paths[0]]), float(model[paths[1]])
                found.append(StiffGear(k, *paths, nominal))
    return found


def _at_shaft(model: Model, gear: str, port: str) -> list[str]:
    """Joints that are connected with a shaft of a gear."""
    for group in model.wiring.groups:
        if (gear, port) in group:
            return [name for name, _ in group if model.wiring.entities[name].is_joint]
    return []
