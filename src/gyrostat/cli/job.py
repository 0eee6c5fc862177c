"""``gyrostat run``: a job, or a study of many points, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gyrostat.cli.options import Json, Quiet, examples


def register(app: typer.Typer) -> None:
    app.command(
        "run",
        epilog=examples("run job.yaml", "run job.yaml --store results", "run job.yaml --store results --jobs 4"),
    )(run)


def run(
    file: Annotated[Path, typer.Argument(metavar="JOB.yaml", help="What is to be done, and about which robot.")],
    store: Annotated[
        str | None, typer.Option("--store", "-s", metavar="FOLDER", help="Keep what comes out; go on where it ended.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A scheduler of dask: tcp://host:8786.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=1024, help="Processes of this machine.")] = 1,
    arrays: Annotated[
        Path | None, typer.Option("--arrays", metavar="FOLDER", help="Where a store on a server has its arrays.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Do points that failed once more.")] = False,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write a page with figures.")
    ] = None,
    replays: Annotated[
        int, typer.Option("--replays", min=0, max=20, help="Worst cases of each output as motions in that page.")
    ] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute a job, or the study in it, and show its numbers.

    The exit code is 1 if no point could be computed.
    """
    from contextlib import ExitStack

    import gyrostat as gs
    from gyrostat.cli.output import MisuseError, complain, say, show_json
    from gyrostat.studies.sweeps.job_file import load_study

    if scheduler is not None and jobs != 1:
        raise MisuseError("--jobs are processes of this machine, --scheduler has its own. Hint: give one of them")
    study = load_study(file)
    with ExitStack() as stack:
        kept = stack.enter_context(gs.store(store, arrays)) if store is not None else None
        workers: Any = scheduler if jobs == 1 else jobs
        result = study.run(kept, workers, progress=False if quiet or json else None, again=again)
    if report is not None:
        result.report(replays).save(report)
    lost = bool(result.runs) and not result.done
    if json:
        rows = [{"point": r.point, "inputs": r.inputs, "metrics": r.metrics, "failure": r.failure} for r in result.runs]
        show_json({"finished": result.finished, "runs": rows})
        raise typer.Exit(1 if lost else 0)
    if len(result.runs) == 1 and result.done:
        for name, number in result.done[0].metrics.items():
            say(f"{name}  {number:.9g}")
        return
    if len(result.runs) == 1:
        complain(f"'{file}': {result.runs[0].failure}")
    else:
        say(str(result.report()) if result.runs else "no points")
    raise typer.Exit(1 if lost else 0)
