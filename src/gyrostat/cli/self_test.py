"""The self-test of ``gyrostat doctor``: machine code is made, kept, found again, and compared with numbers that are
known otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WITHIN = 1e-13
"""Of the largest number, by which machine code may differ from NumPy."""


def self_test() -> list[dict[str, Any]]:
    """``what`` was tried, whether it is ``sound``, what is ``told`` of it, ``seconds``."""
    return [_tried(what, test) for what, test in TESTS.items()]


def _tried(what: str, test: Callable[[], str]) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        told, sound = test(), True
    except Exception as error:  # whatever it is: this is what the report is for
        told, sound = f"{type(error).__name__}: {error}", False
    return {"what": what, "sound": sound, "told": told, "seconds": round(time.perf_counter() - start, 4)}


def _compared(found: Any, wanted: Any, of: str) -> str:
    import numpy as np

    error = float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))
    if not error <= WITHIN:
        raise ArithmeticError(f"{of} differ by {error:.3g} of the largest, more than {WITHIN:g}")
    return f"{of} within {error:.1g}"


def compiles() -> str:
    """A kernel that no cache has, compared with NumPy state by state."""
    import numpy as np

    from gyrostat.engine.kernel import Kernel
    from gyrostat.engine.llvm.object_cache import ObjectCache
    from gyrostat.engine.tracing.record import record

    class Nowhere(ObjectCache):
        def get(self, key: str) -> bytes | None:
            return None

        def put(self, key: str, code: bytes) -> None:
            pass

    def function(q: Any) -> dict[str, Any]:
        return {"y": np.sin(q) * np.sqrt(1.0 + q * q) - np.cos(3.0 * q) / (2.0 + q * q)}

    q = np.linspace(-20.0, 20.0, 3000).reshape(-1, 3)
    kernel = Kernel(record(function, {"q": (3,)}, "doctor"), "doctor", Nowhere())
    start = time.perf_counter()
    found = kernel.call(q)["y"]
    seconds = time.perf_counter() - start
    return f"{_compared(found, function(q)['y'], 'numbers')}, ready in {seconds:.2f} s"


def computes() -> str:
    """Inverse dynamics of a rod, which is known in closed form, one state and a batch."""
    import numpy as np

    import gyrostat as gs

    rng = np.random.default_rng(0)
    rod = gs.robots.pendulum(mass=2.0, length=0.7)
    q, v, a = rng.uniform(-3.0, 3.0, (3, 257, 1))
    wanted = 2.0 * 0.7**2 / 3.0 * a + 2.0 * 9.81 * 0.35 * np.sin(q)
    one = np.array([gs.rnea(rod, *state) for state in zip(q[:9], v[:9], a[:9], strict=True)])
    _compared(one, wanted[:9], "torques of single states")
    return _compared(gs.rnea(rod, q, v, a), wanted, "torques")


def calls() -> str:
    """How Python enters machine code; the slower way is as right as the other."""
    from gyrostat.engine.cpython.layout import available

    why = available()
    return f"through Python, because {why}" if why else "straight into machine code"


def keeps() -> str:
    """An object that is written, found again, and taken away."""
    from gyrostat.engine.llvm.object_cache import ObjectCache, folder

    place = folder()
    if place is None:
        return "off, as GYROSTAT_CACHE says: everything is compiled anew in each process"
    cache, key, content = ObjectCache(), "d0c" + "0" * 61, b"gyrostat doctor"
    cache.put(key, content)
    back = cache.get(key)
    if back != content:
        raise OSError(f"nothing is kept ({cache.note}): everything is compiled anew in each process")
    Path(place, f"{key}.o").unlink(missing_ok=True)
    return "writable, and what is written is found again"


TESTS: dict[str, Callable[[], str]] = {
    "a kernel is compiled": compiles,
    "inverse dynamics": computes,
    "calls": calls,
    "cache": keeps,
}
