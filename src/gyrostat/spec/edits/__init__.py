"""Structural edits: what :class:`Model` offers as ``attach``, ``detach``, ``lock`` ...; each gives a new model."""
