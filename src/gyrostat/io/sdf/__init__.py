"""SDF: the format of Gazebo and Drake, closed chains included."""
