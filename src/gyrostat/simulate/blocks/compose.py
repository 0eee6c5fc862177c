"""Series, parallel, and diagrams wired by the names of signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gyrostat.errors import nearest
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.blocks.given import refuse
from gyrostat.simulate.blocks.wiring import Composite, Wire, Wiring


@dataclass(frozen=True)
class Series(Composite):
    """One block after the other: the only output of each goes to the first input of the next. Further inputs come from
    outside, by name. Inputs and output are those of the first and last block."""

    kind: ClassVar[str] = "series"
    parts: tuple[Block, ...]
    name: str = ""

    def __post_init__(self) -> None:
        self.check()

    def connected(self) -> Wiring:
        reads: list[Mapping[str, Wire]] = []
        writes: list[Mapping[str, str]] = []
        for k, part in enumerate(self.parts):
            ports = {port: Wire(port) for port in part.inputs}
            if k:
                if not ports:
                    message = f"{part.who} has no input that could take what {self.parts[k - 1].who} gives"
                    raise refuse(self.who, "parts", message, "put it first, or use a diagram")
                ports[part.inputs[0]] = Wire(_only_output(self.parts[k - 1], self.who, k - 1))
            reads.append(ports)
            writes.append({port: f"#{k}.{port}" for port in part.outputs})
        end = len(self.parts) - 1
        gives = {port: (Wire(f"#{end}.{port}"),) for port in self.parts[-1].outputs}
        return Wiring(tuple(reads), tuple(writes), gives)


@dataclass(frozen=True)
class Parallel(Composite):
    """Blocks with the same inputs, by name, whose only outputs are added; the output is called ``target``, that of the
    first block if empty."""

    kind: ClassVar[str] = "parallel"
    parts: tuple[Block, ...]
    target: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        self.check()

    def connected(self) -> Wiring:
        reads = tuple({port: Wire(port) for port in part.inputs} for part in self.parts)
        ends = [_only_output(part, self.who, k) for k, part in enumerate(self.parts)]
        writes = tuple({part.outputs[0]: end} for part, end in zip(self.parts, ends, strict=True))
        return Wiring(reads, writes, {self.target or self.parts[0].outputs[0]: tuple(map(Wire, ends))})


@dataclass(frozen=True)
class Diagram(Composite):
    """Blocks wired by the names of their signals: whoever reads "e" gets it from the block that gives "e", or from
    outside. Parts may be in any order. ``gives``: signals that are outputs; those that no part reads by default."""

    kind: ClassVar[str] = "diagram"
    parts: tuple[Block, ...]
    gives: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        self.check()

    def connected(self) -> Wiring:
        made: dict[str, Block] = {}
        for part in self.parts:
            for signal in part.outputs:
                if signal in made:
                    message = f"{made[signal].who} and {part.who} both give the signal '{signal}'"
                    raise refuse(
                        self.who, "parts", message, "give them different targets, and add them with Sum", signal
                    )
                made[signal] = part
        read = {port for part in self.parts for port in part.inputs}
        gives = (self.gives,) if isinstance(self.gives, str) else self.gives
        gives = tuple(gives) or tuple(s for s in made if s not in read)
        unknown = [s for s in gives if s not in made]
        if unknown or not gives:
            message = f"no part gives '{unknown[0]}'" if unknown else "every signal is read by another part"
            remedy = nearest(unknown[0], made) if unknown else "name the outputs: gives=('tau',)"
            raise refuse(self.who, "gives", message, remedy, unknown)
        reads = tuple({port: Wire(port) for port in part.inputs} for part in self.parts)
        writes = tuple({port: port for port in part.outputs} for part in self.parts)
        return Wiring(reads, writes, {s: (Wire(s),) for s in gives})


@dataclass(frozen=True)
class Renamed(Composite):
    """A block with other names of its signals: ``inputs_to`` and ``outputs_to`` map old names to new ones."""

    kind: ClassVar[str] = "renamed"
    block: Block
    inputs_to: tuple[tuple[str, str], ...] = ()
    outputs_to: tuple[tuple[str, str], ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        self.check()
        for what, known in (("inputs_to", self.block.inputs), ("outputs_to", self.block.outputs)):
            pairs = tuple(dict(getattr(self, what)).items())
            for old, _ in pairs:
                if old not in known:
                    message = f"{self.block.who} has no such signal '{old}'"
                    raise refuse(self.who, what, message, nearest(str(old), known), old)
            object.__setattr__(self, what, pairs)

    @property
    def parts(self) -> tuple[Block, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return (self.block,)

    def made_of(self, parts: tuple[Block, ...]) -> Renamed:
        return replace(self, block=parts[0])

    def connected(self) -> Wiring:
        inside, outside = dict(self.inputs_to), dict(self.outputs_to)
        reads = {port: Wire(inside.get(port, port)) for port in self.block.inputs}
        writes = {port: f"#{port}" for port in self.block.outputs}
        gives = {outside.get(port, port): (Wire(f"#{port}"),) for port in self.block.outputs}
        return Wiring((reads,), (writes,), gives)


def series(*parts: Block, name: str = "") -> Series:
    """One block after the other, see :class:`Series`."""
    return Series(parts, name)


def parallel(*parts: Block, target: str = "", name: str = "") -> Parallel:
    """Blocks with the same inputs, outputs added, see :class:`Parallel`."""
    return Parallel(parts, target, name)


def diagram(*parts: Block, gives: Any = (), name: str = "") -> Diagram:
    """Blocks wired by the names of their signals, see :class:`Diagram`."""
    return Diagram(parts, (gives,) if isinstance(gives, str) else tuple(gives), name)


def renamed(block: Block, inputs: Mapping[str, str] | None = None, outputs: Mapping[str, str] | None = None) -> Renamed:
    """The same block with other names of its signals: ``renamed(filter, {"u": "q"}, {"y": "q_smooth"})``."""
    return Renamed(block, tuple((inputs or {}).items()), tuple((outputs or {}).items()), block.name)


def _only_output(part: Block, who: str, k: int) -> str:
    if len(part.outputs) != 1:
        message = f"{part.who} gives {len(part.outputs)} signals ({', '.join(part.outputs)}), expected one"
        raise refuse(who, "parts", message, "use a diagram, which is wired by names", part.outputs)
    return f"#{k}.{part.outputs[0]}"
