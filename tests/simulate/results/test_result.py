"""Results: by joint, with energies; to files and tables and back; hostile files are refused."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.simulate.results.mcap import quaternions

ARRAYS = ("t", "q", "v", "a", "tau", "p", "work", "wall")


@pytest.fixture(scope="module")
def tree():
    body = gs.RigidBody("body", mass=1.0, com=(0, 0.1, -0.3), inertia=(0.02, 0.03, 0.01), frames={"tip": (0, 0, -0.5)})
    rod = gs.RigidBody("rod", mass=0.5, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.001))
    ball, hinge = gs.Joint("ball", "spherical"), gs.Joint("hinge", "revolute", axis="y")
    return gs.assemble("tree", gs.chain("world", ball, body, hinge, rod))


@pytest.fixture(scope="module")
def run(tree):
    event = gs.Event(lambda t, q, v: v[3], name="turns, back")
    return gs.simulate(
        tree, lambda t, q, v: -0.02 * v, v0=[0.4, 0.0, 0.3, 1.0], t_end=1.0, events=event, t_eval=np.linspace(0, 1, 11)
    )


def test_joints_are_found_by_name(run):
    assert run["ball"].q.shape == (11, 4) and run["ball"].v.shape == (11, 3)
    assert run["hinge"].q.shape == run["hinge"].tau.shape == (11,)
    np.testing.assert_array_equal(run["hinge"].v, run.v[:, 3])
    with pytest.raises(gs.StateError, match=r"no joint 'hings'\. Hint: did you mean 'hinge'"):
        run["hings"]


def test_samples_satisfy_the_equations_of_motion(run, tree):
    np.testing.assert_allclose(gs.rnea(tree, run.q, run.v, run.a), run.tau, atol=1e-10)
    np.testing.assert_allclose(run.tau, -0.02 * run.v, atol=1e-12)
    assert run.frames()["body.tip"].p.shape == (11, 3)
    np.testing.assert_allclose(run.energy, gs.kinetic_energy(tree, run.q, run.v) + gs.potential_energy(tree, run.q))
    assert np.abs(run.energy_residual).max() < 1e-5
    assert np.all(np.diff(run.wall) > 0.0) and run.wall[-1] <= run.counters.wall_time


def test_a_result_tells_what_it_is(run):
    assert "'tree': 0 to 1 s, 11 samples, finished; dopri5" in repr(run)


def same(one, two):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for field in ("status", "message", "method", "counters", "model"):
        assert getattr(one, field) == getattr(two, field)
    assert dict(one.settings) == dict(two.settings)
    assert [(e.t, e.name, e.kind) for e in one.events] == [(e.t, e.name, e.kind) for e in two.events]
    for a, b in zip(one.events, two.events, strict=True):
        np.testing.assert_array_equal(np.concatenate([a.q, a.v, a.v_after]), np.concatenate([b.q, b.v, b.v_after]))


def test_saving_and_loading_loses_nothing(run, tmp_path):
    place = run.save(tmp_path / "run")
    assert place.name == "run.npz" and run.events
    same(gs.load_result(place), run)


def test_a_result_with_a_change_of_model_is_saved_whole(tmp_path):
    model = gs.robots.pendulum()
    heavy = model.replace({"rod.mass": 2.0})
    event = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: (heavy, q, v))
    one = gs.simulate(model, q0=[1.0], t_end=0.2, events=event)
    two = gs.load_result(one.save(tmp_path / "run.npz"))
    same(one, two)
    np.testing.assert_array_equal(one.energy, two.energy)
    assert two.phases[1][1] == heavy


def test_a_model_with_a_function_is_given_again(tmp_path):
    still = gs.robots.pendulum().replace({"context.gravity": lambda p: np.array([0.0, 0.0, -9.81])})
    place = gs.simulate(still, q0=[1.0], t_end=0.1).save(tmp_path / "run")
    with pytest.raises(gs.LoadError, match=r"does not hold its model.*Hint: give model="):
        gs.load_result(place)
    assert gs.load_result(place, still).t[-1] == 0.1
    with pytest.raises(gs.LoadError, match=r"array 'q' has shape \(\d+, 1\), expected"):
        gs.load_result(place, gs.robots.two_link())


def test_an_empty_run_can_be_saved(tmp_path):
    run = gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=0.1, t_eval=[])
    assert run.q.shape == (0, 1)
    assert gs.load_result(run.save(tmp_path / "empty")).v.shape == (0, 1)
    assert len(run.energy_residual) == 0 and "no samples" in repr(run)


# ------------------------------------------------------------------------------------------------ hostile files
def members(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def forged(path, parts):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def as_npy(array, **options):
    data = io.BytesIO()
    np.save(data, array, **options)
    return data.getvalue()


def spoiled(run, tmp_path):
    parts = members(run.save(tmp_path / "good.npz"))
    q = np.array(run.q)
    q[3, 1] = np.nan
    huge = as_npy(run.q).replace(b"(11, 5), }         ", b"(11000000000, 5), }")
    assert huge != as_npy(run.q)
    head = as_npy(np.zeros((10, 5)))
    meta = json.loads(np.load(io.BytesIO(parts["meta.npy"])).tobytes())

    def with_meta(**change):
        return parts | {"meta.npy": as_npy(np.frombuffer(json.dumps(meta | change).encode(), dtype=np.uint8))}

    return {
        "not finite": parts | {"q.npy": as_npy(q)},
        "not what its head says": parts | {"q.npy": as_npy(run.q)[:-8]},
        "has shape": parts | {"q.npy": head},
        "Object arrays cannot|not what its head says": parts
        | {"q.npy": as_npy(np.array([{}], object), allow_pickle=True)},
        "is no result of gyrostat": {k: v for k, v in parts.items() if k != "v.npy"},
        "version 7, expected 1": with_meta(gyrostat_result=7),
        "is incomplete": with_meta(events=[{"t": 1.0}] * len(run.events)),
        "is no result of gyrostat: ": parts | {"meta.npy": as_npy(np.frombuffer(b"[" * 100000, dtype=np.uint8))},
        "no result|head": parts | {"q.npy": huge},
    }


def test_files_that_are_not_what_they_say_are_refused(run, tmp_path):
    for words, parts in spoiled(run, tmp_path).items():
        with pytest.raises(gs.LoadError, match=words):
            gs.load_result(forged(tmp_path / "bad.npz", parts))
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(gs.LoadError, match="is no result of gyrostat"):
        gs.load_result(tmp_path / "text.npz")
    with pytest.raises(gs.LoadError, match="does not exist"):
        gs.load_result(tmp_path / "none.npz")


def test_a_file_that_would_fill_the_memory_is_refused(run, tmp_path, monkeypatch):
    from gyrostat.simulate.results import files as result_files

    place = run.save(tmp_path / "run")
    monkeypatch.setattr(result_files, "MAX_BYTES", 1000)
    with pytest.raises(gs.LoadError, match="at most 1000 are read"):
        gs.load_result(place)


def test_a_folder_that_does_not_exist_is_told(run, tmp_path):
    with pytest.raises(gs.SaveError, match=r"cannot be written.*check the folder"):
        run.save(tmp_path / "nowhere" / "run.npz")


# ------------------------------------------------------------------------------------------------ tables
def test_csv_has_all_digits(run, tmp_path):
    place = run.to_csv(tmp_path / "run.csv")
    head = place.read_text().splitlines()[0].split(",")
    assert head[:6] == ["t", "q.ball.qx", "q.ball.qy", "q.ball.qz", "q.ball.qw", "q.hinge"] and head[-1] == "work"
    table = np.loadtxt(place, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 0], run.t)
    np.testing.assert_array_equal(table[:, 1:6], run.q)
    np.testing.assert_array_equal(table[:, -5:-1], run.tau)


def test_pandas_has_named_columns(run):
    pytest.importorskip("pandas")
    table = run.to_pandas()
    np.testing.assert_array_equal(table["q", "hinge"], run.q[:, 4])
    np.testing.assert_array_equal(table["tau"].to_numpy(), run.tau)
    assert table.index.name == "t"


def test_xarray_has_named_axes(run):
    pytest.importorskip("xarray")
    data = run.to_xarray()
    np.testing.assert_array_equal(data["v"].sel(rate="ball.wx"), run.v[:, 0])
    assert data["q"].dims == ("t", "coordinate") and data.attrs["model"] == "tree"


def test_parquet_can_be_read_back(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(run.to_parquet(tmp_path / "run"))
    np.testing.assert_array_equal(table["q.hinge"].to_numpy(), run.q[:, 4])


def mcap_messages(place):
    """(topic, schema, time [ns], message) of a file, by mcap's own reader."""
    reader = pytest.importorskip("mcap.reader")
    with open(place, "rb") as file:
        made = reader.make_reader(file, validate_crcs=True)
        assert next(made.iter_metadata()).metadata["model"]
        return [
            (channel.topic, schema, message.log_time, json.loads(message.data))
            for schema, channel, message in made.iter_messages(log_time_order=False)
        ]


