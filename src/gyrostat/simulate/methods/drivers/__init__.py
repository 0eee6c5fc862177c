"""Steps of the methods as drivers: robot-independent loops in machine code around the kernels of a plant."""
