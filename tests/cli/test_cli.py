"""Commands of `gyrostat`, run in this process: what they print, and their exit codes."""

import inspect
import json
import logging
import re
import shlex
import stat
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.cli.models import robots
from gyrostat.robots.catalogue import short_names
from tests.support.command_line import ARM, BAD_ARM, Terminal

COMMANDS = ("info", "check", "torque", "frames", "diagram", "view", "bench", "demo", "cache", "export")
GROUP = ("c", "urdf", "yaml")


@pytest.fixture
def run(capsys):
    return Terminal(capsys)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(BAD_ARM)
    return path


# ------------------------------------------------------------------------------------------------ help and misuse
@pytest.mark.parametrize("command", [(), *((c,) for c in COMMANDS), *(("export", g) for g in GROUP)])
def test_every_command_has_help_with_examples(run, command):
    code, out, err = run(*command, "--help")
    assert code == 0 and err == ""
    assert f"Usage: gyrostat {' '.join(command)}".rstrip() in out
    assert "Examples:\n" in out and out.count("    gyrostat ") >= 1


def test_the_help_lists_every_command_in_whole_sentences(run):
    out = run("--help").out
    listed = out.partition("Commands:")[2].partition("Examples:")[0]
    assert [line.split()[0] for line in listed.strip().splitlines()] == [
        *("info", "robots", "check", "torque", "simulate", "frames", "frequencies", "diagram", "view", "bench", "demo"),
        *("cache", "doctor", "run", "export", "db"),
    ]
    assert "..." not in listed


def test_without_a_command_the_help_goes_to_stderr(run):
    code, out, err = run()
    assert code == 2 and out == "" and err.startswith("Usage: gyrostat")


def test_the_version_is_the_package_s(run):
    assert run("--version") == (0, f"gyrostat {gs.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["inof"], "No such command 'inof'"),
        (["info", "lwr", "--bsae", "free"], "No such option"),
        (["info", "lwr", "--base", "flying"], "'flying' is not one of 'fixed', 'free'"),
        (["check"], "Missing argument 'MODEL...'"),
        (["torque", "lwr"], "Missing argument 'TRAJECTORY.csv'"),
        (["bench", "lwr", "--batch", "many"], "--batch"),
        (["bench", "lwr", "--batch", "0"], "--batch"),
        (["info", "lwx"], "there is no robot 'lwx'. Hint: did you mean 'lwr'?"),
        (["info", "pendulums"], "did you mean 'pendulum'"),
        (["info", "lwr", "--policy", "repair"], "--policy is for files"),
        (["demo", "lwx"], "there is no demonstration 'lwx'. Hint: did you mean 'lwr'?"),
        (["frames", "lwr", "--at", "q8=1"], "has no coordinate 'q8'"),
        (["frames", "lwr", "--at", "q1=one"], "'one' is not a finite number"),
        (["frames", "lwr", "--at", "q1=nan"], "'nan' is not a finite number"),
        (["frames", "lwr", "--at", "1,2"], "got 2 numbers, expected 7: q1, q2"),
        (["export", "c", "lwr", "-o", "x", "--what", "rne"], "nothing called 'rne'. Hint: did you mean 'rnea'?"),
        (["export", "yaml", "lwr", "-o", "x.urdf"], "'x.urdf' does not end in .yaml"),
        (["export", "yaml", "lwr", "--json"], "add -o FILE"),
        (["info", "x.yaml", "--policy", "repair"], "not for YAML"),
        (["check", "x.urdf", "--arg", "a=1"], "--arg is for .xacro files"),
        (["check", "x.xacro", "--arg", "a"], "write --arg name=value"),
    ],
)
def test_misuse_ends_with_two_and_one_message(run, words, message):
    code, out, err = run(*words)
    assert code == 2 and out == ""
    assert message in err and err.startswith("gyrostat: ") and "Traceback" not in err