def test_mcap_can_be_read_back_with_its_names(run, tmp_path):
    found = mcap_messages(run.to_mcap(tmp_path / "run"))
    states = [(t, x) for topic, _, t, x in found if topic == "/joint_states"]
    assert [t for t, _ in states] == [round(t * 1e9) for t in run.t.tolist()]
    assert states[3][1]["timestamp"] == {"sec": 0, "nsec": 300_000_000}
    for k, (_, x) in enumerate(states):
        joints = {joint.pop("name"): joint for joint in x["joints"]}
        assert set(joints) == {*run.model.coordinates, *run.model.dofs}
        assert joints["hinge"] == {
            "position": run.q[k, 4],
            "velocity": run.v[k, 3],
            "acceleration": run.a[k, 3],
            "effort": run.tau[k, 3],
        }
        assert joints["ball.qw"] == {"position": run.q[k, 3]} and joints["ball.wx"]["effort"] == run.tau[k, 0]


def test_mcap_has_frames_and_quaternions_x_y_z_w(run, tmp_path):
    found = mcap_messages(run.to_mcap(tmp_path / "run.mcap"))
    frames = [x["transforms"] for topic, _, _, x in found if topic == "/tf"]
    places = run.frames()
    before = None
    for k, transforms in enumerate(frames):
        assert [(x["parent_frame_id"], x["child_frame_id"]) for x in transforms] == [
            ("world", "body"),
            ("world", "rod"),
        ]
        for x in transforms:
            place = places[x["child_frame_id"]]
            np.testing.assert_allclose([x["translation"][key] for key in "xyz"], place.p[k], atol=1e-15)
            turn = np.array([x["rotation"][key] for key in "xyzw"])
            np.testing.assert_allclose(from_quaternion(turn), place.R[k], atol=1e-14)
        body = np.array([transforms[0]["rotation"][key] for key in "xyzw"])
        np.testing.assert_allclose(np.abs(body), np.abs(run.q[k, :4]), atol=1e-12)  # the ball joint's own
        assert before is None or body @ before > 0.0
        before = body
    assert len(frames) == len(run.t)


