"""The same program as plain C99: no allocation, no dependency but libm, with test vectors and a ``main`` that checks
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gyrostat.engine.c_names import c_number, comment, unique
from gyrostat.engine.export_simulink import s_function, write_makefile
from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot, prune
from gyrostat.errors import SaveError, ShapeError


def _body(program: Program, inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Lines of the function: one constant for each operation, then the outputs."""

    def operand(k: int) -> str:
        code, x, y, _ = program.nodes[k]
        if code == INPUT:
            return f"{inputs[x]}[{y}]"
        if code == CONST:
            text = c_number(program.constants[x])
            return f"({text})" if text.startswith("-") else text
        return f"t{k}"

    lines: list[str] = []
    for k, (code, x, y, z) in enumerate(program.nodes):
        if code >= 0:
            op = OPERATIONS[code]
            text = op.c.format(*(operand(i) for i in (x, y, z)[: op.arity]))
            lines.append(f"    const double t{k} = {text};")
    for output, nodes in zip(outputs, program.results, strict=True):
        lines += [f"    {output}[{e}] = {operand(k)};" for e, k in enumerate(nodes)]
    used = {x for code, x, *_ in program.nodes if code == INPUT}
    lines += [f"    (void){name};" for k, name in enumerate(inputs) if k not in used]
    lines += [f"    (void){name};" for name, nodes in zip(outputs, program.results, strict=True) if not nodes]
    return lines


PART = 400
"""Operations of one function of a long program: compilers assign registers in a time that grows with the square."""


def function_lines(program: Program, name: str, prefix: str = "") -> list[str]:
    """Lines of one function ``name(in..., out...)`` alone; its arguments are called as in the program, outputs with
    ``_out`` behind. Guards are not looked at. ``prefix``: "static " for a function of one file.

    A long one calls parts, which hand values on in an array; ``GYROSTAT_PART`` is what compilers are told of these."""
    program = prune(replace(program, guards=()))
    spelt = unique([*(s.name for s in program.inputs), *(f"{s.name}_out" for s in program.outputs)])
    ins, outs = spelt[: len(program.inputs)], spelt[len(program.inputs) :]
    reads = ", ".join(f"const double *{n}" for n in ins)
    head = f"{prefix}void {name}({', '.join([reads, *(f'double *{n}' for n in outs)])})"
    if len(program.nodes) <= 2 * PART:
        return [head, "{", *_body(program, ins, outs), "}"]
    parts, at, room = _parted(program, ins)
    lines: list[str] = []
    for k, part in enumerate(parts):
        silent = [f"    (void){n};" for n in ins]
        lines += [f"static GYROSTAT_PART void {name}_{k}({reads}, double *handed)", "{", *silent, *part, "}"]
    calls = [f"    {name}_{k}({', '.join(ins)}, handed);" for k in range(len(parts))]
    given = [
        f"    {output}[{e}] = {_leaf(program, k, ins) or f'handed[{at[k]}]'};"
        for output, nodes in zip(outs, program.results, strict=True)
        for e, k in enumerate(nodes)
    ]
    empty = [f"    (void){n};" for n, nodes in zip(outs, program.results, strict=True) if not nodes]
    return [*lines, head, "{", f"    double handed[{max(1, room)}];", *calls, *given, *empty, "}"]


def _leaf(program: Program, k: int, inputs: Sequence[str]) -> str:
    """An input or a constant as text, "" for operations."""
    code, x, y, _ = program.nodes[k]
    if code == INPUT:
        return f"{inputs[x]}[{y}]"
    if code != CONST:
        return ""
    text = c_number(program.constants[x])
    return f"({text})" if text.startswith("-") else text


