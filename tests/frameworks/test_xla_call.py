"""The custom call of XLA without XLA: call frames as its C interface lays them out, made by hand."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.frameworks.xla_call import XlaCall

Word, Pointer = ctypes.c_int64, ctypes.c_void_p


class Extension(ctypes.Structure):
    _fields_ = [("size", Word), ("kind", ctypes.c_int), ("next", Pointer), ("metadata", Pointer)]


class Version(ctypes.Structure):
    _fields_ = [("size", Word), ("extension", Pointer), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", Word), ("version", Version), ("traits", ctypes.c_uint32), ("state", Word)]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", Word), ("extension", Pointer), ("dtype", ctypes.c_int),
        ("data", Pointer), ("rank", Word), ("dims", ctypes.POINTER(Word)),
    ]  # fmt: skip


class Buffers(ctypes.Structure):
    _fields_ = [("size", Word), ("extension", Pointer), ("count", Word), ("kinds", Pointer), ("buffers", Pointer)]


class Attributes(ctypes.Structure):
    _fields_ = [("size", Word), ("extension", Pointer), ("count", Word), ("a", Pointer), ("b", Pointer), ("c", Pointer)]


class Frame(ctypes.Structure):
    _fields_ = [
        ("size", Word), ("extension", Pointer), ("api", Pointer), ("context", Pointer), ("stage", ctypes.c_int),
        ("arguments", Buffers), ("results", Buffers), ("attributes", Attributes), ("future", Pointer),
    ]  # fmt: skip


class ErrorArguments(ctypes.Structure):
    _fields_ = [("size", Word), ("extension", Pointer), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


MakeError = ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(ErrorArguments))


class Api(ctypes.Structure):
    _fields_ = [
        ("size", Word), ("extension", Pointer), ("version", Version), ("internal", Pointer), ("make_error", MakeError),
    ]  # fmt: skip


def buffers(arrays: list[np.ndarray]) -> tuple[Buffers, list]:
    made = []
    for x in arrays:
        dims = (Word * max(1, x.ndim))(*x.shape)
        made.append(Buffer(48, None, 12, x.ctypes.data, x.ndim, dims))
    table = (Pointer * len(made))(*(ctypes.addressof(b) for b in made))
    return Buffers(40, None, len(made), None, ctypes.addressof(table)), [made, table]


def called(call: XlaCall, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> list[tuple[int, bytes]]:
    """Errors of a call, as (code, message)."""
    errors: list[tuple[int, bytes]] = []

    def make(arguments):
        errors.append((arguments.contents.code, arguments.contents.message))
        return 1

    keep = MakeError(make)
    api = Api(ctypes.sizeof(Api), None, Version(24, None, 0, 3), None, keep)
    given, kept = buffers(inputs)
    found, also = buffers([*outputs, np.empty(call.scratch)])
    frame = Frame(ctypes.sizeof(Frame), None, ctypes.addressof(api), None, 3, given, found, Attributes(), None)
    answer = ctypes.CFUNCTYPE(Pointer, Pointer)(call.address)(ctypes.addressof(frame))
    assert (answer is None) == (not errors) and len(kept) == len(also) == 2
    return errors


@pytest.fixture(scope="module")
def arm() -> gs.ForwardDynamics:
    return gs.ForwardDynamics(gs.robots.two_link(), live=["lower.mass"])


@pytest.mark.parametrize("count", [0, 1, 7, 64])
def test_a_call_computes_rows_of_states_and_takes_what_they_share_once(arm, count):
    rng = np.random.default_rng(count)
    q, v, tau = rng.normal(size=(3, count, 2))
    mass = arm._live["lower.mass"]
    call, out = XlaCall(arm.main_kernel(), "raise"), np.full((count, 2), np.nan)
    assert called(call, [q, v, tau, mass.reshape(1)], [out]) == []
    np.testing.assert_array_equal(out, arm(q, v, tau))
    assert called(call, [q, v, np.array([0.5, -0.5]), mass.reshape(1)], [out]) == []
    np.testing.assert_array_equal(out, arm(q, v, np.array([0.5, -0.5])))


def test_what_is_not_finite_is_an_error_that_names_the_solver(arm):
    q = np.array([[0.1, np.nan]])
    inputs = [q, np.zeros((1, 2)), np.zeros((1, 2)), arm._live["lower.mass"].reshape(1)]
    ((code, message),) = called(XlaCall(arm.main_kernel(), "raise"), inputs, [np.empty((1, 2))])
    assert code == 3 and message.startswith(b"aba: a result is not finite. Hint: ")
    assert called(XlaCall(arm.main_kernel(), "return"), inputs, [np.empty((1, 2))]) == []


def test_the_version_of_the_interface_is_told_when_xla_asks(arm):
    metadata = Metadata(ctypes.sizeof(Metadata))
    metadata.version.major = metadata.version.minor = -1
    extension = Extension(ctypes.sizeof(Extension), 1, None, ctypes.addressof(metadata))
    frame = Frame(ctypes.sizeof(Frame), ctypes.addressof(extension))
    call = XlaCall(arm.main_kernel(), "raise")
    assert ctypes.CFUNCTYPE(Pointer, Pointer)(call.address)(ctypes.addressof(frame)) is None
    assert (metadata.version.major, metadata.version.minor, metadata.traits) == (0, 1, 0)
