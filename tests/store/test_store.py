"""What a store has taken it gives back: after a kill at any instant, beside other writers."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.store.schema import VERSIONS
from gyrostat.store.store import FILE

WRITER = """
import sys, numpy as np, gyrostat as gs
from gyrostat.store.store import StoredRun
kept = gs.store(sys.argv[1])
task = kept.add_task("count", {"n": 3})
first, last, size = map(int, sys.argv[2:5])
for start in range(first, last, size):
    points = range(start, min(start + size, last))
    kept.put(task, [StoredRun(p, {"p": p}, {"x": p / 7.0, "y": -p}, {"q": np.full((2, 3), p / 3.0)}) for p in points])
    print(points[-1], flush=True)
"""


def writer(folder, first, last, size=10):
    command = [sys.executable, "-c", WRITER, str(folder), *map(str, (first, last, size))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_models_tasks_and_runs_come_back_as_they_were(tmp_path):
    arm = gs.robots.two_link()
    with gs.store(tmp_path) as kept:
        task = kept.add_task("simulate", {"t_end": 1.0}, arm, name="swing")
        assert kept.add_task("simulate", {"t_end": 1.0}, arm).number == task.number  # the same thing is one task
        x = np.random.default_rng(0).normal(size=(3, 2, 4))
        runs = [
            gs.StoredRun(0, {"m": 0.1}, {"peak": 1 / 3}, {"q": x[0], "n": np.arange(3)}, seconds=0.5),
            gs.StoredRun(1, {"m": 0.2}, failure="it fell"),
            gs.StoredRun(2, {"m": 0.3}, {"peak": 1e-300}, {"q": x[2], "on": np.array([True, False])}),
        ]
        assert kept.put(task, runs) == 3
        assert kept.put(task, runs) == 0
    with gs.store(tmp_path) as kept:
        assert kept.model(task.model) == arm and kept.model(task.model[:8]) == arm
        assert kept.task("swing") == kept.task(task.hash[:10]) == kept.task(1) == task
        back = kept.runs("swing")
        assert [r.point for r in back] == [0, 1, 2] and [r.failure for r in back] == [None, "it fell", None]
        assert back[0].metrics == {"peak": 1 / 3} and back[2].metrics == {"peak": 1e-300}
        assert back[0].inputs == {"m": 0.1} and back[0].seconds == 0.5
        assert np.array_equal(kept.arrays(1, 0)["q"], x[0]) and np.array_equal(kept.arrays(1, 2)["q"], x[2])
        assert kept.arrays(1, 0)["n"].dtype == np.int64 and kept.arrays(1, 2)["on"].dtype == bool
        assert kept.arrays(1, 1) == {}
        assert kept.provenance(1, 0)["versions"]["gyrostat"] == gs.__version__
        assert kept.points(1, "failed") == {1} and kept.faults() == []
        assert kept.put(task, [gs.StoredRun(1, {"m": 0.2}, {"peak": 2.0})]) == 0
        assert kept.put(task, [gs.StoredRun(1, {"m": 0.2}, {"peak": 2.0})], again=True) == 1
        assert kept.runs(1)[1].metrics == {"peak": 2.0}
        assert kept.add_run(task, gs.StoredRun(0, {}, {"peak": 3.0})) == 3


def test_what_put_returned_from_outlives_a_kill_at_any_instant(tmp_path):
    draw, told = random.Random(1), -1
    for _ in range(3):
        process = writer(tmp_path, 0, 3000, 7)
        while True:  # some groups, then an instant within the next one
            told = max(told, int(process.stdout.readline()))
            if draw.random() < 0.1:
                break
        time.sleep(draw.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        told = max([told, *(int(x) for x in process.communicate()[0].split())])
    with gs.store(tmp_path) as kept:
        runs = kept.runs("count")
        points = [r.point for r in runs]
        assert points == sorted(set(points)) and set(range(told + 1)) <= set(points)
        assert all(r.metrics == {"x": r.point / 7.0, "y": -float(r.point)} for r in runs)
        assert all(np.array_equal(kept.arrays("count", p)["q"], np.full((2, 3), p / 3.0)) for p in points[::50])
        assert kept.faults() == []
        kept.gc(young=0.0)
        assert kept.faults() == [] and not [n for n in os.listdir(tmp_path / "arrays") if n.endswith(".part")]


def test_two_processes_write_a_thousand_results_each(tmp_path):
    gs.store(tmp_path).close()
    both = [writer(tmp_path, 0, 1000), writer(tmp_path, 500, 1500)]  # half of them the same
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    with gs.store(tmp_path) as kept:
        assert [r.point for r in kept.runs("count")] == list(range(1500)) and len(kept.tasks()) == 1


def test_a_full_disk_is_an_error_and_what_was_stored_stays(tmp_path):
    code = """
