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


def edited(folder, *statements):
    with sqlite3.connect(folder / FILE) as raw:
        for statement in statements:
            raw.execute(statement)
    raw.close()


@pytest.fixture
def filled(tmp_path):
    folder = tmp_path / "filled"
    with gs.store(folder) as kept:
        task = kept.add_task("count", {"n": 3}, gs.robots.two_link())
        kept.put(task, [gs.StoredRun(p, {"p": p}, {"x": p / 7.0}, {"q": np.arange(3.0)}) for p in range(3)])
    return folder


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE metrics SET value = 'x'", "a number of a run is 'x'"),
        ("UPDATE metrics SET value = 9e999", "a number of a run is inf"),
        ("UPDATE runs SET inputs = '[1]'", "not by name"),
        ("UPDATE runs SET inputs = '" + "[" * 100_000 + "'", "data are no JSON"),
        ("UPDATE runs SET inputs = x'8004'", "data are no JSON"),
        ("UPDATE runs SET seconds = 'long'", "a number of a run is 'long'"),
        ("UPDATE tasks SET data = 'x'", "data are no JSON"),
        ("UPDATE tasks SET number = 'one'", "a number of a task or point is 'one'"),
    ],
)
def test_values_that_a_store_cannot_have_written_are_refused(filled, statement, words):
    edited(filled, statement)
    with gs.store(filled) as kept, pytest.raises(gs.StoreError) as caught:
        kept.runs("count")
    assert words in str(caught.value) and "Hint" in str(caught.value)


def test_tables_with_other_columns_and_links_out_of_the_folder_are_refused(filled, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE).write_bytes((filled / FILE).read_bytes())
    edited(other, "ALTER TABLE metrics RENAME COLUMN value TO number")
    with pytest.raises(gs.StoreError, match="table 'metrics' has no column 'value'"):
        gs.store(other)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / FILE).symlink_to(filled / FILE)
    with pytest.raises(gs.StoreError, match="is a link"):
        gs.store(linked)
    (linked / FILE).unlink()
    (linked / "arrays").symlink_to(tmp_path)
    with pytest.raises(gs.StoreError, match="the folder is a link"):
        gs.store(linked)
    os.mkfifo(other / "pipe")
    (other / FILE).unlink()
    (other / "pipe").rename(other / FILE)
    with pytest.raises(gs.StoreError, match="no file"):
        gs.store(other)


def test_arrays_that_were_changed_are_never_read(filled):
    import pyarrow
    from pyarrow import parquet

    (file,) = (filled / "arrays").iterdir()
    content = file.read_bytes()
    table = parquet.read_table(file)
    parquet.write_table(table.set_column(0, "q", pyarrow.array([[9.0] * 3] * 3)), file)
    with gs.store(filled) as kept, pytest.raises(gs.StoreError, match="content is not what its name says"):
        kept.arrays("count", 0)
    file.write_bytes(content)
    edited(filled, "UPDATE arrays SET place = -1 WHERE point = 1", "UPDATE arrays SET place = 1.5 WHERE point = 2")
    with gs.store(filled) as kept:
        assert np.array_equal(kept.arrays("count", 0)["q"], np.arange(3.0)) and kept.faults() == []
        for point in (1, 2):
            with pytest.raises(gs.StoreError, match="there is no such row"):
                kept.arrays("count", point)
    secret = filled.parent / "secret"
    secret.write_bytes(content)
    file.unlink()
    file.symlink_to(secret)
    with gs.store(filled) as kept:
        assert len(kept.faults()) == 1
        with pytest.raises(gs.StoreError, match="it is not there"):
            kept.arrays("count", 0)


def test_a_file_that_unpacks_to_more_than_memory_is_refused(filled, monkeypatch):
    from gyrostat.store import array_files

    monkeypatch.setattr(array_files, "MAX_BYTES", 100_000)
    with gs.store(filled) as kept:
        kept.put("count", [gs.StoredRun(7, {}, {}, {"q": np.zeros(100_000)})])
        assert os.path.getsize(max((filled / "arrays").iterdir(), key=os.path.getmtime)) < 20_000
        with pytest.raises(gs.StoreError, match="unpacks to more than 100000 bytes"):
            kept.arrays("count", 7)


def test_an_older_store_becomes_one_of_today_or_stays_as_it_was(filled, monkeypatch):
    from gyrostat.store import schema

    good = (*VERSIONS, ("ALTER TABLE tasks ADD COLUMN note TEXT NOT NULL DEFAULT 'none'",))
    monkeypatch.setattr(schema, "VERSIONS", (*good, ("UPDATE tasks SET note = 'x'", "INSERT INTO nowhere VALUES (1)")))
    before = (filled / FILE).read_bytes()
    with pytest.raises(gs.StoreError, match="nowhere"):
        gs.store(filled)
    with sqlite3.connect(filled / FILE) as raw:
        assert dict(raw.execute("SELECT key, value FROM about"))["version"] == str(len(VERSIONS))
    raw.close()
    assert before[:16] == (filled / FILE).read_bytes()[:16]
    monkeypatch.setattr(schema, "VERSIONS", good)
    monkeypatch.setitem(schema.COLUMNS, "tasks", schema.COLUMNS["tasks"] | {"note"})
    with gs.store(filled) as kept:
        assert [r.metrics for r in kept.runs("count")] == [{"x": p / 7.0} for p in range(3)]
    monkeypatch.undo()
    with pytest.raises(gs.StoreError, match="use the newer gyrostat"):
        gs.store(filled)


def test_gc_leaves_what_somebody_is_about_to_name_and_takes_the_rest(filled):
    with gs.store(filled) as kept:
        kept.forget("count")
        (file,) = (filled / "arrays").iterdir()
        os.utime(file, (1.0, 1.0))  # an old file that nobody names
        name = kept._arrays.write([{"q": np.arange(3.0)}] * 3)  # and somebody who writes the same
        assert name == file.name and kept.gc()["files"] == 0
        os.utime(file, (1.0, 1.0))
        assert kept.gc()["files"] == 1 and not file.exists()


def test_points_that_occur_twice_in_one_call_are_refused(filled):
    with gs.store(filled) as kept, pytest.raises(gs.StoreError, match="occur twice"):
        kept.put("count", [gs.StoredRun(8, {}, {"x": 1.0}), gs.StoredRun(8, {}, {"x": 2.0})])


def test_wrong_words_are_answered(tmp_path):
    with pytest.raises(gs.StoreError, match="no store is known behind 'mysql://'"):
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
    for address in ("nobody:secret@localhost:1/x", "nobody:sec@ret@localhost/x", "nobody:secret@localhost:y/x"):
        with pytest.raises(gs.StoreError, match="Hint") as caught:
            gs.store(f"postgresql://{address}?password=secret")
        assert "sec" not in str(caught.value)
