"""Derivatives of a program by one sweep over its nodes: forward along a direction, backward from weights of results.

Both need the values of all nodes (``replay``) and record on the tape of these: constants fold, zeros drop out, what is
needed twice is there once. What does not depend on the chosen inputs, or does not reach the chosen outputs, costs
nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gyrostat.engine.tracing.local_derivatives import (
    CHOICE_BY_CODE,
    FLAT_CODES,
    SMOOTH_BY_CODE,
    UNBOUNDED_CODES,
)
from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.recording_scalar import Recorded, general

DIV = CODE["div"]


def forward(program: Program, values: Sequence[Any], seeds: Mapping[tuple[int, int], Any]) -> list[Any]:
    """Rate of every node, where the elements (input, element) have the rates ``seeds``; None where there is none."""
    rates: list[Any] = [None] * len(program.nodes)
    for k, (code, x, y, z) in enumerate(program.nodes):
        if code == INPUT:
            rates[k] = seeds.get((x, y))
        if code < 0 or code in FLAT_CODES or type(values[k]) is float:
            continue
        operands = (x, y, z)[: OPERATIONS[code].arity]
        if all(rates[i] is None for i in operands):
            continue
        given = [values[i] for i in operands]
        if code in CHOICE_BY_CODE:
            condition, one, other = CHOICE_BY_CODE[code]
            taken = [0.0 if rates[i] is None else rates[i] for i in (operands[one], operands[other])]
            rates[k] = _nonzero(_chosen(condition(values[k], *given), *taken))
            continue
        factor, weights = SMOOTH_BY_CODE[code](values[k], *given)
        total: Any = 0.0
        for i, weight in zip(operands, weights, strict=True):
            if rates[i] is not None:
                total = total + weight * rates[i]
        rates[k] = _nonzero(total * factor)
    return rates


def backward(
    program: Program, values: Sequence[Any], seeds: Iterable[tuple[int, Any]], wrt: Iterable[int]
) -> dict[tuple[int, int], Any]:
    """Weights of the elements (input, element) of the inputs ``wrt``: how much the sum of (weight x node) over
    ``seeds`` changes with each of them; those without any influence are left out.

    An operand that a choice does not take has the weight zero, and what was computed for that operand alone passes no
    weight on, even where it is singular: zero times infinity does not arise."""
    bars: list[Any] = [None] * len(program.nodes)
    for k, weight in seeds:
        bars[k] = _sum(bars[k], weight)
    active = _active(program, frozenset(wrt))
    doubtful = _doubtful(program, [k for k, bar in enumerate(bars) if bar is not None])
    for k in range(len(program.nodes) - 1, -1, -1):
        code, x, y, z = program.nodes[k]
        bar = bars[k]
        if bar is None or code < 0 or not active[k] or type(values[k]) is float:
            continue
        operands = (x, y, z)[: OPERATIONS[code].arity]
        given = [values[i] for i in operands]
        if code in CHOICE_BY_CODE:
            condition, one, other = CHOICE_BY_CODE[code]
            here = condition(values[k], *given)
            for i, pair in ((operands[one], (bar, 0.0)), (operands[other], (0.0, bar))):
                if active[i]:
                    bars[i] = _sum(bars[i], _chosen(here, *pair))
            continue
        factor, weights = SMOOTH_BY_CODE[code](values[k], *given)
        common = bar * factor
        for i, weight in zip(operands, weights, strict=True):
            if active[i]:
                passed = common * weight
                bars[i] = _sum(bars[i], _chosen(bar, passed, 0.0) if doubtful[k] else passed)
    totals: dict[tuple[int, int], Any] = {}
    for (code, x, y, _), bar in zip(program.nodes, bars, strict=True):
        if code == INPUT and bar is not None:
            totals[x, y] = totals.get((x, y), 0.0) + bar
    return totals


def _active(program: Program, wrt: frozenset[int]) -> bytearray:
    """Which nodes have a derivative with respect to the inputs of these numbers."""
    active = bytearray(len(program.nodes))
    for k, (code, x, y, z) in enumerate(program.nodes):
        if code == INPUT:
            active[k] = x in wrt
        elif code in CHOICE_BY_CODE:
            active[k] = any(active[(x, y, z)[i]] for i in CHOICE_BY_CODE[code][1:])
        elif code >= 0 and code not in FLAT_CODES:
            active[k] = any(active[i] for i in (x, y, z)[: OPERATIONS[code].arity])
    return active


def _doubtful(program: Program, results: Iterable[int]) -> bytearray:
    """Which nodes may have infinite derivatives that count only if a choice takes them: no way leads from them to a
    result along which nothing is chosen, and they, or what they were made of, can be singular."""
    nodes, certain, doubtful = program.nodes, bytearray(len(program.nodes)), bytearray(len(program.nodes))
    for k in results:
        certain[k] = 1
    for k in range(len(nodes) - 1, -1, -1):
        code, *operands = nodes[k]
        if certain[k] and code >= 0 and code not in CHOICE_BY_CODE and code not in FLAT_CODES:
            for i in operands[: OPERATIONS[code].arity]:
                certain[i] = 1
    for k, (code, *operands) in enumerate(nodes):
        if code >= 0 and not certain[k]:
            plain = code not in UNBOUNDED_CODES or (code == DIV and nodes[operands[1]][0] == CONST)
            doubtful[k] = not plain or any(doubtful[i] for i in operands[: OPERATIONS[code].arity])
    return doubtful


def _sum(total: Any, term: Any) -> Any:
    """The sum of two weights, each of which may be nothing."""
    return _nonzero(term if total is None else total + term)


def _nonzero(value: Any) -> Any:
    """None for zero: there is nothing to go on with."""
    return None if type(value) is float and value == 0.0 else value


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """``one`` where the condition is not zero, else ``other``."""
    if type(one) is float and type(other) is float and one == other:
        return one
    if type(condition) is not Recorded:
        return one if condition else other
    return general("select", condition, one, other)
