"""Operations of the algorithms, counted in their recorded programs after simplification: `--operations`.

Programs are recorded, not compiled, for chains of growing length and for the robots of the sources. Every solver
rewrites its network with its usual rules. Two statements of the sources are answered: by what factor one modified
Newton-Euler pass needs fewer operations than n + 1 plain ones [KV], and from which n on articulated bodies need fewer
than composite bodies [H04 1.1].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import gyrostat as gs
from benchmarks.harness import commit
from gyrostat.algorithms.forward_dynamics import FORWARD, MASS_MATRIX
from gyrostat.algorithms.matrices.ltdl import inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.mrnea import mass_matrix_and_bias
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.graph.rewrite import DEFAULT

LENGTHS = tuple(range(2, 21))
SHOWN = (2, 4, 5, 6, 7, 8, 10, 11, 12, 20)
SLOW, SLOW_UP_TO = ("newton-euler", "operators"), 10  # recording takes seconds beyond that
INVERSE, FORWARD_TASK, MASS, TERMS = "inverse", "forward", "M", "M, bias"
SEPARATE, TOGETHER, ONE_PASS, COMPOSITE = "n + 1 rne", "walker-orin", "mrnea", "crba"
NOTES = (
    "mul, add (additions and subtractions), div, sin and cos of the recorded program; constants are folded, equal",
    "subexpressions shared, products with zero and one dropped. Chains: mul + add, by the number n of joints.",
    "inverse, forward: dynamics. M: mass matrix, both halves. M, bias: one half of M, and the bias, without solving.",
    "rods: gs.robots.chain, axes z and y in turn, links along z. DH: random alpha, a, d and full inertias, axes z.",
    "general: gs.robots.tree without branches: random placements, most axes oblique. All joints are revolute.",
)


@dataclass(frozen=True)
class Count:
    """Operations of one algorithm for one robot; ``other`` are changes of sign."""

    family: str  # a kind of chain, or 'robots'
    robot: str
    n: int
    task: str
    algorithm: str
    mul: int
    add: int
    div: int
    trig: int
    other: int

    @property
    def sum(self) -> int:
        return self.mul + self.add


# ------------------------------------------------------------------------------------------------ robots
def dh_chain(n: int) -> gs.Model:
    """n revolute joints about z of modified Denavit-Hartenberg frames, links with random centres and full inertias."""
    rng = np.random.default_rng(0)
    links: list[gs.Entity] = []
    for k in range(1, n + 1):
        alpha, a, d = rng.uniform((0.3, 0.1, 0.1), (1.2, 0.4, 0.4))
        points = rng.normal(scale=0.1, size=(6, 3))  # of 1 kg each
        arms = points - points.mean(axis=0)
        inertia = np.sum(arms * arms) * np.eye(3) - arms.T @ arms
        links += [
            gs.DHDisplacement(f"shift{k}", alpha=alpha, a=a, d=d, convention="modified"),
            gs.Joint(f"joint{k}", "revolute", axis="z"),
            gs.RigidBody(f"link{k}", mass=6.0, com=points.mean(axis=0), inertia=inertia),
        ]
    return gs.assemble(f"dh_chain{n}", gs.chain("world", *links))


def general_chain(n: int) -> gs.Model:
    """n revolute joints with random axes, placements and inertias."""
    return gs.robots.tree(1, n, ("revolute",), branching=0.0)


CHAINS: dict[str, Callable[[int], gs.Model]] = {
    "rods": gs.robots.chain,
    "DH": dh_chain,
    "general": general_chain,
}
ROBOTS: dict[str, Callable[[], gs.Model]] = {
    "trainer": gs.robots.spatial_disorientation_trainer,
    "hydraulic": gs.robots.hydraulic_manipulator,
    "LWR 4+": gs.robots.kuka_lwr4,
}


# ------------------------------------------------------------------------------------------------ programs
def programs(model: gs.Model) -> dict[tuple[str, str], Program]:
    """What is counted for a robot, by task and algorithm."""
    programs: dict[tuple[str, str], Program] = {(INVERSE, "rne"): gs.InverseDynamics(model).main_kernel().program}
    left_out = SLOW if model.nv > SLOW_UP_TO else ()
    for algorithm in (name for name in FORWARD if name not in left_out):
        programs[FORWARD_TASK, algorithm] = gs.ForwardDynamics(model, algorithm=algorithm).main_kernel().program
    for algorithm in (name for name in MASS_MATRIX if name not in left_out):
        programs[MASS, algorithm] = gs.MassMatrix(model, algorithm=algorithm).main_kernel().program
    return programs | terms(model)


def terms(model: gs.Model) -> dict[tuple[str, str], Program]:
    """Half of the mass matrix, and the bias: what forward dynamics solves with, by three algorithms; and one plain
    Newton-Euler pass on the same network."""
    solver = gs.ForwardDynamics(model)
    net, on, n = solver.network, solver.setting(0.0), model.nv
    half = [(k, j) for k, inboard in inboard_rates(net).items() for j in (k, *inboard)]

    def separately(q: np.ndarray, v: np.ndarray, matrix: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return matrix(net, on, q), sweep_forces(net, on, q, v, np.zeros(n))[0]

    ways: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
        TOGETHER: lambda q, v: separately(q, v, MASS_MATRIX["walker-orin"]),
        ONE_PASS: lambda q, v: mass_matrix_and_bias(net, on, q, v),
        COMPOSITE: lambda q, v: separately(q, v, composite_mass_matrix),
    }

    def recorded(way: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Program:
        def function(q: np.ndarray, v: np.ndarray) -> Mapping[str, np.ndarray]:
            M, bias = way(q, v)
            return {"M": np.array([M[place] for place in half]), "bias": bias}

        return record(function, {"q": (model.nq,), "v": (n,)})

    plain = gs.InverseDynamics(model, rules=DEFAULT).main_kernel().program  # without regrouped inertias, as the others
    return {(TERMS, SEPARATE): plain} | {(TERMS, name): recorded(way) for name, way in ways.items()}


def counted(family: str, model: gs.Model, name: str) -> list[Count]:
    """All counts for a robot."""
    rows: list[Count] = []
    for (task, algorithm), program in programs(model).items():
        counts = program.counts()
        times = model.nv + 1 if algorithm == SEPARATE else 1
        kinds = [("mul",), ("add", "sub"), ("div",), ("sin", "cos")]
        numbers = [times * sum(counts.pop(k, 0) for k in kind) for kind in kinds]
        rows.append(Count(family, name, model.nv, task, algorithm, *numbers, other=times * sum(counts.values())))
    return rows


def measure(quick: bool = False) -> list[Count]:
    """Every robot and every chain; a quick look takes two short ones."""
    rows: list[Count] = []
    for name, make in list(ROBOTS.items())[: 1 if quick else None]:
        rows += counted("robots", make(), name)
    for family, chain in CHAINS.items():
        for n in LENGTHS[: 2 if quick else None]:
            rows += counted(family, chain(n), f"n = {n}")
    return rows


# ------------------------------------------------------------------------------------------------ answers
def sums(rows: Sequence[Count], family: str, task: str, algorithm: str) -> dict[int, int]:
    """mul + add by n."""
    chosen = (r for r in rows if (r.family, r.task, r.algorithm) == (family, task, algorithm))
    return {r.n: r.sum for r in chosen}


def savings(rows: Sequence[Count], family: str, against: str) -> dict[int, float]:
    """Operations of an algorithm over those of one modified Newton-Euler pass, by n: mass matrix and bias [KV]."""
    one, many = sums(rows, family, TERMS, ONE_PASS), sums(rows, family, TERMS, against)
    return {n: many[n] / one[n] for n in one}


def crossing(rows: Sequence[Count], family: str) -> int | None:
    """The n from which on, as far as was counted, articulated bodies need fewer operations than composite ones [H04
    1.1]; None if they never do."""
    articulated, composite = (sums(rows, family, FORWARD_TASK, name) for name in ("aba", "crba"))
    dearer = [n for n in articulated if articulated[n] >= composite[n]]
    beyond = [n for n in articulated if n > max(dearer, default=0)]
    return min(beyond, default=None)


# ------------------------------------------------------------------------------------------------ tables
def print_tables(rows: Sequence[Count], console: Console) -> None:
    """Robots with all kinds of operations; chains with sums; the two answers."""
    robots = [r for r in rows if r.family == "robots"]
    table = _table("robots of the sources: mul, add, div, sin and cos", ["task", "algorithm"])
    for name in dict.fromkeys(r.robot for r in robots):
        table.add_column(f"{name}, n = {next(r.n for r in robots if r.robot == name)}", justify="right", no_wrap=True)
    for task, algorithm in _kinds(robots):
        cells = [f"{r.mul} {r.add} {r.div} {r.trig}" for r in robots if (r.task, r.algorithm) == (task, algorithm)]
        table.add_row(task, algorithm, *cells)
    console.print(table)
    for family in CHAINS:
        chain = [r for r in rows if r.family == family]
        shown = [n for n in dict.fromkeys(r.n for r in chain) if n in SHOWN]
        table = _table(f"{family}: mul + add, by n", ["task", "algorithm"], shown)
        for task, algorithm in _kinds(chain):
            counts = sums(rows, family, task, algorithm)
            table.add_row(task, algorithm, *(str(counts.get(n, "-")) for n in shown))
        console.print(table)
    _print_answers(rows, console)
    for note in NOTES:
        console.print(note, style="dim")


def _print_answers(rows: Sequence[Count], console: Console) -> None:
    lengths = [n for n in dict.fromkeys(r.n for r in rows if r.family in CHAINS) if n in SHOWN]
    title = "[KV] M and bias: operations over those of one mrnea pass, by n"
    table = _table(title, ["chains", "algorithm"], lengths)
    for family in CHAINS:
        for against in (SEPARATE, TOGETHER, COMPOSITE):
            shares = savings(rows, family, against)
            table.add_row(family, against, *(f"{shares[n]:.2f}" for n in lengths))
    console.print(table)
    for family in CHAINS:
        n, last = crossing(rows, family), max(lengths)
        told = f"from n = {n} on" if n is not None else "never"
        console.print(f"[H04 1.1] {family} up to n = {last}: aba needs fewer operations than crba {told}")


def _kinds(rows: Sequence[Count]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((r.task, r.algorithm) for r in rows))


def _table(title: str, headings: Sequence[str], lengths: Sequence[int] = ()) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    for n in lengths:
        table.add_column(str(n), justify="right", no_wrap=True)
    return table


def write_json(path: Path, rows: Sequence[Count]) -> None:
    """All counts, and the answers."""
    answers = {
        family: {
            "n from which on aba needs fewer operations than crba": crossing(rows, family),
            "operations over those of one mrnea pass": {
                against: savings(rows, family, against) for against in (SEPARATE, TOGETHER, COMPOSITE)
            },
        }
        for family in CHAINS
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"commit": commit(), "answers": answers, "counts": [asdict(row) for row in rows]}
    path.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
