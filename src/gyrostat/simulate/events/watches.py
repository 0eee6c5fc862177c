"""All that is watched along a run: events of users, and those of the constraints that may act or are active."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gyrostat.simulate.constraints.transitions import Transitions
from gyrostat.simulate.events.contact_event import GiveWay, Meet, SlipEnds, SlipTurns
from gyrostat.simulate.events.crossings import Watch
from gyrostat.simulate.events.event import Event
from gyrostat.simulate.events.limit_reached import Release, Stop
from gyrostat.simulate.events.stick_slip_event import Slip, Stick
from gyrostat.simulate.events.user_event import UserEvent

Array = np.ndarray


class Watches:
    """``users``: of users' events; ``all`` of them, with those of the constraints."""

    def __init__(self, transitions: Transitions, users: Sequence[Event]):
        self.transitions = transitions
        self.users = [Watch(UserEvent(event)) for event in users]
        self.happened: list[Watch] = []
        self.build()

    def build(self) -> None:
        """For the constraints of the plant as they are now, of which none is active."""
        transitions, friction = self.transitions, self.transitions.stick_slip
        self._rows = [Watch(Stop(transitions, row)) for row in transitions.plant.constraints.one_sided]
        self._slip: Watch | None = None
        if friction is not None:
            self._rows += [Watch(Stick(friction, i)) for i in range(len(friction.rows))]
            self._slip = Watch(Slip(friction))
            self._rows.append(self._slip)
        contacts = transitions.contacts
        self._rows += [] if contacts is None else [Watch(Meet(contacts, i)) for i in range(len(contacts.contacts))]
        self._closed = [] if contacts is None else [Watch(x(contacts)) for x in (GiveWay, SlipEnds, SlipTurns)]
        self._releases: dict[int, Watch] = {}
        self.follow_active()

    def follow_active(self) -> None:
        """One-sided rows and contacts that are active are watched for their release."""
        plant = self.transitions.plant
        active = [row for row in plant.constraints.one_sided if plant.active.on[row]]
        self._releases = {row: self._releases.get(row) or Watch(Release(plant, row)) for row in active}
        closed = self._closed if plant.active.touching else ()
        self.all = [*self.users, *self._rows, *self._releases.values(), *closed]

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Look at the state at the start."""
        for watch in self.all:
            watch.begin(t, q, v, p)

    def go_on(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Look at the state after the events that have happened at an instant."""
        users = [watch for watch in self.happened if watch.event.by_user]
        for watch in self.all:
            (watch.again if any(watch is x for x in users) else watch.begin)(t, q, v, p)
        for watch in [] if len(users) == len(self.happened) else self.all:
            if not watch.event.by_user and watch.sign >= 0:
                watch.sign = -1  # at a limit: inside until it goes out again

    def take_over(self, before: Watches, t: float, q: Array, v: Array, p: Array) -> None:
        """Go on with the events of users as a run before has left them, at the instant of one of them."""
        for watch, old in zip(self.users, before.users, strict=True):
            watch.event = old.event
            if any(old is x for x in before.happened):
                watch.sign = old.sign
                watch.again(t, q, v, p)

    def looked(self, h: float, span: float) -> None:
        """A step of h [s] in a run of span [s] was looked at."""
        if self._slip is not None and self.transitions.stick_slip is not None:
            self.transitions.stick_slip.looked(self._slip.looks, h, span)
