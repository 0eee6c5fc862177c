"""Blocks at joints: one for each, or one for some of them, put together to signals of the whole robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gyrostat.errors import nearest
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.blocks.given import refuse
from gyrostat.simulate.blocks.wiring import Composite, Wire, Wiring
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Places = tuple[int, ...]


@dataclass(frozen=True)
class Joints(Composite):
    """Each part reads and gives the entries of its own joints. ``coordinates`` and ``rates``: places of each part in q
    and in v; the signal "q" and those that begin with "q" and an underscore are coordinates, all others have the
    places of rates. ``nv``: length of what is given; entries without a part are zero."""

    kind: ClassVar[str] = "joints"
    parts: tuple[Block, ...]
    coordinates: tuple[Places, ...]
    rates: tuple[Places, ...]
    nv: int
    name: str = ""

    def __post_init__(self) -> None:
        self.check()

    def within(self, model: Model) -> Joints:
        for part in self.parts:
            if part.within(model) is not part:
                message = f"{part.who} acts between two frames, on all joints that lie between them"
                raise refuse(self.who, "parts", message, "put it beside the joints' blocks, in a diagram", part.who)
        return self

    def connected(self) -> Wiring:
        reads: list[Mapping[str, Wire]] = []
        gives: dict[str, tuple[Wire, ...]] = {}
        for k, part in enumerate(self.parts):
            places = self.coordinates[k], self.rates[k]
            reads.append({port: Wire(port, places[0 if _coordinate(port) else 1]) for port in part.inputs})
            for port in part.outputs:
                gives[port] = (*gives.get(port, ()), Wire(f"#{k}.{port}", self.rates[k]))
        writes = tuple({port: f"#{k}.{port}" for port in part.outputs} for k, part in enumerate(self.parts))
        return Wiring(tuple(reads), writes, gives, self.nv)

    def _served(self, k: int, rates: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(rates[i] for i in self.rates[k])


def _coordinate(signal: str) -> bool:
    return signal == "q" or signal.startswith("q_")


def per_joint(blocks: Any, model: Model | None = None, others: str = "error", name: str = "") -> Joints:
    """One block for each joint: a list in the order of ``model.dofs``, or a dict by joint name with its ``model``.

    A name may be that of one rate, or of a joint with several. ``others``: joints without a block are an ``"error"``,
    or ``"zero"``: nothing acts on them."""
    who = f"joints '{name}'" if name else "joints"
    if others not in ("error", "zero"):
        raise refuse(who, "others", f"others must be 'error' or 'zero', got {others!r}", "others='zero'", others)
    if not isinstance(blocks, Mapping):
        parts = tuple(blocks)
        if model is not None and (model.nq != model.nv or len(parts) != model.nv):
            message = f"{len(parts)} blocks for '{model.name}', which has {model.nv} rates ({model.nq} coordinates)"
            raise refuse(who, "blocks", message, "one for each rate, or a dict by joint name", len(parts))
        places = tuple((k,) for k in range(len(parts)))
        return Joints(parts, places, places, len(parts), name)
    if model is None:
        raise refuse(who, "model", "names of joints were given, but no model", "per_joint({...}, model)")
    places = [joint_places(model, joint, who) for joint in blocks]
    taken = [k for _, v in places for k in v]
    _check_taken(model, taken, others, who)
    return Joints(tuple(blocks.values()), tuple(q for q, _ in places), tuple(v for _, v in places), model.nv, name)


def at_joints(model: Model, joints: Sequence[str], block: Block, name: str = "") -> Joints:
    """One block for some joints, in the order they are named; nothing acts on the others."""
    who = f"joints '{name}'" if name else "joints"
    expect_model(model, who)
    places = [joint_places(model, joint, who) for joint in ([joints] if isinstance(joints, str) else joints)]
    _check_taken(model, [k for _, v in places for k in v], "zero", who)
    q, v = (tuple(k for pair in places for k in pair[side]) for side in (0, 1))
    return Joints((block,), (q,), (v,), model.nv, name)


def joint_places(model: Model, joint: Any, who: str) -> tuple[Places, Places]:
    """Places of a joint in q and in v, by its name or that of one of its rates."""
    known = []
    for block in model.layout:
        i, j = block.q.start, block.v.start
        single = block.rate_names if block.nv > 1 and not block.turns else ()
        if joint == block.entity:
            return tuple(range(i, block.q.stop)), tuple(range(j, block.v.stop))
        if joint in single:
            k = single.index(joint)
            return (i + k,), (j + k,)
        known += [block.entity, *single]
    raise refuse(who, "joints", f"'{model.name}' has no joint '{joint}'", nearest(str(joint), known), joint)


def _check_taken(model: Model, taken: Sequence[int], others: str, who: str) -> None:
    twice = [model.dofs[k] for k in taken if list(taken).count(k) > 1]
    if twice:
        raise refuse(who, "joints", f"'{twice[0]}' is named twice", "name every joint once", twice[0])
    missing = [name for k, name in enumerate(model.dofs) if k not in taken]
    if missing and others == "error":
        message = f"{len(missing)} joints have no block: {', '.join(missing[:6])}"
        raise refuse(who, "joints", message, "add them, or others='zero' lets them move freely", missing)
