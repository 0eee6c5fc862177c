"""Arguments of kernels: what they must be, said in a sentence where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.engine.llvm.threads import MAX_THREADS
from gyrostat.engine.tracing.program import Slot
from gyrostat.errors import ShapeError

Array = np.ndarray


def as_input(value: Any, slot: Slot, who: str) -> Array:
    """float64 array whose trailing shape is the slot's."""
    if type(value) is not np.ndarray or value.dtype != np.float64:
        value = real(value, who, slot.name)
    n = len(slot.shape)
    if value.ndim < n or value.shape[value.ndim - n :] != slot.shape:
        expected = ", ".join(["...", *(str(k) for k in slot.shape)])
        raise ShapeError(f"{who}: {slot.name} has shape {value.shape}, expected ({expected})")
    return value


def _shown(value: Any) -> str:
    """The value in a message; objects may refuse."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def real(value: Any, who: str, name: str) -> Array:
    """Real numbers of any kind as a plain float64 array."""
    if np.ma.isMaskedArray(value) and np.ma.getmaskarray(value).any():
        raise ShapeError(f"{who}: {name} is a masked array with masked entries. Hint: fill them")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        raise ShapeError(
            f"{who}: {name} is not a rectangular array of numbers. Hint: all rows need the same length"
        ) from None
    except MemoryError:
        raise
    except Exception as error:  # __array__ of a foreign object may raise anything
        raise ShapeError(f"{who}: {name} cannot be read as an array, {type(error).__name__}: {error}") from error
    if array.size == 0 and array.dtype == object:
        array = array.astype(float)
    if array.dtype.kind not in "iuf":
        raise ShapeError(f"{who}: {name} must hold real numbers, got {array.dtype} ({_shown(value)})")
    with np.errstate(over="ignore"):  # long doubles may be infinite as doubles, which is found out later
        return np.asarray(array, dtype=np.float64)


def copy_out(source: Array, target: Array, who: str) -> None:
    """Write results into an array with odd strides or a class of its own."""
    target[...] = source
    if not np.array_equal(np.asarray(target), source, equal_nan=True):
        raise ShapeError(f"{who}: out does not keep what is written into it. Hint: its elements may share memory")


def check_nonfinite(nonfinite: Any, who: str) -> None:
    if not isinstance(nonfinite, str) or nonfinite not in ("raise", "return"):
        raise ShapeError(f"{who}: nonfinite must be 'raise' or 'return', got {_shown(nonfinite)}")


def refuse_overlap(arrays: Sequence[Array], who: str) -> None:
    """Arrays for several results must be apart."""
    for k, one in enumerate(arrays):
        for other in arrays[k + 1 :]:
            try:
                shared = np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]
            except np.exceptions.TooHardError:
                shared = np.may_share_memory(one, other)
            if shared:
                raise ShapeError(f"{who}: arrays in out share memory. Hint: give every result an array of its own")


def check_out(given: Any, want: tuple[int, ...], who: str) -> None:
    if not isinstance(given, np.ndarray) or given.dtype != np.float64:
        kind = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise ShapeError(f"{who}: out must be a float64 array, got {kind}")
    if given.shape != want:
        raise ShapeError(f"{who}: out has shape {given.shape}, expected {want}")
    if not given.flags.writeable:
        raise ShapeError(f"{who}: out is read-only. Hint: pass a writeable array, or none")


def as_rows(x: Array, slot: Slot, shape: tuple[int, ...], count: int) -> Array:
    """The array as (rows, elements): one row for each state (or one for all, with stride 0), elements side by side.

    A view where that is possible, otherwise a copy.
    """
    size = slot.size
    if x.flags.aligned and x.flags.c_contiguous:
        if x.size == count * size:
            return x.reshape(count, size)
        if x.size == size:
            return np.broadcast_to(x.reshape(1, size), (count, size))
    lead = x.ndim - len(slot.shape)
    if (
        lead == 1
        and len(slot.shape) == 1
        and x.flags.aligned
        and x.shape[0] == count
        and (size < 2 or x.strides[1] == 8)
    ):
        return x
    full = np.broadcast_to(x, shape + slot.shape)
    return np.require(full, requirements=("C", "A")).reshape(count, size)


def check_threads(threads: Any, who: str) -> int:
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or not 1 <= threads <= MAX_THREADS:
        raise ShapeError(f"{who}: threads must be a whole number from 1 to {MAX_THREADS}, got {_shown(threads)}")
    return int(threads)
