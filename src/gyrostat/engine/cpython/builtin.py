"""A Python function made of machine code: from ``solver(q, v, a)`` into the kernel with next to nothing in between.

The function checks that every argument is a plain float64 array of the right shape (or a batch of them: one more axis
in front, of the same length in all), contiguous and aligned, and that an ``out=`` array is writeable and apart from
the inputs. Anything else, and any result that is not finite, goes to a Python function (``slow``) that deals with it.
Several outputs come as a named tuple.

An array that was returned earlier, and that nobody has a reference to any more, is returned again: that saves a third
of the time of a small robot's call. It reads the fields of ``PyArrayObject``; their places are tried out once, and if
anything about this Python is unknown, ``available()`` says why and the slow path serves all calls."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gyrostat.engine.llvm.compile import Loaded
from gyrostat.engine.tracing.program import Program, Slot

# words (8 bytes) of PyArrayObject: references 0, type 1, data 2, nd 3 (int), dims 4, strides 5, base 6, descr 7,
# flags 8 (int), weak references 9
DATA, ND, DIMS, DESCR, FLAGS, WEAK = 2, 3, 4, 7, 8, 9
CONTIGUOUS_ALIGNED, WRITEABLE, OWN = 0x0101, 0x0400, 0x0004
ITEMS = 3  # first item of a tuple
PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of functions
FIXED = (
    "array_type", "float64", "new_array", "vectorcall", "decref", "incref", "slow", "out", "tuple_type", "new_tuple",
    "malloc", "free", "save_thread", "restore_thread", "batch", "scratch",
)  # fmt: skip
"""First words of a builtin's table; then follow the addresses of hidden inputs, and of each output's spare arrays."""
SPARES = 2
"""Arrays per output that may be returned again: with ``x = f(...)`` in a loop, one is still held by x. One more for
batches."""
LARGEST_SPARE = 2**27
"""Bytes of a batch's result that is kept, at most, to be returned again: fresh memory costs more than writing it."""


def _layout_problem() -> str | None:
    """Try the places of the fields on real arrays."""
    float64 = np.dtype(float)
    for array in (np.zeros(3), np.zeros((2, 5)), np.zeros((2, 4, 3))[::2, 1:3], np.zeros(0)):
        words = (ctypes.c_int64 * 9).from_address(id(array))
        half = (ctypes.c_int32 * 18).from_address(id(array))  # the ints: what lies beside them is undefined
        dims = (ctypes.c_int64 * array.ndim).from_address(words[DIMS])
        ok = words[1] == id(np.ndarray) and words[DATA] == array.ctypes.data and tuple(dims) == array.shape
        ok = ok and half[2 * ND] == array.ndim and words[DESCR] == id(float64)
        aligned = (half[2 * FLAGS] & CONTIGUOUS_ALIGNED) == CONTIGUOUS_ALIGNED
        if not ok or aligned != (array.flags.c_contiguous and array.flags.aligned):
            return "the fields of NumPy arrays are not where they are expected"
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    if (ctypes.c_int32 * 18).from_address(id(frozen))[2 * FLAGS] & WRITEABLE:
        return "the flags of NumPy arrays are not where they are expected"
    watched = np.zeros(2)
    words = (ctypes.c_int64 * 10).from_address(id(watched))
    before, watcher = words[WEAK], weakref.ref(watched)
    own = (ctypes.c_int32 * 20).from_address(id(watched))[2 * FLAGS] & OWN
    if before or words[WEAK] != id(watcher) or not own or sys.getrefcount(watched) != words[0] + 1:
        return "the references to NumPy arrays are not where they are expected"
    pair = (watched, frozen)
    if (ctypes.c_int64 * 5).from_address(id(pair))[ITEMS] != id(watched):
        return "the items of tuples are not where they are expected"
    return None


@cache
def available() -> str:
    """Empty if builtins can be made on this Python, else the reason why not."""
    if sys.implementation.name != "cpython":
        return f"this Python is {sys.implementation.name}, not CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python is free-threaded"
    if hasattr(sys, "gettotalrefcount"):
        return "this Python is a debug build"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this Python is not a 64-bit little-endian one"
    if sys.platform == "win32":
        return "the calling convention of Windows is not generated"
    try:
        problem = _layout_problem()
        _new_array()
    except (ValueError, OSError, AttributeError) as error:
        return f"NumPy's internals are unknown ({error})"
    return problem or ""


