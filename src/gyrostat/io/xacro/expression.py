"""The expressions of xacro, computed without Python's ``eval``: a small language with bounds on every value.

Numbers, texts, lists, mappings; + - * / // % **; comparisons, and, or, not, ``x if c else y``; indexing; functions of
:mod:`math` and a few of Python. There are no attributes of objects, no comprehensions, no lambdas, no keyword
arguments: from a value there is no way to anything but values. This file imports the standard library alone, because
it runs in a process of its own.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

LONGEST = 10_000
"""Characters of a text, items of a list."""
LARGEST = 2**256
"""Beyond, whole numbers are refused: their digits would fill the memory."""
DEPTH = 60
"""How deep expressions may be nested."""


class RefusedExpressionError(Exception):
    """An expression that is not computed, and why."""


CONSTANTS: dict[str, Any] = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
CONSTANTS |= {"True": True, "False": False, "true": True, "false": False, "None": None}

_MATH = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sqrt exp log log2 log10 hypot pow fabs fmod"
_MATH += " floor ceil trunc radians degrees copysign isfinite isnan isinf"
MATH: dict[str, Callable[..., Any]] = {name: getattr(math, name) for name in _MATH.split()}


def _range(*values: int) -> list[int]:
    numbers = range(*values)
    if len(numbers) > LONGEST:
        raise RefusedExpressionError(f"range() of more than {LONGEST} numbers")
    return list(numbers)


def _round(value: float, digits: int | None = None) -> float:
    return round(value, None if digits is None else max(-20, min(20, digits)))  # 10**digits is computed


def _str(value: object) -> str:
    if isinstance(value, list | tuple | dict) and any(isinstance(x, list | tuple | dict | str) for x in value):
        raise RefusedExpressionError("the text of a nested list")  # which may be very long
    return str(value)


PLAIN: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "round": _round, "sum": sum, "len": len, "sorted": sorted, "range": _range,
    "int": int, "float": float, "str": _str, "bool": bool, "list": list, "tuple": tuple, "dict": dict,
}  # fmt: skip
TEXT = ("lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "split", "replace")
"""Methods of texts."""

COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda x, y: x in y, ast.NotIn: lambda x, y: x not in y,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
NAMES = {ast.Lambda: "lambda", ast.ListComp: "a comprehension", ast.GeneratorExp: "a comprehension"}
NAMES |= {ast.SetComp: "a comprehension", ast.DictComp: "a comprehension", ast.NamedExpr: "an assignment"}
NAMES |= {ast.JoinedStr: "a formatted text", ast.Starred: "a starred argument", ast.Await: "await"}


def is_number(value: object) -> bool:
    return isinstance(value, int | float)


def bounded(value: Any) -> Any:
    """The value, if it is a plain one of bounded size."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        if abs(value) > LARGEST:
            raise RefusedExpressionError("a whole number with more than 77 digits")
        return value
    if isinstance(value, str | list | tuple | dict):
        if len(value) > LONGEST:
            raise RefusedExpressionError(f"a value longer than {LONGEST}")
        return value
    raise RefusedExpressionError(f"a value of the kind '{type(value).__name__}'")


