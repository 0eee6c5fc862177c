"""Geometry and elasticity of a real robot from measurements of its pose."""
