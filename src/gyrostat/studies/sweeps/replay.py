"""A point of a study as a run of its own, to be looked at."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gyrostat.errors import GyrostatError
from gyrostat.simulate.blocks.from_data import law_from_data, numbers
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.simulate import simulate
from gyrostat.solvers.machinery.variants import variant
from gyrostat.studies.jobs.job import OF_INPUTS, Job, changed
from gyrostat.view.viewer.inline import InlineScene


def replay(job: Job, point: Mapping[str, Any]) -> Result:
    """The motion of a job "simulate" or "rollout" at a point."""
    if job.do not in ("simulate", "rollout"):
        raise GyrostatError(f"study: a job '{job.do}' is no motion. Hint: simulate and rollout can be replayed")
    whole, inputs = {**job.parameters, **point}, dict(job.inputs)
    for key, value in whole.items():
        if key.startswith(OF_INPUTS):
            inputs = changed(inputs, key.removeprefix(OF_INPUTS).split("."), value)
    values = {path: numbers(x, path).tolist() for path, x in whole.items() if not path.startswith(OF_INPUTS)}
    model = variant(job.model, values) if values else job.model
    given = {key: x for key, x in inputs.items() if key not in ("torque", "q0", "v0", "t_eval", "steps", "every")}
    if job.do == "rollout":
        given |= {"t_end": inputs["steps"] * given.setdefault("dt", 1e-3)}
        given.setdefault("method", "rk4")
    arrays = {key: numbers(inputs[key], key) for key in ("q0", "v0", "t_eval") if key in inputs}
    return simulate(model, law_from_data(inputs.get("torque"), model), **arrays, **given, progress=False)


def motion_page(job: Job, point: Mapping[str, Any]) -> InlineScene:
    """The motion at a point as a scene in a page."""
    run = replay(job, point)
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as folder:
        text = Path(run.view(html=Path(folder) / "motion.html")).read_text("utf-8")
    return InlineScene(run.model.name, text)
