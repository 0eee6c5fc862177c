"""What writes structures of CPython: calls from Python straight into machine code."""
