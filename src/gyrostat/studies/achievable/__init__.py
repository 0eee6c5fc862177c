"""Achievable motion of a programme under the limits of the actuators [KV II, V]."""
