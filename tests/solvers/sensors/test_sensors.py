"""Sensors: closed forms, agreement with MuJoCo, sensors of files and of runs."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.mjcf_models import pair, without_what_is_not_taken

MJCF = """
<mujoco model="walker">
  <option gravity="0.3 -0.2 -9.81"/>
  <worldbody>
    <site name="mark" pos="0.5 0.2 0.1" euler="10 20 30"/>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.1" mass="4"/>
      <site name="imu" pos="0.1 0.05 0.02" euler="20 -30 40"/>
      <body name="arm" pos="0.2 0 0">
        <joint name="ball" type="ball"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.02" mass="1"/>
        <body name="hand" pos="0.2 0 0.1">
          <joint name="hinge" axis="0 1 0.2" pos="0.01 0 0" range="-90 90"/>
          <joint name="slide" type="slide" axis="1 0 0"/>
          <geom type="sphere" size="0.03" pos="0.05 0.02 0" mass="0.5"/>
          <site name="wrist" pos="0.02 0.01 0.03" euler="50 10 -20"/>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="acc" site="imu"/> <gyro name="rate" site="imu"/> <velocimeter name="speed" site="wrist"/>
    <accelerometer name="hand_acc" site="wrist"/>
    <force name="pull" site="wrist"/> <torque name="twist" site="wrist"/> <force name="base" site="imu"/>
    <jointpos name="angle" joint="hinge"/> <jointvel name="turn" joint="slide"/>
    <ballquat name="bq" joint="ball"/> <ballangvel name="bw" joint="ball"/>
    <framepos name="fp" objtype="site" objname="wrist"/> <framequat name="fq" objtype="xbody" objname="hand"/>
    <framexaxis name="fx" objtype="site" objname="wrist"/> <framezaxis name="fz" objtype="site" objname="imu"/>
    <framelinvel name="flv" objtype="site" objname="wrist"/> <frameangvel name="fav" objtype="xbody" objname="arm"/>
    <framelinacc name="fla" objtype="site" objname="wrist"/> <frameangacc name="faa" objtype="site" objname="wrist"/>
    <framepos name="rp" objtype="site" objname="wrist" reftype="site" refname="imu"/>
    <framequat name="rq" objtype="site" objname="wrist" reftype="site" refname="mark"/>
    <framelinvel name="rlv" objtype="site" objname="wrist" reftype="xbody" refname="trunk"/>
    <frameangvel name="rav" objtype="site" objname="wrist" reftype="site" refname="imu"/>
    <frameyaxis name="ry" objtype="site" objname="wrist" reftype="site" refname="imu"/>
    <subtreecom name="sc" body="trunk"/>
    <framepos name="com" objtype="body" objname="arm"/>
    <gyro name="noisy" site="imu" noise="0.1" cutoff="5"/>
  </sensor>
