"""Memory of the steps of W robots: words that drivers read, and columns of W doubles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.contact_energy import UNKNOWN
from gyrostat.simulate.kernels.loop_margins import margin_memory_size
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.rollout import lane_steps as of
from gyrostat.simulate.rollout import moreau_steps as contact
from gyrostat.simulate.rollout.kernel import RolloutKernel
from gyrostat.simulate.rollout.moreau_programs import MoreauPrograms

Array = np.ndarray


@dataclass(frozen=True)
class Rows:
    """Arrays of a run: ``q``, ``v``, ``p``, ``m`` (rows + 1, N, size), the start, then a row after every ``every``
    steps of h [s]; ``parameters`` and ``live`` (N, size) or (1, size); ``sample``: steps between two samples;
    ``first_bad`` (N,): the first step that is not finite, or -1."""

    q: Array
    v: Array
    p: Array
    m: Array
    parameters: Array
    live: Array
    h: float
    every: int
    sample: int
    first_bad: Array

    @property
    def robots(self) -> int:
        return self.q.shape[1]

    @property
    def steps(self) -> int:
        return (len(self.q) - 1) * self.every

    @property
    def states(self) -> tuple[Array, Array, Array, Array]:
        return self.q, self.v, self.p, self.m


class Columns:
    """Arrays (size, W) in one piece of memory, by the words that hold their addresses."""

    def __init__(self, sizes: Mapping[int, int], lanes: int):
        self.sizes, self.lanes, self._places, end = dict(sizes), lanes, {}, 0
        for word, size in sizes.items():
            self._places[word], end = end, end + max(1, size) * lanes
        self.numbers = np.zeros(end)

    def __getitem__(self, word: int) -> Array:
        place, size = self._places[word], self.sizes[word]
        return self.numbers[place : place + size * self.lanes].reshape(size, self.lanes)

    def tell(self, words: Array) -> None:
        """Write the addresses."""
        base = address(self.numbers)
        for word, place in self._places.items():
            words[word] = base + 8 * place


class LaneMemory:
    """Of one thread. ``addresses``: environment, words and table, as drivers take them; ``records``: for how many steps
    there is room; ``work``: doubles that kernels of others need."""

    def __init__(self, kernel: RolloutKernel, rows: Rows, lanes: int, records: int = 1, work: int = 0):
        model, source, codes = kernel.model, kernel.source, kernel.codes(lanes)
        n, nq, np_, nm = model.nv, model.nq, len(source.p0), len(kernel.m0)
        self.kernel, self.lanes, self.size = kernel, lanes, 2 * n + np_
        numbers = {at.CONSTANTS: source.lifted.constants}
        if source.update is not None:
            numbers[at.UPDATE_CONSTANTS] = source.update.constants
        self.contact = None if kernel.contact is None else ContactMemory(kernel, kernel.contact, lanes)
        work = max(work, *(code.work for code in codes.values()), 0 if self.contact is None else self.contact.work)
        sizes = {
            at.MEMORY: nm, at.NEW_MEMORY: nm, at.PARAMETERS: source.size, at.LIVE: kernel.kernels.live_size, at.TIME: 1,
            at.DIRECTIONS: 0, at.WORK: -(-work // lanes), at.MARGIN_MEMORY: margin_memory_size(kernel.margins),
        }  # fmt: skip
        self.given = Columns(sizes | {word: len(x) for word, x in numbers.items()}, lanes)
        self.own = Columns({of.TABLE: len(kernel.weights), of.TAU: nq, of.BAD: 1}, lanes)
        for word, x in numbers.items():
            self.given[word][:] = x[:, None]
        self.own[of.TABLE][:] = kernel.weights[:, None]
        self.records = np.empty((records, kernel.record, lanes))
        self.environment = np.zeros(at.WORDS_OF_A_PLANT, dtype=np.int64)
        self.words = np.zeros(of.WORDS_OF_A_ROLLOUT, dtype=np.int64)
        self.angular = np.array([] if kernel.plain else [row[0] for row in model.layout.angular], dtype=np.int64)
        self.given.tell(self.environment)
        self.own.tell(self.words)
        known = {at.NQ: nq, at.NV: n, at.NP: np_, at.NM: nm, at.PLAIN: kernel.plain, at.TURNING: len(self.angular)}
        known[at.MARGIN_COUNT] = kernel.margins
        known |= {at.ANGULAR: address(self.angular)} | {word: code.address for word, code in codes.items()}
        for word, value in known.items():
            self.environment[word] = value
        told = {of.STAGES: kernel.stages, of.SAMPLE: rows.sample, of.EVERY: rows.every, of.RECORD_SIZE: kernel.record}
        told |= {of.RECORD: address(self.records), of.DIGITAL: len(source.m0)}
        told |= {} if self.contact is None else {of.CONTACT: address(self.contact.words)}
        told |= {of.PARAMETER_SIZE: rows.parameters.shape[1], of.LIVE_SIZE: rows.live.shape[1]}
        for word, value in told.items():
            self.words[word] = value
        self.addresses = address(self.environment), address(self.words), int(self.words[of.TABLE])

    # ------------------------------------------------------------------ rows in memory, for whole runs
    def set_robots(self, rows: Rows, first: int, last: int) -> None:
        """Robots from first to last, and their parameters."""
        words, bad = self.words, address(rows.first_bad) + 8 * first
        words[of.ROBOTS], words[of.ALL], words[of.FIRST_BAD] = last - first, rows.robots, bad
        for x, word, stride in (
            (rows.parameters, of.PARAMETER_ROWS, of.PARAMETER_STRIDE),
            (rows.live, of.LIVE_ROWS, of.LIVE_STRIDE),
        ):
            words[stride] = x.shape[1] if len(x) > 1 else 0
            words[word] = address(x) + 8 * first * int(words[stride])

    def set_states(self, which: Sequence[int], states: Sequence[Array], first: int) -> None:
        """Addresses of q, v, p, m (N, size) of the robots from first on: FROM which they begin, TO which they go."""
        for word, x in zip(which, states, strict=True):
            self.words[word] = address(x) + 8 * first * x.shape[1]

    # ------------------------------------------------------------------ one block of robots
    def begin(self, start: Sequence[Array], rows: Rows, robots: Array) -> None:
        """W of the robots: their start q, v, p, m, of (N, size) each, in the first record, and their parameters."""
        q, v, p, m = (x[robots].T for x in start)
        self.state = np.concatenate([np.zeros_like(v), v, p, q, m])
        for word, x in ((at.PARAMETERS, rows.parameters), (at.LIVE, rows.live)):
            self.given[word][:] = x[robots if len(x) > 1 else np.zeros_like(robots)].T

    @property
    def _first(self) -> tuple[Array, Array]:
        """y and q at the beginning of the first record."""
        s, nq = max(1, self.kernel.stages), self.kernel.model.nq
        y, q = s * self.size, 2 * s * self.size
        return self.records[0, y : y + self.size], self.records[0, q : q + nq]

    @property
    def state(self) -> Array:
        """y, q and m (2 nv + np + nq + nm, W) from which the next stretch begins."""
        return np.concatenate([*self._first, self.given[at.MEMORY]])

    @state.setter
    def state(self, values: Array) -> None:
        y, q = self._first
        ends = len(y), len(y) + len(q)
        y[:], q[:], self.given[at.MEMORY][:] = np.split(values, ends)


class ContactMemory:
    """Words and columns of steps with contacts; ``work``: doubles that their kernels need."""

    def __init__(self, kernel: RolloutKernel, programs: MoreauPrograms, lanes: int):
        sizes = programs.sizes
        self.columns = Columns({word: sizes[name] for word, name in contact.COLUMNS.items()}, lanes)
        self.words = np.zeros(contact.WORDS_OF_CONTACT, dtype=np.int64)
        self.columns.tell(self.words)
        names = contact.CODES | (contact.BOUNCING if programs.pattern.bounces else {})
        names |= contact.DEEP if programs.pattern.cones else {}
        codes = {word: programs.code(name, lanes) for word, name in names.items()}
        for word, code in codes.items():
            self.words[word] = code.address
        counts = {contact.IMPULSES: kernel.impulses, contact.CONES: sizes["gaps"], contact.MOST_ROUNDS: contact.MOST}
        counts[contact.BOUNDED] = int(programs.energy_law != UNKNOWN)
        counts[contact.BOUNCES] = len(programs.pattern.bounces)
        for word, count in (counts | {contact.CARRIED: len(kernel.source.m0)}).items():
            self.words[word] = count
        self.work = max(code.work for code in codes.values())


FROM = of.Q_FROM, of.V_FROM, of.P_FROM, of.M_FROM
TO = of.Q_TO, of.V_TO, of.P_TO, of.M_TO
