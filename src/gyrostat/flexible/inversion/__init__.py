"""Inverse dynamics where something moves that no motor drives: flexible links, joints behind springs."""
