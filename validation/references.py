"""Numbers that others published. Models and figures are those that the tests hold, and are taken from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs

DATA = Path(__file__).parents[2] / "shared" / "refdata"
"""Reference data beside the checkout, as tests/support/reference_data.py has it; may be absent."""

ADAMS = "MSC ADAMS, from Chrono's unit tests"
MEASURED = {
    "Pos": ("position", "m"), "Vel": ("velocity", "m/s"), "Acc": ("acceleration", "m/s^2"),
    "Quat": ("quaternion", "1"), "Avel": ("angular velocity", "rad/s"), "Aacc": ("angular acceleration", "rad/s^2"),
    "Rforce": ("reaction force", "N"), "Rtorque": ("reaction torque", "N m"),
}  # fmt: skip
"""Quantity and unit by the beginning of a column's name in the histories of ADAMS."""


@dataclass(frozen=True)
class ReferenceRow:
    """Largest difference of one quantity; ``allowed`` is the accuracy of what was published."""

    source: str
    case: str
    quantity: str
    unit: str
    error: float
    allowed: float

    @property
    def failed(self) -> bool:
        return not self.error <= self.allowed


def from_tests(name: str) -> Any:
    """A module of the test suite."""
    return import_module(f"tests.{name}")


def worst(got: Any, want: Any) -> float:
    return float(np.abs(np.asarray(got) - np.asarray(want)).max())


def rbdl() -> Iterator[ReferenceRow]:
    """Accelerations without torques, motions of points; printed with 13 to 16 digits."""
    figures, source = from_tests("oracles.test_reference_values"), "RBDL, unit tests"
    for case, (build, a) in figures.RBDL.items():
        zero = np.zeros(len(a))
        accelerations = gs.ForwardDynamics(build(), mode="interpret")(zero, zero, zero)
        yield ReferenceRow(source, case, "accelerations", "rad/s^2", worst(accelerations, a), 1e-12)
    far = gs.fk(figures.point(-1.9, -1.8, 0), figures.STATE, figures.STATE, np.zeros(6))["body.point"]
    for quantity, unit, got, want in (
        ("position", "m", far.p, [-0.6357089363622626, -0.6831041744630977, 2.96897480591697]),
        ("velocity", "m/s", far.velocity("aligned")[3:], [0.3091226260907569, 3.891012095550828, 4.100277995030419]),
        ("acceleration", "m/s^2", far.acceleration("aligned")[3:],
         [-5.30276015884716, 6.541369639625232, -4.795115077652286]),
    ):  # fmt: skip
        yield ReferenceRow(source, "point on a floating body", quantity, unit, worst(got, want), 1e-12)


def iiwa() -> Iterator[ReferenceRow]:
    """Placement of the hand of the KUKA iiwa 14, and torques that one turning link causes."""
    figures, source = from_tests("oracles.test_reference_values"), "MotionGenesis, from Drake's benchmarks"
    hand = gs.fk(figures.iiwa(), figures.IIWA_STATE[0])["link7"]
    p = [0.2970356451892219, 0.1727696964662288, 1.154681973689345]
    yield ReferenceRow(source, "KUKA iiwa 14", "position of the hand", "m", worst(hand.p, p), 1e-14)
    tau = gs.rnea(figures.iiwa(gravity=(0, 0, 0)), np.zeros(7), np.zeros(7), [0, 0, 0, 0, 0, 0, 1000])
    yield ReferenceRow(source, "KUKA iiwa 14", "torques", "N m", worst(tau, [1, 0, 1, 0, 1, 0, 1]), 1e-12)


def puma() -> Iterator[ReferenceRow]:
    """Puma 560 with rotors and friction: four decimals, or six digits."""
    figures, source = from_tests("oracles.test_reference_values"), "Robotics Toolbox (Corke), unit tests"
    model, rotors = figures.puma(), np.diag(figures.puma_rotors())
    for case, (v, a, want) in figures.PUMA_TORQUES.items():
        error = worst(figures.puma_torques(v, a), want)
        yield ReferenceRow(source, f"Puma 560, {case}", "torques", "N m", error, 6e-5)
    M = gs.crba(model, figures.QN) + rotors
    yield ReferenceRow(source, "Puma 560", "mass matrix", "kg m^2", worst(M, figures.PUMA_INERTIA), 6e-5)
    C = gs.coriolis(model, figures.QN, figures.COUNT)
    yield ReferenceRow(source, "Puma 560", "Coriolis matrix", "N m s", worst(C, figures.PUMA_CORIOLIS), 6e-5)
    v, tau, want = (np.array(x) for x in figures.PUMA_ACCEL)
    accelerations = np.linalg.solve(M, tau - figures.puma_torques(v, figures.ZERO))
    yield ReferenceRow(source, "Puma 560", "accelerations", "rad/s^2", worst(accelerations, want), 6e-5)


def lwr() -> Iterator[ReferenceRow]:
    """The equations that the paper prints, evaluated by themselves."""
    paper = from_tests("solvers.dynamics.test_equations_of_motion").paper_terms
    model = gs.robots.kuka_lwr4()
    q, v = np.random.default_rng(3).normal(size=(2, 7))
    terms = gs.EquationsOfMotion(model, mode="interpret")(q, v)
    for quantity, unit, want in zip("DCG", ("kg m^2", "N m s", "N m"), paper(q, v), strict=True):
        error = worst(getattr(terms, quantity), want)
        yield ReferenceRow("Wolinski and Malczyk 2015, equations", "KUKA LWR 4+", quantity, unit, error, 1e-12)


def adams() -> Iterator[ReferenceRow]:
    """Bodies on a joint, an actuator or a spring, simulated from the start; histories of 5 s, six or seven digits.
    Without the files: the samples that are typed into the tests."""
    tools, typed = from_tests("support.adams_histories"), from_tests("support.adams_samples")
    for case, allowed in from_tests("oracles.test_adams_histories").ALLOWED.items():
        got, path = tools.history(case), DATA / "adams_joints" / f"{case}.csv"
        if path.exists():
            want = tools.read(path)
        else:
            at, want = typed.samples(case)
            got = {name: column[at] for name, column in got.items()}
        for quantity, error in tools.deviations(got, want).items():
            yield ReferenceRow(ADAMS, case, *MEASURED[quantity], error, allowed[quantity])


SOURCES = {"RBDL": rbdl, "MotionGenesis": iiwa, "Puma 560": puma, "KUKA LWR 4+": lwr, "ADAMS": adams}


def complete() -> bool:
    """The histories are there, not only what is typed into the tests."""
    return (DATA / "adams_joints").is_dir()