def _parted(program: Program, inputs: Sequence[str]) -> tuple[list[list[str]], dict[int, int], int]:
    """Lines of the parts, places of values that outlive their part, how many places there are."""
    last: dict[int, int] = {}  # the last part that reads an operation
    count = -(-len(program.nodes) // PART)
    for k, (code, *operands) in enumerate(program.nodes):
        for x in operands[: OPERATIONS[code].arity] if code >= 0 else ():
            last[x] = k // PART
    last |= dict.fromkeys((k for nodes in program.results for k in nodes), count)
    place: dict[int, int] = {}
    free: list[int] = []
    room = 0
    parts: list[list[str]] = []
    for number in range(count):
        nodes = range(number * PART, min((number + 1) * PART, len(program.nodes)))
        lines: list[str] = []

        def operand(k: int, first: int = nodes.start) -> str:
            return _leaf(program, k, inputs) or (f"t{k}" if k >= first else f"handed[{place[k]}]")

        for k in nodes:
            code, *operands = program.nodes[k]
            if code >= 0:
                op = OPERATIONS[code]
                text = op.c.format(*(operand(x) for x in operands[: op.arity]))
                lines.append(f"    const double t{k} = {text};")
        for k in nodes:
            if program.nodes[k][0] >= 0 and last.get(k, number) > number:
                if not free:
                    free.append(room)
                    room += 1
                place[k] = free.pop()
                lines.append(f"    handed[{place[k]}] = t{k};")
        free += [at for k, at in place.items() if last[k] == number]
        parts.append([*lines, "    (void)handed;"])
    return parts, place, room


def export_c(
    program: Program,
    folder: str | Path,
    name: str,
    comments: Mapping[str, Sequence[str]],
    vectors: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]],
    makefile: bool = False,
    simulink: bool = False,
) -> list[Path]:
    """Write ``<name>.h``, ``<name>.c`` and ``<name>_test.c``; the function is ``<name>(in..., out...)``. With
    ``makefile`` a Makefile for all functions of the folder, with ``simulink`` an S-function and the Makefile.

    ``comments`` name the entries of inputs and outputs; ``vectors`` are (inputs, outputs) of some states.
    """
    if not vectors:
        raise ShapeError("export_c: needs at least one test vector. Hint: vectors=16")
    folder = made_folder(folder, "export_c")
    program = prune(replace(program, guards=()))  # nobody would look at them
    slots = [*program.inputs, *program.outputs]
    name, *names = unique([name, *(s.name for s in slots)])
    ins, outs = names[: len(program.inputs)], names[len(program.inputs) :]
    sizes = [f"{name.upper()}_{n.upper()}_SIZE" for n in names]
    arguments = [f"const double {n}[{s}]" for n, s in zip(ins, sizes, strict=False)]
    arguments += [f"double {n}[{s}]" for n, s in zip(outs, sizes[len(ins) :], strict=True)]
    prototype = f"void {name}({', '.join(arguments)})"
    header = _header(name, prototype, zip(slots, sizes, strict=True), comments)
    source = [f'#include "{name}.h"', "", "#include <math.h>", "", prototype, "{", *_body(program, ins, outs), "}", ""]
    files = {f"{name}.h": header, f"{name}.c": source, f"{name}_test.c": _test(program, name, ins, outs, vectors)}
    if simulink:
        pairs = list(zip(slots, sizes, strict=True))
        files[f"{name}_sfun.c"] = [s_function(name, pairs[: len(ins)], pairs[len(ins) :])]
    more = [write_makefile(folder)] if makefile or simulink else []
    for file, lines in files.items():
        (folder / file).write_text("\n".join(lines), encoding="utf-8")
    return [*(folder / file for file in files), *more]


def made_folder(folder: str | Path, who: str) -> Path:
    """The folder, which is there now."""
    try:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
    except (TypeError, OSError) as error:
        message, hint = f"cannot write into {folder!r}, {error}", "name a folder that can be made"
        raise SaveError.one(who, "folder", message, hint, folder) from None
    return path


def _header(
    name: str, prototype: str, sizes: Iterable[tuple[Slot, str]], comments: Mapping[str, Sequence[str]]
) -> list[str]:
    """Lines of the header: sizes of inputs and outputs, what their entries are, and the prototype."""
    guard = f"{name.upper()}_H"
    lines = [f"/* {name}: generated by gyrostat. Arrays must not overlap. SI units. */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    for slot, size in sizes:
        lines.append(f"#define {size} {max(1, slot.size)}")
        told = comments.get(slot.name)
        if told:
            lines.append(f"/* {comment(slot.name)}: {comment(', '.join(told))} */")
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", f"{prototype};"]
    return [*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]


def _test(program: Program, name: str, ins: Sequence[str], outs: Sequence[str], vectors: Sequence) -> list[str]:
    """Lines of a program that compares the function with the test vectors."""

    def rows(k: int, arrays: Sequence[Sequence[np.ndarray]], title: str) -> list[str]:
        slot = [*program.inputs, *program.outputs][k]
        lines = [f"static const double {title}[{len(vectors)}][{max(1, slot.size)}] = {{"]
        for given in arrays:
            flat = np.asarray(given, dtype=float).ravel()
            lines.append("    {" + ", ".join(c_number(float(x)) for x in (flat if flat.size else [0.0])) + "},")
        return [*lines, "};", ""]

    lines = [
        f"/* Test vectors of {name}: prints the largest relative difference, fails above 1e-12. */",
        f'#include "{name}.h"',
        "",
    ]
    lines += ["#include <math.h>", "#include <stdio.h>", ""]
    for k, n in enumerate(ins):
        lines += rows(k, [v[0][k] for v in vectors], f"in_{n}")
    for k, n in enumerate(outs):
        lines += rows(len(ins) + k, [v[1][k] for v in vectors], f"want_{n}")
    lines += [
        "int main(void)",
        "{",
        "    double worst = 0.0;",
        "    int k;",
        f"    for (k = 0; k < {len(vectors)}; ++k) {{",
    ]
    for k, n in enumerate(outs):
        lines.append(f"        double {n}[{max(1, program.outputs[k].size)}];")
    lines.append("        int j;")
    calls = [f"in_{n}[k]" for n in ins] + list(outs)
    lines.append(f"        {name}({', '.join(calls)});")
    for k, n in enumerate(outs):
        size = program.outputs[k].size
        lines += [
            "        {",
            "            double scale = 1e-300;",
            f"            for (j = 0; j < {size}; ++j)",
            f"                if (fabs(want_{n}[k][j]) > scale) scale = fabs(want_{n}[k][j]);",
            f"            for (j = 0; j < {size}; ++j) {{",
            f"                const double off = fabs({n}[j] - want_{n}[k][j]) / scale;",
            "                if (!(off <= worst) && worst == worst) worst = off; /* NaN stays */",
            "            }",
            "        }",
        ]
    lines += [
        "    }",
        f'    printf("{name}: largest relative difference %.3g\\n", worst);',
        "    return worst <= 1e-12 ? 0 : 1;",
        "}",
        "",
    ]
    return lines
