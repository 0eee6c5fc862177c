"""A program as WebAssembly, for web pages and other hosts without a compiler: the module is written here, byte by byte
(WebAssembly 1.0: one memory, one function without branches), and wrapped in a JavaScript file of its own."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gyrostat.engine.c_names import unique
from gyrostat.engine.export_c import made_folder
from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, prune
from gyrostat.errors import SaveError, ShapeError

LARGEST = 50_000
"""Values that browsers allow in one function."""
F64, I32 = 0x7C, 0x7F
GET, SET, LOAD, STORE, NUMBER, ZERO, CALL, SELECT, END = 0x20, 0x21, 0x2B, 0x39, 0x44, 0x41, 0x10, 0x1B, 0x0B
EQ, NE, LT, GT, LE, AND, OR, MINUS, TO_F64 = 0x61, 0x62, 0x63, 0x64, 0x65, 0x71, 0x72, 0x6B, 0xB7
NULL = bytes([NUMBER]) + struct.pack("<d", 0.0)
NOT_ZERO = NULL + bytes([NE])
PLAIN = {
    "add": 0xA0,
    "sub": 0xA1,
    "mul": 0xA2,
    "div": 0xA3,
    "neg": 0x9A,
    "sqrt": 0x9F,
    "abs": 0x99,
    "floor": 0x9C,
    "ceil": 0x9B,
}
COMPARED = {"lt": LT, "le": LE, "eq": EQ, "ne": NE}
MATH = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "pow", "fmod",
)  # fmt: skip
"""Functions of the host."""


def leb(n: int) -> bytes:
    """An unsigned whole number in seven bits a byte."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def counted(items: Sequence[bytes]) -> bytes:
    return leb(len(items)) + b"".join(items)


def section(number: int, body: bytes) -> bytes:
    return bytes([number]) + leb(len(body)) + body


def named(text: str) -> bytes:
    return leb(len(text.encode())) + text.encode()


def calculated(name: str, x: Sequence[bytes], imports: Mapping[str, int]) -> bytes:
    """Code that leaves the value of an operation on the stack; x is code for its operands."""
    if name in PLAIN:
        return b"".join(x) + bytes([PLAIN[name]])
    if name in COMPARED:
        return b"".join(x) + bytes([COMPARED[name], TO_F64])
    if name in imports:
        return b"".join(x) + bytes([CALL]) + leb(imports[name])
    choice = bytes([SELECT])
    match name:
        case "not":
            return x[0] + NULL + bytes([EQ, TO_F64])
        case "and" | "or":
            return x[0] + NOT_ZERO + x[1] + NOT_ZERO + bytes([AND if name == "and" else OR, TO_F64])
        case "select":
            return x[1] + x[2] + x[0] + NOT_ZERO + choice
        case "min":
            return x[1] + x[0] + x[1] + x[0] + bytes([LT]) + choice
        case "max":
            return x[1] + x[0] + x[0] + x[1] + bytes([LT]) + choice
        case "sign":
            signs = x[0] + NULL + bytes([GT]) + x[0] + NULL + bytes([LT, MINUS, TO_F64])
            return x[0] + signs + x[0] + x[0] + bytes([NE]) + choice
    raise SaveError.one("export_wasm", "operation", f"has no WebAssembly for '{name}'", "report this fault", name)


