"""Moreau's time stepping: many contacts with exact friction cones, impacts, joint limits, loops and dry friction in
steps of one length, in machine code. Order 1; see :mod:`~gyrostat.simulate.methods.drivers.moreau_steps`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_driver_rounds import cone_memory
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.errors import GyrostatError, PerformanceWarning, clipped
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.constraints.stops import JointLimits
from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.kernels.callback import Callback
from gyrostat.simulate.kernels.contact_energy import contact_energy, energy_law
from gyrostat.simulate.kernels.contact_scene import ContactScene, contact_scene
from gyrostat.simulate.methods.drivers import moreau_memory as at
from gyrostat.simulate.methods.drivers.fixed_clock import FULL
from gyrostat.simulate.methods.drivers.moreau_steps import ASKED, CROWDED, moreau_steps
from gyrostat.simulate.methods.fixed_steps import FixedSteps
from gyrostat.simulate.methods.moreau_solids import SLOW, SolidContacts, pair_of, points_of_pairs, told
from gyrostat.simulate.methods.moreau_tables import (
    candidate_tables,
    chain_tables,
    elimination_tables,
    limit_tables,
    limit_words,
    ports_of,
    rigid_pairs,
    solid_table,
)
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"
PLACES = 32
"""Contacts that there is room for at first; more are found as they come."""
RECORDS = 4096
"""Records between two calls, about."""


class Moreau(FixedSteps):
    """``"moreau"``: fixed steps ``dt``. Contacts, limits, loops and dry friction are impulses of its steps."""

    name, order, degree = "moreau", 1, 2
    treats_contacts = True
    steps = moreau_steps

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        if plant.model_in_python:
            raise GyrostatError(f"{WHO}: method 'moreau' needs machine code of the model: {plant.model_in_python}")
        if plant.forward is not None:
            raise GyrostatError(
                f"{WHO}: method 'moreau' has its own forward dynamics, and {plant.forward.called} would not be asked. "
                "Hint: leave forward_dynamics out"
            )
        self.words = np.zeros(at.WORDS_OF_MOREAU, dtype=np.int64)
        self._places[0] = address(self.words)
        pairs = rigid_pairs(plant.model, plant.network.driven)
        self.candidates = points_of_pairs(pairs)
        ports = ports_of(plant.network, pairs)
        self.solids = SolidContacts([pair_of(plant.model, plant.network, c, ports) for c in pairs if not c.closed_form])
        if self.solids.pairs:
            warnings.warn(f"{WHO}: {told(pairs)}", PerformanceWarning, stacklevel=2)
        self.limits: JointLimits | None = None
        self.records: tuple[Array, ...] = ()
        self._tables: dict[int, Array] = {}
        self._scene: ContactScene | None = None

    def take_constraints(self, given: Sequence[Any]) -> None:
        """Joint limits become rows of the steps; others are refused."""
        for constraint in given:
            if not isinstance(constraint, JointLimits):
                raise GyrostatError(
                    f"{WHO}: method 'moreau' knows JointLimits among constraints, got {clipped(constraint)}. "
                    "Hint: a method that takes events, for example 'dopri5'"
                )
            self.limits = constraint

    # ------------------------------------------------------------------ memory
    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().prepare(t, q, v, p)
        self.words[at.BEGUN] = 0
        self._ready()

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        goes_on = bool(self.words[at.BEGUN]) and self._ended_at(t, q)
        super().begin(t, q, v, p)
        self.solids.forget()
        self.words[at.ANSWERED] = self.words[at.STATE_KNOWN] = 0
        self.words[at.BEGUN] = 1
        if not goes_on:  # not at a sampling instant: a start, or a reset
            self.words[at.UNSEEN] = 1
        self._ready()

    def _ended_at(self, t: float, q: Array) -> bool:
        """Whether the last step did."""
        t1, q1, *_ = self.end()
        return t == t1 and np.array_equal(q, q1)

    def _ready(self) -> None:
        """Kernel, tables and memory, made once."""
        if self._scene is not None:
            return
        plant, model = self.plant, self.plant.model
        net, dry = plant.network, DryFriction.of(plant.model)
        ports = ports_of(net, self.candidates)
        limits, followers = limit_tables(model, self.limits)
        scene, code = _kept_scene(plant, ports, dry, followers)
        machine = plant.machine
        ends = _kept_energy(plant, ports)
        machine.need_work(max(code.work, ends.work))
        self._code, self._ends, self._scene, n = code, ends, scene, plant.nv
        self.words[at.SCENE], self.words[at.ENERGY] = code.address, ends.address
        self.words[at.ENERGY_LAW] = energy_law(net)
        tables: dict[int, Array] = {}
        pairs = at.CANDIDATES, at.CANDIDATE_NUMBERS, at.SEGMENT_PORTS, at.SEGMENT_NUMBERS
        tables |= dict(zip(pairs, candidate_tables(net, self.candidates, ports, self.solids.reaches), strict=True))
        tables[at.SOLID_PAIRS], tables[at.ANSWERS] = solid_table(tables[at.CANDIDATES]), self.solids.answers
        segments = len(tables[at.SEGMENT_PORTS])
        tables[at.SEGMENTS_NOW] = np.zeros((segments, at.G_NOW))
        tables[at.CHAIN_FIRST], tables[at.CHAIN] = chain_tables(scene.chains)
        tables[at.ORDER], tables[at.L_FIRST], tables[at.L_COLUMNS] = elimination_tables(scene.inboard)
        tables[at.LIMITS], tables[at.LIMIT_NUMBERS], tables[at.LIMIT_ENTRIES] = limit_words(limits, scene)
        tables[at.BOX_ROWS] = np.zeros((1, n)) if dry is None else np.ascontiguousarray(dry.rows, dtype=float)
        boxes, loops = 0 if dry is None else len(dry.groups), 0 if plant.loops is None else plant.loops.count
        outputs = at.V_FREE, at.V_TURNED, at.L_VALUES, at.SCALE, at.POSES, at.SCREWS, at.FACTORS, at.BOXES, at.ENDS
        sizes = [int(np.prod(slot.shape, dtype=int)) for slot in scene.program.outputs]
        tables |= {word: np.zeros(size) for word, size in zip(outputs, sizes, strict=True)}
        tables[at.LOOP_EQUATIONS] = np.zeros(loops * (n + 2) + 1)
        tables[at.MIDDLE], tables[at.STEP], tables[at.RATES] = np.zeros(plant.nq), np.zeros(1), np.zeros(3 * n + 24)
        tables[at.TWISTS], tables[at.ENDING] = np.zeros(12 * max(1, len(ports))), np.zeros(plant.nq)
        tables[at.ENERGIES], tables[at.STATE], tables[at.WAY] = np.zeros(6), np.zeros(plant.nq + n), np.zeros(n)
        tables[at.POSES_NOW], tables[at.PLACE] = np.zeros(12 * len(ports) + 1), np.zeros(48)
        tables[at.SOLID_GAPS] = np.zeros(len(self.solids.answers))
        k = len(self.candidates)
        tables[at.KEPT] = np.zeros(6 * k + len(limits) + loops + boxes + 1)
        tables[at.PHASES], tables[at.PHASES_NOW] = np.zeros((2, max(1, k)), dtype=np.int64)
        tables[at.RECORDS] = np.zeros((RECORDS + 6 * k + 4, at.RECORD))
        counts = {
            at.CANDIDATE_COUNT: k, at.SEGMENT_COUNT: segments, at.PORT_COUNT: len(ports), at.BOX_COUNT: boxes,
            at.LIMIT_COUNT: len(limits), at.MOST_RECORDS: RECORDS, at.SOLID_COUNT: len(self.solids.pairs),
        }  # fmt: skip
        for word, count in counts.items():
            self.words[word] = count
        if self.solids.pairs:
            self._asked = Callback(
                lambda poses: (self.solids.gaps_at(poses.reshape(-1, 12)),),
                [12 * len(ports)], [len(self.solids.answers)], machine.words[env.ABORT : env.ABORT + 1],
            )  # fmt: skip
            machine.callbacks["gaps of solids"] = self._asked
            self.words[at.GAPS_OF_SOLIDS] = self._asked.address
        self._others = len(limits) + loops + boxes
        self._give(tables)
        self._allot(min(PLACES, k) + 1)
        if plant.loops is not None:
            machine.need(env.LOOP_ROWS)

    def _give(self, tables: dict[int, Array]) -> None:
        self._tables |= tables
        for word, array in tables.items():
            self.words[word] = address(array)

    def _allot(self, contacts: int) -> None:
        """Memory for that many contacts, beside all other rows."""
        spins = any(c.law.torsional or c.law.rolling for c in self.candidates)
        others = self._others + (3 * (contacts + 1) if spins else 0)
        rows, n = 3 * (contacts + 1) + others + 3, self.plant.nv
        stride = (rows + 8) // 4 * 4
        self.words[at.MOST_CONTACTS] = contacts
        vectors = at.IMPULSE, at.SPEED, at.FREE_SPEED, at.COMPRESSION, at.BEFORE_SPEED, at.FREE
        self._give({word: np.zeros(stride) for word in vectors})
        self._give({
            at.CONTACTS: np.zeros((contacts + 1, at.K_WORDS), dtype=np.int64),
            at.CONTACT_NUMBERS: np.zeros((contacts + 1, at.K_NUMBERS)),
            at.NEAR: np.zeros(contacts + 1, dtype=np.int64),
            at.NEAR_NUMBERS: np.zeros((contacts + 1, at.K_NUMBERS)),
            at.SCALARS: np.zeros((others + 1, at.S_WORDS), dtype=np.int64),
            at.SCALAR_NUMBERS: np.zeros((others + 1, at.S_NUMBERS)),
            at.WHITE: np.zeros((stride // 3 + 1) * 4 * n + 8),
            at.DELASSUS: np.zeros(stride * stride + 8),
            at.SPARE: np.zeros(4 + 4 * stride + 24),
            at.LAW_MATRIX: np.zeros(stride * (stride + 8)),
            at.ACTIVE: np.zeros(2 * stride, dtype=np.int64),
            at.CONE_G: np.zeros(stride * stride),
            at.CONE_VECTORS: np.zeros(3 * stride),
            at.CONE_ROWS: np.zeros(stride, dtype=np.int64),
            at.CONE_UNITS: np.zeros(2 * stride, dtype=np.int64),
            at.CONE_NUMBERS: np.zeros(6 * stride),
            at.CONE_MEMORY: np.zeros(driver_memory(stride)),
        })  # fmt: skip

    # ------------------------------------------------------------------ steps
    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        status = super().run(machine, harvest, budget)
        for _ in range(budget):
            if status != ASKED:
                break
            poses, words = self._tables[at.POSES], self.words
            ports = int(words[at.PORT_COUNT])
            self.solids.answer(
                poses[: 12 * ports].reshape(ports, 12), self._tables[at.SOLID_PAIRS], self._tables[at.SEGMENTS_NOW]
            )
            words[at.ANSWERED] = 1
            if words[at.RECORD_COUNT]:
                self._empty()
            status = super().run(machine, harvest, budget)
        if status == ASKED:  # asked again in the next call
            status = FULL
        if status == CROWDED:
            self._allot(2 * int(self.words[at.MOST_CONTACTS]))
            status = FULL
        self._empty()
        self._told()
        return status

    @property
    def called_in_python(self) -> dict[str, tuple[int, float]]:
        return {SLOW: (self.solids.calls, self.solids.seconds)}

    def contact_records(self) -> tuple[Sequence[str], Sequence[Array]]:
        return [c.name for c in self.candidates], self.records

    def _empty(self) -> None:
        count = int(self.words[at.RECORD_COUNT])
        if count and self.keeps_records:
            self.records = (*self.records, self._tables[at.RECORDS][:count].copy())
        self.words[at.RECORD_COUNT] = 0

    def _told(self) -> None:
        """Statistics of the run."""
        words, ctl = self.words, self.ctl
        solved = int(words[at.SOLVED])
        self.statistics |= {
            "contact_steps": solved, "contact_rows": int(words[at.CONTACT_SUM]), "sweeps": int(words[at.SWEEPS]),
            "newton_steps": int(words[at.NEWTONS]), "unsolved_steps": int(words[at.UNSOLVED_STEPS]),
            "impacts": int(words[at.IMPACTS]), "corrected_steps": int(words[at.CORRECTED]),
            "added_contacts": int(words[at.ADDED]), "hard_problems": int(words[at.HARD]),
            "shortened_steps": int(words[at.SHORTENED]),
            "largest_residual": float(ctl[at.WORST]), "deepest_penetration": float(ctl[at.DEEPEST]),
            "mean_residual": float(ctl[at.RESIDUAL_SUM]) / max(1, solved),
        }  # fmt: skip


def driver_memory(rows: int) -> int:
    """Doubles of the solver for hard problems."""
    return int(max(cone_memory(rows, rows), cone_memory(rows, rows // 3 + 1)))


def _kept_energy(plant: Plant, ports: Sequence[int | None]) -> KernelCode:
    """Machine code of energies and poses, which stays with the model."""
    kernels = plant.kernels
    kept, key = cached_on(plant.moving).setdefault("contact energies", {}), (tuple(ports), tuple(kernels.live.items()))
    if key not in kept:
        kept[key] = KernelCode(contact_energy(kernels, ports))
    return kept[key]


def _kept_scene(
    plant: Plant, ports: Sequence[int | None], dry: DryFriction | None, followers: Sequence[int]
) -> tuple[ContactScene, KernelCode]:
    """The program and its machine code, which stay with the model."""
    kernels = plant.kernels
    kept = cached_on(plant.moving).setdefault("contact scenes", {})
    key = tuple(ports), tuple(followers), tuple(kernels.live.items()), dry is not None
    if key not in kept:
        scene = contact_scene(kernels, ports, dry, followers)
        kept[key] = scene, KernelCode(scene.program)
    return kept[key]
