"""Robots that learn: tasks as data, and environments of Gymnasium on compiled rollouts."""
