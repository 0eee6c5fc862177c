"""Drives with states of their own: the current of an electric motor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import Numbers, above_zero, at_least_zero, numbers, refuse, same_size, spread


class Actuator(Block):
    """Base of actuators with one state for each entry, a current or a pressure: reads its command and the rate, gives
    the effort ``target`` and the state. ``command`` and ``state``: which fields name those signals."""

    command: ClassVar[str]
    state: ClassVar[str]
    rate: str
    target: str
    initial: Any
    size: int | None

    def _keep(self, given: dict[str, Numbers]) -> None:
        """All numbers with as many entries as the longest."""
        n = same_size(self.who, self.size, **given)
        for key, value in given.items():
            object.__setattr__(self, key, spread(value, n))
        object.__setattr__(self, "size", n)

    @property
    def inputs(self) -> tuple[str, ...]:
        return getattr(self, self.command), self.rate

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.target, getattr(self, self.state)

    @property
    def states(self) -> Numbers:
        return self.initial

    @property
    def feedthrough(self) -> bool:
        return False


@dataclass(frozen=True)
class MotorCurrent(Actuator):
    """A motor with winding: L di/dt = u - R i - k N v, tau = N k i.

    Reads the voltage u [V] (signal ``voltage``) and the joint's rate v [rad/s] (``rate``); gives the torque at the
    joint [N m] (``target``) and the current [A] (``current``). ``inductance`` L [H], ``resistance`` R [ohm],
    ``constant`` k [N m/A = V s/rad], ``gear_ratio`` N. States: i [A], at the start ``initial``. Inertia and friction of
    the drive belong to the model, see ``model.with_drive``."""

    kind: ClassVar[str] = "motor current"
    command, state = "voltage", "current"
    inductance: Any
    resistance: Any
    constant: Any
    gear_ratio: Any = (1.0,)
    initial: Any = (0.0,)
    size: int | None = None
    voltage: str = "u"
    rate: str = "v"
    target: str = "tau"
    current: str = "i"
    name: str = ""

    def __post_init__(self) -> None:
        who = self.who
        given = {
            "inductance": above_zero(self.inductance, who, "inductance", "in H; without it use Gain and Saturation"),
            "resistance": at_least_zero(self.resistance, who, "resistance", "in ohm"),
            "constant": above_zero(self.constant, who, "constant", "the torque constant in N m/A"),
            "gear_ratio": numbers(self.gear_ratio, who, "gear_ratio"),
            "initial": numbers(self.initial, who, "initial"),
        }
        if 0.0 in given["gear_ratio"]:
            raise refuse(who, "gear_ratio", "gear_ratio must not be zero, got 0", "motor turns per joint turn")
        self._keep(given)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: np.array(self.gear_ratio) * np.array(self.constant) * p, self.current: p}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        u, v = self.take(x, self.voltage, self.size), self.take(x, self.rate, self.size)
        back = np.array(self.constant) * np.array(self.gear_ratio) * v
        return (u - np.array(self.resistance) * p - back) / np.array(self.inductance)
