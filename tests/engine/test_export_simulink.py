"""S-functions, compiled against a stand-in for MATLAB's simstruc.h that runs them; Makefiles."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.export_simulink import MARK

SIMSTRUC = """
#include <stdio.h>
#include <string.h>
typedef int int_T;
typedef struct { int inputs, outputs, width_in[9], width_out[9], direct[9]; double in[9][99], out[9][99];
                 const char *error; double period; } SimStruct;
#define SS_DOUBLE 0
#define INHERITED_SAMPLE_TIME -1.0
#define SS_OPTION_EXCEPTION_FREE_CODE 1
static int zero(SimStruct *S) { (void)S; return 0; }
#define ssSetNumSFcnParams(S, n) ((void)zero(S))
#define ssGetNumSFcnParams(S) zero(S)
#define ssGetSFcnParamsCount(S) zero(S)
#define ssSetNumInputPorts(S, n) ((S)->inputs = (n))
#define ssSetNumOutputPorts(S, n) ((S)->outputs = (n))
#define ssSetInputPortWidth(S, k, n) ((S)->width_in[k] = (n))
#define ssSetOutputPortWidth(S, k, n) ((S)->width_out[k] = (n))
#define ssSetInputPortDataType(S, k, t) ((void)zero(S))
#define ssSetOutputPortDataType(S, k, t) ((void)zero(S))
#define ssSetInputPortDirectFeedThrough(S, k, n) ((S)->direct[k] = (n))
#define ssSetInputPortRequiredContiguous(S, k, n) ((void)zero(S))
#define ssSetNumContStates(S, n) ((void)zero(S))
#define ssSetNumDiscStates(S, n) ((void)zero(S))
#define ssSetNumSampleTimes(S, n) ((void)zero(S))
#define ssSetOptions(S, n) ((void)zero(S))
#define ssSetSampleTime(S, k, t) ((S)->period = (t))
#define ssSetOffsetTime(S, k, t) ((void)zero(S))
#define ssSetModelReferenceSampleTimeDefaultInheritance(S) ((void)zero(S))
#define ssGetInputPortSignal(S, k) ((const void *)(S)->in[k])
#define ssGetOutputPortSignal(S, k) ((void *)(S)->out[k])
#define ssSetErrorStatus(S, text) ((S)->error = (text))
"""
RUN = """
int main(void)
{
    static SimStruct S;
    int i, k;
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    for (i = 0; i < S.inputs; ++i)
        for (k = 0; k < S.width_in[i]; ++k)
            if (scanf("%lf", &S.in[i][k]) != 1) return 2;
    mdlOutputs(&S, 0);
    if (S.error) { puts(S.error); return 1; }
    for (i = 0; i < S.outputs; ++i)
        for (k = 0; k < S.width_out[i]; ++k) printf("%.17g\\n", S.out[i][k]);
    mdlTerminate(&S);
    return S.direct[0] == 1 && S.period == -1.0 ? 0 : 3;
}
"""
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")


@needs_compiler
def test_an_s_function_computes_what_the_solver_does_and_stops_at_what_is_not_finite(tmp_path):
    solver = gs.ForwardDynamics(gs.robots.two_link(), live=["lower.mass"])
    files = solver.export_c(tmp_path, name="arm", simulink=True)
    assert [f.name for f in files] == ["arm.h", "arm.c", "arm_test.c", "arm_sfun.c", "Makefile"]
    (tmp_path / "simstruc.h").write_text(SIMSTRUC)
    (tmp_path / "cg_sfun.h").write_text(RUN)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-value"]
    built = subprocess.run(
        ["gcc", *strict, "-I.", "-o", "sfun", "arm_sfun.c", "arm.c", "-lm"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr

    def stepped(*arrays):
        numbers = " ".join(repr(float(x)) for x in np.concatenate(arrays))
        return subprocess.run([str(tmp_path / "sfun")], input=numbers, capture_output=True, text=True, timeout=60)

    q, v, tau = np.array([0.3, 0.5]), np.array([1.0, -0.5]), np.array([-2.0, 0.5])
    done = stepped(q, v, tau, [1.7])
    assert done.returncode == 0, done.stdout
    want = gs.aba(gs.robots.two_link().replace({"lower.mass": 1.7}), q, v, tau)
    np.testing.assert_allclose([float(x) for x in done.stdout.split()], want, rtol=1e-13)
    bad = stepped(q, v, tau, [float("nan")])
    assert bad.returncode == 1 and bad.stdout.strip() == "arm: a is not finite"


@needs_compiler
@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_one_makefile_serves_all_functions_of_a_folder(tmp_path):
    arm = gs.robots.two_link()
    gs.InverseDynamics(arm).export_c(tmp_path, makefile=True)
    gs.MassMatrix(arm).export_c(tmp_path, makefile=True)
    done = subprocess.run(["make", "-s", "test", "libmodel.a"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("largest relative difference") == 2 and (tmp_path / "libmodel.a").exists()


def test_a_makefile_of_the_user_stays_as_it_is(tmp_path):
    own = tmp_path / "Makefile"
    own.write_text("all:\n")
    with pytest.raises(gs.SaveError, match="there is a Makefile that gyrostat did not write"):
        gs.InverseDynamics(gs.robots.two_link()).export_c(tmp_path, makefile=True)
    assert own.read_text() == "all:\n" and MARK not in own.read_text()
