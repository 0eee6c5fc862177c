"""Which solvers can be specified, and what can be said about each: names only, nothing is computed here."""

from __future__ import annotations

from typing import NamedTuple

REPRESENTATIONS = ("body", "inertial", "absolute")
FORWARD = ("aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators")
MASS_MATRIX = ("crba", "walker-orin", "mrnea", "newton-euler", "operators")


class Kind(NamedTuple):
    """What can be said about a solver: its ``algorithms`` (the first is the usual one), whether it has a
    ``representation``, how many ``frames`` ("", "one", "some"), whether properties can be ``live`` and joints in an
    ``order``, further ``options``, and those that it cannot do without (``needs``)."""

    algorithms: tuple[str, ...] = ()
    representation: bool = True
    frames: str = ""
    live: bool = True
    order: bool = True
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_METHOD = Kind(options=("method",))
_FRAME = Kind(representation=False, frames="one", options=("expressed_in",), needs=("frames",))

KINDS: dict[str, Kind] = {
    "ActuatorDynamics": Kind(options=("passive",)),
    "Bias": Kind(),
    "CenterOfMass": Kind(),
    "CentroidalMatrix": Kind(),
    "CentroidalMomentum": Kind(),
    "ContactDynamics": Kind(representation=False, options=("contacts",), needs=("contacts",)),
    "ContactDynamicsDerivatives": Kind(representation=False, options=("contacts",), needs=("contacts",)),
    "Coriolis": Kind(),
    "DeltaAcceleration": Kind(),
    "ElasticInverseDynamics": Kind(order=False, options=("negligible",)),
    "EquationsOfMotion": Kind(),
    "ForwardDynamics": Kind(FORWARD),
    "ForwardDynamicsDerivatives": _METHOD,
    "ForwardKinematics": Kind(frames="some", order=False),
    "GravityForces": Kind(),
    "Impact": Kind(representation=False, options=("contacts", "restitution"), needs=("contacts",)),
    "Innovations": Kind(),
    "InverseDynamics": Kind(("rne", "newton-euler"), options=("only",)),
    "InverseDynamicsDerivatives": _METHOD,
    "InverseDynamicsSecondDerivatives": _METHOD,
    "InverseMassMatrix": Kind(),
    "InverseOperationalInertia": Kind(representation=False, options=("contacts",), needs=("contacts",)),
    "Jacobian": _FRAME._replace(options=("expressed_in", "constrained")),
    "JacobianRate": _FRAME,
    "KineticEnergy": Kind(),
    "MassMatrix": Kind(MASS_MATRIX),
    "ParameterDerivatives": Kind(live=False, options=("parameters", "wrt_wrenches", "of")),
    "ParameterJacobian": Kind(
        representation=False,
        frames="one",
        live=False,
        options=("expressed_in", "parameters"),
        needs=("frames", "parameters"),
    ),
    "PotentialEnergy": Kind(),
    "ReferenceDynamics": Kind(),
    "Regressor": Kind(representation=False, live=False),
    "Solvers": Kind(representation=False, options=("answers",), needs=("answers",)),
    "TotalInertia": Kind(),
}
"""Class of the solver -> what can be said about it."""

USUAL = {"mode": "auto", "method": "auto", "expressed_in": "world", "of": "tau", "negligible": 1e-10, "restitution": 0.0}
"""Values of options that need not be said."""

ANSWERS = {
    "rnea": "InverseDynamics",
    "aba": "ForwardDynamics",
    "crba": "MassMatrix",
    "inverse_mass_matrix": "InverseMassMatrix",
    "innovations": "Innovations",
    "coriolis": "Coriolis",
    "gravity": "GravityForces",
    "bias": "Bias",
    "equations_of_motion": "EquationsOfMotion",
    "rnea_reference": "ReferenceDynamics",
    "rnea_derivatives": "InverseDynamicsDerivatives",
    "rnea_second_derivatives": "InverseDynamicsSecondDerivatives",
    "aba_derivatives": "ForwardDynamicsDerivatives",
    "delta_acceleration": "DeltaAcceleration",
    "kinetic_energy": "KineticEnergy",
    "potential_energy": "PotentialEnergy",
    "com": "CenterOfMass",
    "center_of_mass": "CenterOfMass",
    "total_inertia": "TotalInertia",
    "centroidal_momentum": "CentroidalMomentum",
    "centroidal_matrix": "CentroidalMatrix",
    "fk": "ForwardKinematics",
    "jacobian": "Jacobian",
    "jacobian_rate": "JacobianRate",
    "inverse_operational_inertia": "InverseOperationalInertia",
    "regressor": "Regressor",
    "actuator_dynamics": "ActuatorDynamics",
}
"""Name of an answer of ``gs.Solvers`` -> class of the solver that gives it."""
