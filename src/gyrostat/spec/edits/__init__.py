"""Structural edits: what :class:`Model` offers as ``attach``, ``detach``, ``lock`` and so on. Each gives a new model."""
