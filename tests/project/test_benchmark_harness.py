"""The benchmark harness measures, compares and records what it says."""

import io
import itertools
import json

import pytest
from rich.console import Console

import gyrostat as gs
from benchmarks import harness, operations
from benchmarks.__main__ import main, subjects
from benchmarks.harness import Row, best_of, ratio, seconds_text
from tests.support.mjcf_models import files


class FakeClock:
    """A clock that only moves when a fake call takes its time."""

    def __init__(self, durations):
        self.now = 0.0
        self.calls = 0
        self.durations = iter(durations)

    def read(self):
        return self.now

    def call(self):
        self.calls += 1
        self.now += next(self.durations)


OWN = Row("run", "one state", "own", 8e-6)
PEER = Row("run", "one state", "peer", 2e-6, peer=True)
SLOW_PEER = Row("run", "one state", "slow peer", 4e-6, peer=True)
OWN_BATCH = Row("run", "batch", "own", 1e-3, states=1000)
OTHER_STAGE = Row("build", "one state", "own", 0.5)
ROWS = [OTHER_STAGE, OWN, PEER, SLOW_PEER, OWN_BATCH]


def test_best_of_returns_the_shortest_run_and_leaves_out_the_first_call():
    clock = FakeClock([100.0, 5.0, 3.0, 4.0])
    assert best_of(clock.call, repeat=3, number=1, timer=clock.read) == 3.0
    assert clock.calls == 4


def test_best_of_divides_by_the_number_of_calls_in_a_run():
    clock = FakeClock([100.0, 1.0, 3.0, 7.0, 9.0])
    assert best_of(clock.call, repeat=2, number=2, timer=clock.read) == 2.0


def test_best_of_chooses_enough_calls_for_a_short_one(monkeypatch):
    monkeypatch.setattr(harness, "SECONDS_PER_REPEAT", 1.0)
    clock = FakeClock(itertools.repeat(1 / 16))
    assert best_of(clock.call, repeat=3, timer=clock.read) == 1 / 16
    assert clock.calls == 1 + 1 + 3 * 16


@pytest.mark.parametrize(("repeat", "number"), [(0, 1), (1, 0)])
def test_best_of_refuses_to_measure_nothing(repeat, number):
    with pytest.raises(ValueError, match="must be at least 1"):
        best_of(lambda: None, repeat, number)


def test_a_ratio_compares_with_the_fastest_peer_of_the_same_stage_and_case():
    assert ratio(OWN, ROWS) == pytest.approx(0.25)
    assert ratio(PEER, ROWS) == 1.0
    assert ratio(OTHER_STAGE, ROWS) is None


def test_a_ratio_is_per_state():
    peer = Row("run", "batch", "peer", 2e-6, peer=True)
    assert ratio(OWN_BATCH, [OWN_BATCH, peer]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2.00 s"), (0.0123, "12.3 ms"), (9.996e-4, "1.00 ms"), (1.5e-6, "1.50 us"), (2.4e-7, "240 ns")],
)
def test_times_are_printed_with_three_digits_and_a_unit(seconds, text):
    assert seconds_text(seconds) == text


def test_the_table_prints_times_ratios_and_notes():
    stream = io.StringIO()
    harness.print_tables("fake subject", ROWS, ["a note"], Console(file=stream, width=120))
    lines = [line.replace("│", " ").split() for line in stream.getvalue().splitlines()]
    assert ["one", "state", "own", "8.00", "us", "8.00", "us", "0.25"] in lines
    assert ["slow", "peer", "4.00", "us", "4.00", "us", "0.5"] in lines
    assert ["batch", "own", "1.00", "ms", "1.00", "us", "-"] in lines
    assert ["fake", "subject:", "build"] in lines
    assert ["a", "note"] in lines


def test_the_record_names_commit_processor_and_versions(tmp_path):
    path = tmp_path / "deep" / "bench.json"
    harness.write_json(path, {"fake": ROWS})
    record = json.loads(path.read_text("utf-8"))
    assert record.keys() == {"commit", "cpu", "platform", "python", "versions", "date", "subjects"}
    assert record["cpu"]
    assert record["versions"].keys() == set(harness.LIBRARIES)
    assert record["versions"]["numpy"]
    own = record["subjects"]["fake"][1]
    assert own == {
        "stage": "run",
        "case": "one state",
        "program": "own",
        "seconds": 8e-6,
        "states": 1,
        "peer": False,
        "seconds_per_state": 8e-6,
        "ratio": pytest.approx(0.25),
    }


def test_an_unknown_subject_lists_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["inverse_kinetics"])
    message = capsys.readouterr().err
    assert "no subject 'inverse_kinetics', expected one of: " in message
    assert "inverse_dynamics" in message


@pytest.mark.by_default(7)
@pytest.mark.parametrize("subject", subjects())
def test_every_benchmark_runs(tmp_path, capsys, subject):
    pytest.importorskip("pinocchio", reason="peers come with the extra 'oracles'")
    if subject == "moreau" and not any(name.endswith("suite/humanoid.xml") for name, *_ in files()):
        pytest.skip("models of dm_control are not there: ./run test fetches them")
    path = tmp_path / "bench.json"
    main([subject, "--quick", "--out", str(path)])
    rows = json.loads(path.read_text("utf-8"))["subjects"][subject]
    assert {row["stage"] for row in rows} >= {"build", "run"}
    assert all(row["seconds"] > 0 for row in rows)
    assert any(row["ratio"] is not None for row in rows if row["stage"] == "run")
    assert f"written: {path}" in capsys.readouterr().out


def test_operations_are_counted_and_the_answers_of_the_sources_given(tmp_path, capsys):
    path = tmp_path / "operations.json"
    main(["--operations", "--quick", "--out", str(path)])
    record = json.loads(path.read_text("utf-8"))
    counts = {(r["family"], r["n"], r["task"], r["algorithm"]): r for r in record["counts"]}
    assert {family for family, *_ in counts} == {"robots", *operations.CHAINS}
    pass_on = counts["DH", 2, operations.TERMS, operations.SEPARATE]
    assert pass_on["mul"] % 3 == 0  # n + 1 times the same
    assert all(r["mul"] > 0 and r["add"] > 0 for r in counts.values())
    for answer in record["answers"].values():
        assert all(x > 1.0 for x in answer["operations over those of one mrnea pass"][operations.SEPARATE].values())
    assert f"written: {path}" in capsys.readouterr().out


def test_operations_are_those_of_a_known_program():
    (row,) = (r for r in operations.counted("robots", gs.robots.pendulum(), "rod") if r.task == operations.INVERSE)
    assert (row.n, row.mul, row.add, row.div, row.trig) == (1, 2, 1, 0, 1)  # m l^2 / 3 a + m g l / 2 sin q


@pytest.mark.parametrize(
    ("articulated", "composite", "n"), [([1, 9, 3], [2, 2, 4], 4), ([3, 3], [2, 2], None), ([1, 1], [2, 2], 2)]
)
def test_the_crossing_is_where_articulated_bodies_stay_cheaper(articulated, composite, n):
    rows = [
        operations.Count("rods", "", k, operations.FORWARD_TASK, name, mul, 0, 0, 0, 0)
        for name, muls in (("aba", articulated), ("crba", composite))
        for k, mul in enumerate(muls, start=2)
    ]
    assert operations.crossing(rows, "rods") == n


def test_operations_take_no_subjects(capsys):
    with pytest.raises(SystemExit):
        main(["inverse_dynamics", "--operations"])
    assert "leave out the subjects" in capsys.readouterr().err
