"""From a program to LLVM text: the kernel for one state or for W states at once.

Nothing may be contracted or reordered but what the plan has fused: so one state alone and the same state anywhere in a
batch give the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gyrostat.engine.llvm.elementary import Writer, far_functions
from gyrostat.engine.llvm.part_text import PartText
from gyrostat.engine.llvm.plan import PART, Plan
from gyrostat.engine.llvm.runs import in_runs
from gyrostat.engine.llvm.stretches import chunks
from gyrostat.engine.llvm.stretches import runs as stretches
from gyrostat.engine.llvm.table_text import TableText
from gyrostat.engine.tracing.operations import OPERATIONS
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.reassociate import reassociate


@dataclass(frozen=True)
class Emitted:
    """LLVM text of a module, how many doubles of work space (per lane) its kernel needs, and which outputs are shared:
    all lanes have the same, written once."""

    text: str
    work: int
    parts: int
    shared_outputs: frozenset[int] = frozenset()


def emit(
    program: Program,
    lanes: int,
    fma: bool,
    pack: int = 1,
    *,
    shared: frozenset[int] = frozenset(),
    part: int | None = None,
    constants: bool = False,
) -> Emitted:
    """The kernel ``@kernel(in0, ..., out0, ..., work)`` for W states; it returns 0 if all is finite.

    Element j of input i is at ``in_i[j * W]``, and so are outputs. With one lane, sines of ``pack`` inputs at a time
    share vector code. ``part`` is the largest number of operations in one function,
    :data:`~gyrostat.engine.llvm.plan.PART` unless told. Entries of outputs that are constants are written by kernels of
    one lane; those of many lanes leave them to their callers unless ``constants``.

    All lanes have the same inputs with numbers in ``shared``: element j is at ``in_i[j]``. There are then two further
    functions with the same arguments: ``double @common`` computes what depends on these inputs only, and writes the
    outputs that are shared, to ``out_i[j]``; ``@lanes`` does the rest. After one call of the first, the second serves
    any number of columns, W at a time, with the same work space; ``@kernel`` calls both."""
    plan = Plan(reassociate(program) if fma else program, fma, part, shared if lanes > 1 else frozenset())
    pointers = [f"%in{k}" for k in range(len(program.inputs))] + [f"%out{k}" for k in range(len(program.outputs))]
    arguments = ", ".join([*(f"ptr noalias {p}" for p in pointers), "ptr %work"])
    given = ", ".join(f"ptr {p}" for p in [*pointers, "%work"])
    offset, runs = -(-plan.common_work // lanes), in_runs(plan)
    numbers = range(len(plan.parts) if runs is None else plan.common + 1)
    first, rest = numbers[: plan.common], numbers[plan.common :]
    texts = [PartText(plan, p, 1, fma, lanes).text(arguments) for p in first]
    work = plan.work
    if runs is None:
        texts += [PartText(plan, p, lanes, fma, pack, offset).text(arguments) for p in rest]
    else:
        tables = TableText(plan, runs, lanes, fma, offset)
        texts.append(tables.text(arguments))
        work = tables.work
    filled = [o for o in range(len(program.outputs)) if program.fixed(o)] if lanes == 1 or constants else []
    main = _Function("lanes" if first else "kernel", lanes, fma)
    filled_here = [o for o in filled if o not in plan.shared_outputs]
    if len(rest) == 1 and not filled_here:
        main.become(f"part{rest[0]}", given)
    else:
        main.call([f"part{p}" for p in rest], given)
        main.fill(program, filled_here)
    functions = [main, *(_shared_functions(program, plan.shared_outputs, first, main.w, given) if first else ())]
    widths = [lanes, pack] if lanes == 1 < pack else [lanes, 1] if first else [lanes]
    far = [far_functions(n, fma) for n in widths]
    text = "\n".join([header(widths), *far, *texts, *(f.text(arguments) for f in functions)])
    return Emitted(text, offset + work, len(numbers), plan.shared_outputs)


class _Function:
    """A function that calls others, one after the other, and returns the sum of what they return."""

    def __init__(self, name: str, lanes: int, fma: bool):
        self.name, self.w = name, Writer(lanes, fma)
        self.acc = self.w.number(0.0)
        self.others: list[str] = []

    def become(self, name: str, given: str) -> None:
        """Go on as another function with the same arguments: they stay where they are, where a call would copy those
        on the stack, and wait for them to be written."""
        self.acc = self.w.put(f"musttail call {self.w.vt} @{name}({given})")

    def call(self, names: Iterable[str], given: str, lanes: int | None = None) -> None:
        """``lanes``: of what they return, those of the function itself unless told."""
        kind = Writer(lanes or self.w.lanes, False).vt
        for name in names:
            part = self.w.put(f"call {kind} @{name}({given})")
            self.acc = self.w.op("fadd", self.acc, part if kind == self.w.vt else self.w.spread(part))

    def fill(self, program: Program, outputs: Iterable[int]) -> None:
        """Write the constants of outputs."""
        for output in outputs:
            count, text = _fixed_text(program, output, self.w.lanes)
            self.w.lines += [f"  call void @fixed{output}_{n}(ptr %out{output})" for n in range(count)]
            self.others.append(text)

    def text(self, arguments: str) -> str:
        head, body = f"define internal {self.w.vt} @{self.name}({arguments})", "\n".join(self.w.lines)
        return "\n".join([*self.others, f"{head} {{\nentry:\n{body}\n  ret {self.w.vt} {self.acc}\n}}"])


def _shared_functions(
    program: Program, outputs: Iterable[int], parts: Iterable[int], w: Writer, given: str
) -> tuple[_Function, _Function]:
    """``@common``, which computes what all lanes share, and ``@kernel``, which calls it before ``@lanes``."""
    common, kernel = _Function("common", 1, w.fma_hardware), _Function("kernel", w.lanes, w.fma_hardware)
    common.call([f"part{p}" for p in parts], given)
    common.fill(program, [o for o in sorted(outputs) if program.fixed(o)])
    kernel.call(["common"], given, 1)
    kernel.call(["lanes"], given)
    return common, kernel


def _fixed_text(program: Program, output: int, lanes: int) -> tuple[int, str]:
    """Functions that write the constants of an output, to one state eight at a time; their number."""
    values = program.fixed(output)
    pieces = [piece for run in stretches(sorted(values)) for piece in chunks(*run, 8 if lanes == 1 else 1)]
    texts: list[str] = []
    for start in range(0, len(pieces), PART):
        w = Writer(lanes, False)
        for first, end in pieces[start : start + PART]:
            numbers = [f"{w.vt} {w.number(values[e])}" for e in range(first, end)]
            what = numbers[0] if end == first + 1 else f"<{end - first} x double> <{', '.join(numbers)}>"
            at = w.put(f"getelementptr inbounds {w.vt}, ptr %out, i64 {first}")
            w.lines.append(f"  store {what}, ptr {at}, align 8")
        name = f"fixed{output}_{len(texts)}"
        body = "\n".join(w.lines)
        texts.append(f"define internal void @{name}(ptr %out) {{\nentry:\n{body}\n  ret void\n}}")
    return len(texts), "\n".join(texts)


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