</mujoco>
"""
TAKEN = "acc rate speed hand_acc pull twist base angle turn bq bw fp fq fx fz flv fav fla faa rp rq rlv rav ry noisy"


def test_sensors_of_a_file_measure_what_mujoco_measures():
    mujoco = pytest.importorskip("mujoco")
    model, other = gs.load_string(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    without_what_is_not_taken(mujoco, other)
    other.sensor_cutoff[:] = 0.0
    for seed in range(3):
        p = pair(model, other, seed)
        data = mujoco.MjData(other)
        data.qpos[:], data.qvel[:], data.qacc[:] = p.qpos, p.T @ p.v, p.T @ p.a + p.bias
        mujoco.mj_inverse(other, data)
        values = gs.sensors.measured(model, p.q, p.v, p.a)
        assert sorted(values) == sorted(TAKEN.split())
        for name in TAKEN.split():
            got, peer = values[name], data.sensor(name).data
            if name in ("fq", "rq", "bq"):
                peer = peer[[1, 2, 3, 0]]
                peer = peer if peer @ got > 0 else -peer
            np.testing.assert_allclose(got, peer, rtol=1e-9, atol=1e-9, err_msg=name)


def test_what_is_not_taken_is_told_with_its_line():
    audit = gs.audit_string(MJCF)
    told = [str(f) for f in audit.ignored if f.rule == "unused-sensor"]
    assert len(told) == 4
    for what in (
        "<subtreecom> is not in the model",
        "sites and of bodies",
        "'noise' of a sensor",
        "'cutoff' of a sensor",
    ):
        assert sum(what in line for line in told) == 1, what


def pendulum() -> gs.Model:
    rod = gs.RigidBody("rod", mass=2.0, com=(0, 0, -0.5), inertia=(1 / 6, 1 / 6, 0), frames={"tip": (0, 0, -1)})
    model = gs.assemble("pendulum", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), rod))
    return gs.sensors.add(
        model, gs.sensors.IMU("rod.tip"), gs.sensors.ForceTorque("rod.origin"), gs.sensors.Encoder("hinge")
    )


def test_a_pendulum_measures_what_its_closed_form_says():
    model = pendulum()
    q, v, a = 0.4, 1.5, -2.0
    values = gs.sensors.measured(model, [q], [v], [a])
    g = np.array([-9.81 * np.sin(q), 0.0, 9.81 * np.cos(q)])  # against gravity, in the rod
    tip = np.array([-a, 0.0, v * v])  # the tip is 1 m below: along -x by a, towards the hinge by v^2
    np.testing.assert_allclose(values["imu"], [0.0, v, 0.0, *(tip + g)], atol=1e-12)
    np.testing.assert_allclose(values["hinge_encoder"], [q, v])
    centre = np.array([-a, 0.0, v * v]) * 0.5 + g
    np.testing.assert_allclose(values["force_torque"][3:], 2.0 * centre, atol=1e-12)
    np.testing.assert_allclose(values["force_torque"][1], gs.rnea(model, [q], [v], [a])[0], atol=1e-12)


def test_runs_have_sensors():
    model = pendulum()
    run = gs.simulate(model, q0=[0.5], t_end=0.4)
    assert run.sensors["imu"].shape == (len(run.t), 6)
    np.testing.assert_array_equal(run.sensors["hinge_encoder"], np.hstack([run.q, run.v]))
    np.testing.assert_array_equal(run.sensors["force_torque"], run.port_forces()["rod.origin"])
    np.testing.assert_allclose(run.sensors["force_torque"][:, 1], 0.0, atol=1e-9)  # a free hinge
    with pytest.raises(gs.StateError, match=r"no sensor 'imo'.*imu"):
        run.sensors["imo"]


def test_an_accelerometer_in_free_fall_feels_nothing_in_any_gravity():
    for gravity in ((0.0, 0.0, -9.81), gs.CentralGravity(mu=50.0, centre=(0, 0, -3))):
        ball = gs.assemble("ball", gs.connect("world", "ball.origin"), gs.RigidBody("ball", mass=1.0), base="free",
                           gravity=gravity)  # fmt: skip
        model = gs.sensors.add(ball, gs.sensors.IMU("ball"))
        q, v = gs.random_configuration(model, 1), np.array([0, 0, 0, 0.3, 0.2, -0.1])
        model_heavy = model.replace({"ball.inertia": (0.1, 0.1, 0.1)})
        a = gs.aba(model_heavy, q, v, np.zeros(6))
        np.testing.assert_allclose(gs.sensors.measured(model_heavy, q, v, a)["imu"][3:], 0.0, atol=1e-12)


def test_sensors_follow_changes_of_the_model_and_go_with_their_frames(tmp_path):
    model = pendulum()
    renamed = model.rename("rod", "bar")
    assert [e.at for e in renamed.entities if isinstance(e, gs.sensors.Sensor)] == ["bar.tip", "bar.origin", "hinge"]
    gs.save(model, tmp_path / "p.yaml")
    assert gs.load(tmp_path / "p.yaml") == model
    hand = gs.RigidBody("hand", mass=1.0, inertia=(0.1, 0.1, 0.1))
    longer = gs.sensors.add(model.attach(hand, "rod.tip"), gs.sensors.IMU("hand", "hand_imu"))
    assert "hand_imu" in gs.sensors.measured(longer, [0.1], [0.0], [0.0])
    assert [e.name for e in longer.detach("hand").entities if isinstance(e, gs.sensors.Sensor)] == [
        "imu", "force_torque", "hinge_encoder"
    ]  # fmt: skip
    assert gs.rnea(model, [0.4], [1.0], [2.0]) == gs.rnea(pendulum(), [0.4], [1.0], [2.0])


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        (lambda: gs.sensors.IMU("rod.tp", "second"), r"'at' is 'rod.tp', there is no such frame"),
        (lambda: gs.sensors.Encoder("hing", "enc"), r"'at' is 'hing', there is no such joint.*hinge"),
        (lambda: gs.sensors.Encoder("rod", "enc"), r"measures encoder at 'rod', which is no joint that moves"),
        (lambda: 3, r"expected sensors, got 3"),
    ],
)
def test_sensors_that_are_nowhere_are_refused(sensor, message):
    with pytest.raises(gs.SpecError, match=message):
        gs.sensors.add(pendulum(), sensor())


def test_forces_through_ports_are_refused_where_rigid_contacts_act():
    ball = gs.RigidBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = gs.assemble("faller", gs.chain("world", gs.Joint("fall", "prismatic", axis="z"), ball))
    model = gs.sensors.add(model, gs.sensors.ForceTorque("ball.origin")).with_ground(
        points=["ball.origin"], friction=0.5
    )
    run = gs.simulate(model, q0=[0.0], t_end=0.1)
    with pytest.raises(gs.GyrostatError, match=r"'force_torque' measures forces through a port.*rigid contacts"):
        _ = run.sensors
