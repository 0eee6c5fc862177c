"""Robots and mechanisms with closed loops: benchmarks of the literature, parallel robots, machines."""
