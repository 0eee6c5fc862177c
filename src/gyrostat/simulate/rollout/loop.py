"""The loop of a rollout: blocks of robots in lanes, threads over the rest, in calls that Ctrl-C can end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import in_threads, shares
from gyrostat.simulate.rollout import lane_steps as of
from gyrostat.simulate.rollout.kernel import RolloutKernel
from gyrostat.simulate.rollout.lane_memory import FROM, TO, LaneMemory, Rows

BUDGET = 400_000_000
"""Operations (of W lanes) in one call of machine code, about 0.2 s: Python listens to Ctrl-C between two of them."""


def run(kernel: RolloutKernel, rows: Rows, threads: int = 1) -> None:
    """All steps of all robots; the first rows hold the start."""
    count = len(rows.q) - 1
    if not count or not rows.robots:
        return
    lanes = 1 if rows.robots == 1 else host().lanes
    call = driver(of.lane_rows, lanes).call
    kernel.codes(lanes)  # before any thread needs them

    def work(first: int, last: int, stop: list[bool]) -> None:
        memory = LaneMemory(kernel, rows, lanes)
        memory.set_robots(rows, first, last)
        most = max(1, BUDGET // (-(-(last - first) // lanes) * kernel.operations))
        for source, target, many, every, begin in spans(count, rows.every, most):
            if stop:
                return
            memory.set_states(FROM, [x[source] for x in rows.states], first)
            memory.set_states(TO, [x[target] for x in rows.states], first)
            memory.words[of.ROWS], memory.words[of.EVERY], memory.words[of.BEGIN] = many, every, begin
            call(*memory.addresses, rows.h)

    shared_out(work, rows.robots, lanes, threads)


def shared_out(work: Callable[[int, int, list[bool]], None], count: int, lanes: int, threads: int) -> None:
    """``work(first, last, stop)`` for stretches of robots, in threads; Ctrl-C ends them after their present call."""
    threads = min(threads, -(-count // lanes))
    pieces = shares(count, lanes, threads)
    stop: list[bool] = []

    def each(supply: Iterable[tuple[int, int]]) -> None:
        for first, last in supply:
            work(first, last, stop)

    if threads == 1:
        each(pieces)
        return
    try:
        for _ in in_threads(each, pieces, threads):
            pass
    except BaseException:
        stop.append(True)
        raise


def spans(rows: int, every: int, most: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(row to begin from, first row to write, rows, steps between them, first step), of at most ``most`` steps each."""
    done = 0
    while done < rows:
        if every <= most:
            count = min(rows - done, most // every)
            yield done, done + 1, count, every, done * every
            done += count
            continue
        for part in range(0, every, most):  # a row in several parts, each from where the one before ended
            yield done + (part > 0), done + 1, 1, min(most, every - part), done * every + part
        done += 1
