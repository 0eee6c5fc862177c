"""From a program to LLVM text: the kernel for one state or for W states at once.

Nothing may be contracted or reordered but what the plan has fused: so one state alone and the same state anywhere in a
batch give the same bits."""

from __future__ import annotations

from dataclasses import dataclass

from gyrostat.engine.llvm.elementary import Writer, far_functions
from gyrostat.engine.llvm.part_text import PartText
from gyrostat.engine.llvm.plan import PART, Plan
from gyrostat.engine.llvm.stretches import chunks, runs
from gyrostat.engine.tracing.operations import OPERATIONS
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.reassociate import reassociate


@dataclass(frozen=True)
class Emitted:
    """LLVM text of a module, and how many doubles of work space (per lane) its kernel needs."""

    text: str
    work: int
    parts: int


def emit(program: Program, lanes: int, fma: bool, pack: int = 1, part: int | None = None) -> Emitted:
    """The kernel ``@kernel(in0, ..., out0, ..., work)`` for W states; it returns 0 if all is finite.

    Element j of input i is at ``in_i[j * W]``. With one lane, sines of ``pack`` inputs at a time share vector code.
    ``part`` is the largest number of operations in one function, :data:`~gyrostat.engine.llvm.plan.PART` unless told.
    """
    plan = Plan(reassociate(program) if fma else program, fma, part)
    names = (
        [f"%in{k}" for k in range(len(program.inputs))] + [f"%out{k}" for k in range(len(program.outputs))] + ["%work"]
    )
    arguments = ", ".join(f"ptr {n}" if n == "%work" else f"ptr noalias {n}" for n in names)
    texts = [PartText(plan, p, lanes, fma, pack).text(arguments) for p in range(len(plan.parts))]
    w = Writer(lanes, fma)
    acc = w.number(0.0)
    for p in range(len(plan.parts)):
        acc = w.op("fadd", acc, w.put(f"call {w.vt} @part{p}({', '.join(f'ptr {n}' for n in names)})"))
    constants = [_fixed_text(program, o) for o in range(len(program.outputs)) if lanes == 1 and program.fixed(o)]
    for output, count, _ in constants:
        w.lines += [f"  call void @fixed{output}_{n}(ptr %out{output})" for n in range(count)]
    body = "\n".join(w.lines)
    kernel = f"define internal {w.vt} @kernel({arguments}) {{\nentry:\n{body}\n  ret {w.vt} {acc}\n}}"
    widths = [lanes, pack] if lanes == 1 < pack else [lanes]
    far = [far_functions(n, fma) for n in widths]
    fixed = [text for *_, text in constants]
    return Emitted("\n".join([header(widths), *far, *texts, *fixed, kernel]), plan.work, len(plan.parts))


def _fixed_text(program: Program, output: int) -> tuple[int, int, str]:
    """Functions that write the constants of an output of one state, eight at a time; their number."""
    values = program.fixed(output)
    pieces = [piece for run in runs(sorted(values)) for piece in chunks(*run, 8)]
    texts: list[str] = []
    for start in range(0, len(pieces), PART):
        w = Writer(1, False)
        for first, end in pieces[start : start + PART]:
            numbers = [f"double {w.number(values[e])}" for e in range(first, end)]
            what = numbers[0] if end == first + 1 else f"<{end - first} x double> <{', '.join(numbers)}>"
            at = w.put(f"getelementptr inbounds double, ptr %out, i64 {first}")
            w.lines.append(f"  store {what}, ptr {at}, align 8")
        name = f"fixed{output}_{len(texts)}"
        body = "\n".join(w.lines)
        texts.append(f"define internal void @{name}(ptr %out) {{\nentry:\n{body}\n  ret void\n}}")
    return output, len(texts), "\n".join(texts)


def header(widths: list[int]) -> str:
    """Declarations that any kernel may use."""
    lines = [
        '!0 = !{!"branch_weights", i32 1, i32 100000}',
        "declare double @sin(double)",
        "declare double @cos(double)",
    ]
    for op in OPERATIONS:
        if op.libm:
            lines.append(f"declare double @{op.libm}({', '.join(['double'] * op.arity)})")
    for lanes in widths:
        w = Writer(lanes, True)
        vt, suffix = w.vt, w.suffix
        lines += [f"declare {vt} @llvm.{f}.{suffix}({vt})" for f in ("sqrt", "fabs", "floor", "ceil", "rint")]
        lines.append(f"declare {vt} @llvm.fma.{suffix}({vt}, {vt}, {vt})")
        if lanes > 1:
            lines.append(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1({w.bt})")
    return "\n".join(lines)
