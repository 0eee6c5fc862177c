"""From the syntax tree of a driver to LLVM text: real loops, real branches, one or W lanes of doubles.

Locals are stack slots, which LLVM's passes make registers. Nothing is contracted or reordered but what says so: a
comparison with NaN is false, ``!=`` is true."""

from __future__ import annotations

import ast
import inspect
import struct
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gyrostat.engine.drivers import words as language
from gyrostat.errors import CompileError

FLOAT, INT, PTR, TABLE, WORDS, BIT, MASK, CODE = "float", "int", "ptr", "table", "words", "bit", "mask", "code"
BINARY = {
    ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"), ast.Div: ("fdiv", ""),
    ast.FloorDiv: ("", "sdiv"), ast.Mod: ("", "srem"),
}  # fmt: skip
COMPARE = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
}  # fmt: skip
INTRINSICS = {"abs": ("fabs", 1), "sqrt": ("sqrt", 1), "floor": ("floor", 1), "ceil": ("ceil", 1), "fma": ("fma", 3),
              "max": ("maxnum", 2), "min": ("minnum", 2), "pow": ("pow", 2)}  # fmt: skip
CASTS = {"doubles": PTR, "shared": TABLE, "count_at": WORDS, "kernel": CODE}
Value = tuple[str, str]
"""Kind and name of a value."""


def number(value: float) -> str:
    """A double, bit by bit."""
    return "0x" + struct.pack(">d", value).hex().upper()


