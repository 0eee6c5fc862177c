"""The layout of q and v: which entity has which places, what they are called, and what kind of numbers they hold.

The state is a row of blocks, one for each entity that has coordinates: a free base first, then joints in file order,
parents first, then rotors that nothing ties to a joint.

Whoever needs a place in q or v asks ``model.layout``; nobody counts again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gyrostat.configuration.block import QUATERNION, Block, BlockKind
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.loops.plan_data import LoopPlan
from gyrostat.graph.shafts import Shafts, shafts
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import JOINT_KINDS
from gyrostat.spec.model import Model
from gyrostat.spec.wiring import Wiring

Array = np.ndarray


@dataclass(frozen=True)
class Layout:
    """All blocks in order of the state, and ``shafts``: what turns with what, which decides whose coordinates are left,
    as does ``plan``, of closed loops in minimal coordinates.

    ``coordinates``, ``dofs``: names of the entries of q and v. Arrays of places: ``number_q``, ``number_v`` (n,) of
    numbers that add, ``periodic_q``, ``periodic_v`` of those that a full turn does not change; ``quaternions`` (k, 4)
    with ``angular`` rates (k, 3); ``placed`` (m,) says which of these belong to placements, with ``positions`` and
    ``linear`` rates (m, 3). ``lengths`` (nq,): what is in metres."""

    blocks: tuple[Block, ...]
    shafts: Shafts = field(repr=False)
    coordinates: tuple[str, ...]
    dofs: tuple[str, ...]
    plan: LoopPlan | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @cached_property
    def nq(self) -> int:
        """Length of q."""
        return len(self.coordinates)

    @cached_property
    def nv(self) -> int:
        """Length of v, a and tau: the degrees of freedom."""
        return len(self.dofs)

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """Names of the entities that have coordinates, in order of the state."""
        return tuple(block.entity for block in self.blocks)

    @cached_property
    def of(self) -> dict[str, Block]:
        """Blocks by entity."""
        return {block.entity: block for block in self.blocks}

    @cached_property
    def coordinate_of_rate(self) -> tuple[int, ...]:
        """Where the coordinate of each rate is in q; of a quaternion, which has one more, the place of like number."""
        return tuple(b.q.start + min(k, b.nq - 1) for b in self.blocks for k in range(b.nv))

    def places(self, entities: Iterable[str]) -> tuple[Array, Array]:
        """Places in q and in v of some entities, in the order in which they are named."""
        named = [self.of[name] for name in entities]
        return _joined(range(b.q.start, b.q.stop) for b in named), _joined(range(b.v.start, b.v.stop) for b in named)

    # ------------------------------------------------------------------ arrays of places
    @cached_property
    def turning(self) -> tuple[Block, ...]:
        """Blocks with a quaternion."""
        return tuple(block for block in self.blocks if block.turns)

    @cached_property
    def moving(self) -> tuple[Block, ...]:
        """Blocks with a position and a quaternion."""
        return tuple(block for block in self.blocks if block.moves)

    @cached_property
    def number_q(self) -> Array:
        return _joined(range(b.q.start, b.q.stop) for b in self.blocks if not b.turns)

    @cached_property
    def number_v(self) -> Array:
        return _joined(range(b.v.start, b.v.stop) for b in self.blocks if not b.turns)

    @cached_property
    def quaternions(self) -> Array:
        return _rows([block.quaternion for block in self.turning], QUATERNION)

    @cached_property
    def angular(self) -> Array:
        return _rows([block.angular for block in self.turning], 3)

    @cached_property
    def placed(self) -> Array:
        return np.flatnonzero([block.moves for block in self.turning])

    @cached_property
    def positions(self) -> Array:
        return _rows([block.position for block in self.moving], 3)

    @cached_property
    def linear(self) -> Array:
        return _rows([block.linear for block in self.moving], 3)

    @cached_property
    def lengths(self) -> Array:
        return np.array([is_length for block in self.blocks for is_length in block.lengths], dtype=bool)

    @cached_property
    def periodic_q(self) -> Array:
        return self.number_q[self._periodic]

    @cached_property
    def periodic_v(self) -> Array:
        return self.number_v[self._periodic]

    @cached_property
    def _periodic(self) -> Array:
        return np.array([k for block in self.blocks if not block.turns for k in block.periodic], dtype=bool)


def _joined(ranges: Iterable[range]) -> Array:
    return np.array([k for places in ranges for k in places], dtype=int)


def _rows(places: Sequence[slice], width: int) -> Array:
    return np.array([range(at.start, at.stop) for at in places], dtype=int).reshape(-1, width)


# ------------------------------------------------------------------------------------------------ from a model
def layout(model: Model) -> Layout:
    """The layout of a model, which may have mistakes that ``check`` will tell; ``model.layout`` keeps it."""
    wiring, free_base = model.wiring, model.context.base == "free"
    tied = shafts(wiring)
    solved = wiring.tree.loops and model.context.loops in ("auto", "minimal")
    plan = loop_plan(model) if solved else None
    blocks: list[Block] = []
    nq = nv = 0
    for name, entity, q, v, quaternion_at in _stateful(
        wiring, free_base, tied, set(plan.dependents) if plan else set()
    ):
        kind: BlockKind = "numbers" if quaternion_at is None else "placement" if quaternion_at else "rotation"
        places = slice(nq, nq + len(q)), slice(nv, nv + len(v))
        sorts = tuple(map(entity.is_length, q)), tuple(map(entity.is_periodic, q))
        blocks.append(Block(name, kind, *places, q, v, *sorts))
        nq, nv = nq + len(q), nv + len(v)
    coordinates = tuple(name for block in blocks for name in block.coordinate_names)
    dofs = tuple(name for block in blocks for name in block.rate_names)
    return Layout(tuple(blocks), tied, coordinates, dofs, plan)


Names = tuple[str, ...]


def _stateful(
    wiring: Wiring, free_base: bool, tied: Shafts, dependents: set[tuple[str, int]]
) -> Iterator[tuple[str, Entity, Names, Names, int | None]]:
    """Entity, names of its coordinates and rates, place of a quaternion; in order of the state."""
    entities, root = wiring.entities, wiring.root
    if free_base and root is not None:
        free = JOINT_KINDS["free"]
        yield root, entities[root], free.q, free.v, free.quaternion_at
    for name in wiring.state_order():
        entity = entities[name]
        q, v = _own(entity, [k for k in tied.kept(name, entity) if (name, k) not in dependents])
        if v:
            yield name, entity, q, v, entity.quaternion_at
    for name in tied.rotors:
        yield name, entities[name], ("q",), ("v",), None


def _own(entity: Entity, kept: Sequence[int]) -> tuple[Names, Names]:
    """Names of the coordinates and rates that are the entity's own; the others are tied to rates elsewhere."""
    q, v = entity.coordinates, entity.rates
    if len(kept) == len(v):
        return q, v
    return tuple(q[k] for k in kept if k < len(q)), tuple(v[k] for k in kept)
