"""Many points of one job: grids, samples, optimisation; resumed where they were interrupted, on one machine or many."""
