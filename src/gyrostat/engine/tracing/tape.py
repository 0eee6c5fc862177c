"""The tape: what was recorded, each operation once, so that common subexpressions never exist twice (hash-consing)."""

from __future__ import annotations

import math
import threading
import weakref
from typing import Any

from gyrostat.engine.tracing.operations import CONST, OPERATIONS
from gyrostat.engine.tracing.program import Node


class _Tapes(threading.local):
    """Recordings of this thread of which something is still in use."""

    def __init__(self) -> None:
        self.live: weakref.WeakSet[Tape] = weakref.WeakSet()


TAPES = _Tapes()


class Tape:
    """Nodes that were recorded, each once."""

    def __init__(self) -> None:
        TAPES.live.add(self)
        self.nodes: list[Node] = []
        self.constants: list[float] = []
        self.known: dict[Any, int] = {}
        self.asked = [0] * len(OPERATIONS)

    def node(self, code: int, x: int, y: int = 0, z: int = 0) -> int:
        key = (code, x, y, z)
        k = self.known.get(key)
        if k is None:
            k = self.known[key] = len(self.nodes)
            self.nodes.append(key)
        return k

    def constant(self, value: float) -> int:
        key = (value, math.copysign(1.0, value))
        k = self.known.get(key)
        if k is None:
            k = self.known[key] = len(self.nodes)
            self.nodes.append((CONST, len(self.constants), 0, 0))
            self.constants.append(value)
        return k
