"""The viewer without a browser: sliders, read-out, replay, layers, mistakes, the exported file."""

from __future__ import annotations

import builtins
import re
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gyrostat as gs
from gyrostat.spec.shape import Shape
from gyrostat.view.channels import channels
from gyrostat.view.scene.scene import scene
from gyrostat.view.viewer.actor import between
from gyrostat.view.viewer.holding_efforts import efforts
from gyrostat.view.viewer.serving import ViewError
from gyrostat.view.viewer.sliders import from_numbers, ranges, to_numbers
from gyrostat.view.viewer.viewer import view

T = np.linspace(0.0, 1.0, 21)


def hinge(**limits) -> gs.Model:
    rod = gs.RigidBody("rod", mass=1, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0.001))
    return gs.assemble("arm", gs.chain("world", gs.Joint("hinge", "revolute", axis="y", **limits), rod))


def floating() -> gs.Model:
    other = gs.RigidBody("other", mass=1, inertia=(1, 1, 1), com=(0, 0, 0.2))
    body = gs.RigidBody("body", mass=1, inertia=(1, 1, 1))
    return gs.assemble("m", gs.chain("world", body, gs.Joint("ball", "spherical"), other), base="free")


@pytest.fixture
def viewed():
    pytest.importorskip("viser")
    opened = []

    def start(*args, **options):
        opened.append(view(*args, block=False, port=8190, **options))
        return opened[-1]

    yield start
    for viewer in opened:
        viewer.close()


# ------------------------------------------------------------------------------------ sliders, without a server
def test_sliders_end_at_limits():
    [channel] = channels(hinge(lower=-1.0, upper=2.0))
    assert [(r.label, r.low, r.high) for r in ranges(channel, 1.0)] == [("hinge [rad]", -1.0, 2.0)]
    [channel] = channels(hinge())
    assert (ranges(channel, 1.0)[0].low, ranges(channel, 1.0)[0].high) == (-3.142, 3.142)


