"""A kernel as a custom call of XLA, in machine code: no Python, no lock, no copies between XLA and the loop.

XLA calls ``XLA_FFI_Error* call(XLA_FFI_CallFrame*)`` (its stable C interface, version 0.1; offsets below are those of
64-bit systems). Inputs have shape (count, size), or (size,) where all states share one; outputs have (count, size);
the last output is scratch memory of the loop, so that any number of calls may run at once."""

from __future__ import annotations

import ctypes
import sys

from gyrostat.engine.cpython.object_text import ObjectText
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.errors import CompileError

MAJOR, MINOR = 0, 1
FRAME_EXTENSION, FRAME_API, FRAME_ARGUMENTS, FRAME_RESULTS = 8, 16, 72, 112
EXTENSION_TYPE, EXTENSION_METADATA = 8, 24
METADATA_VERSION, METADATA_TRAITS = 24, 32
BUFFER_DATA, BUFFER_RANK, BUFFER_SIZES = 24, 32, 40
API_NEW_ERROR = 48
ERROR_SIZE, ERROR_MESSAGE, ERROR_CODE = 28, 16, 24
INVALID_ARGUMENT = 3


class XlaCall:
    """Machine code at ``address``; ``scratch`` is how many doubles its last output needs to have."""

    def __init__(self, kernel: Kernel, nonfinite: str):
        if sys.maxsize < 2**32:
            raise CompileError("custom calls of XLA need a 64-bit system")
        self.kernel, self.scratch = kernel, kernel._scratch_size
        text = call_text(kernel, nonfinite)
        self.code: Loaded = load(key_of("xla call", text), lambda: text)
        loop = kernel.batch_code.address("batch")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address("tell"))(loop)
        self.address = self.code.address("xla_call")


def call_text(kernel: Kernel, nonfinite: str) -> str:
    """LLVM text of the call."""
    slots = [*kernel.program.inputs, *kernel.program.outputs]
    n = len(kernel.program.inputs)
    told = (
        f"{kernel.who}: a result is not finite. Hint: call the solver itself, which names the state and the reason; "
        "nonfinite='return' lets it through"
    ).encode()
    letters = "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in told)
    head = [
        "@loop = internal global ptr null",
        f'@message = internal constant [{len(told) + 1} x i8] c"{letters}\\00"',
        "define void @tell(ptr %loop) {\n  store ptr %loop, ptr @loop\n  ret void\n}",
    ]
    w = ObjectText()

    def field(pointer: str, offset: int, kind: str = "ptr") -> str:
        return w.put(f"load {kind}, ptr {w.put(f'getelementptr i8, ptr {pointer}, i64 {offset}')}, align 4")

    def keep(pointer: str, offset: int, value: str) -> None:
        w.say(f"  store {value}, ptr {w.put(f'getelementptr i8, ptr {pointer}, i64 {offset}')}, align 4")

    extension = field("%frame", FRAME_EXTENSION)
    w.say(f"  br i1 {w.put(f'icmp eq ptr {extension}, null')}, label %work, label %asked")
    w.say("asked:")  # XLA asks once which version this was written for
    is_metadata = w.put(f"icmp eq i32 {field(extension, EXTENSION_TYPE, 'i32')}, 1")
    w.say(f"  br i1 {is_metadata}, label %tell, label %work")
    w.say("tell:")
    metadata = field(extension, EXTENSION_METADATA)
    keep(metadata, METADATA_VERSION, f"i32 {MAJOR}")
    keep(metadata, METADATA_VERSION + 4, f"i32 {MINOR}")
    keep(metadata, METADATA_TRAITS, "i32 0")
    w.say("  ret ptr null")
    w.say("work:")
    given, results = field("%frame", FRAME_ARGUMENTS), field("%frame", FRAME_RESULTS)
    table = w.put(f"alloca i64, i64 {2 * len(slots)}, align 16")
    for k, slot in enumerate(slots):
        buffer = field(given, 8 * k) if k < n else field(results, 8 * (k - n))
        rank = field(buffer, BUFFER_RANK, "i64")
        many = w.put(f"icmp sgt i64 {rank}, 1")
        step = w.put(f"select i1 {many}, i64 {8 * slot.size}, i64 0")
        keep(table, 16 * k, f"ptr {field(buffer, BUFFER_DATA)}")
        keep(table, 16 * k + 8, f"i64 {step}")
    first, last = field(results, 0), field(results, 8 * (len(slots) - n))
    count = field(field(first, BUFFER_SIZES), 0, "i64")
    loop = w.put("load ptr, ptr @loop, align 8")
    bad = w.put(f"call i64 {loop}(ptr {table}, ptr {field(last, BUFFER_DATA)}, i64 {count})")
    if nonfinite == "return":
        w.say("  ret ptr null")
    else:
        w.say(f"  br i1 {w.put(f'icmp slt i64 {bad}, 0')}, label %fine, label %wrong")
        w.say("fine:\n  ret ptr null\nwrong:")
        error = w.put("alloca i64, i64 4, align 16")
        keep(error, 0, f"i64 {ERROR_SIZE}")
        keep(error, 8, "i64 0")
        keep(error, ERROR_MESSAGE, "ptr @message")
        keep(error, ERROR_CODE, f"i32 {INVALID_ARGUMENT}")
        make = field(field("%frame", FRAME_API), API_NEW_ERROR)
        w.say(f"  ret ptr {w.put(f'call ptr {make}(ptr {error})')}")
    return "\n".join([*head, w.define("ptr @xla_call(ptr %frame)")])
