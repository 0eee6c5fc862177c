"""xacro files, expanded to URDF without running Python of theirs."""
