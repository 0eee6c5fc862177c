"""Groups of points on one processor or many: whoever computes them, each point is that of the same job, to the bit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from gyrostat.errors import GyrostatError, clipped
from gyrostat.store.provenance import as_text
from gyrostat.store.store import StoredRun
from gyrostat.studies.jobs.job import Job
from gyrostat.studies.jobs.kinds import points_by_inputs
from gyrostat.studies.sweeps.sampling import Point

AHEAD = 4
"""Groups that wait at each worker, so that none is idle."""
TRIES = 3
"""How often a group is given out whose worker has died."""

Numbered = tuple[int, Point]


def computed(
    job: Job, points: Sequence[Numbered], size: int, executor: Executor | str | None
) -> Iterator[list[StoredRun]]:
    """Runs of the points, group by group as they are done."""
    alike = points_by_inputs([point for _, point in points])  # what shares machine code is computed together
    groups = [[points[i] for i in some[k : k + size]] for some in alike for k in range(0, len(some), size)]
    if size > 1 and len(alike) > len(points) // 2:
        groups = [points[k : k + size] for k in range(0, len(points), size)]
    if executor is None:
        for group in groups:
            yield numbered(job, group)
        return
    text = as_text(job.to_dict())
    with _opened(executor) as pool:
        yield from _given_out(pool, text, groups)


def numbered(job: Job, group: Sequence[Numbered]) -> list[StoredRun]:
    """Runs of one group."""
    runs = job.compute([point for _, point in group])
    return [replace(run, point=k) for run, (k, _) in zip(runs, group, strict=True)]


@lru_cache(maxsize=4)
def _job(text: str) -> Job:
    """A job of this process, with its machine code, kept between groups."""
    return Job.from_dict(json.loads(text))


def at_worker(text: str, group: Sequence[Numbered]) -> list[StoredRun]:
    """What a worker does: data in, data out."""
    return numbered(_job(text), group)


def _given_out(pool: Executor, text: str, groups: Sequence[Sequence[Numbered]]) -> Iterator[list[StoredRun]]:
    workers = getattr(pool, "_max_workers", None) or 8
    waiting = [(group, 1) for group in reversed(groups)]
    running: dict[Future[list[StoredRun]], tuple[Sequence[Numbered], int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AHEAD * workers:
                group, tried = waiting.pop()
                running[pool.submit(at_worker, text, group)] = group, tried
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                group, tried = running.pop(future)
                error = future.exception()
                if error is None:
                    yield future.result()
                elif _died(error) and tried < TRIES:
                    waiting.append((group, tried + 1))
                else:
                    raise error
    finally:
        for future in running:
            future.cancel()


def _died(error: BaseException) -> bool:
    """Whether the worker, not the work, is to blame."""
    return type(error).__name__ in ("KilledWorker", "CancelledError", "CommClosedError", "FutureCancelledError")


@contextmanager
def _opened(executor: Executor | str) -> Iterator[Executor]:
    """An executor, which is left open if it was given as one."""
    if isinstance(executor, Executor):
        yield executor
        return
    if not isinstance(executor, str) or "://" not in executor:
        hint = 'concurrent.futures.ProcessPoolExecutor(4), or "tcp://host:8786"'
        raise GyrostatError(f"study: executor must be an executor or an address, got {clipped(executor)}. Hint: {hint}")
    try:
        from distributed import Client
    except ImportError as error:
        raise GyrostatError(f"study: needs dask ({error}). Hint: pip install 'gyrostat[cluster]'.") from None
    with Client(executor, set_as_default=False) as client:
        yield client.get_executor(pure=False)
