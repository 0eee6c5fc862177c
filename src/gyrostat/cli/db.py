"""``gyrostat db``: what a store of models and results holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gyrostat.cli.options import Force, Json, Quiet, examples

Where = Annotated[str, typer.Argument(metavar="STORE", help="A folder, or postgresql://user@host/name.")]
Arrays = Annotated[
    Path | None, typer.Option("--arrays", metavar="FOLDER", help="Where a store on a server has its arrays.")
]
Which = Annotated[str, typer.Argument(metavar="TASK", help="Number, name, or first letters of the hash.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Models, tasks and results in a store.")
    group.command("list", epilog=examples("db list results"))(list_tasks)
    group.command("show", epilog=examples("db show results swing"))(show)
    group.command("compare", epilog=examples("db compare results 1 2"))(compare)
    group.command("export", epilog=examples("db export results swing -o swing.csv"))(export)
    group.command("gc", epilog=examples("db gc results"))(gc)
    app.add_typer(group, name="db", epilog=examples("db list results", "db show results 1"))


def list_tasks(where: Where, arrays: Arrays = None, json: Json = False) -> None:
    """The tasks, with how many points are done and have failed."""
    from gyrostat.cli.output import say, show_json

    with _opened(where, arrays) as kept:
        rows = [
            {
                "number": task.number,
                "name": task.name,
                "kind": task.kind,
                "done": len(kept.points(task, "done")),
                "failed": len(kept.points(task, "failed")),
                "hash": task.hash,
                "created": task.created,
            }
            for task in kept.tasks()
        ]
    if json:
        show_json(rows)
        return
    for row in rows:
        say(f"{row['number']:>4}  {row['name']:<24} {row['kind']:<12} {row['done']:>8} done {row['failed']:>6} failed")


def show(where: Where, task: Which, arrays: Arrays = None, json: Json = False) -> None:
    """A task: what it does, and the spread of each of its numbers."""
    from statistics import fmean

    from gyrostat.cli.output import say, show_json

    with _opened(where, arrays) as kept:
        found = kept.task(_which(task))
        runs = kept.runs(found)
        faults = kept.faults()
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    spread = {name: [run.metrics[name] for run in runs if name in run.metrics] for name in names}
    failed = {run.point: run.failure for run in runs if run.failure is not None}
    if json:
        table = {name: {"least": min(x), "mean": fmean(x), "largest": max(x)} for name, x in spread.items()}
        show_json({"task": found.number, "name": found.name, "metrics": table, "failed": failed, "faults": faults})
        return
    say(f"task {found.number} '{found.name}' ({found.kind}), model {str(found.model)[:12]}, {len(runs)} runs")
    for name, x in spread.items():
        say(f"  {name:<24} least {min(x):.6g}, mean {fmean(x):.6g}, largest {max(x):.6g}")
    for point, why in list(failed.items())[:20]:
        say(f"  point {point} failed: {why}")
    for fault in faults:
        say(f"  damaged: {fault}")


def compare(where: Where, one: Which, other: Which, arrays: Arrays = None, json: Json = False) -> None:
    """Numbers of two tasks, point by point, and the largest differences."""
    from gyrostat.cli.output import say, show_json

    with _opened(where, arrays) as kept:
        table = kept.compare(_which(one), _which(other))
    differences = {
        name.removesuffix(" difference"): float(table[name].abs().max())
        for name in table.columns
        if name.endswith(" difference") and table[name].notna().any()
    }
    if json:
        show_json(differences)
        return
    for name, largest in differences.items():
        say(f"{name:<24} largest difference {largest:.6g}")


def export(
    where: Where,
    task: Which,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A .csv, .parquet or .json file.")],
    arrays: Arrays = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """The table of a task as a file."""
    from gyrostat.cli.output import MisuseError, note

    if out.exists() and not force:
        raise MisuseError(f"'{out}' exists. Hint: --force overwrites it")
    with _opened(where, arrays) as kept:
        note(f"written: {kept.export(_which(task), out)}", quiet)


def gc(where: Where, arrays: Arrays = None, json: Json = False) -> None:
    """Delete files, models and provenance that nothing refers to."""
    from gyrostat.cli.output import say, show_json

    with _opened(where, arrays) as kept:
        counts = kept.gc()
    if json:
        show_json(counts)
        return
    say(", ".join(f"{number} {name}" for name, number in counts.items()) + " deleted")


def _opened(where: str, arrays: Path | None = None):
    import gyrostat as gs
    from gyrostat.cli.output import MisuseError

    if "://" not in where and not Path(where).is_dir():
        raise MisuseError(f"there is no store '{where}'. Hint: 'gyrostat run job.yaml --store {where}' makes one")
    return gs.store(where, arrays)


def _which(word: str) -> int | str:
    return int(word) if word.isdecimal() and len(word) < 9 else word
