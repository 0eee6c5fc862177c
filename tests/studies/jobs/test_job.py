"""A job computes what the lines do that a user would write himself, at every point, wherever it comes from."""

import json

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.jobs.kinds import KINDS, Kind
from gyrostat.studies.jobs.outputs import Computed

LAW = {
    "kind": "pd",
    "kp": 50,
    "kd": 5,
    "reference": {"kind": "quintic", "start": [0, 0], "end": [1, -1], "duration": 0.5},
}
OUTPUTS = {"peak": "max-abs tau.elbow", "end": "final q.shoulder", "off": "rms error", "x": "final x(lower.tip)"}


def arm() -> gs.Model:
    return gs.robots.two_link()


def by_hand(model: gs.Model, kp: float = 50.0) -> dict[str, float]:
    motion = gs.trajectories.quintic([0, 0], [1, -1], 0.5)
    run = gs.simulate(model, gs.blocks.pd(kp, 5, motion), t_end=1.0)
    return {
        "peak": np.abs(run["elbow"].tau).max(),
        "end": run["shoulder"].q[-1],
        "off": np.sqrt(np.mean((motion(run.t) - run.q) ** 2)),
        "x": gs.fk(model, run.q[-1])["lower.tip"].p[0],
    }


def test_a_simulation_is_that_of_simulate_at_every_point_and_a_point_that_fails_says_why():
    job = gs.Job(arm(), "simulate", {"torque": LAW, "t_end": 1.0}, {}, OUTPUTS, ("t", "q"))
    points = [
        {},
        {"lower.mass": 2.0},
        {"lower.mass": -1.0},
        {"lower.mass": 1.5, "inputs.torque.kp": 30.0},
    ]
    runs = job.compute(points)
    models = [arm(), arm().replace({"lower.mass": 2.0}), None, arm().replace({"lower.mass": 1.5})]
    for run, model, kp in zip(runs, models, (50.0, 50.0, 0.0, 30.0), strict=True):
        if model is None:
            assert "mass must not be negative" in run.failure and run.metrics == {}
            continue
        wanted = by_hand(model, kp)
        assert run.failure is None
        assert all(abs(run.metrics[k] - wanted[k]) < 1e-5 * max(1.0, abs(wanted[k])) for k in wanted)
        assert run.arrays["q"].shape == (*run.arrays["t"].shape, 2)
    alone = job.compute([points[1]])[0]
    assert alone.metrics == runs[1].metrics and np.array_equal(alone.arrays["q"], runs[1].arrays["q"])


def test_lanes_of_a_rollout_have_the_bits_of_each_point_alone():
    inputs = {"torque": LAW, "steps": 500, "dt": 1e-3, "q0": [0, 0]}
    job = gs.Job(arm(), "rollout", inputs, {}, OUTPUTS)
    points = [{"lower.mass": m} for m in np.linspace(0.5, 2.0, 11)]
    together = [run.metrics for run in job.compute(points)]
    assert together == [job.compute([p])[0].metrics for p in points]
    model = arm().replace({"lower.mass": points[3]["lower.mass"]})
    run = gs.rollout(model, gs.blocks.pd(50, 5, gs.trajectories.quintic([0, 0], [1, -1], 0.5)), [0.0, 0.0], steps=500)
    assert abs(run.q[-1, 0] - together[3]["end"]) < 1e-12


def test_torques_frequencies_and_solvers_are_those_of_the_functions():
    changed = arm().replace({"lower.mass": 2.0})
    given = {"parameters": {"lower.mass": 2.0}}
    found = gs.Job(arm(), "torque", {"motion": LAW["reference"]}, outputs={"m": "max-abs tau"}, **given).run()
    t = np.linspace(0.0, 0.5, 201)
    q, v, a = np.moveaxis(gs.trajectories.quintic([0, 0], [1, -1], 0.5).derivatives(t), 1, 0)
    assert abs(found.metrics["m"] - np.abs(gs.rnea(changed, q, v, a)).max()) < 1e-12
    found = gs.Job(arm(), "frequencies", {"q": [np.pi, 0.0]}, outputs={"f": "f1"}, **given).run()
    assert abs(found.metrics["f"] - gs.eigenfrequencies(changed, [np.pi, 0.0]).undamped[0]) < 1e-12
    spec = {"solver": "MassMatrix"}
    found = gs.Job(arm(), "solver", {"spec": spec, "arguments": [[0.0, 0.5]]}, outputs={"M": "final value.3"}, **given)
    assert abs(found.run().metrics["M"] - gs.crba(changed, [0.0, 0.5])[1, 1]) < 1e-14


