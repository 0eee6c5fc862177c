"""Events of a run: what is watched, when it happens, and what happens then (stop, release, stick, slip, users' own)."""
