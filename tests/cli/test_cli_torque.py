"""`gyrostat torque`: trajectories in, torques out, and every way in which a CSV file can be wrong."""

import csv
import io
import json
import time

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.cli import trajectory
from gyrostat.cli.differences import motion_of, rates_of
from tests.support.command_line import ARM, Terminal


@pytest.fixture
def run(capsys):
    return Terminal(capsys)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


HEAD = "t,q.shoulder,q.elbow,v.shoulder,v.elbow,a.shoulder,a.elbow"


def motion(n: int = 50, h: float = 0.01) -> tuple[np.ndarray, ...]:
    """t, q, v, a of two sines."""
    t = h * np.arange(n)
    w = np.array([2.0, 3.0])
    x = t[:, None] * w
    return t, np.sin(x), w * np.cos(x), -(w**2) * np.sin(x)


def write(path, head: str, *columns: np.ndarray):
    rows = np.column_stack(columns)
    path.write_text(head + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
    return path


def table(text: str) -> tuple[list[str], np.ndarray]:
    head, *rows = csv.reader(io.StringIO(text))
    return head, np.array(rows, dtype=float)


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "motion.csv", HEAD, *motion())


# ------------------------------------------------------------------------------------------------ right ones
def test_torques_are_those_of_inverse_dynamics(run, arm, file):
    t, q, v, a = motion()
    code, out, err = run("torque", arm, file, "--quiet")
    head, rows = table(out)
    assert code == 0 and err == "" and head == ["t", "tau.shoulder", "tau.elbow"]
    np.testing.assert_array_equal(rows[:, 0], t)
    np.testing.assert_array_equal(rows[:, 1:], gs.rnea(gs.load(arm), q, v, a))


def test_columns_may_stand_in_any_order_and_be_quoted(run, arm, tmp_path, file):
    t, q, v, a = motion()
    head = '"a.elbow", a.shoulder ,v.elbow,v.shoulder,q.elbow,"q.shoulder",remark'
    other = write(tmp_path / "other.csv", head, a[:, ::-1], v[:, ::-1], q[:, ::-1], t)
    code, out, err = run("torque", arm, other)
    assert code == 0 and "columns that are not used: remark" in err
    assert table(out)[0] == ["tau.shoulder", "tau.elbow"]
    np.testing.assert_array_equal(table(out)[1], table(run("torque", arm, file).out)[1][:, 1:])


