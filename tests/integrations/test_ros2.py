"""The package for ROS 2 with messages that have the fields of ROS', without ROS; the node with a stand-in for it."""

from __future__ import annotations

import ast
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest

import gyrostat as gs

PACKAGE = Path(__file__).parents[2] / "integrations" / "ros2"
ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.3"/><mass value="3"/><inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.01"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.6"/><axis xyz="0 1 0"/></joint>
</robot>"""  # noqa: E501


@pytest.fixture
def package(monkeypatch):
    """The module of the package that needs no ROS."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    for name in [name for name in sys.modules if name.startswith("gyrostat_ros")]:
        monkeypatch.delitem(sys.modules, name)
    from gyrostat_ros import torques

    return torques


def measured(**numbers: tuple[float, float]) -> SimpleNamespace:
    """A JointState; names come in the order given, not in the robot's."""
    names = list(numbers)
    position, velocity = ([numbers[name][k] for name in names] for k in range(2))
    stamp = SimpleNamespace(sec=0, nanosec=0)
    return SimpleNamespace(name=names, position=position, velocity=velocity, header=SimpleNamespace(stamp=stamp))


STATE = measured(elbow=(0.5, -1.0), gripper=(9.0, 9.0), shoulder=(0.3, 0.7))
Q, V = np.array([0.3, 0.5]), np.array([0.7, -1.0])


def test_torques_come_in_the_order_that_is_asked_for_whatever_the_order_of_the_message(package):
    model = gs.load_string(ARM)
    np.testing.assert_allclose(package.TorqueComputer(ARM).torques(STATE), gs.gravity(model, Q), atol=1e-13)
    bias = package.TorqueComputer(ARM, "bias", joints=["elbow", "shoulder"]).torques(STATE)
    np.testing.assert_allclose(bias, gs.rnea(model, Q, V, np.zeros(2))[::-1], atol=1e-13)


def test_computed_torque_makes_errors_decay_as_its_gains_say(package):
    model = gs.load_string(ARM)
    computer = package.TorqueComputer(ARM, "inverse_dynamics", kp=[100.0], kd=[20.0, 20.0])
    assert computer.torques(STATE) is None
    computer.set_reference(SimpleNamespace(positions=[0.1, 3.0], velocities=[0.2, 0.0], accelerations=[]))
    a = gs.aba(model, Q, V, computer.torques(STATE))
    np.testing.assert_allclose(a, 100 * (np.array([0.1, 3.0]) - Q) + 20 * (np.array([0.2, 0.0]) - V), atol=1e-10)


def test_messages_from_which_nothing_follows_are_told(package):
    computer = package.TorqueComputer(ARM, "bias")
    for message, told in (
        (measured(elbow=(0.5, 0.0)), "no position of shoulder"),
        (measured(elbow=(0.5, 0.0), shoulder=(np.nan, 0.0)), "position of shoulder is not finite"),
        (SimpleNamespace(name=["elbow", "shoulder"], position=[0.0, 0.0], velocity=[]), "0 numbers in velocity"),
    ):
        with pytest.raises(package.MessageError, match=told):
            computer.torques(message)
    with pytest.raises(package.MessageError, match="positions must be 2 numbers, got 0"):
        computer.set_reference(SimpleNamespace(positions=[], velocities=[], accelerations=[]))
    for wrong, told in (
        ({"mode": "grvity"}, "mode must be one of gravity, bias, inverse_dynamics"),
        ({"joints": ["wrist"]}, "'wrist'"),
        ({"kp": [1.0, 2.0, 3.0]}, "kp must be one number or 2"),
        ({"kd": [-1.0]}, "none negative"),
    ):
        with pytest.raises(gs.GyrostatError, match=told):
            package.TorqueComputer(ARM, **wrong)
    with pytest.raises(gs.GyrostatError, match="robot_description is empty"):
        package.TorqueComputer(" ")


class FakeNode:
    """What the node uses of rclpy."""

    given: ClassVar[dict] = {}

    def __init__(self, name):
        self.parameters, self.published, self.warnings = {}, {}, []

    def declare_parameter(self, name, value):
        self.parameters[name] = SimpleNamespace(value=self.given.get(name, value))

    def get_parameter(self, name):
        return self.parameters[name]

    def get_parameter_or(self, name, other):
        return self.parameters[name] if name in self.given else other

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=lambda message: self.published.setdefault(topic, []).append(message))

    def create_subscription(self, *how):
        pass

    def get_clock(self):
        return SimpleNamespace(now=lambda: FakeTime(100.0))

    def get_logger(self):
        return SimpleNamespace(warning=self.warnings.append)


class FakeTime(float):
    def __sub__(self, other):
        return SimpleNamespace(nanoseconds=(float(self) - float(other)) * 1e9)

    @staticmethod
    def from_msg(stamp):
        return FakeTime(stamp.sec + 1e-9 * stamp.nanosec)


def message(**fields):
    return SimpleNamespace(header=SimpleNamespace(stamp=None), **fields)


def test_the_node_publishes_what_is_young_and_tells_the_rest_once(package, monkeypatch):
    class Parameter(SimpleNamespace):
        Type = SimpleNamespace(STRING_ARRAY=9)

        def __init__(self, name, value):
            super().__init__(value=value)

    fakes = {
        "rclpy": {"Parameter": Parameter, "time": SimpleNamespace(Time=FakeTime)},
        "rclpy.node": {"Node": FakeNode},
        "rclpy.qos": {"qos_profile_sensor_data": None},
        "sensor_msgs": {}, "sensor_msgs.msg": {"JointState": message},
        "std_msgs": {}, "std_msgs.msg": {"Float64MultiArray": message},
        "trajectory_msgs": {}, "trajectory_msgs.msg": {"JointTrajectoryPoint": message},
    }  # fmt: skip
    for name, content in fakes.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(FakeNode, "given", {"robot_description": ARM})
    from gyrostat_ros.node import TorqueNode

    node = TorqueNode()
    node.on_state(STATE)
    (efforts,), (named,) = node.published["~/torques"], node.published["~/joint_torques"]
    np.testing.assert_allclose(efforts.data, gs.gravity(gs.load_string(ARM), Q), atol=1e-13)
    assert named.name == ["shoulder", "elbow"] and named.effort == efforts.data
    old = measured(elbow=(0.5, 0.0), shoulder=(0.3, 0.0))
    old.header.stamp = SimpleNamespace(sec=99, nanosec=0)
    for _ in range(3):
        node.on_state(old)
        node.on_state(measured(elbow=(0.5, 0.0)))
    assert len(node.published["~/torques"]) == 1
    assert len(node.warnings) == 2 and "older than 0.1 s" in node.warnings[0] and "shoulder" in node.warnings[1]


def test_the_package_is_complete():
    manifest = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert manifest.findtext("name") == "gyrostat_ros" and manifest.findtext("license") == "Apache-2.0"
    assert manifest.findtext("export/build_type") == "ament_python" and (PACKAGE / "resource" / "gyrostat_ros").exists()
    needed = {element.text for element in manifest.findall("exec_depend")}
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {
            node.module.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
        }
        assert imported - needed <= {
            "__future__",
            "collections",
            "typing",
            "setuptools",
            "gyrostat_ros",
            "launch",
            "launch_ros",
        }, file