def test_a_rotation_has_three_sliders_for_roll_pitch_yaw():
    place, turn, ball = channels(floating())
    assert [r.label for r in ranges(turn, 1.0)] == [f"world.turn {n} [rad]" for n in ("roll", "pitch", "yaw")]
    assert [r.label for r in ranges(place, 2.0)] == [f"world.place.{n} [m]" for n in "xyz"]
    assert (ranges(place, 2.0)[0].low, ranges(place, 2.0)[0].high) == (-2.0, 2.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        numbers = rng.uniform(-1.5, 1.5, 3)
        quaternion = from_numbers(ball, numbers)
        expected = Rotation.from_euler("xyz", numbers).as_matrix()
        assert Rotation.from_quat(quaternion).as_matrix() == pytest.approx(expected, abs=1e-12)
        q = np.zeros(11)
        q[list(ball.q_at)] = quaternion
        assert to_numbers(ball, q) == pytest.approx(numbers, abs=1e-9)


def test_efforts_are_those_of_inverse_dynamics_at_rest():
    model = hinge(effort_limit=4.0)
    text = efforts(model, np.array([0.7]))
    assert f"{gs.gravity(model, [0.7])[0]:.3f}" in text
    assert "N m" in text
    assert "#c0392b" not in text
    assert "#c0392b" in efforts(model, np.array([1.5]))  # 4.89 N m, more than the drive gives
    names = gs.assemble("m", gs.chain("world", gs.Joint("<b>", "revolute", axis="y"), gs.RigidBody("r", mass=1)))
    assert "&lt;b&gt;" in efforts(names, np.array([0.0]))


def test_between_samples_rotations_take_the_shortest_way():
    model = floating()
    a, b = gs.random_configuration(model, rng=1), gs.random_configuration(model, rng=2)
    q, t = np.stack([a, b]), np.array([1.0, 3.0])
    assert between(model, t, q, 1.0) == pytest.approx(a)
    assert between(model, t, q, 9.0) == pytest.approx(b)
    middle = between(model, t, q, 2.0)
    assert np.linalg.norm(middle[3:7]) == pytest.approx(1.0)
    assert gs.difference(model, a, middle) == pytest.approx(gs.difference(model, a, b) / 2.0, abs=1e-9)


# ------------------------------------------------------------------------------------ with a server
def test_a_viewer_is_only_seen_on_this_machine_and_follows_set(viewed, capsys):
    viewer = viewed(hinge(lower=-1.0, upper=2.0))
    assert viewer._server.get_host() == "127.0.0.1"
    assert re.fullmatch(r"gyrostat viewer of 'arm': http://localhost:\d+\n", capsys.readouterr().out)
    viewer.set([0.5])
    assert viewer.q == pytest.approx([0.5])
    assert viewer._sliders._rows[0][1][0].value == pytest.approx(0.5)
    assert viewer.stage._nodes[1].wxyz == pytest.approx([np.cos(0.25), 0.0, np.sin(0.25), 0.0])
    assert f"{gs.gravity(viewer.model, [0.5])[0]:.3f}" in viewer._efforts.content
    viewer.set({"hinge": 3.0})  # beyond the slider, shown all the same
    assert viewer.q == pytest.approx([3.0])
    assert viewer._sliders._rows[0][1][0].value == pytest.approx(2.0)
    viewer._moved([0], np.array([-0.25]))
    assert viewer.q == pytest.approx([-0.25])
    with pytest.raises(gs.GyrostatError, match="view: q has"):
        viewer.set([0.0, 1.0])


def test_layers_are_shown_and_hidden(viewed):
    viewer = viewed(hinge())
    shown = {name: bool(handles) and handles[0].visible for name, handles in viewer.stage.layers.items()}
    assert shown["robot"] and shown["centres of mass"] and shown["inertia boxes"]
    assert not shown["frames"]
    viewer.stage.show("frames", True)
    assert all(handle.visible for handle in viewer.stage.layers["frames"])
    viewer.stage.fade(0.5)
    assert {handle.opacity for handle in viewer.stage.layers["robot"]} == {0.5}
    viewer.stage.fade(1.0)
    assert {handle.opacity for handle in viewer.stage.layers["robot"]} == {None}


def test_every_kind_of_shape_is_drawn_and_a_missing_mesh_is_told(viewed, caplog):
    sizes = {"box": (1, 1, 1), "cylinder": (1, 1), "capsule": (1, 1), "sphere": (1,), "ellipsoid": (1, 2, 3)}
    shapes = [Shape(kind=kind, size=size, color=(1, 0, 0, 0.5)) for kind, size in sizes.items()]
    model = hinge().replace({"rod.shapes": [*shapes, Shape(kind="mesh", file="nowhere.stl")]})
    viewer = viewed(model)
    assert len(viewer.stage.layers["robot"]) == 5
    assert viewer.stage.missing == ["rod: the mesh 'nowhere.stl' is not there"]
    assert "1 shapes are not shown" in caplog.text


def test_a_free_base_and_a_ball_can_be_shown(viewed):
    model = floating()
    viewer = viewed(model)
    q = gs.random_configuration(model, rng=3)
    viewer.set(q)
    _, p = scene(model).placements(q)
    assert viewer.stage._nodes[0].position == pytest.approx(p[0])


def test_a_trajectory_is_replayed_with_its_plots(viewed):
    model = hinge()
    q = np.sin(3.0 * T)[:, None]
    viewer = viewed(model, q, T, v=3.0 * np.cos(3.0 * T)[:, None], tau=q)
    replay = viewer.replay
    replay.seek(0.525)
    assert viewer.q == pytest.approx((np.sin(1.5) + np.sin(1.65)) / 2.0, abs=1e-9)
    times, curve, line = replay._curves._handle.data
    assert line.max() > curve.max()
    assert times[np.argmax(line)] == pytest.approx(0.525)
    replay._curves.choose("tau", "hinge", 0.2)
    assert replay._curves._handle.title == "effort tau [N m]"
    replay.play()
    before, end = viewer.q.copy(), time.monotonic() + 10.0
    while np.array_equal(before, viewer.q) and time.monotonic() < end:
        time.sleep(0.02)
    replay.play(False)
    assert not np.array_equal(before, viewer.q)


def test_the_exported_file_holds_everything(tmp_path, capsys):
    pytest.importorskip("viser")
    path = view(hinge(), np.sin(T)[:, None], T, html=tmp_path / "robot.html")
    text = path.read_text("utf-8")
    assert "<title>arm</title>" in text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?https?:", text)
    still = view(hinge(), [0.3], html=tmp_path / "still.html")
    assert still.stat().st_size < path.stat().st_size
    assert capsys.readouterr().out == ""
    with pytest.raises(gs.GyrostatError, match="cannot be written: No such file or directory"):
        view(hinge(), html=tmp_path / "no" / "robot.html")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"t": T}, "t was given without q"),
        ({"t": T, "q": np.zeros((20, 1))}, r"t has shape \(21,\), q has \(20, 1\)"),
        ({"t": T[::-1], "q": np.zeros((21, 1))}, "t must be finite and grow"),
        ({"t": T, "q": np.zeros((21, 1)), "tau": np.zeros(21)}, r"tau has shape \(21,\), expected \(21, 1\)"),
        ({"q": np.zeros(2)}, r"view: q has shape \(2,\)"),
        ({"t": [0.0], "q": np.zeros((1, 1))}, "at least two rows"),
    ],
)
def test_wrong_trajectories_are_told(given, told):
    with pytest.raises(gs.ShapeError, match=told):
        view(hinge(), block=False, **given)