def test_empty_lines_windows_line_ends_and_byte_order_marks_are_fine(run, arm, file):
    want = run("torque", arm, file).out
    text = file.read_text().replace("\n", "\r\n\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert run("torque", arm, file).out == want


def test_the_trajectory_may_come_from_stdin(run, arm, file, monkeypatch):
    want = run("torque", arm, file).out
    monkeypatch.setattr("sys.stdin", io.StringIO(file.read_text()))
    assert run("torque", arm, "-").out == want


def test_a_file_is_written_whole(run, arm, file, tmp_path):
    out = tmp_path / "torques.csv"
    code, printed, err = run("torque", arm, file, "-o", out)
    assert (code, printed) == (0, "") and f"{out}: 50 rows" in err
    assert out.read_text() == run("torque", arm, file).out
    assert run("torque", arm, file, "-o", out).code == 2
    summary = json.loads(run("torque", arm, file, "-o", out, "--force", "--json").out)
    assert summary["rows"] == 50
    np.testing.assert_array_equal(list(summary["largest"].values()), np.abs(table(out.read_text())[1][:, 1:]).max(0))


def test_json_holds_the_same_numbers(run, arm, file):
    found = json.loads(run("torque", arm, file, "--json").out)
    head, rows = table(run("torque", arm, file).out)
    assert found["columns"] == head
    np.testing.assert_array_equal(found["rows"], rows)


def test_a_free_base_has_coordinates_and_rates_of_its_own(run, arm, tmp_path):
    model = gs.load(arm, base="free")
    rng = np.random.default_rng(1)
    q, (v, a) = gs.random_configuration(model, rng, 5), rng.normal(size=(2, 5, model.nv))
    names = [f"q.{c}" for c in model.coordinates] + [f"{x}.{d}" for x in "va" for d in model.dofs]
    path = write(tmp_path / "free.csv", ",".join(names), q, v, a)
    code, out, _ = run("torque", arm, path, "--base", "free")
    assert code == 0
    np.testing.assert_array_equal(table(out)[1], gs.rnea(model, q, v, a))


def test_blocks_do_not_change_the_answer(run, arm, tmp_path, file, monkeypatch):
    t, q, v, _ = motion()
    bare = write(tmp_path / "bare.csv", "t,q.shoulder,q.elbow", t, q)
    half = write(tmp_path / "half.csv", "t,q.shoulder,q.elbow,v.shoulder,v.elbow", t, q, v)
    commands = [("torque", arm, file), ("torque", arm, bare, "-d"), ("torque", arm, half, "-d")]
    want = [run(*words).out for words in commands]
    for rows in (1, 2, 3, 7, 49, 50):
        monkeypatch.setattr(trajectory, "ROWS", rows)
        for words, text in zip(commands, want, strict=True):
            np.testing.assert_allclose(table(run(*words).out)[1], table(text)[1], rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------------------------------------ differences
def test_differences_are_only_taken_when_asked_for(run, arm, tmp_path):
    t, q, v, a = motion()
    bare = write(tmp_path / "bare.csv", "t,q.shoulder,q.elbow", t, q)
    code, _, err = run("torque", arm, bare)
    assert code == 1 and "no columns for v and a" in err and "--differentiate" in err
    code, out, _ = run("torque", arm, bare, "--differentiate")
    assert code == 0
    want = gs.rnea(gs.load(arm), q, v, a)
    np.testing.assert_allclose(table(out)[1][1:-1, 1:], want[1:-1], atol=2e-3)


def test_given_columns_are_kept_and_the_missing_ones_derived(run, arm, tmp_path):
    t, q, _, a = motion()
    path = write(tmp_path / "some.csv", "t,q.shoulder,q.elbow,a.shoulder,a.elbow", t, q, a)
    model = gs.load(arm)
    want = gs.rnea(model, q, motion_of(model, t, q)[0], a)
    np.testing.assert_allclose(table(run("torque", arm, path, "-d").out)[1][:, 1:], want, atol=1e-12)


def test_differences_are_of_second_order_also_on_the_manifold():
    """A spinning, flying body: errors fall by four when the step is halved, at the ends, too (a: by two there)."""
    model = gs.robots.pendulum().replace({"context.base": "free"})
    rng = np.random.default_rng(3)
    c1, c2 = rng.normal(size=(2, model.nv))
    start = gs.random_configuration(model, rng)

    def errors(n: int) -> np.ndarray:
        t = np.linspace(0.0, 0.4, n + 1)
        # q(t) = q0 exp(c1 t): v = c1, a = 0; a second factor makes both vary
        fine = 800
        s = np.linspace(0.0, 0.4, fine + 1)
        rate = c1 + np.outer(np.sin(3.0 * s), c2)
        q = np.empty((fine + 1, model.nq))
        q[0] = start
        middle = c1 + np.outer(np.sin(3.0 * (s[:-1] + s[1:]) / 2), c2)
        for k in range(fine):
            q[k + 1] = gs.integrate(model, q[k], middle[k], s[1] - s[0])
        every = fine // n
        v, a = motion_of(model, t, q[::every])
        true_a = np.outer(3.0 * np.cos(3.0 * t), c2)
        return np.array([np.abs(v - rate[::every]).max(), np.abs(a - true_a)[1:-1].max()])

    coarse, fine = errors(20), errors(40)
    assert np.all(np.log2(coarse / fine) > 1.7)


def test_rates_of_a_parabola_are_exact_on_any_grid():
    t = np.array([0.0, 0.1, 0.35, 0.4, 1.0])
    x = np.column_stack([3.0 * t**2 - t, 2.0 + t])
    np.testing.assert_allclose(rates_of(t, x), np.column_stack([6.0 * t - 1.0, np.ones(5)]), atol=1e-13)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q.shoulder,q.elbow\n0,0\n", "no columns for v and a, and no column t"),
        ("t,q.shoulder,q.elbow\n0,0,0\n1,0,0\n", "there are only 2. Hint: differences need three rows"),
        ("t,q.shoulder,q.elbow\n0,0,0\n1,0,0\n1,0,0\n", ":4): t goes from 1 to 1"),
        ("t,q.shoulder,q.elbow\n0,0,0\n2,0,0\n1,0,0\n", ":4): t goes from 2 to 1"),
        ("t,q.shoulder,q.elbow\n", "there are no rows below the header"),
    ],
)
def test_differences_need_times_that_grow(run, arm, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    code, _, err = run("torque", arm, path, "--differentiate")
    assert code == 1 and message in err


# ------------------------------------------------------------------------------------------------ wrong ones
ROW = "0,0,0,0,0,0,0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1): the file is empty"),
        ("\n" + ROW, ":1): the first line is empty"),
        (HEAD + "\n", "there are no rows below the header"),
        (HEAD.replace("q.elbow", "q.elbwo") + "\n" + ROW, "nothing called 'q.elbwo'. Hint: did you mean 'q.elbow'?"),
        (HEAD.replace("q.elbow", "q.shoulder") + "\n" + ROW, "the column 'q.shoulder' is there twice"),
        (HEAD.replace("v.elbow", "x") + "\n" + ROW, "columns are missing: v.elbow. Hint: give all v, or none"),
        ("t,tau.elbow\n0,0\n", "there are no columns q.<coordinate>. Hint: name them q.shoulder, q.elbow"),
        (HEAD.replace(",", ";") + "\n", "separated by commas"),
        (HEAD + "\n" + ROW + "0,0,0,zero,0,0,0\n", ":3): 'v.shoulder' is 'zero', not a number"),
        (HEAD + "\n" + ROW + "\n0,0,0,,0,0,0\n", ":4): 'v.shoulder' is '', not a number"),
        (HEAD + "\n0,0,0,0,0,0,nan\n", ":2): 'a.elbow' is nan, not a finite number"),
        (HEAD + "\n0,0,0,0,0,0,-inf\n", ":2): 'a.elbow' is -inf, not a finite number"),
        (HEAD + "\n0,0,0,0,0,0,1e999\n", ":2): 'a.elbow' is inf, not a finite number"),
        (HEAD + "\n" + ROW + "0,0,0,0,0,0\n", ":3): there are 6 numbers, expected 7"),
        (HEAD + "\n" + ROW + "0,0,0,0,0,0,0,0\n", ":3): there are 8 numbers, expected 7"),
        (HEAD + "\n0,0,0,0,0,0\n0,0,0,0,0,0\n", ":2): there are 6 numbers, expected 7"),
        (HEAD + "\n0;0;0;0;0;0;0\n", "not by semicolons"),
        (HEAD + "\n0,0,0,0,0,0,0x10\n", "'0x10', not a number"),
        (HEAD + "\n0,0,0,0,0,0,1_0\n", "'1_0', not a number"),
        (HEAD + "\n# 1,0,0,0,0,0,0\n", "'t' is '# 1', not a number"),
        (HEAD + "\n0,0,0,0,0,0,1e308\n0,0,1e308,1e308,0,0,0\n", "not finite"),
        ('"' + HEAD + "\n" + ROW, "the names cannot be read"),
        ("\x00\x01\x02", "there are no columns q."),
        (HEAD + "\n" + "0," * 100_000 + "0\n", "there are 100001 numbers, expected 7"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(run, arm, tmp_path, text, message):
    path, out = tmp_path / "bad.csv", tmp_path / "out.csv"
    path.write_text(text)
    code, printed, err = run("torque", arm, path, "-o", out)
    assert code == 1 and printed == "" and message in err and "Traceback" not in err
    assert len(err) < 2000 and not out.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.urdf", "bad.csv"], "no drafts are left"


def test_bytes_that_are_no_text_are_refused(run, arm, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes((HEAD + "\n").encode() + b"0,0,0,\xff\xfe,0,0,0\n")
    code, _, err = run("torque", arm, path)
    assert code == 1 and "'v.shoulder' is" in err


@pytest.mark.parametrize("head", ["", HEAD + "\n", HEAD + "\n" + ROW])
def test_a_line_that_never_ends_takes_neither_memory_nor_time(run, arm, tmp_path, head):
    path = tmp_path / "long.csv"
    with path.open("wb") as file:
        file.write(head.encode())
        file.truncate(2**30)  # a hole of zeros: a line of one gigabyte that needs no disk
    start = time.process_time()
    code, _, err = run("torque", arm, path)
    assert time.process_time() - start < 5.0
    assert code == 1 and f"the line has more than {trajectory.MAX_LINE} characters" in err


def test_the_line_of_a_state_that_is_refused_is_told(run, arm, tmp_path, monkeypatch):
    model = gs.load(arm, base="free")
    monkeypatch.setattr(trajectory, "ROWS", 2)
    q = np.tile(gs.neutral(model), (5, 1))
    q[3, 3:7] = 2.0  # no unit quaternion
    names = [f"q.{c}" for c in model.coordinates] + [f"{x}.{d}" for x in "va" for d in model.dofs]
    path = write(tmp_path / "free.csv", ",".join(names), q, np.zeros((5, 2 * model.nv)))
    code, _, err = run("torque", arm, path, "--base", "free")
    assert code == 1 and "free.csv:5): " in err and "has length 4, expected 1" in err


@pytest.mark.parametrize("name", ["none.csv", "."])
def test_a_trajectory_that_cannot_be_read(run, arm, tmp_path, name):
    code, _, err = run("torque", arm, tmp_path / name)
    assert code == 1 and "cannot be read" in err


def test_a_place_that_cannot_be_written(run, arm, file, tmp_path):
    code, _, err = run("torque", arm, file, "-o", tmp_path / "none" / "out.csv")
    assert code == 1 and "cannot be written" in err


def test_writing_over_the_input_needs_force_and_is_safe(run, arm, file):
    want = run("torque", arm, file).out
    assert run("torque", arm, file, "-o", file).code == 2
    assert run("torque", arm, file, "-o", file, "--force").code == 0
    assert file.read_text() == want


@pytest.mark.slow
def test_a_million_rows_pass_in_bounded_memory(run, arm, tmp_path):
    import resource

    line = "0.1,0.2,0.3,0.4,0.5,0.6,0.7\n"
    path = tmp_path / "long.csv"
    path.write_text(HEAD + "\n" + line * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run("torque", arm, path, "-o", tmp_path / "out.csv", "--quiet").code == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
    with (tmp_path / "out.csv").open() as file:
        assert sum(1 for _ in file) == 1_000_001
