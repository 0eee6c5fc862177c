<<<<<<< HEAD
"""Contact: kinematics of candidates, complementarity with exact cones, laws of impact."""
=======
"""Contact: surfaces that may touch, their kinematics, frames that are held, cones and impacts."""
>>>>>>> main