def test_quaternions_of_half_turns_are_exact():
    for q in ([1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0], [0.5, -0.5, 0.5, -0.5], [0.6, 0, 0.8, 0]):
        R = from_quaternion(np.array(q))
        np.testing.assert_allclose(from_quaternion(quaternions(R[None])[0]), R, atol=1e-15)


def test_mcap_has_schemas_that_its_messages_follow_and_events_as_a_log(run, tmp_path):
    found = mcap_messages(run.to_mcap(tmp_path / "run.mcap"))
    names = {topic: (schema.name, schema.encoding) for topic, schema, *_ in found}
    assert names == {
        "/joint_states": ("foxglove.JointStates", "jsonschema"),
        "/tf": ("foxglove.FrameTransforms", "jsonschema"),
        "/events": ("foxglove.Log", "jsonschema"),
    }
    for _, schema, _, message in found:
        properties = json.loads(schema.data)["properties"]
        assert set(message) <= set(properties)
    logs = [(t, x) for topic, _, t, x in found if topic == "/events"]
    assert [t for t, _ in logs] == [round(float(event.t) * 1e9) for event in run.events] and logs
    assert all(x["level"] == 2 and x["message"].startswith("event: turns, back at t = ") for _, x in logs)
    assert [t for *_, t, _ in found] == sorted(t for *_, t, _ in found)


def test_mcap_of_an_empty_run_and_of_one_before_time_zero(tree, tmp_path):
    empty = gs.simulate(tree, t_end=0.1, t_eval=[])
    assert mcap_messages(empty.to_mcap(tmp_path / "empty")) == []
    early = gs.simulate(tree, t_start=-1.0, t_end=-0.9)
    with pytest.raises(gs.GyrostatError, match=r"begins at t = -1 s, and MCAP has no times below zero"):
        early.to_mcap(tmp_path / "early")
    assert not (tmp_path / "early.mcap").exists()


@pytest.mark.parametrize(
    ("call", "module"),
    [("to_pandas", "pandas"), ("to_xarray", "xarray"), ("to_parquet", "pyarrow"), ("to_mcap", "mcap")],
)
def test_a_missing_library_is_told_in_one_sentence(run, call, module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [tmp_path / "run"] if call in ("to_parquet", "to_mcap") else []
    with pytest.raises(gs.GyrostatError, match=rf"{call} needs {module}\. Hint: pip install {module}"):
        getattr(run, call)(*arguments)


# ------------------------------------------------------------------------------------------------ pictures
def test_a_figure_has_a_row_for_each_joint(run):
    figure = run.plot(title="fall")
    assert len(figure.axes) == 8  # two joints, q v a tau
    assert len(run.plot("hinge").axes) == 4


def test_a_replay_is_one_file(run, tmp_path):
    pytest.importorskip("viser")
    place = run.view(html=tmp_path / "run.html")
    assert place.stat().st_size > 10_000
