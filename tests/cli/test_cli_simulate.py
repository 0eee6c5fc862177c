"""``gyrostat simulate``, ``frequencies``, ``robots``, and grouped findings of ``check``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.cli import main
from gyrostat.cli.check import grouped, told

PD = "pd: {kp: 50, kd: 10, reference: {hinge: 0.3}, gravity: true}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_controller_from_a_file_drives_the_robot_to_its_reference(capsys):
    Path("pd.yaml").write_text(PD)
    words = ["simulate", "pendulum", "--torque", "pd.yaml", "--time", "4", "--rows", "41", "-o", "run.npz", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 41 and told["q"]["hinge"] == pytest.approx(0.3, abs=1e-4)
    run = gs.load_result("run.npz")
    law = gs.blocks.pd(50.0, 10.0, [0.3], model=run.model, feedforward=gs.blocks.GravityCompensation(run.model))
    other = gs.simulate(run.model, law, [0.0], t_end=4.0, t_eval=np.linspace(0, 4, 41))
    np.testing.assert_allclose(run.q, other.q, atol=1e-9)


def test_without_a_file_nothing_drives_it_and_the_end_is_printed(capsys):
    assert main(["simulate", "pendulum", "--at", "hinge=0.5", "-t", "1"]) == 0
    end = gs.simulate(gs.robots.pendulum(), None, [0.5], t_end=1.0, t_eval=np.linspace(0, 1, 1001)).q[-1, 0]
    assert f"hinge = {end:.6g}" in capsys.readouterr().out


BAD = {
    "pd: {kp: 100, kx: 1}": "there is no 'kx'",
    "pd: {kp: 100}": "'kd' is missing",
    "pd: {kp: .nan, kd: 1}": "no finite number",
    "pd: {kp: {elbow: 1}, kd: 1}": "has no 'elbow'",
    "torque: [1, 2]": "has 2 numbers, expected 1",
    "lqr: {}": "must say one of pd, pid, torque",
    "pd: {kp: &a 1, kd: *a}": "alias",
    "pd: [": "is no YAML",
    "!!python/object/apply:os.system ['true']": "is no YAML",
}


@pytest.mark.parametrize("text", BAD)
def test_a_torque_file_that_means_nothing_is_refused_in_words(text, capsys):
    Path("pd.yaml").write_text(text)
    assert main(["simulate", "pendulum", "--torque", "pd.yaml"]) == 1
    assert BAD[text] in capsys.readouterr().err


def test_an_output_of_another_kind_is_misuse_and_files_are_not_overwritten(capsys):
    assert main(["simulate", "pendulum", "-o", "run.txt"]) == 2
    Path("run.csv").write_text("mine")
    assert main(["simulate", "pendulum", "-o", "run.csv"]) == 2
    assert Path("run.csv").read_text() == "mine" and "--force" in capsys.readouterr().err


def test_frequencies_are_those_of_the_library(capsys):
    assert main(["frequencies", "pendulum", "--json"]) == 0
    (mode,) = json.loads(capsys.readouterr().out)
    model = gs.robots.pendulum()
    assert mode["hz"] == pytest.approx(float(gs.eigenfrequencies(model, gs.neutral(model)).undamped[0]))
    assert mode["most"] == ["hinge"]


def test_robots_lists_names_and_says_where_more_come_from(capsys):
    assert main(["robots", "pend"]) == 0
    out, err = capsys.readouterr()
    assert "gs.robots:" in out and "pendulum" in out and "robot_descriptions" in err
    assert main(["robots", "puma", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {"name": "puma560", "source": "gs.robots", "path": None}


def test_findings_that_say_the_same_share_a_line(tmp_path):
    links = "".join(f'<link name="l{k}"><inertial><mass value="-1"/></inertial></link>\n' for k in range(3))
    joints = "".join(f'<joint name="j{k}" type="fixed"><parent link="l0"/><child link="l{k}"/></joint>' for k in (1, 2))
    Path("bad.urdf").write_text(f'<robot name="bad">{links}{joints}</robot>')
    findings = gs.audit("bad.urdf").errors
    lines = [told(same) for same in grouped(findings)]
    assert len(lines) < len(findings)
    assert any("link 'l0' and 2 more (lines 2, 3)" in line for line in lines)
