"""``gyrostat frequencies``: small motions about a pose."""

from __future__ import annotations

from typing import Annotated

import typer

from gyrostat.cli.options import Json, ModelName, Quiet, Reading, examples, reads


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "frequencies pendulum", "frequencies elastic_arm --at 0,0.5,0.2", "frequencies robot.yaml --json"
        )
    )(reads(frequencies))


def frequencies(
    model: ModelName,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE|LIST", help="The pose; as of 'frames'. Repeatable."),
    ] = None,
    lock: Annotated[
        list[str] | None, typer.Option("--lock", metavar="NAME", help="A rate that stands still; repeatable.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Eigenfrequencies about a pose, and what moves most.

    The robot is held there by constant efforts; directions in which nothing brings it back have no frequency.
    """
    import numpy as np

    import gyrostat as gs
    from gyrostat.cli.frames import configuration
    from gyrostat.cli.output import show_json, show_table

    loaded = reading.load(model, quiet)
    q = configuration(loaded, at or [])
    found = gs.eigenfrequencies(loaded, q, tuple(lock or ()))
    hz, modes = np.asarray(found.undamped, dtype=float), np.asarray(found.modes)
    rows = []
    for k, f in enumerate(hz):
        size = np.abs(modes[:, k])
        most = [loaded.dofs[j] for j in np.argsort(-size)[:3] if size[j] > 0.1 * size.max(initial=0.0)]
        rows.append((k + 1, None if not np.isfinite(f) else float(f), most))
    if json:
        show_json([{"mode": k, "hz": f, "most": most} for k, f, most in rows])
        return
    cells = [(str(k), "-" if f is None else f"{f:.6g}", ", ".join(most)) for k, f, most in rows]
    show_table("", ("mode", "Hz", "moves most"), cells, right=(0, 1))
