"""LLVM text of single operations, all but sine and cosine, on operands that have their names already."""

from __future__ import annotations

from collections.abc import Sequence

from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.tracing.operations import CODE, OPERATIONS

ADD, NEG = CODE["add"], CODE["neg"]


def operation(w: Writer, code: int, x: Sequence[str]) -> str:
    """The result of an operation on the operands x."""
    op = OPERATIONS[code]
    if code == NEG:
        return w.put(f"fneg {w.vt} {x[0]}")
    if op.llvm.startswith("fcmp"):
        return _truth(w, w.put(f"{op.llvm} {w.vt} {x[0]}, {x[1]}"))
    if op.llvm.startswith("@"):
        return w.call(op.llvm[1:], x[0])
    if op.llvm:
        return w.op(op.llvm, x[0], x[1])
    if op.libm:
        return w.by_lane(op.libm, *x)
    return _choice(w, op.name, x)


def fused(w: Writer, code: int, product: tuple[str, str], other: str, product_last: bool) -> str:
    """A sum or difference of a product a b and another operand c: c + a b, c - a b, or a b - c."""
    a, b = product
    if code == ADD:
        return w.fma(a, b, other)
    if product_last:
        return w.fma(w.put(f"fneg {w.vt} {a}"), b, other)
    return w.fma(a, b, w.put(f"fneg {w.vt} {other}"))


def _truth(w: Writer, condition: str) -> str:
    return w.put(f"uitofp {w.bt} {condition} to {w.vt}")


def _nonzero(w: Writer, x: str) -> str:
    return w.put(f"fcmp une {w.vt} {x}, {w.number(0.0)}")


def _choice(w: Writer, name: str, x: Sequence[str]) -> str:
    if name == "not":
        return _truth(w, w.put(f"fcmp oeq {w.vt} {x[0]}, {w.number(0.0)}"))
    if name in ("and", "or"):
        both = w.put(f"{name} {w.bt} {_nonzero(w, x[0])}, {_nonzero(w, x[1])}")
        return _truth(w, both)
    if name == "select":
        return w.put(f"select {w.bt} {_nonzero(w, x[0])}, {w.vt} {x[1]}, {w.vt} {x[2]}")
    if name == "min":
        return w.put(f"select {w.bt} {w.put(f'fcmp olt {w.vt} {x[1]}, {x[0]}')}, {w.vt} {x[1]}, {w.vt} {x[0]}")
    if name == "max":
        return w.put(f"select {w.bt} {w.put(f'fcmp olt {w.vt} {x[0]}, {x[1]}')}, {w.vt} {x[1]}, {w.vt} {x[0]}")
    above = _truth(w, w.put(f"fcmp ogt {w.vt} {x[0]}, {w.number(0.0)}"))
    below = _truth(w, w.put(f"fcmp olt {w.vt} {x[0]}, {w.number(0.0)}"))
    unknown = w.put(f"fcmp uno {w.vt} {x[0]}, {x[0]}")
    return w.put(f"select {w.bt} {unknown}, {w.vt} {x[0]}, {w.vt} {w.op('fsub', above, below)}")
