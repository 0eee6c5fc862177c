"""``gyrostat bench``: how long the main algorithms take for a model, on this machine."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrostat.cli.options import Json, ModelName, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

SLICE = 0.005  # [s] of one repeat: short, so that some repeat falls into a moment that nobody disturbs


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("bench lwr", "bench robot.urdf --batch 100000", "bench robot.urdf --json"))(
        reads(bench)
    )


def bench(
    model: ModelName,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10_000_000, help="States in a batch.")] = 10_000,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100_000, help="Measurements; the best counts.")] = 30,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """How long inverse and forward dynamics and mass matrix take.

    In ns, in one thread: one call from Python, and per state of a batch. Next to Pinocchio, if that is installed and
    can read the model as URDF; its times are those of one call from Python. 'build' is the time to the first result,
    from the cache on disk where that has it.
    """
    from gyrostat.cli.output import note, show_json, show_table

    loaded = reading.load(model, quiet)
    rows = measure(loaded, batch, repeat)
    peer, why = pinocchio(model, loaded, repeat)
    for row in rows:
        row["pinocchio"] = peer.get(row["function"])
    if json:
        table = {"model": loaded.name, "nv": loaded.nv, "batch": batch, "unit": "ns", "rows": rows}
        show_json(table | ({"note": why} if why else {}))
        return
    head = ("function", "build [ms]", "one call [ns]", f"batch of {batch}, per state [ns]", "Pinocchio, one call [ns]")
    show_table(f"{loaded.name}, nv = {loaded.nv}", head, [_cells(row) for row in rows], right=range(1, 5))
    if why:
        note(why, quiet)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    peer = "-" if row["pinocchio"] is None else f"{row['pinocchio']:.0f}"
    return row["function"], f"{row['build'] / 1e6:.1f}", f"{row['one']:.0f}", f"{row['batch']:.1f}", peer


def best(call: Callable[[], object], repeat: int) -> float:
    """Time of one call [ns]: the shortest of several means, after one call that does not count."""
    import timeit

    call()
    clock = timeit.Timer(call)
    number = max(1, round(SLICE / max(clock.timeit(1), 1e-9)))
    return min(clock.repeat(repeat, number)) / number * 1e9


def measure(model: Model, batch: int, repeat: int) -> list[dict[str, Any]]:
    """Build, one call, and one state of a batch [ns] of rnea, aba and crba."""
    import numpy as np

    import gyrostat as gs

    rng = np.random.default_rng(0)
    Q = gs.random_configuration(model, rng, batch)
    V, X = rng.uniform(-1.0, 1.0, (2, batch, model.nv))
    solvers = {"rnea": gs.InverseDynamics, "aba": gs.ForwardDynamics, "crba": gs.MassMatrix}
    rows: list[dict[str, Any]] = []
    for name, kind in solvers.items():
        many = (Q,) if name == "crba" else (Q, V, X)
        one = tuple(x[0].copy() for x in many)
        start = time.perf_counter()
        solver: Any = kind(model)
        solver(*one)
        build = (time.perf_counter() - start) * 1e9
        single = best(lambda f=solver, x=one: f(*x), repeat)
        rows.append(
            {
                "function": name,
                "build": build,
                "one": single,
                "batch": best(lambda f=solver, x=many: f(*x), repeat) / batch,
            }
        )
    return rows


def pinocchio(word: str, model: Model, repeat: int) -> tuple[dict[str, float], str]:
    """Times of Pinocchio for the same model [ns], and what is to be said about them."""
    from gyrostat.errors import SaveError

    try:
        pin: Any = importlib.import_module("pinocchio")
    except ImportError:
        return {}, "Pinocchio is not installed (pip install pin)"
    try:
        peer, said = _peer(pin, word, model)
    except (ValueError, RuntimeError) as error:
        return {}, f"Pinocchio cannot read the model: {error}"
    except SaveError as error:
        return {}, f"Pinocchio is not measured, URDF cannot say this model: {error}"
    import numpy as np

    data, rng = peer.createData(), np.random.default_rng(0)
    q, (v, x) = pin.neutral(peer), rng.uniform(-1.0, 1.0, (2, peer.nv))
    times = {
        "rnea": best(lambda: pin.rnea(peer, data, q, v, x), repeat),
        "aba": best(lambda: pin.aba(peer, data, q, v, x), repeat),
        "crba": best(lambda: pin.crba(peer, data, q), repeat),
    }
    if peer.nv != model.nv:
        said = f"Pinocchio reads nv = {peer.nv}, gyrostat has {model.nv}. {said}".rstrip()
    return times, said


def _peer(pin: Any, word: str, model: Model) -> tuple[Any, str]:
    """Pinocchio's model of a URDF file, or of the URDF that other models are exported to, and what that lacks."""
    free = (pin.JointModelFreeFlyer(),) if model.context.base == "free" else ()
    if Path(word).suffix.lower() == ".urdf":
        return pin.buildModelFromUrdf(word, *free), ""
    from gyrostat.io.urdf.write import to_urdf

    text, lost = to_urdf(model)
    entities = ", ".join(dict.fromkeys(problem.entity for problem in lost))
    said = f"Pinocchio's model is the exported URDF, which does not say everything about: {entities}" if lost else ""
    return pin.buildModelFromXML(text, *free), said
