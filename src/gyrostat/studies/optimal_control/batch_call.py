"""Programs as functions of batches, with as little as possible between the call and the machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.program import Program

SHORT, LONG = 3_000, 40_000
"""Operations up to which code for one state is made beside that for batches, as the fast call needs: usually, and
where every microsecond counts."""


def batch_call(program: Program, name: str, short: int = SHORT) -> Callable[..., Any]:
    """A function of arrays (k, ...) that returns the one output, or all of them; what is not finite comes back as it
    is."""
    kernel, one = Kernel(program, name), len(program.outputs) == 1

    def plain(*inputs: Any, **_: Any) -> Any:
        found = tuple(kernel.call(*inputs, nonfinite="return").values())
        return found[0] if one else found

    return plain if len(program.nodes) > short else kernel.builtin(plain, [], name, "")
