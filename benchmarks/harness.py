"""What every benchmark shares: timing, rows, the table with ratios, and the JSON record.

A subject is a file `bench_<subject>.py` with `NOTES` (sentences printed under its table) and
`measure(effort) -> list[Row]`, where peers are measured in the same process as gyrostat.
"""

import json
import math
import platform
import subprocess
import time
import timeit
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).parents[1]
LIBRARIES = ("gyrostat", "numpy", "scipy", "pin", "mujoco", "exudyn")
SECONDS_PER_REPEAT = 0.01  # short: some repeat then falls into a moment that no other process disturbs


@dataclass(frozen=True)
class Effort:
    """How long to measure: `repeat` runs of `number` calls each; None chooses the number by the length of a call."""

    repeat: int
    number: int | None


FULL = Effort(repeat=60, number=None)
QUICK = Effort(repeat=1, number=1)  # shows that a benchmark runs; its times mean nothing


@dataclass(frozen=True)
class Row:
    """One measured time. Rows of the same stage and case compute the same thing and are compared."""

    stage: str  # "build", "run", ...: stages are never added up or compared with each other
    case: str
    program: str
    seconds: float  # of one call
    states: int = 1  # robot states handled by one call
    peer: bool = False  # another library: what ratios refer to

    @property
    def seconds_per_state(self) -> float:
        return self.seconds / self.states


def best_of(
    call: Callable[[], object],
    repeat: int,
    number: int | None = None,
    timer: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds of one call: the shortest of `repeat` runs, each the mean of `number` calls, after one unmeasured call.

    The shortest, because other processes can only add time. The garbage collector rests while the clock runs.
    """
    if repeat < 1 or (number is not None and number < 1):
        raise ValueError(f"best_of: repeat and number must be at least 1, got {repeat} and {number}.")
    call()
    stopwatch = timeit.Timer(call, timer=timer)
    if number is None:
        number = max(1, math.ceil(SECONDS_PER_REPEAT / max(stopwatch.timeit(1), 1e-9)))
    return min(stopwatch.repeat(repeat, number)) / number


def ratio(row: Row, rows: Sequence[Row]) -> float | None:
    """Time of the fastest peer in the row's stage and case, over the row's time, per state; None without a peer."""
    peers = [r.seconds_per_state for r in rows if r.peer and (r.stage, r.case) == (row.stage, row.case)]
    return min(peers) / row.seconds_per_state if peers else None


def seconds_text(seconds: float) -> str:
    """Three digits and a unit: 2.4e-07 -> '240 ns'."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:#.3g}".removesuffix(".") + f" {unit}"
    return f"{seconds / 1e-9:#.3g}".removesuffix(".") + " ns"


def print_tables(subject: str, rows: Sequence[Row], notes: Sequence[str], console: Console) -> None:
    """One table per stage, then the notes."""
    for stage in dict.fromkeys(row.stage for row in rows):
        table = Table(title=f"{subject}: {stage}", title_justify="left")
        table.add_column("case", no_wrap=True)
        table.add_column("program", no_wrap=True)
        for heading in ("per call", "per state", "ratio"):
            table.add_column(heading, justify="right", no_wrap=True)
        previous = None
        for row in (r for r in rows if r.stage == stage):
            relative = ratio(row, rows)
            table.add_row(
                row.case if row.case != previous else "",
                row.program,
                seconds_text(row.seconds),
                seconds_text(row.seconds_per_state),
                "-" if relative is None else f"{relative:.3g}",
            )
            previous = row.case
        console.print(table)
    console.print("ratio: time of the fastest peer / time of this row; above 1 is faster than every peer.", style="dim")
    for note in notes:
        console.print(note, style="dim")
    console.print()


def surroundings() -> dict[str, object]:
    """What a time depends on and a reader needs to judge it: commit, processor, versions, date."""
    return {
        "commit": commit(),
        "cpu": cpu_name(),
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def commit() -> str | None:
    """Hash of the checked-out commit, with '-dirty' if tracked files differ from it; None outside a git checkout."""
    command = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()  # Linux
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine() or "unknown"


def version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def write_json(path: Path, results: dict[str, Sequence[Row]]) -> None:
    """Everything that was measured, by subject, with the surroundings; times in seconds."""
    subjects = {
        subject: [
            {**asdict(row), "seconds_per_state": row.seconds_per_state, "ratio": ratio(row, rows)} for row in rows
        ]
        for subject, rows in results.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**surroundings(), "subjects": subjects}, indent=2) + "\n", "utf-8")
