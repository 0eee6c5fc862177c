"""Contact: surfaces that may touch, their kinematics, cones and impacts."""
