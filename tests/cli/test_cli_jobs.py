"""``gyrostat run`` and ``gyrostat db``: jobs from files, results in a store, and words for mistakes."""

import json

import pytest

import gyrostat as gs
from tests.support.command_line import Terminal

JOB = """gyrostat_job: 1
model: arm.yaml
do: rollout
inputs: {torque: {kind: pd, kp: 50, kd: 5, reference: [0.5, -0.5]}, steps: 100, dt: 0.002, q0: [0, 0]}
outputs: {peak: max-abs tau.elbow, end: final q.elbow}
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    gs.save(gs.robots.two_link(), tmp_path / "arm.yaml")
    (tmp_path / "one.yaml").write_text(JOB)
    (tmp_path / "many.yaml").write_text(JOB + "study: {lhs: {lower.mass: [0.5, 2.0]}, count: 20}\n")
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)


def test_a_job_shows_its_numbers_and_a_study_is_kept_and_goes_on(run, tmp_path):
    answer = run("run", "one.yaml", "--json")
    assert answer.code == 0
    (row,) = json.loads(answer.out)["runs"]
    wanted = gs.Job.load(tmp_path / "one.yaml").run().metrics
    assert row["metrics"] == wanted
    assert f"{wanted['peak']:.9g}" in run("run", "one.yaml").out
    assert run("run", "many.yaml", "--store", "kept", "--report", "page.html", "-q").code == 0
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")
    with gs.store(tmp_path / "kept") as kept:
        before = kept.runs(1)
        kept.forget(1, [3, 4])
    assert run("run", "many.yaml", "--store", "kept", "-q").code == 0
    with gs.store(tmp_path / "kept") as kept:
        assert [r.metrics for r in kept.runs(1)] == [r.metrics for r in before]
    assert json.loads(run("db", "list", "kept", "--json").out)[0]["done"] == 20
    assert "20 runs" in run("db", "show", "kept", "1").out
    assert run("db", "export", "kept", "1", "-o", "table.csv").code == 0
    assert len((tmp_path / "table.csv").read_text("utf-8").splitlines()) == 21
    assert run("db", "compare", "kept", "1", "1").out.split()[-1] == "0"
    assert "0 files" in run("db", "gc", "kept").out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("run", "none.yaml"), 1, "none.yaml"),
        (("run", "arm.yaml"), 1, "is no job"),
        (("db", "list", "nowhere"), 2, "there is no store 'nowhere'"),
        (("db", "show", ".", "9"), 1, "has 0 tasks 9"),
    ],
)
def test_mistakes_are_told(run, words, code, told):
    answer = run(*words)
    assert answer.code == code and told in answer.err


def test_a_job_without_any_number_ends_with_a_code(run, tmp_path):
    (tmp_path / "bad.yaml").write_text(JOB.replace("steps: 100", "steps: -1"))
    answer = run("run", "bad.yaml")
    assert answer.code == 1 and "'bad.yaml': rollout: steps must be a whole number from 0 on" in answer.err
    assert run("run", "bad.yaml", "--json").code == 1
    (tmp_path / "both.yaml").write_text(JOB + "study: {points: [{lower.mass: 1.0}, {lower.mass: -1.0}]}\n")
    assert run("run", "both.yaml", "-q").code == 0
    (tmp_path / "none.yaml").write_text(JOB + "study: {points: [{lower.mass: -2.0}, {lower.mass: -1.0}]}\n")
    assert run("run", "none.yaml", "-q").code == 1
