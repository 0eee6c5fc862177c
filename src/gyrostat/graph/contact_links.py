"""Which entities move as one, and which are joined by one joint: surfaces of these do not touch by themselves."""

from __future__ import annotations

from functools import cached_property

from gyrostat.spec.check import check
from gyrostat.spec.contact import Ground
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

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
    def _bodies(self) -> set[str]:
        """Links that have a body."""
        return {self._rigid[name] for name in self._rigid if isinstance(self.wiring.entities[name], RigidBody)}

    def _carrier(self, joint: str) -> str | None:
        """The link that a joint is on, past links without a body: two joints one after the other count as one. None for
        what flies freely."""
        name, rates = joint, 0
        while True:
            rates += len(self.wiring.entities[name].rates)
            link = self._rigid[self.wiring.tree.parent[name]]
            if rates >= 6:
                return None
            if link in self._bodies or link not in self.wiring.entities or not self.wiring.entities[link].rates:
                return link
            name = link

    @cached_property
    def _joined(self) -> set[frozenset[str]]:
        links: set[frozenset[str]] = set()
        for name, entity in self.wiring.entities.items():
            carrier = self._carrier(name) if name in self._rigid and entity.rates and entity.binds else None
            if carrier is not None and name in self.wiring.tree.inport:
                links.add(frozenset((name, carrier)))
        for loop in self.wiring.tree.loops:
            links.add(frozenset(self._rigid.get(port.rpartition(".")[0], port) for port in loop.frames))
        return links

    def together(self, one: str, two: str) -> bool:
        """Whether two entities do not move against each other."""
        if one not in self._rigid or two not in self._rigid:
            check(self.model)  # says what cannot be reached
        return self._rigid[one] == self._rigid[two]

    def adjacent(self, one: str, two: str) -> bool:
        """Whether a joint joins them, or several without a body in between, or they move as one."""
        return self.together(one, two) or frozenset((self._rigid[one], self._rigid[two])) in self._joined
