"""The part of :class:`Plant` that knows what is held: rates at stops, and speeds that dry friction keeps at zero; and
the dry friction of what slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import StateError
from gyrostat.graph.network import Network, network
from gyrostat.simulate.constraints.friction_law import DirectedSource, DryFriction
from gyrostat.simulate.constraints.rest import Hold
from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.solvers.functions import inverse_mass_matrix
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Stage

Array = np.ndarray


class PlantHolds:
    """``held``: rates that rest at a stop -> -1 at the lower one, 1 at the upper one. ``dry``: friction by directions
    of sliding, which are the last numbers of ``memory``; ``stuck``: which of it sticks. ``moving``: the model whose
    equations are used, that is ``model``, without the dry friction if that is treated here."""

    model: Model
    moving: Model
    network: Network
    source: TorqueSource
    memory: Array
    nv: int
    held: dict[int, int]
    forward: Any
    stuck: tuple[int, ...] = ()
    dry: DryFriction | None = None
    _known_hold: tuple[Any, Hold] | None = None

    def slide(self, dry: DryFriction | None) -> None:
        """From now on dry friction acts by its directions of sliding, not by signs of rates; None: by signs again."""
        if dry is not None and self.forward is not None:
            raise StateError(
                f"simulate: dry friction of '{self.model.name}' sticks and slips, which the block "
                f"{self.forward.called} does not know. Hint: Friction(smooth=0.01), or leave forward_dynamics out"
            )
        inner = self.source.inner if isinstance(self.source, DirectedSource) else self.source
        count = 0 if dry is None else len(dry.rubs)
        self.dry, self.stuck, self._known_hold = dry, (), None
        self.moving = self.model if dry is None else dry.smooth
        self.source = inner if dry is None else DirectedSource(inner, count)
        self.memory = np.concatenate([self.memory[: len(inner.m0)], np.zeros(count)])
        self.network = network(self.moving)
        for name in ("_stage", "_source_program", "_source_jacobians"):
            self.__dict__.pop(name, None)

    def direct(self, directions: Array) -> None:
        """Directions (rubs,) of sliding: 1, -1, or 0 at rest."""
        self.memory = np.concatenate([self.memory[: len(self.memory) - len(directions)], directions])

    def rubbing(self, v: Array, m: Array) -> Any:
        """Efforts (nv,) of the dry friction that slides, for a memory m."""
        return 0.0 if self.dry is None else self.dry.efforts(v, m[len(m) - len(self.dry.rubs) :])

    @property
    def hold(self) -> Hold | None:
        """What is held: the rates at stops, then the speeds that stick."""
        if not self.held and not self.stuck:
            return None
        key = (tuple(self.held), self.stuck)
        if self._known_hold is None or self._known_hold[0] != key:
            rows = [np.eye(self.nv)[k] for k in self.held]
            rows += [self.dry.rows[i] for i in self.stuck] if self.dry is not None else []
            self._known_hold = key, Hold(np.array(rows))
        return self._known_hold[1]

    def keeps(self, j: int) -> bool:
        """Whether rate j is held, by a stop or by friction."""
        hold = self.hold
        return hold is not None and not np.any(np.abs(hold.kept[j]) > 1e-12)

    def mobility(self, q: Array) -> Array:
        """M^-1 (nv, nv), which does not depend on the time, even if the base moves."""
        driven = not isinstance(self.moving.context.base, str)
        return inverse_mass_matrix(self.moving, q, t=0.0) if driven else inverse_mass_matrix(self.moving, q)

    def hold_efforts(self, q: Array, a: Array) -> Array:
        """Efforts (held + stuck,) that keep what is held from accelerating, for the accelerations a without them."""
        hold = self.hold
        return np.zeros(0) if hold is None else hold.efforts(self.mobility(q), a)

    def stop_efforts(self, q: Array, a: Array) -> Array:
        """The first of them: efforts (held,) of the stops."""
        return self.hold_efforts(q, a)[: len(self.held)]

    def _with_hold(self, found: Stage, hold: Hold) -> Stage:
        n, dy = self.nv, found.dy.copy()
        dy[n : 2 * n] = hold.accelerations(self.mobility(found.q), found.dy[n : 2 * n])
        return type(found)(dy, found.q, found.tau)
