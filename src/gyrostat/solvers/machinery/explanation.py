"""What ``explain()`` tells of a solver: operations before and after simplification, times, code size, cache hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.program import Program

if TYPE_CHECKING:
    from gyrostat.solvers.machinery.solver import Solver


def explanation(solver: Solver) -> str:
    """Several lines, then those of the network."""
    head = f"{type(solver).__name__} of '{solver.model.name}' in {solver.representation} representation"
    lines = [f"{head}, mode {solver.mode}"]
    if solver.mode == "interpret":
        lines.append(f"  interpreted: {solver.why_interpreted}")
    if solver.mode == "compile" and available():
        lines.append(f"  single calls take the general path: {available()}")
    lines.append(f"  live inputs: {', '.join(solver.live) or 'none, every property is folded into the code'}")
    for kernel in solver._kernels.values():
        lines += _of_kernel(kernel)
    if "trace" in solver._seconds:
        lines.append(f"  trace {solver._seconds['trace'] * 1e3:.1f} ms")
    return "\n".join([*lines, solver.network.explain()])


def _of_kernel(kernel: Kernel) -> list[str]:
    program: Program = kernel.program
    inputs = ", ".join(f"{s.name}{list(s.shape)}" for s in program.inputs)
    recorded, left = program.recorded, program.counts()
    lines = [
        f"  program {program.name}({inputs}) -> {', '.join(s.name for s in program.outputs)}",
        f"    operations recorded: {sum(recorded.values())} ({', '.join(f'{k} {v}' for k, v in recorded.items())})",
        f"    operations kept: {sum(left.values())} ({', '.join(f'{k} {v}' for k, v in left.items())})",
    ]
    for what, code in kernel.codes().items():
        times = ", ".join(f"{k} {s * 1e3:.1f} ms" for k, s in code.seconds.items())
        lines.append(f"    code for {what}: {code.size} bytes, cache {code.cache_note}, {times}")
    return lines
