"""Constants as an input: programs that differ in their numbers are one program."""

import numpy as np
import pytest

from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.lifted_constants import NAME, lifted_constants
from gyrostat.engine.tracing.record import record


def law(kp, kd):
    def function(q, v):
        return {"tau": kp * (0.5 - q) - kd * v, "rate": np.array([kd, kp * q[0]])}

    return record(function, {"q": (2,), "v": (2,)}, "law")


def test_other_numbers_are_the_same_program_with_other_constants():
    one, two = lifted_constants(law(3.0, 4.0)), lifted_constants(law(5.0, 6.0))
    assert one.program.digest == two.program.digest
    assert law(3.0, 4.0).digest != law(5.0, 6.0).digest
    assert one.constants.shape == two.constants.shape and not np.array_equal(one.constants, two.constants)
    assert one.program.inputs[-1].name == NAME and not one.program.constants


def test_gains_that_happen_to_be_equal_are_as_free_as_others():
    assert lifted_constants(law(3.0, 3.0)).program.digest == lifted_constants(law(3.0, 4.0)).program.digest


def test_another_structure_is_another_program():
    def other(q, v):
        return {"tau": 3.0 * (0.5 - q) + 4.0 * v, "rate": np.array([4.0, 3.0 * q[0]])}

    recorded = record(other, {"q": (2,), "v": (2,)}, "law")
    assert lifted_constants(recorded).program.digest != lifted_constants(law(3.0, 4.0)).program.digest


@pytest.mark.parametrize("gains", [(3.0, 4.0), (-2.5, 0.125)])
def test_the_lifted_program_computes_the_same_bits(gains):
    recorded = law(*gains)
    lifted, constants = lifted_constants(recorded)
    q, v = np.array([0.3, -0.7]), np.array([1.1, 0.2])
    found = []
    for program, inputs in ((recorded, [q, v]), (lifted, [q, v, constants])):
        code = KernelCode(program)
        outputs = [np.zeros(2), np.zeros(2)]
        arrays = [*inputs, *outputs, np.zeros(code.work)]
        bad = called(code.address, arrays)
        assert bad == 0.0
        found.append(np.concatenate(outputs))
    np.testing.assert_array_equal(*found)
    kp, kd = gains
    np.testing.assert_allclose(found[0], [*(kp * (0.5 - q) - kd * v), kd, kp * q[0]], rtol=1e-14)


def called(address, arrays):
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * len(arrays))
    return kind(address)(*(x.__array_interface__["data"][0] for x in arrays))


def test_a_result_that_is_a_constant_is_one_of_them():
    recorded = record(lambda q: {"y": np.array([2.5, 1.0 * q[0]])}, {"q": (1,)}, "held")
    lifted, constants = lifted_constants(recorded)
    assert 2.5 in constants and not lifted.fixed(0)
