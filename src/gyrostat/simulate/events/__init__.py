"""Instants at which something happens during a run."""
