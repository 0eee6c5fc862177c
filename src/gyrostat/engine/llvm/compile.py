"""LLVM text to machine code in memory, through the cache of objects."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from gyrostat.engine.llvm.object_cache import ObjectCache
from gyrostat.engine.llvm.placement import in_one_piece
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.operations import OPERATIONS
from gyrostat.errors import CompileError


def form_of(engine: Path) -> str:
    """Hash of this version's name and of all files of the engine's folder."""
    h = hashlib.sha256(version("gyrostat").encode())
    for file in sorted(engine.rglob("*.py")):
        h.update(file.read_bytes())
    return h.hexdigest()


FORM = form_of(Path(__file__).parents[1])
"""Hash of the generators, part of every key: objects of another version, or of a changed checkout, are never loaded."""


LOADING = threading.RLock()
"""Held by whoever makes machine code that others may ask for at the same time: what is made twice, and thrown away
once, would be code that somebody runs."""


@dataclass
class Loaded:
    """Machine code in memory. It lives as long as this object."""

    engine: Any
    size: int
    cache_note: str
    seconds: dict[str, float] = field(default_factory=dict)

    def address(self, name: str) -> int:
        place = self.engine.get_function_address(name)
        if not place:
            raise CompileError(f"the object has no function '{name}'. Hint: clear the cache, set GYROSTAT_CACHE=off")
        return place


@cache
def _libm() -> None:
    """Tell LLVM where the functions of libm are, whatever system this is."""
    name = "ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m")
    library = ctypes.CDLL(name)
    for function in {"sin", "cos", "fma", "pow", *(op.libm for op in OPERATIONS if op.libm)}:
        llvm.add_symbol(function, ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0)


def key_of(*parts: str) -> str:
    """Key of an object: what it was made from, for which machine, by which compiler."""
    return hashlib.sha256("\n".join([FORM, host().identity, *parts]).encode()).hexdigest()


def load(key: str, text: Any, kept: ObjectCache | None = None, optimised: bool = False) -> Loaded:
    """The object of a key from the cache, or compiled from ``text()``. ``optimised``: with LLVM's passes, which code
    with loops and stack slots needs; straight-line kernels are as fast without."""
    kept = kept or ObjectCache()
    seconds: dict[str, float] = {}
    _libm()
    code = kept.get(key)
    if code is None:
        start = time.perf_counter()
        source = text()
        seconds["emit"] = time.perf_counter() - start
        start = time.perf_counter()
        code = _object(source, optimised)
        seconds["compile"] = time.perf_counter() - start
        kept.put(key, code)
    start = time.perf_counter()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host().machine())
    with in_one_piece(len(code)):
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
    seconds["load"] = time.perf_counter() - start
    return Loaded(engine, len(code), kept.note, seconds)


def _object(source: str, optimised: bool = False) -> bytes:
    try:
        module = llvm.parse_assembly(source)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the generated code: {error}. Hint: this is a fault of gyrostat") from None
    module.triple = host().triple
    machine = host().machine(2 if optimised else 1)
    if optimised:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)
