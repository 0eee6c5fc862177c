"""A job computes what the lines do that a user would write himself, at every point, wherever it comes from."""

import json

import numpy as np
import pytest

import gyrostat as gs

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
