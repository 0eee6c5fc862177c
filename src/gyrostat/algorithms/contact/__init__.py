"""Contact: surfaces that may touch, their kinematics, frames that are held, cones and impacts."""
