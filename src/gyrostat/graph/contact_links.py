"""Which entities move as one, and which are joined by one joint: surfaces of these do not touch by themselves."""

from __future__ import annotations

from functools import cached_property

from gyrostat.spec.contact import Ground
from gyrostat.spec.model import Model

WORLD = ""
"""The link that stands still in the world."""


class Links:
    """Rigid links of a model: entities between which there is no joint that moves."""

    def __init__(self, model: Model):
        self.model, self.wiring = model, model.wiring

    @cached_property
    def _rigid(self) -> dict[str, str]:
        """Entity -> the joint, or the reference frame, whose motion it follows; what stands still is of the world."""
        parent, rigid = self.wiring.tree.parent, dict[str, str]()
        for name, above in parent.items():
            entity = self.wiring.entities[name]
            if name == above:
                rigid[name] = WORLD if self.model.context.base == "fixed" else name
            elif isinstance(entity, Ground) and not self.wiring.connection(name, "frame"):
                rigid[name] = WORLD
            else:
                rigid[name] = name if entity.rates else rigid[above]
        return rigid

    @cached_property
    def _joined(self) -> set[frozenset[str]]:
        parent = self.wiring.tree.parent
        links = {frozenset((self._rigid[name], self._rigid[parent[name]])) for name in parent}
        for loop in self.wiring.tree.loops:
            links.add(frozenset(self._rigid.get(port.rpartition(".")[0], port) for port in loop.frames))
        return links

    def together(self, one: str, two: str) -> bool:
        """Whether two entities do not move against each other."""
        return self._rigid[one] == self._rigid[two]

    def adjacent(self, one: str, two: str) -> bool:
        """Whether one joint joins them, or they move as one."""
        return self.together(one, two) or frozenset((self._rigid[one], self._rigid[two])) in self._joined