import resource, signal, sys
import numpy as np, gyrostat as gs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
kept = gs.store(sys.argv[1])
task = kept.add_task("count", {})
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
x = np.random.default_rng(0).normal(size=1000)
try:
    for p in range(10_000):
        kept.put(task, [gs.StoredRun(p, {}, {"x": 1.0}, {"q": x[: 10 if p % 2 else 0]} if p % 2 else {})])
        print(p)
except gs.StoreError as error:
    print(error)
try:
    kept.put(task, [gs.StoredRun(99_999, {}, {}, {"q": np.random.default_rng(1).normal(size=100_000)})])
except gs.StoreError as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    *done, table, arrays = answer.stdout.splitlines()
    assert "cannot write" in table and "Hint" in table
    assert "cannot be written" in arrays and "Hint: make room" in arrays
    with gs.store(tmp_path) as kept:
        assert kept.points("count") == set(range(len(done))) and kept.faults() == []


def test_files_that_are_no_stores_are_refused_with_the_reason(tmp_path):
    def opened(name, content):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes(content)
        return gs.store(tmp_path / name)

    good = tmp_path / "good"
    with gs.store(good) as kept:
        task = kept.add_task("count", {})
        kept.put(task, [gs.StoredRun(p, {}, {"x": 1.0}, {"q": np.arange(100.0)}) for p in range(300)])
    content = (good / FILE).read_bytes()
    with pytest.raises(gs.StoreError, match="Hint"):
        opened("cut", content[: len(content) // 2])
    with pytest.raises(gs.StoreError, match="no data base"):
        opened("pickle", b"\x80\x04\x95" + b"cos\nsystem\n" * 50)
    for name, statement, words in (
        ("view", "CREATE VIEW metrics2 AS SELECT 1", "view 'metrics2'"),
        ("trigger", "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM metrics; END", "trigger 't'"),
        ("other", "DROP TABLE metrics", "no table 'metrics'"),
        ("newer", f"UPDATE about SET value = '{len(VERSIONS) + 1}' WHERE key = 'version'", "newer gyrostat"),
        ("silent", "DELETE FROM about", "does not say so"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes(content)
        with sqlite3.connect(tmp_path / name / FILE) as raw:
            raw.execute(statement)
        raw.close()
        with pytest.raises(gs.StoreError, match=words):
            gs.store(tmp_path / name)
    with sqlite3.connect(good / FILE) as raw:
        raw.execute("UPDATE arrays SET file = '../../secret' WHERE point = 0")
        raw.execute("UPDATE models SET text = 'x'")
    raw.close()
    with gs.store(good) as kept:
        with pytest.raises(gs.StoreError, match="no name of a file of arrays"):
            kept.arrays("count", 0)
        (file,) = [p for p in (good / "arrays").iterdir()]
        file.write_bytes(file.read_bytes()[:200])
        assert kept.faults()
        with pytest.raises(gs.StoreError, match="cannot be read"):
            kept.arrays("count", 1)


def test_wrong_words_are_answered(tmp_path):
    with pytest.raises(gs.StoreError, match="no store is known behind 'mysql://x'"):
        gs.store("mysql://x")
    with gs.store(tmp_path) as kept:
        task = kept.add_task("count", {}, name="first")
        with pytest.raises(gs.StoreError, match=r"'x' is nan. Hint: a run without a number has failed"):
            kept.put(task, [gs.StoredRun(0, {}, {"x": float("nan")})])
        with pytest.raises(gs.StoreError, match=r"has 0 tasks 'frist'.*first"):
            kept.task("frist")
        with pytest.raises(gs.StoreError, match="no model whose hash begins"):
            kept.model("abc")
        with pytest.raises(gs.StoreError, match="no hash"):
            kept.model("%")
        with pytest.raises(gs.StoreError, match="array 'q' has no numbers"):
            kept.put(task, [gs.StoredRun(0, {}, {}, {"q": np.array(["x"])})])
        with pytest.raises(gs.StoreError, match="no run 7"):
            kept.arrays(task, 7)
        assert kept.points(task) == set()
    with pytest.raises(gs.StoreError, match="arrays="):
        gs.store("postgresql://nobody@localhost/none")
