"""Exported WebAssembly: reproduces its vectors in node, does every operation, survives every name."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.export_wasm import LARGEST, export_wasm, module
from gyrostat.engine.tracing.choose import maximum, minimum, sign, where
from gyrostat.engine.tracing.operations import OPERATIONS
from gyrostat.engine.tracing.program import Program, run
from gyrostat.engine.tracing.record import record
from tests.support.solver_zoo import OPTIONS, branched, elastic, solver_classes

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node here to run WebAssembly")


def answered(script: str, folder: Path) -> str:
    """What node prints."""
    done = subprocess.run(["node", "-e", script], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def checked(files: list[Path]) -> str:
    done = subprocess.run(["node", str(files[-1])], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def everything(x: np.ndarray) -> dict[str, np.ndarray]:
    a, b = x
    angle = np.tanh(a) * 0.9
    return {
        "arithmetic": np.array([a + b, a - b, a * b, a / (2.5 + b), -a, np.sqrt(a * a + 1), abs(b)]),
        "whole": np.array([np.floor(3 * a), np.ceil(3 * b), np.fmod(5 * a, 1.5)], dtype=object),
        "circle": np.array([np.sin(a), np.cos(b), np.tan(a), np.arcsin(angle), np.arccos(angle), np.arctan(b)]),
        "more": np.array(
            [np.arctan2(a, b), np.sinh(a), np.cosh(b), np.exp(a), np.log(2.5 + b), (2.5 + a) ** (b + 0.1)]
        ),
        "chosen": np.array([maximum(a, b), minimum(a, b), sign(a), sign(0 * b), where(a < b, a, 2 * b)]),
        "compared": np.array(
            [where((a <= b) & (a < 1), 1, 2 * a), where((a > 0) | (b > 0), b, a), where(a != b, a, 1)]
        ),
        "never": np.array([where(~(a > b), a, b), where(a == b, a, 3 * b)]),
    }


@needs_node
def test_every_operation_is_that_of_the_program(tmp_path):
    program = record(everything, {"x": (2,)}, "everything")
    missing = {op.name for op in OPERATIONS} - set(program.counts())
    assert not missing, f"give an example of {missing}"
    rng = np.random.default_rng(0)
    points = [rng.uniform(-2, 2, 2) for _ in range(40)] + [np.array(p) for p in ([0.0, 0.0], [1.0, 1.0], [-0.0, 2.0])]
    wanted = [[[float(v) for v in values] for values in run(program, x)] for x in points]
    export_wasm(program, tmp_path, "everything", {}, [([points[0]], [np.array(w) for w in wanted[0]])])
    script = f"""require("./everything.js").load().then(({{ call }}) => {{
        const points = {json.dumps([list(x) for x in points])};
        console.log(JSON.stringify(points.map((x) => Object.values(call({{ x }})))));
    }});"""
    for got, want in zip(json.loads(answered(script, tmp_path)), wanted, strict=True):
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-15)


@needs_node
def test_inverse_dynamics_of_an_arm_is_that_of_python_and_mistakes_are_told(tmp_path):
    arm = gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=50.0, stiffness=300.0)
    files = gs.InverseDynamics(arm, live=["lower.mass"]).export_wasm(tmp_path, name="while")
    assert [f.suffix for f in files] == [".wasm", ".js", ".js"] and files[0].read_bytes()[:4] == b"\0asm"
    assert "largest relative difference" in checked(files)
    script = f"""const made = require("./{files[1].name}");
      console.log(made.inputs[0].entries.join(" "));
      made.load().then(({{ call }}) => {{
        for (const q of [[1, 2], [1, NaN, 0], undefined]) {{
          try {{ call({{ q, v: [0, 0, 0], a: [0, 0, 0], "lower.mass": [1] }}); }}
          catch (e) {{ console.log(e.message); }}
      }}}});"""
    names, short, bad, missing = answered(script, tmp_path).splitlines()
    assert names.split() == list(arm.coordinates)
    assert short.endswith("q must be 3 numbers, got 2") and bad.endswith("tau is not finite")
    assert missing.endswith("q must be 3 numbers, got undefined")


def test_functions_beyond_what_browsers_take_are_refused():
    nodes = ((-1, 0, 0, 0), *((0, k, k, 0) for k in range(LARGEST)))
    slot = record(lambda x: {"y": x}, {"x": (1,)}, "x")
    with pytest.raises(gs.SaveError, match="browsers take 50000"):
        module(Program("long", slot.inputs, slot.outputs, nodes, (), ((LARGEST,),)))


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(solver_classes()))
def test_every_solver_reproduces_its_vectors(name, tmp_path):
    model = elastic() if name == "ElasticInverseDynamics" else branched()
    assert "largest relative difference" in checked(
        solver_classes()[name](model, **OPTIONS.get(name, {})).export_wasm(tmp_path)
    )
