"""A loop as a ring of turns and slides, seen from any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gyrostat.graph.loops.closure import ClosureRows
from gyrostat.graph.loops.elementary import Coordinates, Element, Slide, Turn, back, elements, placement
from gyrostat.graph.loops.point_rows import backwards, point_at_end, position_rows
from gyrostat.graph.loops.solutions import Unknown
from gyrostat.graph.loops.ways import Closure
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import compose


@dataclass(frozen=True)
class Ring:
    """A loop as two sequences of elements; ``unknown`` ones by way and place."""

    closure: Closure
    ways: tuple[tuple[Element, ...], tuple[Element, ...]]
    unknown: tuple[tuple[int, int], ...]

    @staticmethod
    def of(closure: Closure, slots: Sequence[int]) -> Ring:
        ways = tuple(elements(closure.ways[0])), tuple(elements(closure.ways[1]))
        unknown = tuple(
            (w, i)
            for w, way in enumerate(ways)
            for i, e in enumerate(way)
            if isinstance(e, Turn | Slide) and e.slot in slots
        )
        return Ring(closure, ways, unknown)

    def point_rows(self, x: Coordinates, rate: Coordinates | None, at: tuple[int, int] = (0, 0)) -> ClosureRows | None:
        """Equations of the point that closes the loop, in the axes before an element, by default of the body where the
        ways part; None where others are needed."""
        numbers, ways = self.numbers, self.ways_from(at)
        if ways is None:
            return None
        rates = None if rate is None else lambda slot: rate(numbers[slot])
        out, back = (point_at_end(way, x, rates) for way in ways)
        return position_rows(out, back, numbers, [numbers[self.element(at).slot] for at in self.unknown])

    def ways_from(self, at: tuple[int, int]) -> tuple[Sequence[Element], Sequence[Element]] | None:
        """From before an element to both ends of the loop, outwards and back; None where the way back is not known."""
        way, i = at
        back = backwards(self.ways[way][:i])
        return None if back is None else (self.ways[way][i:], [*back, *self.ways[1 - way]])

    @property
    def numbers(self) -> dict[int, int]:
        """Of rates by the slots of their coordinates; those of a joint with a quaternion by its first slots."""
        return {
            c.q_at.start + k: c.v_at.start + k
            for c in self.closure.components
            for k in range(c.v_at.stop - c.v_at.start)
        }

    def element(self, at: tuple[int, int]) -> Unknown:
        return self.ways[at[0]][at[1]]  # type: ignore[return-value]

    def behind(self, at: tuple[int, int], x: Coordinates) -> Placement:
        """The closing frame of its own way, seen from behind an element."""
        return placement(self.ways[at[0]][at[1] + 1 :], x)

    def across(self, at: tuple[int, int], x: Coordinates, until: int | None = None) -> Placement:
        """The closing frame of the other way, or the frame before its element ``until``, seen from before an
        element."""
        other = self.ways[1 - at[0]]
        return compose(*back(placement(self.ways[at[0]][: at[1]], x)), *placement(other[:until], x))