@cache
def _new_array() -> int:
    """Address of PyArray_New, tried out."""
    api = np._core.multiarray._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(api, None), ctypes.POINTER(ctypes.c_void_p))
    address = table[PYARRAY_NEW]
    if not address:
        raise ValueError("no PyArray_New")
    arguments = (
        ctypes.py_object,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_int,
        *[ctypes.c_void_p] * 2,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_void_p,
    )
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(address)
    dims = (ctypes.c_int64 * 2)(3, 4)
    made = make(np.ndarray, 2, ctypes.addressof(dims), 12, None, None, 0, 0, None)
    if type(made) is not np.ndarray or made.shape != (3, 4) or made.dtype != float or not made.flags.carray:
        raise ValueError("PyArray_New does something else")
    return address


class _Text:
    """Lines of one LLVM function that reads Python's objects."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = self.labels = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def say(self, *lines: str) -> None:
        self.lines += lines

    def word(self, base: str, k: int, kind: str = "i64") -> str:
        return self.put(f"load {kind}, ptr {self.put(f'getelementptr i64, ptr {base}, i64 {k}')}, align 8")

    def half(self, base: str, k: int) -> str:
        """The int at the beginning of word k."""
        return self.put(f"load i32, ptr {self.put(f'getelementptr i64, ptr {base}, i64 {k}')}, align 8")

    def table(self, name: str, kind: str = "i64") -> str:
        return self.word("@table", FIXED.index(name), kind)

    def require(self, condition: str, otherwise: str = "slow") -> None:
        self.labels += 1
        self.say(f"  br i1 {condition}, label %ok{self.labels}, label %{otherwise}", f"ok{self.labels}:")

    def here(self) -> str:
        """Name of the block since the last requirement."""
        return f"%ok{self.labels}"

    def equal(self, x: str, y: Any, kind: str = "i64") -> str:
        return self.put(f"icmp eq {kind} {x}, {y}")

    def plain(self, item: str, otherwise: str = "slow") -> None:
        """It is an array of NumPy's own class, of float64."""
        self.require(self.equal(self.word(item, 1), self.table("array_type")), otherwise)
        self.require(self.equal(self.word(item, DESCR), self.table("float64")), otherwise)

    def shaped(self, item: str, shape: Sequence[Any], flags: int, otherwise: str = "slow") -> str:
        """It has this shape and these flags; the address of its data."""
        self.require(self.equal(self.half(item, ND), len(shape), "i32"), otherwise)
        have = self.put(f"and i32 {self.half(item, FLAGS)}, {flags}")
        self.require(self.equal(have, flags, "i32"), otherwise)
        if shape:
            dims = self.word(item, DIMS, "ptr")
            for k, n in enumerate(shape):
                self.require(self.equal(self.word(dims, k), n), otherwise)
        return self.word(item, DATA, "ptr")

    def define(self, head: str) -> str:
        return f"define {head} {{\nentry:\n" + "\n".join(self.lines) + "\n}"


def _make(w: _Text, dims: str, ndim: int) -> str:
    """A call of PyArray_New."""
    new, kind = w.table("new_array", "ptr"), w.table("array_type", "ptr")
    return w.put(
        f"call ptr {new}(ptr {kind}, i32 {ndim}, ptr {dims}, i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)"
    )


