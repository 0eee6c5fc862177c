"""The same program as plain C99: no allocation, no dependency but libm, with test vectors and a ``main`` that checks
them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, prune
from gyrostat.errors import SaveError, ShapeError

KEYWORDS = frozenset(
    # C99, and C++ for those who include the header there
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "asm",
        "bool",
        "catch",
        "class",
        "constexpr",
        "const_cast",
        "decltype",
        "delete",
        "dynamic_cast",
        "explicit",
        "export",
        "false",
        "friend",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "nullptr",
        "operator",
        "private",
        "protected",
        "public",
        "reinterpret_cast",
        "static_assert",
        "static_cast",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typeid",
        "typename",
        "using",
        "virtual",
        "wchar_t",
        "and",
        "and_eq",
        "bitand",
        "bitor",
        "compl",
        "not",
        "not_eq",
        "or",
        "or_eq",
        "xor",
        "xor_eq",
        "alignas",
        "alignof",
        "typeof",
        "unix",
        "linux",
        "main",
        "k",
        "j",
        "worst",
        "scale",
        "off",
        "math",
        "stdio",
        "printf",
        "in",
        "want",
        "t",
    ]
)
LIBRARY = re.compile(  # what <math.h> declares or defines, with the endings f and l
    r"(a?(cos|sin|tan)h?|atan2|exp|exp2|expm1|frexp|ilogb|ldexp|log|log10|log1p|log2|logb|modf|scalbl?n|cbrt|fabs|hypot|pow"
    r"|sqrt|erfc?|[lt]gamma|ceil|floor|nearbyint|l?l?rint|l?l?round|trunc|fmod|remainder|remquo|copysign|nan|nextafter"
    r"|nexttoward|fdim|fmax|fmin|fma|j[01n]|y[01n]|gamma|drem|significand|scalb|sincos|exp10|pow10)[fl]?"
    r"|is(finite|inf|nan|normal|greater|less|greaterequal|lessequal|lessgreater|unordered)|fpclassify|signbit|signgam"
    r"|(float|double)_t|HUGE_VAL[FL]?|INFINITY|NAN|NULL|EOF|FP_.*|M_.*|MATH_.*|HUGE|[A-Z_]+_MAX|BUFSIZ|FILE|std(in|out|err)"
)


def identifier(text: str) -> str:
    """A C identifier that resembles the text."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    name = re.sub(r"_+", "_", name).strip("_") or "x"
    if name[0].isdigit():
        return f"n{name}"
    taken = name in KEYWORDS or LIBRARY.fullmatch(name) or re.fullmatch(r"t\d+|(in|want)_.*", name)  # t5 is node 5
    return f"{name}_" if taken else name


def _comment(text: str) -> str:
    """Text that can stand in a comment: nothing that ends or begins one, no controls, no change of direction."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").replace("\\", "/")


def unique(names: Sequence[str]) -> list[str]:
    """Identifiers of names, made different where they would coincide, in capitals too: those name the sizes."""
    found: list[str] = []
    for text in names:
        name, k = identifier(text), 2
        while name.upper() in (f.upper() for f in found):
            name, k = f"{identifier(text)}_{k}", k + 1
        found.append(name)
    return found


def c_number(value: float) -> str:
    """A C literal that reads back as the same double."""
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value)
    return text if any(c in text for c in ".en") else f"{text}.0"


def _body(program: Program, inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
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


def export_c(
    program: Program,
    folder: str | Path,
    name: str,
    comments: Mapping[str, Sequence[str]],
    vectors: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]],
) -> list[Path]:
    """Write ``<name>.h``, ``<name>.c`` and ``<name>_test.c``; the function is ``<name>(in..., out...)``.

    ``comments`` name the entries of inputs and outputs; ``vectors`` are (inputs, outputs) of some states.
    """
    if not vectors:
        raise ShapeError("export_c: needs at least one test vector. Hint: vectors=16")
    try:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except (TypeError, OSError) as error:
        message, hint = f"cannot write into {folder!r}, {error}", "name a folder that can be made"
        raise SaveError.one("export_c", "folder", message, hint, folder) from None
    program = prune(replace(program, guards=()))  # nobody would look at them
    slots = [*program.inputs, *program.outputs]
    name, *names = unique([name, *(s.name for s in slots)])
    ins, outs = names[: len(program.inputs)], names[len(program.inputs) :]
    upper = name.upper()
    sizes = [f"{upper}_{n.upper()}_SIZE" for n in names]
    arguments = [f"const double {n}[{s}]" for n, s in zip(ins, sizes, strict=False)]
    arguments += [f"double {n}[{s}]" for n, s in zip(outs, sizes[len(ins) :], strict=True)]
    prototype = f"void {name}({', '.join(arguments)})"
    header = [
        f"/* {name}: generated by gyrostat. Arrays must not overlap. SI units. */",
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        "",
    ]
    for slot, size in zip(slots, sizes, strict=True):
        header.append(f"#define {size} {max(1, slot.size)}")
        told = comments.get(slot.name)
        if told:
            header.append(f"/* {_comment(slot.name)}: {_comment(', '.join(told))} */")
    header += [
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        f"{prototype};",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
        "",
    ]
    source = [f'#include "{name}.h"', "", "#include <math.h>", "", prototype, "{", *_body(program, ins, outs), "}", ""]
    files = {f"{name}.h": header, f"{name}.c": source, f"{name}_test.c": _test(program, name, ins, outs, vectors)}
    for file, lines in files.items():
        (folder / file).write_text("\n".join(lines), encoding="utf-8")
    return [folder / file for file in files]


def _test(program: Program, name: str, ins: Sequence[str], outs: Sequence[str], vectors: Sequence) -> list[str]:
    def rows(k: int, arrays: Sequence[Sequence[np.ndarray]], title: str) -> list[str]:
        slot = [*program.inputs, *program.outputs][k]
        lines = [f"static const double {title}[{len(vectors)}][{max(1, slot.size)}] = {{"]
        for given in arrays:
            flat = np.asarray(given, dtype=float).ravel()
            lines.append("    {" + ", ".join(c_number(float(x)) for x in (flat if flat.size else [0.0])) + "},")
        return [*lines, "};", ""]

    lines = [
        f"/* Test vectors of {name}: prints the largest relative difference, fails above 1e-14. */",
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
        "    return worst <= 1e-14 ? 0 : 1;",
        "}",
        "",
    ]
    return lines