def module(program: Program) -> bytes:
    """The module: memory holds inputs, then outputs, as doubles in the order of the program; ``run`` computes."""
    if len(program.nodes) > LARGEST:
        message = f"the function has {len(program.nodes)} operations, browsers take {LARGEST}"
        raise SaveError.one("export_wasm", "program", message, "export a smaller quantity, or C", program.name)
    used = {OPERATIONS[code].name for code, *_ in program.nodes if code >= 0}
    imports = {name: k for k, name in enumerate(n for n in MATH if n in used)}
    first = offsets(program)
    place = {k: n for n, k in enumerate(k for k, (code, *_) in enumerate(program.nodes) if code >= 0)}

    def value(k: int) -> bytes:
        code, x, y, _ = program.nodes[k]
        if code == INPUT:
            return bytes([ZERO, 0, LOAD, 3]) + leb(8 * (first[x] + y))
        if code == CONST:
            return bytes([NUMBER]) + struct.pack("<d", program.constants[x])
        return bytes([GET]) + leb(place[k])

    code = bytearray()
    for k, (number, *operands) in enumerate(program.nodes):
        if number >= 0:
            operation = OPERATIONS[number]
            values = [value(i) for i in operands[: operation.arity]]
            code += calculated(operation.name, values, imports) + bytes([SET]) + leb(place[k])
    for n, nodes in enumerate(program.results, len(program.inputs)):
        for element, k in enumerate(nodes):
            code += bytes([ZERO, 0]) + value(k) + bytes([STORE, 3]) + leb(8 * (first[n] + element))
    code.append(END)
    body = counted([leb(len(place)) + bytes([F64])]) + bytes(code)
    kinds = [bytes([0x60]) + counted([bytes([F64])] * n) + counted([bytes([F64])] * bool(n)) for n in (0, 1, 2)]
    pages = -(-8 * max(1, first[-1]) // 65536)
    given = [named("math") + named(n) + bytes([0, OPERATIONS[CODE[n]].arity]) for n in imports]
    exports = [named("memory") + bytes([2, 0]), named("run") + bytes([0]) + leb(len(imports))]
    parts = (
        (1, counted(kinds)), (2, counted(given)), (3, counted([b"\0"])), (5, counted([b"\0" + leb(pages)])),
        (7, counted(exports)), (10, counted([leb(len(body)) + body])),
    )  # fmt: skip
    return b"\0asm\1\0\0\0" + b"".join(section(number, body) for number, body in parts)


def offsets(program: Program) -> list[int]:
    """First double of each input and output, and how many there are."""
    sizes = [slot.size for slot in (*program.inputs, *program.outputs)]
    return [0, *(int(n) for n in np.cumsum(sizes))]


def export_wasm(
    program: Program,
    folder: str | Path,
    name: str,
    entries: Mapping[str, Sequence[str]],
    vectors: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]],
) -> list[Path]:
    """Write ``<name>.wasm``, ``<name>.js`` (the same module in a script that works from a file, too) and
    ``<name>_test.js``, which node runs. ``entries`` name the elements of inputs and outputs."""
    if not vectors:
        raise ShapeError("export_wasm: needs at least one test vector. Hint: vectors=16")
    place = made_folder(folder, "export_wasm")
    program = prune(replace(program, guards=()))
    (name,) = unique([name])
    data, first = module(program), offsets(program)
    slots = [
        {
            "name": slot.name,
            "shape": list(slot.shape),
            "size": slot.size,
            "first": k,
            "entries": list(entries.get(slot.name, ())),
        }
        for slot, k in zip((*program.inputs, *program.outputs), first, strict=False)
    ]
    n = len(program.inputs)
    script = SCRIPT.replace("NAME", name).replace("INPUTS", _data(slots[:n])).replace("OUTPUTS", _data(slots[n:]))
    script = script.replace("BYTES", base64.b64encode(data).decode())
    examples = [[_flat(arrays) for arrays in vector] for vector in vectors]
    test = TEST.replace("NAME", name).replace("VECTORS", json.dumps(examples, allow_nan=False))
    files = {f"{name}.wasm": data, f"{name}.js": script.encode(), f"{name}_test.js": test.encode()}
    for file, content in files.items():
        (place / file).write_bytes(content)
    return [place / file for file in files]


def _data(slots: Iterable[Mapping[str, object]]) -> str:
    return json.dumps(list(slots)).replace("</", "<\\/")  # may stand in a page


def _flat(arrays: Sequence[np.ndarray]) -> list[list[float]]:
    return [np.asarray(x, dtype=float).ravel().tolist() for x in arrays]


SCRIPT = """/* NAME: generated by gyrostat. SI units.
   NAME.load() is a promise of {inputs, outputs, call}; call({name: [numbers], ...}) returns {name: [numbers], ...},
   matrices row by row. Works as a script of a page and by require() of node. */
(function (root) {
  "use strict";
  const inputs = INPUTS;
  const outputs = OUTPUTS;
  const bytes = Uint8Array.from(atob("BYTES"), (c) => c.charCodeAt(0));
  const math = { fmod: (x, y) => x % y };
  for (const f of ["sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log"])
    math[f] = Math[f];
  math.pow = (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y));
  async function load() {
    const { instance } = await WebAssembly.instantiate(bytes, { math });
    const memory = new Float64Array(instance.exports.memory.buffer);
    function call(values) {
      for (const { name, size, first } of inputs) {
        const given = values[name];
        if (!given || given.length !== size)
          throw new Error(`NAME: ${name} must be ${size} numbers, got ${given ? given.length : given}`);
        memory.set(given, first);
      }
      instance.exports.run();
      const results = {};
      for (const { name, size, first } of outputs) {
        results[name] = Array.from(memory.subarray(first, first + size));
        if (!results[name].every(Number.isFinite)) throw new Error(`NAME: ${name} is not finite`);
      }
      return results;
    }
    return { inputs, outputs, call };
  }
  const made = { load, inputs, outputs };
  if (typeof module === "object" && module.exports) module.exports = made;
  else root["NAME"] = made;
})(typeof globalThis === "object" ? globalThis : this);
"""

TEST = """/* Test vectors of NAME: node NAME_test.js prints the largest relative difference, fails above 1e-12. */
"use strict";
const made = require("./NAME.js");
const vectors = VECTORS;
made.load().then(({ inputs, outputs, call }) => {
  let worst = 0;
  for (const [given, wanted] of vectors) {
    const results = call(Object.fromEntries(inputs.map(({ name }, k) => [name, given[k]])));
    outputs.forEach(({ name }, k) => {
      const scale = Math.max(1e-300, ...wanted[k].map(Math.abs));
      results[name].forEach((x, j) => (worst = Math.max(worst, Math.abs(x - wanted[k][j]) / scale)));
    });
  }
  console.log(`NAME: largest relative difference ${worst.toPrecision(3)}`);
  process.exit(worst <= 1e-12 ? 0 : 1);
});
"""
