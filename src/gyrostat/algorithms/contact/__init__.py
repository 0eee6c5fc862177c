"""Contact: kinematics of candidates, complementarity with exact cones, laws of impact."""
