"""Groups of points on one processor or many: whoever computes them, each point is that of the same job, to the bit."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, NamedTuple

from gyrostat.errors import GyrostatError, SpecError, clipped
from gyrostat.store.provenance import as_text, provenance
from gyrostat.store.store import StoredRun
from gyrostat.studies.jobs.job import Job
from gyrostat.studies.jobs.kinds import KINDS, points_by_inputs
from gyrostat.studies.sweeps.sampling import Point

AHEAD = 4
"""Groups that wait at each worker, so that none is idle."""
SHARES = 4
"""Groups that a worker has in a study, at least."""
MOST_PROCESSES = 1024
PATIENCE = 10.0
"""Seconds for which a scheduler may not answer."""
TRIES = 3
"""How often a group is given out whose worker has died."""

Numbered = tuple[int, Point]


class Group(NamedTuple):
    """Runs of some points, and the provenance of the process that computed them."""

    runs: list[StoredRun]
    made: dict[str, Any]


def computed(job: Job, points: Sequence[Numbered], size: int | None, pool: Pool | None) -> Iterator[Group]:
    """Runs of the points, group by group as they are done; ``size`` None: as many as one call of the job takes, and
    few enough that every worker has some."""
    if not points:
        return
    if size is None:
        each = math.ceil(len(points) / (SHARES * pool.workers)) if pool else len(points)
        size = min(KINDS[job.do].lanes, each)
    alike = points_by_inputs([point for _, point in points])  # what shares machine code is computed together
    groups = [[points[i] for i in some[k : k + size]] for some in alike for k in range(0, len(some), size)]
    if size > 1 and len(alike) > len(points) // 2:
        groups = [points[k : k + size] for k in range(0, len(points), size)]
    if pool is None:
        for group in groups:
            yield numbered(job, group)
        return
    yield from _given_out(pool, as_text(job.to_dict()), groups)


def numbered(job: Job, group: Sequence[Numbered]) -> Group:
    """Runs of one group."""
    runs = job.compute([point for _, point in group])
    return Group([replace(run, point=k) for run, (k, _) in zip(runs, group, strict=True)], provenance())


@lru_cache(maxsize=4)
def _job(text: str) -> Job:
    """A job of this process, with its machine code, kept between groups."""
    return Job.from_dict(json.loads(text))


def at_worker(text: str, group: Sequence[Numbered]) -> Group:
    """What a worker does: data in, data out."""
    try:
        job = _job(text)
    except SpecError as error:  # it was whole where it came from
        hint = "import the module that defines it there: ProcessPoolExecutor(2, initializer=...), --preload of dask"
        told = str(error).split(". Hint")[0]
        raise GyrostatError(f"study: a worker cannot read the model: {told}. Hint: {hint}.") from None
    return numbered(job, group)


def _given_out(pool: Pool, text: str, groups: Sequence[Sequence[Numbered]]) -> Iterator[Group]:
    waiting = [(group, 1) for group in reversed(groups)]
    running: dict[Future[Group], tuple[Sequence[Numbered], int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AHEAD * pool.workers:
                group, tried = waiting.pop()
                try:
                    running[pool.submit(at_worker, text, group)] = group, tried
                except BrokenExecutor as error:
                    waiting.append((group, tried))
                    if not running:
                        pool.renew(error)
                    break
                except (OSError, RuntimeError) as error:  # shut down, or out of reach
                    raise _of_executor(error) from error
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                group, tried = running.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is None:
                    done = future.result()
                    if not isinstance(done, Group):
                        raise GyrostatError(f"study: the executor has returned {clipped(done)} instead of runs.")
                    yield done
                elif not _died(error):
                    raise error if isinstance(error, GyrostatError) else _of_executor(error) from error
                elif tried < TRIES:
                    waiting.append((group, tried + 1))
                else:
                    first, last = group[0][0], group[-1][0]
                    told = f"workers died {TRIES} times ({type(error).__name__}), last with points {first} to {last}"
                    hint = "what was done is in the store; group=1 tells which point it is"
                    raise GyrostatError(f"study: {told}. Hint: {hint}.") from error
    finally:
        for future in running:
            future.cancel()


def _of_executor(error: BaseException) -> GyrostatError:
    """What an executor says, not the work, as ours."""
    hint = "is it open, and is gyrostat installed where it works? What was done is in the store"
    return GyrostatError(f"study: the executor fails: {type(error).__name__}: {error}. Hint: {hint}.")


def _died(error: BaseException) -> bool:
    """Whether the worker, not the work, is to blame."""
    names = ("KilledWorker", "CancelledError", "CommClosedError", "FutureCancelledError")
    return isinstance(error, BrokenExecutor) or type(error).__name__ in names


class Pool:
    """Workers: ``submit`` a call, ask how many there are, and have them replaced when they are gone."""

    def __init__(self, executor: Executor, count: Callable[[], int], again: Callable[[], Executor] | None = None):
        self.executor, self._count, self._again = executor, count, again
        self._workers, self._asked = max(1, count()), time.monotonic()

    @property
    def workers(self) -> int:
        """How many work; those of a cluster come and go."""
        if time.monotonic() - self._asked > 2.0:
            self._workers, self._asked = max(1, self._count()), time.monotonic()
        return self._workers

    def submit(self, function: Callable[..., Group], *arguments: Any) -> Future[Group]:
        return self.executor.submit(function, *arguments)

    def renew(self, error: BrokenExecutor) -> None:
        """Processes of our own once more; an executor of the caller's stays broken."""
        if self._again is None:
            hint = "executor=4 starts processes anew; what was done is in the store"
            raise GyrostatError(f"study: the executor is broken: {error} Hint: {hint}.") from error
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._again()


@contextmanager
def opened(executor: Executor | str | int | None) -> Iterator[Pool | None]:
    """Processes of this machine, a cluster by its address, or an executor, which is left open."""
    if executor is None:
        yield None
    elif isinstance(executor, Executor):
        count = getattr(executor, "_max_workers", None) or 8
        yield Pool(executor, lambda: count)
    elif isinstance(executor, int) and not isinstance(executor, bool) and 1 <= executor <= MOST_PROCESSES:
        yield from _own(executor)
    elif isinstance(executor, str) and "://" in executor:
        yield from _of_dask(executor)
    else:
        hint = '4 (processes), concurrent.futures.ProcessPoolExecutor(4), or "tcp://host:8786"'
        told = f"executor must be a number of processes, an executor or an address, got {clipped(executor)}"
        raise GyrostatError(f"study: {told}. Hint: {hint}.")


def _own(count: int) -> Iterator[Pool]:
    def start() -> Executor:
        return ProcessPoolExecutor(count, mp_context=get_context("spawn"))  # locks of threads are not inherited

    pool = Pool(start(), lambda: count, start)
    try:
        yield pool
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def _of_dask(address: str) -> Iterator[Pool]:
    try:
        from distributed import Client
    except ImportError as error:
        raise GyrostatError(f"study: needs dask ({error}). Hint: pip install 'gyrostat[cluster]'.") from None
    try:
        client = Client(address, set_as_default=False, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        told = f"no scheduler answers at '{address}' ({error})"
        raise GyrostatError(f"study: {told}. Hint: is 'dask scheduler' running there?") from None
    with client:
        yield Pool(client.get_executor(pure=False), lambda: _threads(client))


def _threads(client: Any) -> int:
    return sum(client.nthreads().values())
