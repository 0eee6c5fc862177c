"""A study in the file of a job: the section ``study`` says at which points."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.io.text_files import read_text
from gyrostat.io.yaml.parse import read
from gyrostat.studies.jobs.job import Job
from gyrostat.studies.sweeps.study import WAYS, Study

WORDS = (*WAYS, "count", "until", "seed")


def load_study(path: str | os.PathLike[str]) -> Study:
    """The study in a job's file; a job without one is a study of one point."""
    place = Path(path)
    job = Job.load(place)
    data: Any = read(read_text(place, str(place), "Job"), str(place)).plain().get("study")
    if data is None:
        return Study(job, points=({},))
    if not isinstance(data, dict):
        raise GyrostatError(f"'{place}': study must be a mapping, got {clipped(data)}. Hint: study: {{lhs: ...}}")
    for key in data:
        if key not in WORDS:
            raise GyrostatError(f"'{place}': study has {clipped(key)}. Hint: {nearest(str(key), WORDS)}")
    return Study(job, **data)
