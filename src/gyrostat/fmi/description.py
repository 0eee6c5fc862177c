"""``modelDescription.xml`` of FMI 2.0 and 3.0, and ``buildDescription.xml``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from gyrostat.fmi.model_text import every
from gyrostat.fmi.system import System, Variable, reached
from gyrostat.fmi.units import used

TOOL = "gyrostat"


@dataclass(frozen=True)
class Description:
    """``identifier``: name of the library; ``kinds``; ``token``; ``times``: start, stop [s]; ``step`` [s] of
    co-simulation; ``tolerance``."""

    system: System
    identifier: str
    kinds: Sequence[str]
    token: str
    times: tuple[float, float]
    step: float
    tolerance: float
    version: str
    fixed: frozenset[str] = field(default_factory=frozenset)

    # ------------------------------------------------------------------ what both versions say
    @cached_property
    def first(self) -> dict[str, int]:
        """Value references at which groups of variables begin."""
        s, at, starts = self.system, 1, {}
        groups = {"x": s.states, "z": s.rates, "u": s.inputs, "p": s.parameters, "y": s.outputs}
        for name, group in groups.items():
            starts[name], at = at, at + len(group)
        return starts

    def _dependencies(self) -> list[list[int]]:
        """Value references of the states and inputs that rates and outputs read, in their order."""
        program = self.system.program
        by = np.concatenate([reached(program, "x"), reached(program, "u")], axis=1)
        places = [self.first["x"] + k for k in range(len(self.system.states))]
        places += [self.first["u"] + k for k in range(len(self.system.inputs))]
        return [[places[k] for k in np.flatnonzero(row)] for row in by]

    @cached_property
    def outputs(self) -> list[tuple[int, list[int]]]:
        """Value references of all outputs, and what they depend on."""
        s, at, deps = self.system, self.first, self._dependencies()
        found = [(at["x"] + k, [at["x"] + k]) for k, x in enumerate(s.states) if x.output]
        found += [(at["z"] + k, deps[k]) for k, x in enumerate(s.rates) if x.output]
        return found + [(at["y"] + k, deps[len(s.states) + k]) for k in range(len(s.outputs))]

    @cached_property
    def derivatives(self) -> list[tuple[int, list[int]]]:
        """The same of the rates of states."""
        deps = self._dependencies()
        return [(self.first["z"] + k, deps[k]) for k in range(len(self.system.states))]

    @cached_property
    def initial(self) -> list[int]:
        """Value references of what is computed at the start."""
        states = range(self.first["x"], self.first["z"])
        return sorted({vr for vr, _ in [*self.outputs, *self.derivatives]} - set(states))

    def causality(self, vr: int) -> dict[str, str]:
        """Causality, variability and initial of a variable."""
        at, variable = self.first, every(self.system)[vr - 1]
        if at["u"] <= vr < at["p"]:
            return {"causality": "input", "variability": "continuous"}
        if at["p"] <= vr < at["y"]:
            variability = "fixed" if variable.name in self.fixed else "tunable"
            return {"causality": "parameter", "variability": variability, "initial": "exact"}
        shown = vr >= at["y"] or variable.output
        initial = "exact" if vr < at["z"] else "calculated"
        return {"causality": "output" if shown else "local", "variability": "continuous", "initial": initial}

    def has_start(self, vr: int) -> bool:
        return vr < self.first["z"] or self.first["u"] <= vr < self.first["y"]

    def _experiment(self) -> str:
        start, stop = self.times
        return _tag("DefaultExperiment", startTime=start, stopTime=stop, tolerance=self.tolerance, stepSize=self.step)

    def _units(self) -> list[str]:
        units = used(x.unit for x in [*every(self.system), Variable("time", "s")])
        if not units:
            return []
        inner = [f"    <Unit name={quoteattr(n)}>{_tag('BaseUnit', **e)}</Unit>" for n, e in units.items()]
        return ["  <UnitDefinitions>", *inner, "  </UnitDefinitions>"]

    # ------------------------------------------------------------------ FMI 2.0
    def fmi2(self) -> str:
        """The text for FMI 2.0, where variables are counted from one: time is the first."""
        s = self.system
        head = {"fmiVersion": "2.0", "modelName": s.name, "guid": self.token, "description": s.description}
        head |= self._head() | {"numberOfEventIndicators": 0}
        common = {"modelIdentifier": self.identifier, "canNotUseMemoryManagementFunctions": True}
        common |= {"canGetAndSetFMUstate": True, "canSerializeFMUstate": True, "providesDirectionalDerivative": True}
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', _open("fmiModelDescription", head)]
        files = '<SourceFiles><File name="fmi2.c"/></SourceFiles>'
        if "model-exchange" in self.kinds:
            lines += [f"  {_open('ModelExchange', common)}{files}</ModelExchange>"]
        if "co-simulation" in self.kinds:
            steps = {"canHandleVariableCommunicationStepSize": True}
            lines += [f"  {_open('CoSimulation', common | steps)}{files}</CoSimulation>"]
        lines += self._units() + _categories() + [f"  {self._experiment()}", "  <ModelVariables>"]
        lines.append(
            '    <ScalarVariable name="time" valueReference="0" causality="independent" variability="continuous">'
            '<Real unit="s"/></ScalarVariable>'
        )
        for vr, x in enumerate(every(s), start=1):
            real: dict[str, Any] = {"unit": x.unit} if x.unit else {}
            if self.has_start(vr):
                real["start"] = x.start
            if vr < self.first["z"] and x.nominal != 1.0:
                real["nominal"] = x.nominal
            if self.first["z"] <= vr < self.first["u"]:
                real["derivative"] = vr - len(s.states) + 1
            about = {"name": x.name, "valueReference": vr} | self.causality(vr)
            about |= {"description": x.description} if x.description else {}
            lines.append(f"    {_open('ScalarVariable', about)}{_tag('Real', **real)}</ScalarVariable>")
        lines += ["  </ModelVariables>", "  <ModelStructure>"]
        known = [(vr, deps) for vr, deps in self.outputs]
        lines += _group("Outputs", [_unknown2(vr, deps) for vr, deps in known])
        lines += _group("Derivatives", [_unknown2(vr, deps) for vr, deps in self.derivatives])
        lines += _group("InitialUnknowns", [_tag("Unknown", index=vr + 1) for vr in self.initial])
        return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])

    # ------------------------------------------------------------------ FMI 3.0
    def fmi3(self) -> str:
        """The text for FMI 3.0."""
        s = self.system
        head = {"fmiVersion": "3.0", "modelName": s.name, "instantiationToken": self.token}
        head |= {"description": s.description} | self._head()
        common = {"modelIdentifier": self.identifier, "canGetAndSetFMUState": True, "canSerializeFMUState": True}
        common |= {"providesDirectionalDerivatives": True, "providesAdjointDerivatives": True}
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', _open("fmiModelDescription", head)]
        if "model-exchange" in self.kinds:
            lines.append(f"  {_tag('ModelExchange', **common)}")
        if "co-simulation" in self.kinds:
            steps = {"canHandleVariableCommunicationStepSize": True}
            lines.append(f"  {_tag('CoSimulation', **common, **steps)}")
        lines += self._units() + _categories() + [f"  {self._experiment()}", "  <ModelVariables>"]
        lines.append(
            '    <Float64 name="time" valueReference="0" causality="independent" variability="continuous" unit="s"/>'
        )
        for vr, x in enumerate(every(s), start=1):
            about: dict[str, Any] = {"name": x.name, "valueReference": vr}
            about |= {"description": x.description} if x.description else {}
            about |= self.causality(vr) | ({"unit": x.unit} if x.unit else {})
            if self.has_start(vr):
                about["start"] = x.start
            if vr < self.first["z"] and x.nominal != 1.0:
                about["nominal"] = x.nominal
            if self.first["z"] <= vr < self.first["u"]:
                about["derivative"] = vr - len(s.states)
            lines.append(f"    {_tag('Float64', **about)}")
        lines += ["  </ModelVariables>", "  <ModelStructure>"]
        lines += [f"    {_unknown3('Output', vr, deps)}" for vr, deps in self.outputs]
        lines += [f"    {_unknown3('ContinuousStateDerivative', vr, deps)}" for vr, deps in self.derivatives]
        lines += [f"    {_tag('InitialUnknown', valueReference=vr)}" for vr in self.initial]
        return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])

    def build(self) -> str:
        """How sources of FMI 3.0 are compiled."""
        inner = '<SourceFileSet language="C99"><SourceFile name="fmi3.c"/></SourceFileSet>'
        return "\n".join([
            '<?xml version="1.0" encoding="UTF-8"?>', '<fmiBuildDescription fmiVersion="3.0">',
            f"  {_open('BuildConfiguration', {'modelIdentifier': self.identifier})}", f"    {inner}",
            "  </BuildConfiguration>", "</fmiBuildDescription>", "",
        ])  # fmt: skip

    def _head(self) -> dict[str, Any]:
        return {"generationTool": f"{TOOL} {self.version}", "variableNamingConvention": "flat"}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _attributes(about: dict[str, Any]) -> str:
    return "".join(f" {name}={quoteattr(_text(value))}" for name, value in about.items())


def _open(name: str, about: dict[str, Any]) -> str:
    return f"<{name}{_attributes(about)}>"


def _tag(tag: str, /, **about: Any) -> str:
    return f"<{tag}{_attributes(about)}/>"


def _unknown2(vr: int, deps: Iterable[int]) -> str:
    return _tag("Unknown", index=vr + 1, dependencies=" ".join(str(d + 1) for d in deps))


def _unknown3(kind: str, vr: int, deps: Iterable[int]) -> str:
    return _tag(kind, valueReference=vr, dependencies=" ".join(map(str, deps)))


def _group(name: str, lines: list[str]) -> list[str]:
    return [f"    <{name}>", *(f"      {line}" for line in lines), f"    </{name}>"] if lines else []


def _categories() -> list[str]:
    names = ("logStatusWarning", "logStatusDiscard", "logStatusError")
    return ["  <LogCategories>", *(f"    {_tag('Category', name=n)}" for n in names), "  </LogCategories>"]
