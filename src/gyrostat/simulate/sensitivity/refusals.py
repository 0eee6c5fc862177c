"""Runs whose sensitivities are not known, told by name before or as soon as it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.engine.tracing.lifted_constants import lifted_constants
from gyrostat.errors import GyrostatError
from gyrostat.simulate.methods.method import Method, StepFailure
from gyrostat.simulate.methods.runge_kutta import RungeKutta
from gyrostat.simulate.methods.semi_implicit_euler import SemiImplicitEuler
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.source_recording import SourceRecording
from gyrostat.simulate.plant.torque_source import BlockSource, torque_source
from gyrostat.simulate.plant.wrench_source import LoadedSource
from gyrostat.simulate.sensitivity.asked import Asked

Array = np.ndarray
WHO = "simulate"


def supported(method: type[Method]) -> bool:
    """Whether tangents of its steps are known."""
    return issubclass(method, RungeKutta | SemiImplicitEuler)


def expect_method(method: Method, methods: Mapping[str, type[Method]]) -> None:
    """Refuse methods whose steps have no tangents."""
    if not supported(type(method)):
        can = ", ".join(f"'{name}'" for name, cls in methods.items() if supported(cls))
        raise GyrostatError(f"{WHO}: method '{method.name}' has no sensitivities. Hint: these have: {can}")


def expect_plant(plant: Plant, asked: Asked) -> None:
    """Refuse what cannot be recorded, what sticks, and laws that read a property whose sensitivity is asked for."""
    if plant.loops is not None:
        raise GyrostatError(
            f"{WHO}: sensitivities of '{plant.model.name}' are not known where its loops are constraints: the "
            "projection of a step has no tangent yet. Hint: loops='auto' or 'minimal', where they have closed forms"
        )
    if why := plant.model_in_python:
        raise GyrostatError(f"{WHO}: sensitivities need machine code of '{plant.model.name}', and {why}")
    if plant.law is None:
        why = plant.law_in_python.split(" Hint: ")[0].rstrip(".")
        raise GyrostatError(
            f"{WHO}: sensitivities need {plant.source.told} in machine code: {why}. Hint: np.where, np.clip, np.sign "
            "and the like choose without 'if'; leave compiled=False out"
        )
    if len(plant.source.sample_times) > 1:
        told = ", ".join(f"{x:g}" for x in plant.source.sample_times)
        raise GyrostatError(
            f"{WHO}: digital parts of {plant.source.told} have the sample times {told} s, and sensitivities are known "
            "for one. Hint: one sample time"
        )
    if plant.source.sample_times and not plant.machine.need_update():
        raise GyrostatError(
            f"{WHO}: sensitivities need the digital parts of {plant.source.told} in machine code, and they run in "
            "Python. Hint: blocks of gyrostat, or an update without 'if'"
        )
    _expect_plain_law(plant, asked)


def expect_no_friction(plant: Plant) -> None:
    """Refuse friction that sticks."""
    if plant.constraints.on_speed:
        raise GyrostatError(
            f"{WHO}: dry friction of '{plant.model.name}' sticks and slips, and sensitivities across these instants "
            "are not known. Hint: Friction(smooth=0.01)"
        )


def expect_no_constraint(plant: Plant, t: float) -> None:
    """Refuse a start at which constraints act."""
    if not plant.active.empty:
        raise GyrostatError(
            f"{WHO}: constraints of '{plant.model.name}' act at t = {t:g} s, and sensitivities are not known there. "
            "Hint: start away from stops"
        )


def cut_by(event: str, t: float) -> StepFailure:
    """What is said of an event that makes the run begin anew."""
    return StepFailure(
        f"'{event}' changes the motion at t = {t:.9g} s, and sensitivities across such an instant are not known",
        hint="end the run there (terminal=True), an earlier t_end, or leave sensitivities out",
    )


def not_finite(name: str, t: float) -> StepFailure:
    """What is said of tangents that are not finite although the motion is."""
    return StepFailure(
        f"the sensitivity to '{name}' is not finite after t = {t:.9g} s, though the motion is",
        hint="something may have no derivative there, as the square root has none at zero",
    )


def _expect_plain_law(plant: Plant, asked: Asked) -> None:
    """A block, or wrenches, may have been made for the model with its numbers: those would have to change too."""
    source, names = plant.source, [(name, path) for name, path in asked.kinds.items() if path in asked.live]
    if names and isinstance(source, LoadedSource):
        raise GyrostatError(
            f"{WHO}: wrenches act on '{plant.model.name}', and the sensitivity to '{names[0][0]}' with them is not "
            "known. Hint: leave wrenches or the name out"
        )
    if not isinstance(source, BlockSource):
        return
    for name, path in names:
        if _reads(plant, source.given, path, asked.live[path]):
            raise GyrostatError(
                f"{WHO}: {source.told} reads '{name}' of the model, and its sensitivity with that is not known. "
                "Hint: leave the name out"
            )


def _reads(plant: Plant, block: Any, path: str, value: Array) -> bool:
    """Whether a block is another one for a model with another property."""
    other = 1.01 * value + 1e-3
    if value.shape == (3,) and abs(np.linalg.norm(value) - 1.0) < 1e-9:
        other = other / np.linalg.norm(other)
    try:
        model = plant.model.replace({path: other if value.ndim else float(other)})
        program, constants = lifted_constants(SourceRecording(model, torque_source(model, block)).program)
    except GyrostatError:  # no such model: nobody can tell
        return True
    law = plant.recording.kernels
    same = program.digest == law.program.digest
    return not same or not np.array_equal(constants, law.constants, equal_nan=True)