def test_a_missing_package_is_told(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "viser":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ViewError, match=r"needs the package viser. Hint: pip install 'gyrostat\[view\]'"):
        view(hinge(), block=False)


def test_joints_that_follow_others_move_in_the_picture_and_have_no_slider(tmp_path):
    body = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    limit = '<limit lower="0" upper="0.04" effort="1" velocity="1"/>'

    def finger(name, axis, mimic=""):
        ends = f'<parent link="hand"/><child link="{name}"/><axis xyz="0 {axis} 0"/>{limit}{mimic}'
        return f'<link name="{name}">{body}</link><joint name="{name}_joint" type="prismatic">{ends}</joint>'

    follow = '<mimic joint="left_joint"/>'
    text = f'<robot name="r"><link name="hand">{body}</link>{finger("left", 1)}{finger("right", -1, follow)}</robot>'
    path = tmp_path / "r.urdf"
    path.write_text(text)
    model = gs.load(path)
    [channel] = channels(model)
    assert (channel.name, channel.limits["q"]) == ("left_joint", (0.0, 0.04))
    drawn = scene(model)
    _, p = drawn.placements([0.03])
    found = {link.name: p[k] for k, link in enumerate(drawn.links)}
    assert found["left"] == pytest.approx((0, 0.03, 0))
    assert found["right"] == pytest.approx((0, -0.03, 0))


def test_a_rotor_on_a_spring_has_a_slider_of_its_own():
    model = hinge().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=1e4)
    assert [(c.name, c.sort) for c in channels(model)] == [("hinge", "angle"), ("hinge_drive.rotor", "angle")]
    assert "hinge_drive.rotor" in efforts(model, gs.neutral(model))
    assert len(scene(model).links) == 2


def test_a_model_that_cannot_move_is_shown(viewed, tmp_path):
    model = gs.assemble("m", gs.chain("world", gs.RigidBody("block", mass=1)))
    viewed(model).set([])
    assert view(model, np.zeros((2, 0)), [0.0, 1.0], html=tmp_path / "m.html").stat().st_size > 100_000
