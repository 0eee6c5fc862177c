"""Inertia, friction and elasticity of a real robot from its motion and torques."""
