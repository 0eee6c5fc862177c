"""Compiled objects on disk: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm import compile as compile_module
from gyrostat.engine.llvm import object_cache as cache_module
from gyrostat.engine.llvm.compile import key_of
from gyrostat.engine.llvm.object_cache import MAGIC, NEW, ObjectCache, folder
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions as on POSIX systems")


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """An empty cache."""
    path = tmp_path / "objects"
    monkeypatch.setenv("GYROSTAT_CACHE", str(path))
    return path


@pytest.fixture(scope="module")
def program() -> Program:
    return record(lambda x: {"y": np.sin(x) * 2.0 + x[0]}, {"x": (3,)}, "small")


X = np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])


def result_and_note(program: Program) -> tuple[np.ndarray, str]:
    kernel = Kernel(program)
    found = kernel.call(X)["y"]
    np.testing.assert_allclose(found, np.sin(X) * 2.0 + X[:, :1], rtol=1e-14)
    return found, kernel.codes()["batches"].cache_note


def objects(path: Path) -> list[Path]:
    return sorted(path.glob("*.o"))


# ---------------------------------------------------------------------------------------------- where


def test_the_folder_is_what_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "here"))
    assert folder() == tmp_path / "here"
    monkeypatch.delenv("GYROSTAT_CACHE")
    if sys.platform not in ("win32", "darwin"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert folder() == tmp_path / "gyrostat"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert folder() == Path.home() / ".cache" / "gyrostat"


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "false"])
def test_the_cache_can_be_switched_off(monkeypatch, program, word, tmp_path):
    monkeypatch.setenv("GYROSTAT_CACHE", word)
    monkeypatch.chdir(tmp_path)
    assert folder() is None
    assert result_and_note(program)[1] == "off"
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_there_is_no_cache_but_everything_works(monkeypatch, program):
    monkeypatch.delenv("GYROSTAT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache_module.Path, "home", homeless)
    assert result_and_note(program)[1] == "unusable: Could not determine home directory."


# ---------------------------------------------------------------------------------------------- found again


def test_the_second_kernel_of_a_program_finds_the_object_of_the_first(place, program):
    first, note = result_and_note(program)
    assert note == "miss" and len(objects(place)) == 1
    second, note = result_and_note(replace(program, name="the name does not matter"))
    assert note == "hit" and len(objects(place)) == 1
    np.testing.assert_array_equal(first, second)


def test_a_second_process_finds_the_objects_of_the_first(place):
    script = (
        "import numpy as np, gyrostat as gs\n"
        "solver = gs.InverseDynamics(gs.robots.pendulum())\n"
        "one = solver(np.array([0.3]), np.array([0.1]), np.array([0.2]))\n"
        "many = solver(np.full((5, 1), 0.3), np.full((5, 1), 0.1), np.full((5, 1), 0.2))\n"
        "print([line.split('cache ')[1].split(',')[0] for line in solver.explain().splitlines() if 'cache' in line])\n"
        "print(one[0].hex(), many[4, 0].hex())\n"
    )
    told = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    ]
    assert told[0][0] == "['miss', 'miss']" and told[1][0] == "['hit', 'hit']"
    assert told[0][1] == told[1][1]


def test_explain_tells_hits_and_misses(place):
    for word in ("miss", "hit"):
        solver = gs.InverseDynamics(gs.robots.pendulum())
        solver(np.zeros((3, 1)), np.zeros(1), np.zeros(1))
        assert f"cache {word}" in solver.explain()


def test_the_key_depends_on_program_machine_compiler_and_generators(monkeypatch):
    keys = {
        key_of("digest", "batch", "4"),
        key_of("digest2", "batch", "4"),
        key_of("digest", "batch", "8"),
        key_of("digest"),
    }
    monkeypatch.setattr(compile_module, "FORM", "another version of the generators")
    keys.add(key_of("digest", "batch", "4"))
    for change in ({"cpu": "other"}, {"features": "+other"}, {"triple": "other"}):
        monkeypatch.setattr(compile_module, "host", lambda change=change: replace(host(), **change))
        keys.add(key_of("digest", "batch", "4"))
    assert len(keys) == 8
    assert "llvm" in host().identity and "llvmlite" in host().identity


def test_the_hash_of_the_generators_changes_with_the_text_of_each_of_their_files(tmp_path):
    engine = Path(compile_module.__file__).parents[1]
    shutil.copytree(engine, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    assert compile_module.form_of(tmp_path / "engine") == compile_module.FORM
    files = [*(tmp_path / "engine").rglob("*.py")]
    assert {file.parent.name for file in files} == {"engine", "tracing", "llvm", "cpython", "drivers"}
    for file in files:
        text = file.read_text("utf-8")
        file.write_text(text + "# changed", "utf-8")
        assert compile_module.form_of(tmp_path / "engine") != compile_module.FORM, file
        file.write_text(text, "utf-8")


# ---------------------------------------------------------------------------------------------- damage


def flipped(k: int):
    return lambda data: data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "truncated in the head": lambda data: data[:10],
    "truncated in the digest": lambda data: data[: len(MAGIC) + 16],
    "without object": lambda data: data[: len(MAGIC) + 32],
    "truncated in the middle": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one byte more": lambda data: data + b"\0",
    "other magic": flipped(3),
    "other digest": flipped(len(MAGIC) + 5),
    "altered code": flipped(-200),
    "altered first byte": flipped(len(MAGIC) + 32),
    "zeros": lambda data: bytes(len(data)),
    "not ours": lambda data: b"something else entirely" * 1000,
}


@pytest.mark.parametrize("name", list(DAMAGES))
def test_a_damaged_file_is_rebuilt(place, program, name):
    want, _ = result_and_note(program)
    (file,) = objects(place)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[name](whole))
    got, note = result_and_note(program)
    assert note == "miss (damaged file is rebuilt)"
    np.testing.assert_array_equal(got, want)
    assert file.read_bytes() == whole
    assert result_and_note(program)[1] == "hit"


def test_the_object_of_another_program_is_not_taken(place, program):
    other = record(lambda x: {"y": np.cos(x) - x[0]}, {"x": (3,)})
    Kernel(other).call(X)
    (wrong,) = objects(place)
    stolen = wrong.read_bytes()
    wrong.unlink()
    result_and_note(program)
    (file,) = objects(place)
    file.write_bytes(stolen)
    assert result_and_note(program)[1] == "miss (damaged file is rebuilt)"


def test_a_folder_in_the_place_of_a_file_does_no_harm(place, program):
    result_and_note(program)
    (file,) = objects(place)
    file.unlink()
    file.mkdir()
    assert result_and_note(program)[1].startswith("miss, not written")
    assert [p.name for p in place.iterdir()] == [file.name]


# ---------------------------------------------------------------------------------------------- not to be trusted


def assert_refused(place: Path, program: Program, words: str) -> None:
    note = result_and_note(program)[1]
    assert note.startswith(("refused: ", "unusable: ")) and str(place) in note and words in note
    solver = gs.InverseDynamics(gs.robots.pendulum())
    solver(np.zeros((3, 1)), np.zeros(1), np.zeros(1))
    assert words in solver.explain()


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(place, program, mode):
    place.mkdir()
    place.chmod(mode)
    assert_refused(place, program, "can be written by others")
    assert list(place.iterdir()) == []


@posix
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_a_folder_that_others_may_only_read_is_used(place, program, mode):
    place.mkdir()
    place.chmod(mode)
    assert result_and_note(program)[1] == "miss" and len(objects(place)) == 1


@posix
def test_a_new_folder_is_private(place, program):
    result_and_note(program)
    assert place.stat().st_mode & 0o077 == 0
    assert objects(place)[0].stat().st_mode & 0o077 == 0


@posix
def test_a_symbolic_link_is_refused(place, program):
    real = place.with_name("real")
    real.mkdir(mode=0o700)
    place.symlink_to(real)
    assert_refused(place, program, "is not a folder")
    assert list(real.iterdir()) == []


@posix
def test_the_folder_of_another_user_is_refused(place, program, monkeypatch):
    place.mkdir(mode=0o700)
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert_refused(place, program, "belongs to another user")


def test_a_file_in_the_place_of_the_folder_is_refused(place, program):
    place.write_text("a file")
    assert_refused(place, program, "cannot be made")
    assert place.read_text() == "a file"


def test_a_folder_that_cannot_be_made_is_told(place, program, monkeypatch):
    place.write_text("a file")
    monkeypatch.setenv("GYROSTAT_CACHE", str(place / "below" / "a" / "file"))
    assert_refused(place, program, "cannot be made")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(place, program):
    place.mkdir()
    place.chmod(0o500)
    assert result_and_note(program)[1] == "miss, not written (Permission denied)"


def test_a_full_disk_is_told_and_leaves_nothing_behind(place, program, monkeypatch):
    def full(handle, mode):
        os.close(handle)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    assert result_and_note(program)[1] == "miss, not written (No space left on device)"
    assert list(place.iterdir()) == []
    solver = gs.InverseDynamics(gs.robots.pendulum())
    solver(np.zeros((3, 1)), np.zeros(1), np.zeros(1))
    assert "cache miss, not written (No space left on device)" in solver.explain()


def test_a_failed_rename_leaves_nothing_behind(place, program, monkeypatch):
    def fail(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    assert result_and_note(program)[1] == "miss, not written (Permission denied)"
    assert list(place.iterdir()) == []


def test_a_read_only_disk_still_gives_hits(place, program, monkeypatch):
    result_and_note(program)

    def fail(*args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", fail)
    assert result_and_note(program)[1] == "hit"


# ---------------------------------------------------------------------------------------------- many at once


def test_eight_processes_on_an_empty_cache_all_succeed(place):
    script = (
        "import numpy as np, gyrostat as gs\n"
        "solver = gs.InverseDynamics(gs.robots.chain(4))\n"
        "print(solver(np.full((9, 4), 0.3), np.full(4, 0.1), np.full(4, 0.2))[8].tobytes().hex())\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    told = [p.communicate(timeout=120) for p in processes]
    assert [p.returncode for p in processes] == [0] * 8, told
    assert len({out for out, _ in told}) == 1
    assert len(objects(place)) == 2 == len(list(place.iterdir()))  # code for one state, and for batches


def test_threads_that_put_and_get_one_key_see_whole_objects_or_none(place):
    objects_of = {k: bytes([k]) * (200_000 + k) for k in range(4)}

    def work(k: int) -> set[int]:
        kept, seen = ObjectCache(), set()
        for _ in range(30):
            kept.put("f" * 64, objects_of[k])
            found = kept.get("f" * 64)
            assert found in objects_of.values(), kept.note
            seen.add(found[0])
        return seen

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(list(place.iterdir())) == 1


# ---------------------------------------------------------------------------------------------- bounded


def put_some(sizes: list[int]) -> list[str]:
    kept, keys = ObjectCache(), []
    for k, size in enumerate(sizes):
        key = f"{k:064x}"
        kept.put(key, bytes(size))
        keys.append(key)
        file = folder() / f"{key}.o"
        if file.exists():
            then = time.time() - 1000 + k
            os.utime(file, (then, then))
    return keys


def total(place: Path) -> int:
    return sum(p.stat().st_size for p in place.iterdir() if p.is_file())


def test_the_oldest_objects_go_first_when_the_cache_is_full(place, monkeypatch):
    monkeypatch.setattr(cache_module, "LIMIT", 5 * 1100)
    keys = put_some([1000] * 9)
    assert total(place) <= 5 * 1100
    assert [p.stem for p in objects(place)] == keys[-5:]


def test_an_object_that_is_used_stays(place, monkeypatch):
    monkeypatch.setattr(cache_module, "LIMIT", 4 * 1100)
    keys = put_some([1000] * 4)
    assert ObjectCache().get(keys[0]) == bytes(1000)
    ObjectCache().put("a" * 64, bytes(1000))
    assert {p.stem for p in objects(place)} == {keys[0], *keys[2:], "a" * 64}


def test_only_our_own_files_are_ever_removed(place, monkeypatch):
    """The folder is the user's choice."""
    place.mkdir(mode=0o700)
    theirs = {name: place / name for name in ("thesis.tex", "module.o", "0.o", ".new-year", "photos")}
    for name, file in theirs.items():
        if name == "photos":
            file.mkdir()
            (file / "one.jpg").write_bytes(bytes(5000))
        else:
            file.write_bytes(bytes(5000))
            os.utime(file, (0, 0))
    left_behind = place / f"{NEW}dead"
    left_behind.write_bytes(bytes(3000))
    os.utime(left_behind, (0, 0))
    monkeypatch.setattr(cache_module, "LIMIT", 2200)
    keys = put_some([1000] * 5)
    assert all(file.exists() for file in theirs.values()) and (theirs["photos"] / "one.jpg").exists()
    assert not left_behind.exists()
    assert {p.stem for p in objects(place)} == {"module", "0", *keys[-2:]}


def test_an_object_larger_than_the_cache_does_not_stay(place, monkeypatch, program):
    monkeypatch.setattr(cache_module, "LIMIT", 10)
    assert result_and_note(program)[1] == "miss"
    assert objects(place) == []
