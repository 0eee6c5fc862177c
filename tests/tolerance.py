"""One measure of difference for arrays whose entries belong together."""

import numpy as np


def assert_close(got, want, tolerance: float) -> None:
    """Largest difference against the largest entry of ``want``, or against 1 if that is larger."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    off = np.abs(got - want).max(initial=0.0)
    scale = max(1.0, np.abs(want).max(initial=0.0))
    assert off <= tolerance * scale, f"off by {off / scale:.2g} relative to {scale:.3g}, allowed {tolerance:g}"
