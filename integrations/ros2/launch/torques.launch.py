"""ros2 launch gyrostat_ros torques.launch.py urdf:=robot.urdf mode:=gravity"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description() -> LaunchDescription:
    text = ParameterValue(Command(["cat ", LaunchConfiguration("urdf")]), value_type=str)
    parameters = [{"robot_description": text, "mode": LaunchConfiguration("mode")}]
    return LaunchDescription(
        [
            DeclareLaunchArgument("urdf", description="the robot's URDF file"),
            DeclareLaunchArgument("mode", default_value="gravity", description="gravity | bias | inverse_dynamics"),
            Node(package="gyrostat_ros", executable="torques", name="gyrostat_torques", parameters=parameters),
        ]
    )