def _fresh_text(k: int, slot: Slot, spares: int, many: bool) -> str:
    """``ptr @fresh_k(count)``: an array for output k with a reference for the caller, or null; of one state, or with
    ``many`` of ``count`` states."""
    w = _Text()
    shape = ["%count", *slot.shape] if many else list(slot.shape)
    dims = w.put(f"alloca i64, i64 {max(1, len(shape))}, align 16")
    pool = w.word("@table", spares, "ptr")
    numbers = [SPARES] if many else list(range(SPARES))
    for number in numbers:
        busy = f"busy{number}"
        item = w.word(pool, number, "ptr")
        w.require(w.equal(w.half(item, 0), 1, "i32"), busy)  # the only reference is ours
        w.plain(item, busy)
        w.shaped(item, shape, CONTIGUOUS_ALIGNED | WRITEABLE | OWN, busy)
        w.require(w.equal(w.word(item, WEAK), 0), busy)
        w.say(f"  call void {w.table('incref', 'ptr')}(ptr {item})", f"  ret ptr {item}", f"{busy}:")
    for i, n in enumerate(shape):
        w.say(f"  store i64 {n}, ptr {w.put(f'getelementptr i64, ptr {dims}, i64 {i}')}, align 8")
    made = _make(w, dims, len(shape))
    w.require(w.put(f"icmp ne ptr {made}, null"), "failed")
    if many:
        w.require(w.put(f"icmp sle i64 %count, {LARGEST_SPARE // (8 * max(1, slot.size))}"), "large")
    items = [w.word(pool, number, "ptr") for number in numbers]
    for number, item in zip(numbers, [made, *items[:-1]], strict=True):
        w.say(f"  store ptr {item}, ptr {w.put(f'getelementptr ptr, ptr {pool}, i64 {number}')}, align 8")
    w.say(f"  call void {w.table('incref', 'ptr')}(ptr {made})")
    w.say(f"  call void {w.table('decref', 'ptr')}(ptr {items[-1]})")
    w.say(f"  ret ptr {made}", "large:", f"  ret ptr {made}", "failed:", "  ret ptr null")
    return w.define(f"internal ptr @{'many' if many else 'fresh'}_{k}(i64 %count) noinline")


VECTORCALL = """define ptr @vectorcall(ptr %callable, ptr %args, i64 %flagged, ptr %kwnames) {
entry:
  %nargs = and i64 %flagged, 9223372036854775807
  %found = tail call ptr @pycall(ptr %callable, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %found
}"""
"""The same as @pycall for objects: their callers say in the highest bit whether there is room before the arguments."""


class _Layout:
    """Where things are in the table."""

    def __init__(self, program: Program, visible: int):
        self.hidden = len(FIXED)
        self.spares = self.hidden + len(program.inputs) - visible
        self.size = self.spares + len(program.outputs) + 1


def builtin_text(program: Program, visible: int, work: int) -> str:
    """``ptr @pycall(self, args, nargs, kwnames)`` for the one-lane kernel; the first ``visible`` inputs are
    arguments."""
    at = _Layout(program, visible)
    fresh = [_fresh_text(k, s, at.spares + k, many) for k, s in enumerate(program.outputs) for many in (False, True)]
    return "\n".join(
        [
            f"@table = internal global [{at.size} x i64] zeroinitializer, align 64",
            f"@work = internal global [{max(1, work)} x double] zeroinitializer, align 64",
            "define ptr @table_address() {\n  ret ptr @table\n}",
            *fresh,
            _single_text(program, visible, at),
            VECTORCALL,
            _many_text(program, visible, at),
        ]
    )