class Evaluator:
    """Computes one expression. ``look_up(name)`` gives the value of a property or raises KeyError; ``functions`` are
    further ones, by dotted name."""

    def __init__(self, look_up: Callable[[str], Any], functions: Mapping[str, Callable[..., Any]] | None = None):
        self.look_up = look_up
        self.functions = functions or {}

    def __call__(self, text: str) -> Any:
        if len(text) > LONGEST:
            raise RefusedExpressionError(f"an expression of more than {LONGEST} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RefusedExpressionError(f"no expression: {getattr(error, 'msg', error)}") from None
        try:
            return bounded(self._value(tree.body, 0))
        except (ArithmeticError, TypeError, ValueError, LookupError, RecursionError, MemoryError) as error:
            raise RefusedExpressionError(f"a mistake: {error}") from None

    def _value(self, node: ast.AST, depth: int) -> Any:
        if depth > DEPTH:
            raise RefusedExpressionError(f"parentheses nested more than {DEPTH} deep")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            what = NAMES.get(type(node), type(node).__name__)
            raise RefusedExpressionError(f"{what}, which is not computed")
        return bounded(method(node, depth + 1))

    def _constant(self, node: ast.Constant, depth: int) -> Any:
        return node.value

    def _name(self, node: ast.Name, depth: int) -> Any:
        try:
            return self.look_up(node.id)
        except KeyError:
            if node.id in CONSTANTS:
                return CONSTANTS[node.id]
            raise RefusedExpressionError(f"'{node.id}', which is no property") from None

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        """``math.pi``, or a property of an included name space: ``arm.length``."""
        if isinstance(node.value, ast.Name) and node.value.id == "math" and node.attr in CONSTANTS:
            return CONSTANTS[node.attr]
        path = dotted(node)
        if path is None or "__" in path:
            raise RefusedExpressionError(f"the attribute '{node.attr}', and attributes are not computed")
        try:
            return self.look_up(path)
        except KeyError:
            raise RefusedExpressionError(f"'{path}', which is no property") from None

    def _call(self, node: ast.Call, depth: int) -> Any:
        if node.keywords:
            raise RefusedExpressionError("a keyword argument")
        values = [self._value(argument, depth) for argument in node.args]
        path = dotted(node.func)
        if path is not None:
            inside = path.removeprefix("math.").removeprefix("python.")
            function = self.functions.get(path) or MATH.get(inside) or PLAIN.get(inside)
            if function is not None:
                return function(*values)
        if isinstance(node.func, ast.Attribute) and node.func.attr in TEXT:
            return self._method(self._value(node.func.value, depth), node.func.attr, values)
        raise RefusedExpressionError(f"the function '{path or ast.unparse(node.func)[:40]}', which is not known here")

    @staticmethod
    def _method(owner: object, name: str, values: list[Any]) -> Any:
        if not isinstance(owner, str) or (name == "replace" and len(owner) * len(str(values[1:2])) > LONGEST):
            raise RefusedExpressionError(f"'{name}' of something else than a short text")
        return getattr(owner, name)(*values)

    def _binop(self, node: ast.BinOp, depth: int) -> Any:
        x, y = self._value(node.left, depth), self._value(node.right, depth)
        if isinstance(node.op, ast.Add):
            if not (is_number(x) and is_number(y)) and (
                type(x) is not type(y) or not isinstance(x, str | list | tuple)
            ):
                raise RefusedExpressionError(f"the sum of {type(x).__name__} and {type(y).__name__}")
            return x + y
        if not (is_number(x) and is_number(y)):  # 'a' * 10**9, '%s' % x
            raise RefusedExpressionError(f"arithmetic with {type(x).__name__} and {type(y).__name__}")
        if isinstance(node.op, ast.Pow):
            small = isinstance(x, int) and isinstance(y, int) and 0 <= y <= 256
            return x**y if small else math.pow(x, y)
        if type(node.op) not in ARITHMETIC:
            raise RefusedExpressionError(f"the operator {type(node.op).__name__}")
        return ARITHMETIC[type(node.op)](x, y)

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Any:
        value = self._value(node.operand, depth)
        if isinstance(node.op, ast.Not):
            return not value
        if not is_number(value) or isinstance(node.op, ast.Invert):
            raise RefusedExpressionError(f"a sign before {type(value).__name__}")
        return -value if isinstance(node.op, ast.USub) else +value

    def _boolop(self, node: ast.BoolOp, depth: int) -> Any:
        value: Any = None
        for operand in node.values:
            value = self._value(operand, depth)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, node: ast.Compare, depth: int) -> bool:
        left = self._value(node.left, depth)
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = self._value(operand, depth)
            if not COMPARISONS[type(op)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp, depth: int) -> Any:
        return self._value(node.body if self._value(node.test, depth) else node.orelse, depth)

    def _list(self, node: ast.List, depth: int) -> list[Any]:
        return [self._value(item, depth) for item in node.elts]

    def _tuple(self, node: ast.Tuple, depth: int) -> tuple[Any, ...]:
        return tuple(self._value(item, depth) for item in node.elts)

    def _dict(self, node: ast.Dict, depth: int) -> dict[Any, Any]:
        if None in node.keys:
            raise RefusedExpressionError("a mapping taken apart by **")
        pairs = zip(node.keys, node.values, strict=True)
        return {self._value(key, depth): self._value(value, depth) for key, value in pairs if key is not None}

    def _subscript(self, node: ast.Subscript, depth: int) -> Any:
        value = self._value(node.value, depth)
        if not isinstance(node.slice, ast.Slice):
            return value[self._value(node.slice, depth)]
        at = [None if part is None else self._value(part, depth) for part in (node.slice.lower, node.slice.upper)]
        if node.slice.step is not None:
            raise RefusedExpressionError("a slice with a step")
        return value[slice(*at)]


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` of names alone."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None