def sources(function: Callable[..., Any]) -> dict[str, FunctionType]:
    """The function and all drivers that it calls, by name, those that are called first."""
    found: dict[str, FunctionType] = {}

    def visit(f: FunctionType) -> None:
        for node in ast.walk(_tree(f)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = f.__globals__.get(node.func.id)
                if not isinstance(called, FunctionType) or called.__module__ == language.__name__:
                    continue
                if called is not f and found.get(called.__name__) is not called:
                    visit(called)
        if found.setdefault(f.__name__, f) is not f:
            raise CompileError(f"two drivers are called '{f.__name__}'")

    visit(function)  # type: ignore[arg-type]
    return found


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise CompileError(f"{function} is no function that can be translated")
    return tree


def translated(function: Callable[..., Any], lanes: int = 1) -> str:
    """LLVM text of a module with the driver, which others can call, and all that it needs."""
    known = sources(function)
    kinds = {name: Signature(f) for name, f in known.items()}
    texts = [Translation(f, kinds, lanes).text(public=f is function) for f in known.values()]
    vt, suffix = ("double", "f64") if lanes == 1 else (f"<{lanes} x double>", f"v{lanes}f64")
    heads = [f"declare {vt} @llvm.{f}.{suffix}({', '.join([vt] * k)})" for f, k in INTRINSICS.values()]
    heads.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    if lanes > 1:
        heads.append(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)")
    return "\n".join([*heads, *texts])


class Signature:
    """Kinds of the arguments and of the result of a driver."""

    def __init__(self, function: Callable[..., Any]):
        tree = _tree(function)
        self.name = tree.name
        self.arguments = [(a.arg, _kind(a.annotation)) for a in tree.args.args]
        self.result = _kind(tree.returns)


def _kind(annotation: ast.expr | None) -> str:
    if isinstance(annotation, ast.Name) and annotation.id in (FLOAT, INT, PTR, TABLE, WORDS):
        return annotation.id
    raise CompileError(f"a driver's argument is annotated with {ast.unparse(annotation) if annotation else 'nothing'}")


class Translation:
    """One function."""

    def __init__(self, function: FunctionType, known: dict[str, Signature], lanes: int):
        self.tree, self.globals, self.known, self.lanes = _tree(function), function.__globals__, known, lanes
        self.signature, self.apart = known[function.__name__], getattr(function, "apart", False)
        self.vt = "double" if lanes == 1 else f"<{lanes} x double>"
        self.bt = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        pointers = dict.fromkeys((PTR, TABLE, WORDS, CODE), "ptr")
        self.types = {FLOAT: self.vt, INT: "i64", BIT: "i1", MASK: self.bt} | pointers
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.kinds: dict[str, str] = {}
        self.count = 0
        self.loops: list[tuple[str, str]] = []

    def text(self, public: bool) -> str:
        arguments: list[str] = []
        for name, kind in self.signature.arguments:
            outside = "double" if public and kind == FLOAT else self.types[kind]
            alone = " noalias" if self.apart and kind in (PTR, TABLE) else ""
            arguments.append(f"{outside}{alone} %a.{name}")
            value = self._splat(f"%a.{name}") if public and kind == FLOAT else f"%a.{name}"
            self._assign(name, kind, value)
        self._body(self.tree.body)
        result = self.types[self.signature.result]
        if public and self.signature.result != INT:
            raise self._refused(self.tree, "a driver that is called from outside returns an int")
        head = f"define {'' if public else 'internal '}{result} @{self.signature.name}({', '.join(arguments)})"
        return "\n".join([f"{head} {{", "entry:", *self.slots, *self.lines, "  unreachable", "}"])

    # ------------------------------------------------------------------ lines
    def _refused(self, node: ast.AST, why: str) -> CompileError:
        line = getattr(node, "lineno", 0)
        return CompileError(f"driver '{self.tree.name}', line {line}: {why}: {ast.unparse(node)[:80]}")

    def _name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def _put(self, text: str) -> str:
        name = self._name("%t")
        self.lines.append(f"  {name} = {text}")
        return name

    def _label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def _jump(self, name: str) -> None:
        self.lines.append(f"  br label %{name}")

    def _slot(self, kind: str, stem: str) -> str:
        name = self._name(f"%{stem}.")
        self.slots.append(f"  {name} = alloca {self.types[kind]}")
        return name

    def _splat(self, x: str) -> str:
        if self.lanes == 1:
            return x
        one = self._put(f"insertelement {self.vt} poison, double {x}, i64 0")
        return self._put(f"shufflevector {self.vt} {one}, {self.vt} poison, <{self.lanes} x i32> zeroinitializer")

    # ------------------------------------------------------------------ statements
    def _body(self, statements: list[ast.stmt]) -> None:
        for s in statements:
            handler = getattr(self, f"_do_{type(s).__name__.lower()}", None)
            if handler is None:
                raise self._refused(s, "no statement of drivers")
            handler(s)

    def _do_pass(self, s: ast.Pass) -> None:
        return None

    def _do_expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):
            self._value(s.value)

    def _do_return(self, s: ast.Return) -> None:
        if s.value is None:
            raise self._refused(s, "a driver returns a number")
        kind = self.signature.result
        self.lines.append(f"  ret {self.types[kind]} {self._as(kind, self._value(s.value), s)}")
        self._label(self._name("after"))

    def _do_assign(self, s: ast.Assign) -> None:
        for target in s.targets:
            if isinstance(target, ast.Tuple) and isinstance(s.value, ast.Tuple):
                values = [self._value(v) for v in s.value.elts]
                for t, value in zip(target.elts, values, strict=True):
                    self._store(t, value)
            elif self._is_shared_double(target) and self._is_shared_double(s.value):
                self._copy_double(s.value, target)  # type: ignore[arg-type]
            else:
                self._store(target, self._value(s.value))

    def _is_shared_double(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and self._pointer_kind(node.value) == TABLE

    def _pointer_kind(self, node: ast.expr) -> str | None:
        """Kind of an expression if it is seen to be a pointer."""
        if isinstance(node, ast.Name):
            return self.kinds.get(node.id)
        if isinstance(node, ast.BinOp):
            return self._pointer_kind(node.left)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return CASTS.get(node.func.id)
        return None

    def _copy_double(self, source: ast.Subscript, target: ast.Subscript) -> None:
        """One double from table to table, whatever the number of lanes."""
        value = self._put(f"load double, ptr {self._element(source)[1]}, align 8")
        self.lines.append(f"  store double {value}, ptr {self._element(target)[1]}, align 8")

    def _do_augassign(self, s: ast.AugAssign) -> None:
        self._store(s.target, self._value(ast.copy_location(ast.BinOp(s.target, s.op, s.value), s)))

    def _do_if(self, s: ast.If) -> None:
        yes, no, end = self._name("then"), self._name("else"), self._name("end")
        self._branch(s.test, yes, no)
        self._label(yes)
        self._body(s.body)
        self._jump(end)
        self._label(no)
        self._body(s.orelse)
        self._jump(end)
        self._label(end)

    def _do_while(self, s: ast.While) -> None:
        test, inside, out = self._name("test"), self._name("inside"), self._name("out")
        self._jump(test)
        self._label(test)
        self._branch(s.test, inside, out)
        self._label(inside)
        self.loops.append((test, out))
        self._body(s.body)
        self.loops.pop()
        self._jump(test)
        self._label(out)

    def _do_for(self, s: ast.For) -> None:
        if not (isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name) and s.iter.func.id == "range"):
            raise self._refused(s.iter, "loops run over range(...)")
        if not isinstance(s.target, ast.Name):
            raise self._refused(s.target, "loops count with a name")
        given = s.iter.args if len(s.iter.args) > 1 else [ast.Constant(0), *s.iter.args]
        by = self._constant(given[2]) if len(given) == 3 else 1
        if not isinstance(by, int) or by == 0:
            raise self._refused(s.iter, "a loop's step is a whole number that is known")
        first, last = (self._as(INT, self._value(x), x) for x in given[:2])
        counter = self._slot(INT, "counter")
        test, inside, after, out = (self._name(x) for x in ("test", "inside", "after", "out"))
        self.lines.append(f"  store i64 {first}, ptr {counter}")
        self._jump(test)
        self._label(test)
        k = self._put(f"load i64, ptr {counter}")
        go_on = self._put(f"icmp {'slt' if by > 0 else 'sgt'} i64 {k}, {last}")
        self.lines.append(f"  br i1 {go_on}, label %{inside}, label %{out}")
        self._label(inside)
        self._store(s.target, (INT, k))
        self.loops.append((after, out))
        self._body(s.body)
        self.loops.pop()
        self._jump(after)
        self._label(after)
        k = self._put(f"load i64, ptr {counter}")
        self.lines.append(f"  store i64 {self._put(f'add nsw i64 {k}, {by}')}, ptr {counter}")
        self._jump(test)
        self._label(out)

    def _do_break(self, s: ast.Break) -> None:
        self._jump(self.loops[-1][1])
        self._label(self._name("after"))

    def _do_continue(self, s: ast.Continue) -> None:
        self._jump(self.loops[-1][0])
        self._label(self._name("after"))

    # ------------------------------------------------------------------ places
    def _assign(self, name: str, kind: str, value: str) -> None:
        if name not in self.kinds:
            self.kinds[name] = kind
            self.slots.append(f"  %v.{name} = alloca {self.types[kind]}")
        self.lines.append(f"  store {self.types[self.kinds[name]]} {value}, ptr %v.{name}")

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            kind = self.kinds.get(target.id, value[0])
            if kind == BIT:
                raise self._refused(target, "a condition has no name")
            self._assign(target.id, kind, self._as(kind, value, target))
            return
        if not isinstance(target, ast.Subscript):
            raise self._refused(target, "no place to write to")
        kind, place = self._element(target)
        if kind == TABLE:
            if value[0] == FLOAT and self.lanes > 1:
                raise self._refused(target, "what lanes share has one value")
            self.lines.append(f"  store double {self._scalar(value, target)}, ptr {place}, align 8")
            return
        want = INT if kind == WORDS else FLOAT
        self.lines.append(f"  store {self.types[want]} {self._as(want, value, target)}, ptr {place}, align 8")

    def _scalar(self, value: Value, node: ast.AST) -> str:
        """A double for a place that lanes share."""
        return self._put(f"sitofp i64 {value[1]} to double") if value[0] == INT else self._as(FLOAT, value, node)

    def _element(self, node: ast.Subscript) -> Value:
        """Kind of the pointer, and the address of an element."""
        kind, base = self._value(node.value)
        if kind not in (PTR, TABLE, WORDS):
            raise self._refused(node, "is no pointer")
        k = self._as(INT, self._value(node.slice), node)
        element = {PTR: self.vt, TABLE: "double", WORDS: "i64"}[kind]
        return kind, self._put(f"getelementptr inbounds {element}, ptr {base}, i64 {k}")

    # ------------------------------------------------------------------ values
    def _as(self, want: str, value: Value, node: ast.AST) -> str:
        kind, x = value
        if kind == want or ({kind, want} == {BIT, MASK} and self.lanes == 1):
            return x
        if (want, kind) == (FLOAT, INT):
            return self._splat(self._put(f"sitofp i64 {x} to double"))
        if (want, kind) == (INT, FLOAT) and self.lanes == 1:
            return self._put(f"fptosi double {x} to i64")
        if (want, kind) == (BIT, INT):
            return self._put(f"icmp ne i64 {x}, 0")
        raise self._refused(node, f"is {kind}, expected {want}")

    def _branch(self, test: ast.expr, yes: str, no: str) -> None:
        self.lines.append(f"  br i1 {self._as(BIT, self._value(test), test)}, label %{yes}, label %{no}")

    def _constant(self, node: ast.expr) -> Any:
        """The number that an expression stands for, None if it is not known."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            x = self._constant(node.operand)
            return None if x is None else -x
        if isinstance(node, ast.Name) and node.id not in self.kinds:
            return self.lanes if node.id == "LANES" else self.globals.get(node.id)
        return None

    def _value(self, node: ast.expr) -> Value:
        handler = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if handler is None:
            raise self._refused(node, "no expression of drivers")
        return handler(node)

    def _of_constant(self, node: ast.Constant) -> Value:
        return self._literal(node.value, node)

    def _literal(self, value: Any, node: ast.AST) -> Value:
        if isinstance(value, bool):
            return BIT, str(value).lower()
        if not isinstance(value, int | float):
            raise self._refused(node, "is no number")
        if isinstance(value, int):
            return INT, str(value)
        one = number(value)
        return FLOAT, one if self.lanes == 1 else "<" + ", ".join([f"double {one}"] * self.lanes) + ">"

    def _of_name(self, node: ast.Name) -> Value:
        if node.id in self.kinds:
            kind = self.kinds[node.id]
            return kind, self._put(f"load {self.types[kind]}, ptr %v.{node.id}")
        return self._literal(self._constant(node), node)

    def _of_subscript(self, node: ast.Subscript) -> Value:
        kind, place = self._element(node)
        if kind == WORDS:
            return INT, self._put(f"load i64, ptr {place}, align 8")
        if kind == TABLE:
            return FLOAT, self._splat(self._put(f"load double, ptr {place}, align 8"))
        return FLOAT, self._put(f"load {self.vt}, ptr {place}, align 8")

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        constant = self._constant(node)
        if constant is not None:
            return self._literal(constant, node)
        kind, x = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return BIT, self._put(f"xor i1 {self._as(BIT, (kind, x), node)}, true")
        if isinstance(node.op, ast.USub) and kind in (FLOAT, INT):
            return kind, self._put(f"fneg {self.vt} {x}" if kind == FLOAT else f"sub i64 0, {x}")
        raise self._refused(node, "no operation of drivers")

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        """What comes later is evaluated if it is needed."""
        slot, end = self._slot(BIT, "holds"), self._name("end")
        for k, operand in enumerate(node.values):
            x = self._as(BIT, self._value(operand), operand)
            self.lines.append(f"  store i1 {x}, ptr {slot}")
            if k + 1 < len(node.values):
                more = self._name("more")
                ways = (more, end) if isinstance(node.op, ast.And) else (end, more)
                self.lines.append(f"  br i1 {x}, label %{ways[0]}, label %{ways[1]}")
                self._label(more)
        self._jump(end)
        self._label(end)
        return BIT, self._put(f"load i1, ptr {slot}")

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        yes, no, end = self._name("then"), self._name("else"), self._name("end")
        self._branch(node.test, yes, no)
        self._label(yes)
        kind, x = self._value(node.body)
        place, first = len(self.lines), (kind, x)
        self._label(no)
        other = self._value(node.orelse)
        if {kind, other[0]} == {FLOAT, INT}:
            kind = FLOAT
        slot = self._slot(kind, "chosen")
        y = self._as(kind, other, node)
        self.lines.append(f"  store {self.types[kind]} {y}, ptr {slot}")
        self._jump(end)
        rest = self.lines[place:]
        del self.lines[place:]
        x = self._as(kind, first, node)
        self.lines.append(f"  store {self.types[kind]} {x}, ptr {slot}")
        self._jump(end)
        self.lines += rest
        self._label(end)
        return kind, self._put(f"load {self.types[kind]}, ptr {slot}")

    def _of_compare(self, node: ast.Compare) -> Value:
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARE:
            raise self._refused(node, "no comparison of drivers")
        left, right = self._value(node.left), self._value(node.comparators[0])
        real, whole = COMPARE[type(node.ops[0])]
        if left[0] == right[0] == INT:
            return BIT, self._put(f"icmp {whole} i64 {left[1]}, {right[1]}")
        x, y = self._as(FLOAT, left, node), self._as(FLOAT, right, node)
        return MASK, self._put(f"fcmp {real} {self.vt} {x}, {y}")

    def _of_binop(self, node: ast.BinOp) -> Value:
        left, right = self._value(node.left), self._value(node.right)
        if left[0] in (PTR, TABLE, WORDS) and isinstance(node.op, ast.Add):
            element = {PTR: self.vt, TABLE: "double", WORDS: "i64"}[left[0]]
            k = self._as(INT, right, node)
            return left[0], self._put(f"getelementptr inbounds {element}, ptr {left[1]}, i64 {k}")
        real, whole = BINARY.get(type(node.op), ("", ""))
        if left[0] == right[0] == INT and whole:
            return INT, self._put(f"{whole} i64 {left[1]}, {right[1]}")
        if not real:
            raise self._refused(node, "no operation of drivers")
        x, y = self._as(FLOAT, left, node), self._as(FLOAT, right, node)
        return FLOAT, self._put(f"{real} {self.vt} {x}, {y}")

    # ------------------------------------------------------------------ calls
    def _of_call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Call):  # kernel(address)(...)
            kind, code = self._value(node.func)
            return FLOAT, self._kernel_call(kind, code, node)
        if not isinstance(node.func, ast.Name):
            raise self._refused(node, "no call of drivers")
        name = node.func.id
        if name in self.kinds and self.kinds[name] == CODE:
            return FLOAT, self._kernel_call(*self._value(node.func), node)
        if name in self.known:
            return self._driver_call(self.known[name], node)
        if name in CASTS:
            return self._cast(CASTS[name], node)
        if name in ("int", "float"):
            return name, self._as(name, self._value(node.args[0]), node)
        if name in INTRINSICS:
            return self._intrinsic(*INTRINSICS[name], node)
        return self._lanewise(name, node)

    def _kernel_call(self, kind: str, code: str, node: ast.Call) -> str:
        if kind != CODE:
            raise self._refused(node, "is no kernel")
        arguments = [self._value(a) for a in node.args]
        if any(k not in (PTR, TABLE, WORDS) for k, _ in arguments):
            raise self._refused(node, "kernels take pointers")
        return self._put(f"call {self.vt} {code}({', '.join(f'ptr {x}' for _, x in arguments)})")

    def _driver_call(self, called: Signature, node: ast.Call) -> Value:
        if len(node.args) != len(called.arguments) or node.keywords:
            raise self._refused(node, f"'{called.name}' takes {len(called.arguments)} arguments")
        given = [
            f"{self.types[k]} {self._as(k, self._value(a), a)}"
            for (_, k), a in zip(called.arguments, node.args, strict=True)
        ]
        return called.result, self._put(f"call {self.types[called.result]} @{called.name}({', '.join(given)})")

    def _cast(self, want: str, node: ast.Call) -> Value:
        kind, x = self._value(node.args[0])
        if kind in (PTR, TABLE, WORDS):
            return want, x
        return want, self._put(f"inttoptr i64 {self._as(INT, (kind, x), node)} to ptr")

    def _intrinsic(self, name: str, arity: int, node: ast.Call) -> Value:
        if len(node.args) != arity:
            raise self._refused(node, f"takes {arity} arguments")
        values = [self._value(a) for a in node.args]
        if name in ("maxnum", "minnum") and all(k == INT for k, _ in values):
            (_, x), (_, y) = values
            test = self._put(f"icmp {'sgt' if name == 'maxnum' else 'slt'} i64 {x}, {y}")
            return INT, self._put(f"select i1 {test}, i64 {x}, i64 {y}")
        xs = ", ".join(f"{self.vt} {self._as(FLOAT, v, node)}" for v in values)
        return FLOAT, self._put(f"call {self.vt} @llvm.{name}.{self.suffix}({xs})")

    def _lanewise(self, name: str, node: ast.Call) -> Value:
        if name == "where":
            c, x, y = (self._value(a) for a in node.args)
            mask = self._as(MASK, c, node) if c[0] == MASK or self.lanes == 1 else c[1]
            holds = self.bt if c[0] == MASK or self.lanes == 1 else "i1"
            both = (self._as(FLOAT, v, node) for v in (x, y))
            return FLOAT, self._put(f"select {holds} {mask}, {', '.join(f'{self.vt} {v}' for v in both)}")
        if name == "some":
            mask = self._as(MASK, self._value(node.args[0]), node)
            if self.lanes == 1:
                return BIT, mask
            return BIT, self._put(f"call i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.bt} {mask})")
        if name == "bits":
            return INT, self._put(f"ptrtoint ptr {self._value(node.args[0])[1]} to i64")
        if name == "copy":  # copy(count, source, target): doubles that do not overlap
            n, x, y = (self._value(a) for a in node.args)
            size = self._put(f"mul i64 {self._as(INT, n, node)}, {8 * self.lanes}")
            self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {y[1]}, ptr {x[1]}, i64 {size}, i1 false)")
            return INT, "0"
        raise self._refused(node, "no function of drivers")
