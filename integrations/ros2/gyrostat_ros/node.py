"""The node: ``joint_states`` in, torques out. All that it computes is in :mod:`gyrostat_ros.torques`."""

from __future__ import annotations

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectoryPoint

import gyrostat as gs

from .torques import TorqueComputer, told_once


class TorqueNode(Node):
    """Publishes torques for every measurement that is complete, finite and young enough."""

    def __init__(self) -> None:
        super().__init__("gyrostat_torques")
        for name, value in (("robot_description", ""), ("mode", "gravity"), ("timeout", 0.1)):
            self.declare_parameter(name, value)
        self.declare_parameter("joints", rclpy.Parameter.Type.STRING_ARRAY)
        self.declare_parameter("kp", [0.0])
        self.declare_parameter("kd", [0.0])
        self.computer = TorqueComputer(
            self._value("robot_description"), self._value("mode"), self._joints(), self._value("kp"), self._value("kd")
        )
        self._timeout, self._told = self._value("timeout"), set()
        self._efforts = self.create_publisher(Float64MultiArray, "~/torques", 10)
        self._named = self.create_publisher(JointState, "~/joint_torques", 10)
        self.create_subscription(JointState, "joint_states", self.on_state, qos_profile_sensor_data)
        self.create_subscription(JointTrajectoryPoint, "~/reference", self.on_reference, 10)

    def _value(self, name: str):
        return self.get_parameter(name).value

    def _joints(self) -> list[str]:
        return list(self.get_parameter_or("joints", rclpy.Parameter("joints", value=[])).value or [])

    def on_reference(self, point: JointTrajectoryPoint) -> None:
        try:
            self.computer.set_reference(point)
        except gs.GyrostatError as error:
            self._tell(str(error))

    def on_state(self, message: JointState) -> None:
        age = (self.get_clock().now() - rclpy.time.Time.from_msg(message.header.stamp)).nanoseconds * 1e-9
        if message.header.stamp.sec and age > self._timeout:
            self._tell(f"joint_states: a measurement is older than {self._timeout} s, nothing is published for it")
            return
        try:
            torques = self.computer.torques(message)
        except gs.GyrostatError as error:
            self._tell(str(error))
            return
        if torques is None:
            self._tell("no reference yet, nothing is published")
            return
        self._efforts.publish(Float64MultiArray(data=torques.tolist()))
        named = JointState(name=list(self.computer.joints), effort=torques.tolist())
        named.header.stamp = message.header.stamp
        self._named.publish(named)

    def _tell(self, text: str) -> None:
        if told_once(self._told, text):
            self.get_logger().warning(text)


def main() -> None:
    rclpy.init()
    node = TorqueNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
