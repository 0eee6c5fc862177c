"""URDF files to models and back."""
