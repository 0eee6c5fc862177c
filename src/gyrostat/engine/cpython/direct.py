"""Objects that Python calls straight into machine code, without a tuple of arguments in between (PEP 590).

:data:`Direct` is a base class with room for two addresses in each of its objects: of a function, and of its data.
:func:`enter` gives a class, whose ``__call__`` must do the same, and one object of it such addresses. Where
:func:`~gyrostat.engine.cpython.layout.available` says no, the base class is an ordinary one and nothing is
ever entered."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from gyrostat.engine.cpython.layout import available

ROOM, SIZE = 16, 32  # bytes: the addresses come after references and type
FLAGS, OFFSET = 168, 56  # bytes of tp_flags and tp_vectorcall_offset in a type
HAVE_VECTORCALL = 1 << 11
TP_CALL, TP_MEMBERS = 50, 72  # numbers of slots
_DEFAULT, _BASETYPE = 1 << 18, 1 << 10


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("size", ctypes.c_int), ("item", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )  # fmt: skip


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


_NAME = b"gyrostat.engine.cpython.direct.Direct"
_MEMBERS = (_Member * 2)(_Member(b"__vectorcalloffset__", 19, ROOM, 1, None))  # a read-only Py_ssize_t


def _make() -> type:
    api = ctypes.pythonapi
    call = ctypes.cast(api.PyVectorcall_Call, ctypes.c_void_p).value
    slots = (_Slot * 3)(_Slot(TP_CALL, call), _Slot(TP_MEMBERS, ctypes.addressof(_MEMBERS)), _Slot(0, None))
    spec = _Spec(_NAME, SIZE, 0, _DEFAULT | _BASETYPE | HAVE_VECTORCALL, ctypes.addressof(slots))
    make = api.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p]
    return make(ctypes.addressof(spec))


class _Plain:
    """Stands for :data:`Direct` where it cannot be."""


def _works(base: type) -> bool:
    """Whether the fields of types are where they are expected."""
    if base.__basicsize__ != SIZE:
        return False
    probe = type("Probe", (base,), {"__call__": len})
    flags = ctypes.c_ulong.from_address(id(base) + FLAGS).value
    return (
        bool(flags & HAVE_VECTORCALL and flags & _BASETYPE)
        and ctypes.c_ssize_t.from_address(id(base) + OFFSET).value == ROOM
        and ctypes.c_ssize_t.from_address(id(probe) + OFFSET).value == ROOM
        and ctypes.c_ulong.from_address(id(probe) + FLAGS).value & _BASETYPE != 0
    )


def _base() -> type:
    if available():
        return _Plain
    base = _make()
    return base if _works(base) else _Plain


if TYPE_CHECKING:

    class Direct:
        """Base class of objects that can be entered."""

else:
    Direct = _base()


def enter(target: Any, address: int, data: int = 0) -> None:
    """Calls of ``target`` go to the vectorcall function at ``address`` from now on. Whatever other objects its class
    has, they have no address and are called as before."""
    if Direct is not _Plain and isinstance(target, Direct):
        ctypes.c_void_p.from_address(id(target) + ROOM + 8).value = data
        ctypes.c_void_p.from_address(id(target) + ROOM).value = address
        flags = ctypes.c_ulong.from_address(id(type(target)) + FLAGS)
        flags.value |= HAVE_VECTORCALL
