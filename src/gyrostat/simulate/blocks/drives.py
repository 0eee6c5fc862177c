"""Drives with states of their own: current of an electric motor, pressure of a hydraulic cylinder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.choose import maximum, sign
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


@dataclass(frozen=True)
class HydraulicCylinder(Actuator):
    """Load pressure of a symmetric cylinder behind a valve [Merritt 1967, 6.1]:

        V/(4 beta) dP/dt = Q - A v - c P,    Q = K u D / sqrt(max(abs(D), P_lin)),    D = P_s - sign(u) P,

    force A P. Reads the valve's opening u in -1 ... 1 (signal ``opening``) and the piston's rate v [m/s] (``rate``);
    gives the force [N] (``target``) and P [Pa] (``pressure``). ``area`` A [m^2], ``volume`` V of both chambers [m^3],
    ``supply`` P_s [Pa], ``flow`` K [m^3/s/sqrt(Pa)], ``bulk_modulus`` beta [Pa], ``leakage`` c [m^3/s/Pa]. Below
    P_lin = 1e-4 P_s the flow is linear in D: its slope stays finite."""

    kind: ClassVar[str] = "hydraulic cylinder"
    command, state = "opening", "pressure"
    area: Any
    volume: Any
    supply: Any
    flow: Any
    bulk_modulus: Any = (1.4e9,)
    leakage: Any = (0.0,)
    initial: Any = (0.0,)
    size: int | None = None
    opening: str = "u"
    rate: str = "v"
    target: str = "tau"
    pressure: str = "pressure"
    name: str = ""

    def __post_init__(self) -> None:
        who = self.who
        units = {"area": "m^2", "volume": "m^3", "supply": "Pa", "flow": "m^3/s/sqrt(Pa)", "bulk_modulus": "Pa"}
        given = {key: above_zero(getattr(self, key), who, key, f"in {unit}") for key, unit in units.items()}
        given["leakage"] = at_least_zero(self.leakage, who, "leakage", "in m^3/s/Pa")
        given["initial"] = numbers(self.initial, who, "initial")
        self._keep(given)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: np.array(self.area) * p, self.pressure: p}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        u, v = self.take(x, self.opening, self.size), self.take(x, self.rate, self.size)
        supply = np.array(self.supply)
        drop = supply - sign(u) * p
        inflow = np.array(self.flow) * u * drop * maximum(abs(drop), 1e-4 * supply) ** -0.5
        balance = inflow - np.array(self.area) * v - np.array(self.leakage) * p
        return 4.0 * np.array(self.bulk_modulus) / np.array(self.volume) * balance