def test_a_job_is_data_in_a_file_and_in_json(tmp_path):
    gs.save(arm(), tmp_path / "arm.yaml")
    (tmp_path / "job.yaml").write_text(
        "gyrostat_job: 1\nmodel: arm.yaml\ndo: simulate\n"
        "inputs: {torque: {kind: pd, kp: 50, kd: 5, reference: {kind: quintic, start: [0, 0], end: [1, -1],"
        " duration: 0.5}}, t_end: 1.0}\noutputs: {end: final q.shoulder}\nkeep: [q]\n"
    )
    job = gs.Job.load(tmp_path / "job.yaml")
    again = gs.Job.from_dict(json.loads(json.dumps(job.to_dict())))
    assert job.name == "job" and again.run().metrics == job.run().metrics
    assert abs(job.run().metrics["end"] - by_hand(arm())["end"]) < 1e-9
    with gs.store(tmp_path / "kept") as kept:
        task = job.stored(kept)
        assert kept.model(task.model) == job.model and job.stored(kept).number == task.number


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"do": "simulat"}, "nothing called 'simulat'. Hint: did you mean 'simulate'"),
        ({"inputs": {"t_end": 1.0, "torqe": 1}}, "takes no input 'torqe'. Hint: did you mean 'torque'"),
        ({"inputs": {}}, "needs the input 't_end'"),
        ({"outputs": {}}, "nothing is asked for"),
        ({"outputs": {"x": "biggest q"}}, "no word 'biggest'"),
        ({"parameters": {"lower.mas": 1.0}}, "no property 'lower.mas'. Hint: did you mean 'lower.mass'"),
        ({"parameters": {"inputs.torque.kq": 1.0}}, "there is no input 'inputs.torque.kq'"),
        ({"seed": "1"}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0 on"),
        ({"keep": 5}, "keep must be names of arrays, got 5"),
        ({"keep": [5]}, "keep must be names of arrays"),
        ({"name": {"a": 1}}, "name must be a text"),
    ],
)
def test_mistakes_are_answered_before_anything_is_computed(change, words):
    given = {
        "model": arm(),
        "do": "simulate",
        "inputs": {"torque": LAW, "t_end": 1.0},
        "outputs": {"end": "final q.elbow"},
    }
    with pytest.raises(gs.GyrostatError) as caught:
        gs.Job(**(given | change))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"x": "final q"}, "'q' has 2 columns. Hint: name one"),
        ({"x": "final q.elbw"}, "has no column 'elbw'. Hint: did you mean 'elbow'"),
        ({"x": "final w"}, "there is no series 'w'"),
        ({"x": "f1"}, "there is no number 'f1'"),
        ({"x": "final x(tool)"}, "tool"),
    ],
)
def test_outputs_that_are_not_there_are_told(outputs, words):
    job = gs.Job(arm(), "simulate", {"t_end": 0.01}, outputs=outputs)
    with pytest.raises(gs.GyrostatError) as caught:
        job.run()
    assert words in str(caught.value)


def test_files_that_are_no_jobs_or_name_models_elsewhere_are_refused(tmp_path):
    file = tmp_path / "job.yaml"
    gs.save(arm(), tmp_path / "arm.yaml")
    (tmp_path / "inside").mkdir()
    for text, words in (
        ("gyrostat: 1\n", "is no job"),
        ("gyrostat_job: 2\n", "is a job of version 2, this gyrostat knows 1"),
        ("gyrostat_job: 1\nmodel: arm.yaml\ndo: simulate\ninputs: {t_end: 1}\nkeep: {q: 1}\n", "keep must be names"),
        ("gyrostat_job: 1\nmodel: arm.yaml\ndo: simulate\nrun: 1\n", "has 'run'"),
        ("gyrostat_job: 1\ndo: simulate\n", "names no model"),
        ("gyrostat_job: 1\nmodel: ../arm.yaml\ndo: simulate\ninputs: {t_end: 1}\nkeep: [q]\n", "outside its folder"),
        ("gyrostat_job: 1\nmodel: !!python/object:os.system x\n", ""),
    ):
        place = tmp_path / "inside" / "job.yaml" if "../" in text else file
        place.write_text(text)
        with pytest.raises(gs.GyrostatError) as caught:
            gs.Job.load(place)
        assert words in str(caught.value)


def test_solvers_of_jobs_say_what_they_have_and_refuse_wrong_calls():
    def solved(spec, arguments, model=None, **asked):
        return gs.Job(model or arm(), "solver", {"spec": spec, "arguments": arguments}, **asked).run()

    rod = gs.robots.pendulum()
    wanted = gs.aba(rod, [0.1], [0.0], [0.0])[0]
    asked = {"a": "a", "b": "final a.0", "c": "value"}
    found = solved({"solver": "ForwardDynamics"}, [[0.1], [0], [0]], rod, outputs=asked)
    assert set(found.metrics.values()) == {wanted}
    found = solved({"solver": "InverseDynamics"}, [[0.1, 0.2], [0, 0], [0, 0]], keep="tau")
    assert np.array_equal(found.arrays["tau"][0], gs.rnea(arm(), [0.1, 0.2], [0, 0], [0, 0]))
    kinematics = {"solver": "ForwardKinematics", "frames": ["lower.tip"]}
    found = solved(kinematics, [[0.1, 0.2]], outputs={"z": "final z(lower.tip)"})
    assert found.metrics["z"] == gs.fk(arm(), [0.1, 0.2])["lower.tip"].p[2]
    for spec, arguments, words in (
        ("InverseDynamics", [[0, 0]], "spec must be a solver's specification by name, got 'InverseDynamics'"),
        ({"solver": "InverseDynamics"}, {"q": [0, 0]}, "arguments must be a list of arrays"),
        ({"solver": "InverseDynamics"}, [[0, 0]], "missing 2 required positional arguments"),
        (kinematics, [[0, 0]], "no frame 'elbow.a'. Hint: known: 'lower.tip'"),
    ):
        with pytest.raises(gs.GyrostatError) as caught:
            solved(spec, arguments, outputs={"z": "final z(elbow.a)"})
        assert words in str(caught.value), caught.value


def test_whatever_a_library_says_of_a_point_is_its_reason_and_stops_no_other(monkeypatch):
    def compute(model, inputs, changes, count):
        if 2.0 in changes["lower.mass"]:
            raise np.linalg.LinAlgError("Singular matrix")
        return [Computed(numbers={"x": float(m)}) for m in changes["lower.mass"]]

    monkeypatch.setitem(KINDS, "rollout", Kind(compute, (), (), 8))
    job = gs.Job(arm(), "rollout", outputs={"x": "x"})
    runs = job.compute([{"lower.mass": m} for m in (1.0, 2.0, 3.0)])
    assert [r.failure for r in runs] == [None, "LinAlgError: Singular matrix", None]
    assert runs[2].metrics == {"x": 3.0}
