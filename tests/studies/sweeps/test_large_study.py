"""Ten thousand points of a Panda: what the store costs, and what is left of a study that was killed again and again."""

import signal
import subprocess
import sys
import time

import pytest

import gyrostat as gs
from gyrostat.store.store import Store
from tests.studies.sweeps.panda_study import panda_study

pytestmark = pytest.mark.slow
COUNT = 10_000


@pytest.mark.filterwarnings("ignore")
def test_ten_thousand_pandas_cost_little_to_keep_and_survive_three_kills_to_the_bit(tmp_path, monkeypatch):
    if "panda" not in {robot.name for robot in gs.robots.available()}:
        pytest.skip("the Panda comes with the extra 'oracles'")
    within = []

    def timed(function):
        def call(*given, **named):
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                within.append(time.perf_counter() - start)

        return call

    for name in ("put", "runs", "add_task"):
        monkeypatch.setattr(Store, name, timed(getattr(Store, name)))
    with gs.store(tmp_path / "undisturbed") as kept:
        start = time.perf_counter()
        result = panda_study(COUNT).run(kept)
        whole = time.perf_counter() - start
        assert not result.failed and len(result.runs) == COUNT
        each = sum(within) / COUNT
        print(f"store: {1e3 * each:.3f} ms a point of {1e3 * whole / COUNT:.3f} ms")
        assert each <= 0.5e-3 and sum(within) <= 0.1 * whole
        wanted = kept.to_pandas(1).drop(columns="seconds")

    command = [sys.executable, "-m", "tests.studies.sweeps.panda_study", str(tmp_path / "killed"), str(COUNT)]
    for stop in (1500, 4500, 8000):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while int(process.stdout.readline() or 10**9) < stop:
            pass
        time.sleep(0.003)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with gs.store(tmp_path / "killed") as kept:
        there = len(kept.points(1))
        assert 8000 <= there < COUNT and kept.faults() == []
        panda_study(COUNT).run(kept)
        found = kept.to_pandas(1).drop(columns="seconds")
        assert list(found.index) == list(range(COUNT)) and found.equals(wanted)
