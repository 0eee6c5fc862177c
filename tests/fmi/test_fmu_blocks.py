"""FMUs as controllers: what goes out as an FMU and comes back as a block controls as before; mistakes are told."""

import shutil

import numpy as np
import pytest

import gyrostat as gs

pytest.importorskip("fmpy", reason="FMPy comes with the extra 'fmi'")
pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler here")
ARM = gs.robots.two_link()
INPUTS = ["q[0]", "q[1]", "v[0]", "v[1]"]


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def servo(request, tmp_path_factory):
    block = gs.blocks.pid([30.0, 20.0], [5.0, 4.0], [3.0, 2.0], reference=[0.5, -0.2], sample_time=0.01)
    place = tmp_path_factory.mktemp("fmu") / "servo.fmu"
    gs.export_fmu(block, place, "co-simulation", request.param, signals=ARM)
    return block, place


def test_a_digital_controller_through_an_fmu_moves_the_arm_as_itself(servo):
    block, place = servo
    again = gs.fmu_block(place, 0.01, INPUTS, ["tau[0]", "tau[1]"])
    wanted, found = (gs.simulate(ARM, law, q0=[0.1, 0.2], t_end=0.5, rtol=1e-10) for law in (block, again))
    assert np.abs(wanted.q[-1] - [0.1, 0.2]).max() > 0.05
    assert np.abs(found.q[-1] - wanted.q[-1]).max() < 1e-12
    with pytest.raises(gs.StateError, match=r"has 4 inputs, its signals 2 numbers"):
        gs.simulate(ARM, gs.fmu_block(place, 0.01, INPUTS, ["tau[0]", "tau[1]"], reads=["q"]), q0=[0, 0], t_end=0.1)


def test_mistakes_are_told(servo, tmp_path):
    _, place = servo
    (tmp_path / "text.fmu").write_text("no archive")
    gs.export_fmu(gs.blocks.pd(1.0, 1.0, reference=[0, 0]), tmp_path / "no.fmu", signals=ARM, binary=False)
    for given, words in (
        ((tmp_path / "none.fmu", 0.01, INPUTS, ["tau[0]"]), "cannot be read"),
        ((tmp_path / "text.fmu", 0.01, INPUTS, ["tau[0]"]), "cannot be read"),
        ((tmp_path / "no.fmu", 0.01, INPUTS, ["tau[0]"]), "cannot be started"),
        ((place, 0.01, INPUTS, ["tua[0]"]), "no variable 'tua[0]' of real numbers. Hint: did you mean 'tau[0]'"),
        ((place, 0.01, INPUTS, ["tau[0]"], ("q", "v"), "tau", {"kq": 1.0}), "no variable 'kq'"),
        ((place, 0.0, INPUTS, ["tau[0]"]), "sample"),
    ):
        with pytest.raises(gs.GyrostatError) as caught:
            gs.fmu_block(*given)
        assert words in str(caught.value), caught.value
