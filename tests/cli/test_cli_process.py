"""`gyrostat` as a process of its own: start, exit codes, pipes, terminals."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.support.command_line import ARM, BAD_ARM

PROGRAM = [sys.executable, "-m", "gyrostat"]


def gyrostat(*words: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60, **options)


@pytest.mark.skipif(os.name != "posix", reason="times of child processes are counted by POSIX")
@pytest.mark.parametrize("words", [("--help",), ("--version",), ("torque", "--help")])
def test_it_starts_in_less_than_half_a_second(words):
    """Seconds of the processor: those on the wall depend on what else the machine does."""
    found = []
    while len(found) < 4 and not (found and found[-1] < 0.5):
        before = os.times()
        assert gyrostat(*words).returncode == 0
        after = os.times()
        found.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert min(found) < 0.5


def test_help_loads_neither_numpy_nor_rich():
    code = (
        "import sys; from gyrostat.cli import main; main(['--help']); "
        "sys.exit(' '.join({'numpy', 'rich', 'casadi', 'llvmlite', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "\n" or done.stderr == "", done.stderr


def test_exit_codes(tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text(BAD_ARM)
    assert gyrostat("check", "lwr").returncode == 0
    assert gyrostat("check", bad).returncode == 1
    assert gyrostat("check").returncode == 2


def test_debug_shows_the_traceback_and_nothing_else_does(tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text(BAD_ARM)
    assert "Traceback" not in gyrostat("info", bad).stderr
    shown = gyrostat("info", bad, "--debug")
    assert "Traceback" in shown.stderr and shown.returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize("words", ["info lwr", "frames lwr --json", "export yaml lwr", "--help", "demo lwr"])
def test_a_pipe_that_closes_early_is_no_mistake(words):
    command = f"{sys.executable} -m gyrostat {words} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
def test_a_reader_that_is_gone_ends_a_long_output():
    command = f"{sys.executable} -m gyrostat frames lwr --json | (exec 0<&-; sleep 1); echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stderr == "" and done.stdout.strip() == "141"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full of Linux")
def test_a_full_disk_is_told_and_a_closed_stdout_is_none_of_our_business():
    command = f"{sys.executable} -m gyrostat --help > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "No space left" in done.stderr
    command = f"{sys.executable} -m gyrostat info pendulum >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_names_that_the_encoding_lacks_are_printed_as_escapes(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("elbow", "Ellbögen"), "utf-8")
    done = gyrostat("info", path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "Ellb\\xf6gen" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_a_terminal_gets_tables_with_lines_and_a_pipe_does_not():
    import pty

    done, text = _in_terminal(pty, "info", "lwr")
    assert done == 0 and "│" in text and "q7" in text
    done, text = _in_terminal(pty, "info", "lwr", "--json")
    assert done == 0 and "\x1b" not in text and json.loads(text)["nv"] == 7
    assert "│" not in gyrostat("info", "lwr").stdout


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_a_narrow_terminal_loses_no_column():
    import pty

    done, text = _in_terminal(pty, "frames", "lwr", columns=60)
    assert done == 0 and "link7.flange" in text and "qw" in text


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_viewer_ends_well_with_control_c():
    pytest.importorskip("gyrostat.view.viewer.viewer", reason="the viewer is not there yet")
    pytest.importorskip("viser")
    words = [*PROGRAM, "view", "pendulum", "--no-browser", "--port", "8317"]

    def listen() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background is started deaf to it

    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen
    ) as process:
        try:
            assert process.stdout is not None
            assert "http://localhost:" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0 and "Traceback" not in err


def test_control_c_while_the_viewer_starts_is_its_proper_end_too(monkeypatch):
    viewer = pytest.importorskip("gyrostat.view.viewer.viewer")
    from gyrostat.cli import main

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(viewer, "view", interrupted)
    assert main(["view", "pendulum", "--no-browser"]) == 0


def _in_terminal(pty, *words: str, columns: int = 120) -> tuple[int, str]:
    """Exit code and everything that is shown."""
    own, other = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    process = subprocess.Popen([*PROGRAM, *words], stdin=other, stdout=other, stderr=other, env=env)
    os.close(other)
    shown = b""
    try:
        while data := os.read(own, 65536):
            shown += data
    except OSError:  # the other end is gone
        pass
    finally:
        os.close(own)
    return process.wait(60), shown.decode()
