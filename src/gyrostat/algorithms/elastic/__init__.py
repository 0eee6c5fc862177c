"""Inverse dynamics of elastic joints (H04 3.2.1): motors behind springs, on series in time."""
