"""Contact: kinematics of candidates, and what is computed with it."""