def test_a_file_without_a_dot_is_pointed_out(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm").write_text("")
    assert "write ./ in front of it" in run("info", "arm").err


# ------------------------------------------------------------------------------------------------ bad files
@pytest.mark.parametrize("command", ["info", "frames", "bench", "check"])
def test_a_file_that_does_not_exist_ends_with_one(run, arm, command):
    code, out, err = run(command, arm.with_name("rm.urdf"))
    told = out if command == "check" else err
    assert code == 1 and "No such file or directory" in told and "'arm.urdf'" in told


def test_a_bad_model_ends_with_one_and_the_library_s_words(run, bad):
    with pytest.raises(gs.SpecError) as error:
        gs.load(bad)
    code, out, err = run("info", bad)
    assert (code, out, err) == (1, "", f"gyrostat: {error.value}\n")


def test_debug_shows_where_an_error_came_up(bad):
    from gyrostat.cli import main

    for words in (["--debug", "info", str(bad)], ["info", str(bad), "--debug"]):
        with pytest.raises(gs.SpecError):
            main(words)


def test_control_characters_of_a_file_name_do_not_reach_the_terminal(run, tmp_path):
    assert "\x1b" not in run("info", tmp_path / "\x1b[31mred.urdf").err
    assert "\\x1b[31mred" in run("info", tmp_path / "\x1b[31mred.urdf").err


@pytest.mark.parametrize("text", ["", "<robot", "\x00", "<robot name='r'><link name='a'/><link name='a'/></robot>"])
def test_broken_files_end_with_one(run, tmp_path, text):
    path = tmp_path / "broken.urdf"
    path.write_text(text)
    assert run("info", path).code == 1
    code, out, _ = run("check", path)
    assert code == 1 and ": error: " in out


# ------------------------------------------------------------------------------------------------ info
def test_info_shows_joints_tree_and_degrees_of_freedom(run, arm):
    code, out, err = run("info", arm)
    assert code == 0 and "\x1b" not in out + err
    assert "nq 2, nv 2, mass 3 kg, base fixed" in out
    assert "dofs: shoulder, elbow" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["shoulder", "continuous", "0", "1", "0", "base", "upper"] in rows
    assert ["elbow", "continuous", "0", "1", "0", "upper", "lower"] in rows
    assert "(shoulder) - upper - " in out and "(elbow) - lower" in out


def test_info_as_json_is_json_alone(run, arm):
    code, out, err = run("info", arm, "--base", "free", "--json", "--quiet")
    found = json.loads(out)
    assert code == 0 and err == ""
    assert (found["nq"], found["nv"], found["base"], found["mass"]) == (9, 8, "free", 3.0)
    assert found["dofs"] == list(gs.load(arm, base="free").dofs)
    assert [(j["name"], j["parent"], j["child"]) for j in found["joints"]] == [
        ("shoulder", "base", "upper"),
        ("elbow", "upper", "lower"),
    ]


def test_info_in_one_line(run):
    assert run("info", "lwr", "--quiet").out.count("\n") == 1


def test_info_of_a_free_base_names_coordinates_too(run):
    out = run("info", "pendulum", "--base", "free").out
    assert "coordinates: world.x" in out and "base free" in out


def test_info_without_a_model_lists_the_robots_that_there_are(run):
    out = run("info").out
    known = robots()
    assert "kuka_lwr4" in known
    assert all(name in out for name in known)
    assert [r["name"] for r in json.loads(run("info", "--json").out)] == list(known)


def test_every_robot_can_be_named_in_full_and_in_short(run):
    for name in [*robots(), *short_names()]:
        assert run("info", name, "--quiet").code == 0
    assert short_names()["lwr"] == "kuka_lwr4"


def test_drives_stand_with_their_joints(run, tmp_path):
    arm = gs.robots.chain(2).with_drive("joint2", rotor_inertia=1e-4, gear_ratio=100.0, viscous=0.1)
    gs.save(arm, tmp_path / "driven.yaml")
    out = run("info", tmp_path / "driven.yaml").out
    assert "world - (joint1) - link1 - (joint2 + gear" in out and out.rstrip().endswith(") - link2")
    joints = json.loads(run("info", tmp_path / "driven.yaml", "--json").out)["joints"]
    assert joints[0]["drive"] == [] and "joint2_drive.gear" in joints[1]["drive"]


def test_a_coupling_stands_with_the_first_of_its_joints(run, tmp_path):
    path = tmp_path / "coupled.urdf"
    follow = '<mimic joint="shoulder" multiplier="2"/><dynamics damping="0.1"/><axis'
    path.write_text(follow.join(ARM.rsplit("<axis", 1)))
    found = json.loads(run("info", path, "--json").out)
    assert found["dofs"] == ["shoulder"]
    first, second = (joint["drive"] for joint in found["joints"])
    assert len(first) == 1 and "mimic" in first[0] and second == ["elbow_drive.friction"]


def test_limits_are_shown_where_there_are_some(run, tmp_path):
    joint = gs.Joint("elbow", "revolute", axis="y", lower=-1.5, upper=2.5, effort_limit=40.0)
    body = gs.RigidBody("link", mass=1.0, inertia=(0.1, 0.1, 0.1))
    gs.save(gs.assemble("arm", gs.chain("world", joint, body)), tmp_path / "arm.yaml")
    lines = [line.split() for line in run("info", tmp_path / "arm.yaml").out.splitlines()]
    assert ["joint", "kind", "axis", "lower", "upper", "effort", "parent", "child"] in lines
    assert ["elbow", "revolute", "0", "1", "0", "-1.5", "2.5", "40", "world", "link"] in lines


def test_a_deep_chain_is_shown_in_one_line_and_quickly(run, tmp_path):
    path = tmp_path / "chain.yaml"
    gs.save(gs.robots.chain(200), path)
    out = run("info", path).out
    assert max(out.splitlines(), key=len).count(" - ") == 400


# ------------------------------------------------------------------------------------------------ check
def test_check_prints_the_audit(run, arm, bad):
    assert run("check", arm) == (0, f"{gs.audit(arm)}\n", "")
    assert run("check", bad) == (1, f"{gs.audit(bad)}\n", "")


def test_check_of_a_robot_by_name_has_its_path_once(run, bad, monkeypatch):
    monkeypatch.setenv("GYROSTAT_ROBOTS", str(bad.parent))
    *lines, last = run("check", "bad").out.splitlines()
    assert lines and all(line.startswith("bad.urdf:") for line in lines) and last.startswith(f"{bad}: ")


def test_check_of_several_files_goes_on_after_a_bad_one(run, arm, bad):
    code, out, _ = run("check", bad, arm.with_name("none.urdf"), arm, "lwr")
    assert code == 1
    assert "bad.urdf:" in out and "none.urdf: error: " in out and "arm.urdf: 0 errors" in out and "lwr: 0 errors" in out


def test_check_quietly_prints_errors_alone(run, arm, bad):
    assert run("check", arm, "lwr", "--quiet") == (0, "", "")
    lines = run("check", bad, "--quiet").out.splitlines()
    assert lines == [str(f) for f in gs.audit(bad).errors] and lines


def test_check_as_json(run, arm, bad):
    code, out, err = run("check", arm, bad, "--json")
    found = json.loads(out)
    assert code == 1 and err == "" and found["ok"] is False
    assert [f["ok"] for f in found["files"]] == [True, False]
    assert found["files"][1]["findings"] == json.loads(gs.audit(bad).to_json())["findings"]


def test_repairs_are_told_on_stderr(run, tmp_path, caplog):
    path = tmp_path / "thin.urdf"
    path.write_text(ARM.replace('izz="0.001"', 'izz="0.05"'))  # breaks the triangle inequality
    assert run("info", path, "--policy", "strict").code == 1
    code, out, err = run("info", path, "--policy", "repair", "--json")
    assert code == 0 and json.loads(out)["nv"] == 2 and f"{path}:" in err and "repaired" in err
    assert run("info", path, "--policy", "repair", "--json", "--quiet").err == ""
    assert logging.getLogger("gyrostat").propagate and not logging.getLogger("gyrostat").handlers


def test_errors_are_accepted_with_one_line_on_stderr_and_check_is_strict(run, tmp_path):
    path = tmp_path / "thin.urdf"
    path.write_text(ARM.replace('izz="0.001"', 'izz="0.05"'))
    for words in (["info", path], ["info", path, "--policy", "accept"], ["frames", path]):
        code, out, err = run(*words)
        assert code == 0 and out
        assert err.startswith(f"warning: {path}: 1 error accepted; taken as it stands: 1 inertia-triangle (")
        assert err.count("\n") == 1 and "'gyrostat check' lists" in err and "--policy strict refuses" in err
        assert run(*words, "--quiet").err == ""
    assert run("check", path).code == 1
    assert run("check", path, "--policy", "repair").code == 0


def test_xacro_and_mjcf_files_are_read_with_arguments(run, tmp_path):
    xacro = tmp_path / "arm.xacro"
    head = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m" default="1"/>'
    xacro.write_text(ARM.replace('<robot name="arm">', head).replace('<mass value="1"/>', '<mass value="$(arg m)"/>'))
    assert json.loads(run("info", xacro, "--json").out)["mass"] == 3.0
    assert json.loads(run("info", xacro, "--arg", "m=4", "--json").out)["mass"] == 6.0
    mjcf = tmp_path / "ball.xml"
    mjcf.write_text('<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="2"/></body></worldbody></mujoco>')
    assert json.loads(run("info", mjcf, "--json").out)["nv"] == 6


@pytest.mark.skipif("arguments" not in inspect.signature(gs.audit).parameters, reason="gs.audit takes no arguments")
def test_check_of_a_xacro_file_takes_arguments(run, tmp_path):
    xacro = tmp_path / "arm.xacro"
    head = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m" default="1"/>'
    xacro.write_text(ARM.replace('<robot name="arm">', head).replace('<mass value="1"/>', '<mass value="$(arg m)"/>'))
    assert run("check", xacro).code == 0
    code, out, _ = run("check", xacro, "--arg", "m=-1")
    assert code == 1 and "mass must not be negative" in out


# ------------------------------------------------------------------------------------------------ frames
def test_frames_are_those_of_forward_kinematics(run, arm):
    code, out, err = run("frames", arm, "--at", "shoulder=0.3", "--at", "elbow=-0.7", "--json")
    found = json.loads(out)
    assert code == 0 and err == "" and found["q"] == {"shoulder": 0.3, "elbow": -0.7}
    motions = gs.fk(gs.load(arm), [0.3, -0.7])
    assert list(found["frames"]) == list(motions)
    for name, frame in found["frames"].items():
        np.testing.assert_allclose(frame["position"], motions[name].p, atol=1e-14)
        np.testing.assert_allclose(frame["rotation"], motions[name].R, atol=1e-14)


def test_quaternions_of_frames_turn_as_their_matrices(rng_seed=0):
    from gyrostat.geometry.rotation import from_quaternion, quaternion_of

    rng = np.random.default_rng(rng_seed)
    half_turns = [*np.eye(4)[:3], np.array([0.6, 0.8, 0.0, 0.0])]
    for turn in [*rng.normal(size=(50, 4)), *half_turns, np.array([0.0, 0.0, 0.0, 1.0])]:
        R = from_quaternion(turn / np.linalg.norm(turn))
        np.testing.assert_allclose(from_quaternion(quaternion_of(R)), R, atol=1e-14)
        assert quaternion_of(R)[3] >= 0.0


def test_frames_by_list_and_name(run):
    one = run("frames", "lwr", "--at", "-0.5,0,0,1,0,0,0", "--frame", "link7.flange")
    two = run("frames", "lwr", "--at", "q1=-0.5", "--at", "q4=1", "--frame", "link7.flange")
    assert one.code == 0 and one.out == two.out and one.out.count("\n") == 3
    code, _, err = run("frames", "lwr", "--frame", "link7.flang")
    assert code == 1 and "did you mean 'link7.flange'" in err


# ------------------------------------------------------------------------------------------------ export
def test_yaml_on_stdout_and_in_a_file_give_the_same_model(run, arm, tmp_path):
    path = tmp_path / "arm.yaml"
    text = run("export", "yaml", arm).out
    code, out, err = run("export", "yaml", arm, "-o", path)
    assert (code, out) == (0, "") and str(path) in err
    assert path.read_text() == text
    q = [0.3, 0.5]
    np.testing.assert_array_equal(gs.crba(gs.load(path), q), gs.crba(gs.load(arm), q))


def test_an_existing_file_is_kept_unless_forced(run, tmp_path):
    path = tmp_path / "lwr.yaml"
    path.write_text("mine")
    code, _, err = run("export", "yaml", "lwr", "-o", path)
    assert code == 2 and "exists. Hint: add --force" in err and path.read_text() == "mine"
    assert run("export", "yaml", "lwr", "-o", path, "--force", "--json").code == 0
    assert gs.load(path) == gs.robots.kuka_lwr4()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lwr.yaml"]


@pytest.mark.parametrize("place", ["missing/lwr.yaml", "file/lwr.yaml"])
def test_a_place_that_cannot_be_written_ends_with_one(run, tmp_path, place):
    (tmp_path / "file").write_text("")
    code, out, err = run("export", "yaml", "lwr", "-o", tmp_path / place)
    assert code == 1 and out == "" and "cannot be written" in err and err.count("\n") == 1


def test_a_folder_is_no_file(run, tmp_path):
    (tmp_path / "x.yaml").mkdir()
    assert "is a folder" in run("export", "yaml", "lwr", "-o", tmp_path / "x.yaml").err


def test_c_code_of_several_functions(run, tmp_path):
    folder = tmp_path / "code"
    words = ("export", "c", "pendulum", "-o", folder, "--what", "rnea", "--what", "crba", "--json")
    code, out, err = run(*words)
    files = json.loads(out)["files"]
    assert code == 0 and err == "" and sorted(str(p) for p in folder.iterdir()) == files
    assert any(name.endswith("rnea.c") for name in files) and any(name.endswith("crba.h") for name in files)
    code, _, err = run(*words)
    assert code == 2 and "exists" in err and sorted(str(p) for p in folder.iterdir()) == files
    assert run(*words, "--force").code == 0


def test_urdf_export(run, arm, tmp_path):
    path = tmp_path / "again.urdf"
    assert run("export", "urdf", arm, "-o", path).code == 0
    q = [0.3, 0.5]
    np.testing.assert_allclose(gs.crba(gs.load(path), q), gs.crba(gs.load(arm), q), rtol=1e-12)
    assert run("export", "urdf", arm).out == path.read_text()


def test_what_urdf_cannot_say_is_told(run, tmp_path):
    path = tmp_path / "lwr.urdf"
    code, out, err = run("export", "urdf", "lwr", "-o", path)
    assert code == 0 and out == "" and "not said: context: gravity" in err
    found = json.loads(run("export", "urdf", "lwr", "-o", path, "--force", "--json").out)
    assert found["files"] == [str(path)] and "gravity" in found["lost"][0]


def test_urdf_that_would_lose_joints_is_refused(run, tmp_path):
    arm = gs.assemble("ball", gs.chain("world", gs.Joint("ball", "spherical"), gs.RigidBody("stone", mass=1.0)))
    gs.save(arm, tmp_path / "ball.yaml")
    code, out, err = run("export", "urdf", tmp_path / "ball.yaml")
    assert code == 1 and out == "" and "joint 'ball'" in err
    code, out, err = run("export", "urdf", tmp_path / "ball.yaml", "--allow-loss")
    assert code == 0 and "<robot" in out and "ball" in err


# ------------------------------------------------------------------------------------------------ pictures
def test_a_diagram_is_svg(run, tmp_path):
    pytest.importorskip("gyrostat.view.diagram.diagram", reason="the diagram is not there yet")
    path = tmp_path / "lwr.svg"
    assert run("diagram", "lwr", "-o", path).code == 0
    assert run("diagram", "lwr").out.strip() == path.read_text().strip()
    assert "<svg" in path.read_text()[:1000]
    assert run("diagram", "lwr", "-o", path).code == 2


def test_a_page_with_a_trajectory(run, tmp_path):
    pytest.importorskip("gyrostat.view.viewer.viewer", reason="the viewer is not there yet")
    pytest.importorskip("viser")
    motion, page = tmp_path / "motion.csv", tmp_path / "page.html"
    motion.write_text("t,q.hinge\n0,0\n0.1,0.2\n")
    assert run("view", "pendulum", "--trajectory", motion, "--html", page).code == 0 and page.exists()
    for text, message in (("q.hinge\n0\n", "no column t"), ("t,q.hinge\n0,0\n", "two rows"), ("t,q.hing\n", "hinge")):
        motion.write_text(text)
        code, _, err = run("view", "pendulum", "--trajectory", motion, "--html", page, "--force")
        assert code == 1 and message in err


def test_a_page_for_the_browser(run, tmp_path):
    pytest.importorskip("gyrostat.view.viewer.viewer", reason="the viewer is not there yet")
    pytest.importorskip("viser")
    path = tmp_path / "lwr.html"
    assert run("view", "lwr", "--html", path).code == 0
    assert "<html" in path.read_text("utf-8")[:2000].lower()
    assert run("view", "lwr", "--html", path).code == 2


# ------------------------------------------------------------------------------------------------ bench, demo, cache
def test_bench_measures_three_functions(run, arm):
    code, out, err = run("bench", arm, "--batch", "8", "--repeat", "1", "--json")
    found = json.loads(out)
    assert code == 0 and err == ""
    assert [row["function"] for row in found["rows"]] == ["rnea", "aba", "crba"]
    assert all(row[key] > 0.0 for row in found["rows"] for key in ("build", "one", "batch"))


def test_bench_stands_next_to_pinocchio(run, arm):
    pytest.importorskip("pinocchio")
    for model in (arm, "lwr"):  # the file itself; the URDF that the robot is exported to
        found = json.loads(run("bench", model, "--batch", "8", "--repeat", "1", "--json").out)
        assert all(row["pinocchio"] > 0.0 for row in found["rows"])
    assert "context" in found["note"]  # gravity is not in a URDF


def test_demonstrations_are_listed_and_run(run, tmp_path):
    names = [entry["name"] for entry in json.loads(run("demo", "--json").out)]
    assert "lwr" in names
    for name in names:
        code, out, err = run("demo", name, "-o", tmp_path, "--json")
        found = json.loads(out)
        assert code == 0 and err == "" and found["rows"]
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert run("demo", "lwr", "-o", tmp_path).code == 2  # the figure exists


def test_the_lwr_demonstration_shows_the_published_symmetry(run):
    rows = json.loads(run("demo", "lwr", "--json").out)["rows"]
    np.testing.assert_allclose(np.array(rows)[:, 1:], np.array(rows)[::-1, 1:], atol=1e-10)


def test_the_cache_is_shown_and_cleared_and_nothing_else_is_touched(run, tmp_path, monkeypatch):
    folder = tmp_path / "objects"
    monkeypatch.setenv("GYROSTAT_CACHE", str(folder))
    assert json.loads(run("cache", "--json").out)["files"] == 0
    folder.mkdir(mode=0o700)
    (folder / "mine.txt").write_text("precious")
    (folder / f"{'a' * 64}.o").write_bytes(b"x" * 1000)
    found = json.loads(run("cache", "--json").out)
    assert (found["folder"], found["files"], found["bytes"], found["state"]) == (str(folder), 1, 1000, "in use")
    code, out, err = run("cache", "--clear")
    assert code == 0 and str(folder) in out and "1 files deleted" in err
    assert [p.name for p in folder.iterdir()] == ["mine.txt"]
    folder.chmod(folder.stat().st_mode | stat.S_IWOTH)
    assert "can be written by others" in run("cache").out
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    assert run("cache").out == "cache: off\n"
    assert run("cache", "--clear").code == 0


# ------------------------------------------------------------------------------------------------ documents
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
SHELL = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_about_commands_shows_what_they_print(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = SHELL.findall(PAGE.read_text("utf-8"))
    assert blocks
    for block in blocks:
        for part in block.split("$ gyrostat ")[1:]:
            words, _, shown = part.partition("\n")
            code, out, err = run(*shlex.split(words))
            assert (out + err).rstrip() == shown.rstrip() and code == 0, words


@pytest.mark.parametrize("command", [*((c,) for c in COMMANDS if c != "export"), *(("export", g) for g in GROUP)])
def test_the_page_about_commands_names_every_command_and_option(run, command):
    text = PAGE.read_text("utf-8")
    assert f"`{' '.join(command)}" in text
    for option in re.findall(r"(?<!\S)--[a-z-]+", run(*command, "--help").out):
        assert f"`{option}" in text, option
