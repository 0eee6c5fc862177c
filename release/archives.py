"""Source archive and wheel, each made twice: only what comes out equal, byte by byte, is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from release.project import ROOT


def built(out: Path, epoch: int, root: Path = ROOT) -> list[Path]:
    """The source archive and the wheel of a checkout, in ``out``. The wheel is made from the source archive, so that
    it holds nothing that the archive lacks, and must be equal to the one that is made from the checkout."""
    with tempfile.TemporaryDirectory(prefix="gyrostat-release-") as place:
        first, second = Path(place) / "first", Path(place) / "second"
        _build(root, first, epoch, "sdist", "wheel")
        (source,) = first.glob("*.tar.gz")
        with tarfile.open(source) as archive:
            archive.extractall(Path(place) / "unpacked", filter="data")
        (unpacked,) = (Path(place) / "unpacked").iterdir()
        _build(root, second, epoch, "sdist")
        _build(unpacked, second, epoch, "wheel")
        files = sorted(first.iterdir())
        for file in files:
            if file.read_bytes() != (second / file.name).read_bytes():
                raise SystemExit(f"release: {file.name} was made twice and differs. Hint: diffoscope says where")
        return [Path(shutil.copyfile(file, out / file.name)) for file in files]


def _build(root: Path, out: Path, epoch: int, *targets: str) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "random"}
    for target in targets:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
        answer = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        if answer.returncode:
            raise SystemExit(f"release: the {target} could not be built: {answer.stderr.strip()[-500:]}")
