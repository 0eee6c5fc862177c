"""Links that can be assembled over hinges: uniform beams by finite elements, reduced family by family; the variables of
the assembly; and what is refused."""

from __future__ import annotations

from gyrostat.errors import SpecError
from gyrostat.flexible.beam_lines import Line, axial_line, bending_line
from gyrostat.flexible.superposed_nominal import Nominal
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody

HINGES = ("revolute", "continuous")


def reduced_lines(given: Nominal, inside: int, elements: int, who: str) -> dict[str, dict[str, Line]]:
    """Reduced models of all beams by name and family; what cannot be assembled is refused."""
    model = given.model
    if model.context.base != "fixed" or model.wiring.tree.loops:
        raise _refused(who, model.name, "has a base that moves, or loops", "superposed takes it")
    lines: dict[str, dict[str, Line]] = {}
    for name, entity in model.wiring.entities.items():
        if isinstance(entity, FlexibleBeam):
            if model.wiring.tree.inport[name] != "a":
                raise _refused(who, name, "is not held by its port a", "turn it round; superposed takes it")
            if isinstance(entity.section, tuple) or entity.shear or not isinstance(entity.damping, float | int):
                what = "is tapered, shears, or has another damping than a time constant"
                raise _refused(who, name, what, "superposed takes it")
            lines[name] = _families(entity, inside, elements)
        elif not _may_be_assembled(entity):
            what = f"is a {entity.type_name}, which is no hinge, body or beam"
            raise _refused(who, name, what, "superposed takes it")
    if not lines:
        raise _refused(who, model.name, "has no flexible beam", "superposed takes links of other kinds")
    return lines


def _refused(who: str, name: str, what: str, remedy: str) -> SpecError:
    return SpecError.one(f"{who}: '{name}'", "assembled-links", what, remedy, name)


def _may_be_assembled(entity: Entity) -> bool:
    if isinstance(entity, Joint):
        return entity.kind in (*HINGES, "fixed")
    return isinstance(entity, RigidBody | Displacement) or entity.type_name == "reference_frame"


def _families(beam: FlexibleBeam, inside: int, elements: int) -> dict[str, Line]:
    L, A, rho = beam.length, beam.area, beam.density
    turning = rho * float(beam.sections_turn)
    bend = {"length": L, "line": rho * A, "elements": elements, "inside": inside}
    return {
        "v": bending_line(EI=beam.E * beam.I_z, rotary=turning * beam.I_z, **bend),
        "w": bending_line(EI=beam.E * beam.I_y, rotary=turning * beam.I_y, **bend),
        "twist": axial_line(L, beam.G * beam.J, rho * (beam.I_y + beam.I_z), elements),
        "stretch": axial_line(L, beam.E * A, rho * A, elements),
    }


def variable_names(given: Nominal, lines: dict[str, dict[str, Line]]) -> list[str]:
    names: list[str] = []
    for visit in given.model.wiring.tree.visits:
        name = visit.entity
        if name in given.model.dofs:
            names.append(name)
        for family, line in lines.get(name, {}).items():
            places = [f"{name}.{family}@{x:g}" for x in line.x]
            names += [f"{name}.{family}", *([f"{name}.{family}'"] if line.first == 2 else []), *places]
    return names
