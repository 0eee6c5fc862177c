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
_CONTACTS = Kind(representation=False, options=("contacts",), needs=("contacts",))
_PLANE = Kind(representation=False, options=("normal", "height"))
_FRAME = Kind(representation=False, frames="one", options=("expressed_in",), needs=("frames",))

KINDS: dict[str, Kind] = {
    "ActuatorDynamics": Kind(options=("passive",)),
    "Bias": Kind(),
    "CapturePoint": _PLANE,
    "CenterOfMass": Kind(),
    "CentroidalMatrix": Kind(),
    "CentroidalMomentum": Kind(),
    "CentroidalMomentumRate": Kind(),
    "ContactDynamics": _CONTACTS,
    "ContactDynamicsDerivatives": _CONTACTS,
    "ContactVelocities": _CONTACTS._replace(options=("contacts", "independent")),
    "Coriolis": Kind(),
    "DeltaAcceleration": Kind(),
    "ElasticInverseDynamics": Kind(order=False, options=("negligible",)),
    "EquationsOfMotion": Kind(),
    "ForwardDynamics": Kind(FORWARD),
    "ForwardDynamicsDerivatives": _METHOD,
    "ForwardKinematics": Kind(frames="some", order=False),
    "FrictionMargins": _CONTACTS,
    "GravityForces": Kind(),
    "Impact": _CONTACTS._replace(options=("contacts", "restitution")),
    "Innovations": Kind(),
    "InverseDynamics": Kind(("rne", "newton-euler"), options=("only",)),
    "InverseDynamicsDerivatives": _METHOD,
    "InverseDynamicsSecondDerivatives": _METHOD,
    "InverseMassMatrix": Kind(),
    "InverseOperationalInertia": _CONTACTS,
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
    "StabilityMargin": _PLANE._replace(options=("points", "normal", "height"), needs=("points",)),
    "TotalInertia": Kind(),
    "ZeroMomentPoint": _PLANE,
}
"""Class of the solver -> what can be said about it."""

USUAL = {
    "mode": "auto", "method": "auto", "expressed_in": "world", "of": "tau", "negligible": 1e-10, "restitution": 0.0,
    "normal": (0.0, 0.0, 1.0), "height": 0.0,
}  # fmt: skip
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
    "centroidal_momentum_rate": "CentroidalMomentumRate",
    "capture_point": "CapturePoint",
    "stability_margin": "StabilityMargin",
    "zero_moment_point": "ZeroMomentPoint",
    "fk": "ForwardKinematics",
    "jacobian": "Jacobian",
    "jacobian_rate": "JacobianRate",
    "inverse_operational_inertia": "InverseOperationalInertia",
    "regressor": "Regressor",
    "actuator_dynamics": "ActuatorDynamics",
}
"""Name of an answer of ``gs.Solvers`` -> class of the solver that gives it."""