def _single_text(program: Program, visible: int, at: _Layout) -> str:
    """One state; batches go on to ``@many``."""
    w = _Text()
    w.require(w.equal("%nargs", visible))
    items = [w.word("%args", k, "ptr") for k in range(visible)]
    for k, item in enumerate(items):
        w.plain(item)
        if k == 0:
            w.require(w.equal(w.half(item, ND), len(program.inputs[0].shape), "i32"), "several")
    inputs = [
        w.shaped(item, slot.shape, CONTIGUOUS_ALIGNED)
        for item, slot in zip(items, program.inputs[:visible], strict=True)
    ]
    inputs += [w.word("@table", k, "ptr") for k in range(at.hidden, at.spares)]
    single = len(program.outputs) == 1
    arrival = ("", "", "")
    if single:
        w.say(f"  br i1 {w.put('icmp eq ptr %kwnames, null')}, label %fresh, label %given")
        arrival = _given(w, program, visible, inputs)
        w.say("fresh:")
    else:
        w.require(w.put("icmp eq ptr %kwnames, null"))
    made: list[str] = []
    for k in range(len(program.outputs)):
        made.append(w.put(f"call ptr @fresh_{k}(i64 1)"))
        w.require(w.put(f"icmp ne ptr {made[-1]}, null"), f"failed{k}")
    data = [w.word(x, DATA, "ptr") for x in made]
    if single:
        block = w.here()
        w.say("  br label %run", "run:")
        targets = [w.put(f"phi ptr [ {made[0]}, {block} ], [ {arrival[0]}, {arrival[2]} ]")]
        data = [w.put(f"phi ptr [ {data[0]}, {block} ], [ {arrival[1]}, {arrival[2]} ]")]
    else:
        targets = made
    acc = w.put(f"call double @kernel({', '.join(f'ptr {a}' for a in [*inputs, *data, '@work'])})")
    w.say(f"  br i1 {w.put(f'fcmp ord double {acc}, {acc}')}, label %good, label %bad", "bad:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in targets), "  br label %slow", "good:")
    _packed(w, targets)
    for k in range(len(made)):
        w.say(f"failed{k}:")
        drop = w.table("decref", "ptr")
        w.say(*(f"  call void {drop}(ptr {x})" for x in made[:k]), "  ret ptr null")
    w.say("several:")
    w.say(f"  ret ptr {w.put('call ptr @many(ptr %args, i64 %nargs, ptr %kwnames)')}")
    _slow(w)
    return w.define("ptr @pycall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")


def _slow(w: _Text) -> None:
    w.say("slow:")
    call, slow = w.table("vectorcall", "ptr"), w.table("slow", "ptr")
    w.say(f"  ret ptr {w.put(f'call ptr {call}(ptr {slow}, ptr %args, i64 %nargs, ptr %kwnames)')}")


def _given(w: _Text, program: Program, visible: int, inputs: Sequence[str]) -> tuple[str, str, str]:
    """out=: one keyword, a writeable array that shares no memory with the inputs. The array, its data, the block."""
    (output,) = program.outputs
    w.say("given:")
    w.require(w.equal(w.word("%kwnames", 2), 1))
    w.require(w.equal(w.word("%kwnames", ITEMS), w.table("out")))
    target = w.word("%args", visible, "ptr")
    w.plain(target)
    start = w.shaped(target, output.shape, CONTIGUOUS_ALIGNED | WRITEABLE)
    end = w.put(f"getelementptr double, ptr {start}, i64 {output.size}")
    for slot, address in zip(program.inputs, inputs, strict=True):
        stop = w.put(f"getelementptr double, ptr {address}, i64 {slot.size}")
        before, after = w.put(f"icmp ule ptr {end}, {address}"), w.put(f"icmp uge ptr {start}, {stop}")
        w.require(w.put(f"or i1 {before}, {after}"))
    w.say(f"  call void {w.table('incref', 'ptr')}(ptr {target})", "  br label %run")
    return target, start, w.here()


def _packed(w: _Text, targets: Sequence[str]) -> None:
    """Return the one result, or a tuple of them."""
    if len(targets) == 1:
        w.say(f"  ret ptr {targets[0]}")
        return
    new, kind = w.table("new_tuple", "ptr"), w.table("tuple_type", "ptr")
    found = w.put(f"call ptr {new}(ptr {kind}, i64 {len(targets)})")
    w.require(w.put(f"icmp ne ptr {found}, null"), "no_tuple")
    for k, x in enumerate(targets):
        w.say(f"  store ptr {x}, ptr {w.put(f'getelementptr ptr, ptr {found}, i64 {ITEMS + k}')}, align 8")
    w.say(f"  ret ptr {found}", "no_tuple:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in targets), "  ret ptr null")


def _many_text(program: Program, visible: int, at: _Layout) -> str:
    """A batch: arrays with one more axis in front, of one length, through the loop over batches without Python's
    lock."""
    w, head = _Text(), "internal ptr @many(ptr %args, i64 %nargs, ptr %kwnames) noinline"
    if not visible:
        w.say("  br label %slow")
        _slow(w)
        return w.define(head)
    slots = [*program.inputs, *program.outputs]
    rows = w.put(f"alloca i64, i64 {2 * len(slots)}, align 16")
    w.require(w.put("icmp eq ptr %kwnames, null"))
    loop = w.table("batch", "ptr")
    w.require(w.put(f"icmp ne ptr {loop}, null"))
    items = [w.word("%args", k, "ptr") for k in range(visible)]
    count = ""
    inputs: list[str] = []
    for k, (item, slot) in enumerate(zip(items, program.inputs, strict=False)):
        w.plain(item)
        if k == 0:
            w.require(w.equal(w.half(item, ND), 1 + len(slot.shape), "i32"))
            count = w.word(w.word(item, DIMS, "ptr"), 0)
            w.require(w.put(f"icmp sgt i64 {count}, 0"))
        inputs.append(w.shaped(item, [count, *slot.shape], CONTIGUOUS_ALIGNED))
    inputs += [w.word("@table", k, "ptr") for k in range(at.hidden, at.spares)]
    space = w.put(f"call ptr {w.table('malloc', 'ptr')}(i64 {w.table('scratch')})")
    w.require(w.put(f"icmp ne ptr {space}, null"))
    made: list[str] = []
    for k in range(len(program.outputs)):
        made.append(w.put(f"call ptr @many_{k}(i64 {count})"))
        w.require(w.put(f"icmp ne ptr {made[-1]}, null"), f"failed{k}")
    data = [w.word(x, DATA, "ptr") for x in made]
    for k, (address, slot) in enumerate(zip([*inputs, *data], slots, strict=True)):
        stride = 0 if visible <= k < len(program.inputs) else 8 * slot.size
        w.say(f"  store ptr {address}, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k}')}, align 8")
        w.say(f"  store i64 {stride}, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k + 1}')}, align 8")
    thread = w.put(f"call ptr {w.table('save_thread', 'ptr')}()")
    bad = w.put(f"call i64 {loop}(ptr {rows}, ptr {space}, i64 {count})")
    w.say(f"  call void {w.table('restore_thread', 'ptr')}(ptr {thread})")
    w.say(f"  call void {w.table('free', 'ptr')}(ptr {space})")
    w.say(f"  br i1 {w.put(f'icmp slt i64 {bad}, 0')}, label %good, label %bad", "bad:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in made), "  br label %slow", "good:")
    _packed(w, made)
    for k in range(len(made)):
        w.say(f"failed{k}:")
        w.say(f"  call void {w.table('free', 'ptr')}(ptr {space})")
        drop = w.table("decref", "ptr")
        w.say(*(f"  call void {drop}(ptr {x})" for x in made[:k]), "  ret ptr null")
    _slow(w)
    return w.define(head)


class Entry:
    """The code and the table of a builtin; the loop over batches is told to it when there is one."""

    def __init__(
        self,
        program: Program,
        loaded: Loaded,
        slow: Callable[..., Any],
        hidden: Sequence[np.ndarray],
        result: type[tuple[Any, ...]] | None,
    ):
        self.loaded, self.slow, self.hidden, self.result = loaded, slow, tuple(hidden), result or tuple
        self.out, self.float64 = sys.intern("out"), np.dtype(float)
        self.spares = np.full((len(program.outputs), SPARES + 1), None, dtype=object)
        address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p)(loaded.address("table_address"))
        names = (
            "PyObject_Vectorcall", "Py_DecRef", "Py_IncRef", "PyType_GenericAlloc", "PyMem_RawMalloc", "PyMem_RawFree",
            "PyEval_SaveThread", "PyEval_RestoreThread",
        )  # fmt: skip
        call, decref, incref, alloc, malloc, free, save, restore = (
            _address(getattr(ctypes.pythonapi, n)) for n in names
        )
        words = [
            id(np.ndarray), id(self.float64), _new_array(), call, decref, incref, id(slow), id(self.out),
            id(self.result), alloc, malloc, free, save, restore, 0, 0,
            *(h.ctypes.data for h in hidden), *(row.ctypes.data for row in self.spares),
        ]  # fmt: skip
        self.table = (ctypes.c_int64 * len(words)).from_address(address_of())
        self.table[:] = words

    def serve_batches(self, code: Loaded, scratch: int) -> None:
        """From now on batches go through ``code``, with this many bytes of scratch memory."""
        self.batch_code = code
        self.table[FIXED.index("scratch")] = scratch
        self.table[FIXED.index("batch")] = code.address("batch")


def vectorcall(builtin: Any) -> int:
    """Address of a builtin's function for objects."""
    return builtin.__self__[0].loaded.address("vectorcall")


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def make_builtin(entry: Entry, name: str, doc: str) -> Callable[..., Any]:
    """The function; it keeps its entry alive (``__self__[0]``)."""
    texts = name.encode(), doc.encode()
    title, told = (_address(ctypes.c_char_p(text)) for text in texts)
    flags = 0x0080 | 0x0002  # FASTCALL | KEYWORDS
    # PyMethodDef. It must not go before the function does: the garbage collector empties ctypes structures, but no
    # arrays
    definition = np.array([title, entry.loaded.address("pycall"), flags, told], dtype=np.uint64)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    kept = (entry, entry.loaded, entry.slow, entry.hidden, entry.result, entry.spares, definition, texts)
    return make(definition.ctypes.data, kept, None)
