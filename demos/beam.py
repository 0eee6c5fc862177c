"""Eigenfrequencies of beams by in-cut joints and by finite elements (AS 2.2, Fig. 1 and Table 1): a console, and a
pendulum with a mass at its end, whose figures the source does not print.

Columns: A, cuts at a = (1/2 - 1/sqrt 12) l = 0.2113 l of each superelement; B, at l/4; FEM, Hermite elements with
consistent mass, two degrees of freedom for each. Errors are against the beam equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
SLENDER = {"area": 1.0, "I_y": 1e-10, "I_z": 1e-10, "J": 1e-10, "E": 1e10, "G": 1e10, "density": 1.0, "length": 1.0}
"""m = E I = L = 1; sections so slender that their rotary inertia does not count."""
DOFS = (2, 4, 6, 8, 10)
COLUMNS = ("A", "B", "FEM")
TIP = 0.5
"""Mass at the end of the pendulum, in masses of the beam; ours."""
PRINTED = {
    "A": ((1.01, 0.018, 0.002, 0.0005, 0.0001), (62.6, 2.77, 0.222, 0.44, 0.013), (None, 16.4, 4.18, 0.597, 0.161)),
    "B": ((6.08, 1.45, 0.641, 0.359, 0.230), (40.8, 5.21, 2.25, 1.26, 0.801), (None, 7.49, 3.58, 2.03, 1.30)),
    "FEM": ((0.475, 0.048, 0.010, 0.003, 0.002), (57.9, 0.848, 0.328, 0.117, 0.050), (None, 80.4, 16.3, 1.45, 1.17)),
}
"""Table 1 of AS: relative errors [%] of the first three frequencies for 2 ... 10 degrees of freedom."""


def beam(column: str, dofs: int) -> tuple[list[gs.Entity], list[tuple[str, ...]], str, str]:
    """A beam as entities and their connections, and its two ends."""
    if column == "B":
        return quarters(dofs // 2)
    method = {"method": "in-cut", "modes": (1, 0)} if column == "A" else {"method": "fe"}
    planar = {"modes": (dofs, 0)} if column == "FEM" else {}
    one = gs.FlexibleBeam("beam", **SLENDER, elements=dofs // 2, modes_x=0, **method | planar)  # type: ignore[arg-type]
    return [one], [], "beam.a", "beam.b"


def quarters(elements: int) -> tuple[list[gs.Entity], list[tuple[str, ...]], str, str]:
    """Pieces and springs by hand: superelements that are cut at a quarter of their length."""
    places = [0.0, *((k + at) / elements for k in range(elements) for at in (0.25, 0.75)), 1.0]
    entities: list[gs.Entity] = []
    wires: list[tuple[str, ...]] = []
    for k, (x0, x1) in enumerate(pairwise(places)):
        d = x1 - x0
        J = (0.0, d**3 / 12, d**3 / 12)
        entities.append(gs.RigidBody(f"piece{k}", mass=d, com=(d / 2, 0, 0), inertia=J, frames={"end": (d, 0, 0)}))
        if k:
            entities += [
                gs.Joint(f"cut{k}", "revolute", axis="z"),
                gs.Spring(f"spring{k}", stiffness=2.0 * elements, ground=True),
            ]
            wires += [(f"piece{k - 1}.end", f"cut{k}.a"), (f"cut{k}.b", f"piece{k}.origin")]
            wires.append((f"cut{k}.shaft", f"spring{k}.a"))
    return entities, wires, "piece0.origin", f"piece{len(places) - 2}.end"


def console(column: str, dofs: int) -> Array:
    """The first three circular frequencies of a clamped beam."""
    entities, wires, start, _ = beam(column, dofs)
    links = [gs.connect(*w) for w in (("world", start), *wires)]
    model = gs.assemble("console", *entities, *links, gravity=(0, 0, 0))
    return _first(model)


def pendulum(column: str, dofs: int) -> Array:
    """The first three circular frequencies above zero of a hinged beam with a point mass at its end."""
    entities, wires, start, end = beam(column, dofs)
    extra = gs.Joint("hinge", "revolute", axis="z"), gs.RigidBody("bob", mass=TIP)
    links = [gs.connect(*w) for w in (("world", "hinge.a"), ("hinge.b", start), (end, "bob"), *wires)]
    return _first(gs.assemble("pendulum", *extra, *entities, *links, gravity=(0, 0, 0)))


def _first(model: gs.Model) -> Array:
    omega = 2 * np.pi * gs.eigenfrequencies(model, np.zeros(model.nv)).undamped
    return np.array([*omega[omega > 1e-3], np.nan, np.nan][:3])


def exact() -> tuple[Array, Array]:
    """Of the beam equation: cos b cosh b = -1 of the console, cot b - coth b = 2 mu b of the pendulum; omega = b^2."""
    first = [brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (k - 1) * np.pi, k * np.pi, xtol=1e-14) for k in (1, 2, 3)]
    second = [
        brentq(
            lambda b: np.cos(b) - np.sin(b) * (1 / np.tanh(b) + 2 * TIP * b),
            k * np.pi,
            (k + 0.5) * np.pi,
            xtol=1e-14,
        )
        for k in (1, 2, 3)
    ]
    return np.array(first) ** 2, np.array(second) ** 2


@dataclass(frozen=True)
class Errors:
    """Relative errors [%] by column, (degrees of freedom, 3), signed; NaN where there is no such frequency."""

    console: dict[str, Array]
    pendulum: dict[str, Array]


def errors() -> Errors:
    clamped, hinged = exact()
    return Errors(
        {c: 100 * (np.array([console(c, n) for n in DOFS]) / clamped - 1) for c in COLUMNS},
        {c: 100 * (np.array([pendulum(c, n) for n in DOFS]) / hinged - 1) for c in COLUMNS},
    )


@dataclass(frozen=True)
class Statics:
    """Deflections under a force and under a moment at the end: ``x`` (n,), the beam's ``exact`` lines (2, n), corners
    of the pieces (2, 4, 2) of one superelement, and the greatest relative error of deflection and slope at the end."""

    x: Array
    exact: Array
    corners: Array
    error: float


def statics(samples: int) -> Statics:
    """One superelement in linear theory: compliance of its end, J K^-1 J^T, against the closed form."""
    entities, _, start, _ = beam("A", 2)
    model = gs.assemble("one", *entities, gs.connect("world", start), gravity=(0, 0, 0))
    zero = np.zeros(2)
    K = gs.rnea_derivatives(model, zero, zero, zero).dtau_dq
    J = gs.jacobian(model, zero, "beam.b", expressed_in="local")[[4, 2]]  # deflection along y, slope about z
    got, wanted = J @ np.linalg.solve(K, J.T), np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]])
    a, x = 0.5 - 1 / np.sqrt(12.0), np.linspace(0.0, 1.0, samples)
    corners = []
    for load in (0, 1):
        turns = np.linalg.solve(K, J.T)[:, load]
        corners.append([(0, 0), (a, 0), (1 - a, (1 - 2 * a) * turns[0]), (1, (1 - a) * turns[0] + a * turns[1])])
    lines = np.stack([x**2 / 2 - x**3 / 6, x**2 / 2])
    return Statics(x, lines, np.array(corners), float(np.abs(got / wanted - 1).max()))


# ---------------------------------------------------------------------------------------------------- figures
def figure_errors(errors: dict[str, Array], title: str):
    figure, axes = subplots(1, 3, (12.0, 4.2), sharey=True)
    for k, ax in enumerate(axes[0]):
        for column, mark in zip(COLUMNS, "os^", strict=True):
            ax.loglog(DOFS, np.abs(errors[column][:, k]), marker=mark, lw=1.5, label=column)
        ax.set(title=f"frequency {k + 1}", xlabel="degrees of freedom")
        ax.set_xticks(DOFS, [str(n) for n in DOFS])
        ax.minorticks_off()
    axes[0, 0].set_ylabel("|error| [%]")
    axes[0, 0].legend()
    figure.suptitle(title)
    return figure


def figure_statics(found: Statics):
    figure, axes = subplots(1, 2, (10.0, 3.8))
    for k, (ax, load) in enumerate(zip(axes[0], ("a force", "a moment"), strict=True)):
        ax.plot(found.x, found.exact[k], lw=1.8, label="beam")
        ax.plot(*found.corners[k].T, "o-", color="0.2", lw=1.2, label="three rigid pieces")
        ax.set(title=f"{load} at the end", xlabel="x / l", ylabel="deflection")
        ax.legend()
    return figure


# ---------------------------------------------------------------------------------------------------- words
def report(found: Errors, static: Statics) -> str:
    lines = ["Console: errors [%] of eigenfrequencies; in brackets as printed in Table 1 of AS\n"]
    for k in range(3):
        rows = []
        for i, n in enumerate(DOFS):
            cells = []
            for c in COLUMNS:
                value, printed = found.console[c][i, k], PRINTED[c][k][i]
                cells.append("-" if printed is None else f"{value:.4f} ({printed:g})")
            rows.append((str(n), *cells))
        lines += [f"frequency {k + 1}", table(("DOF", *COLUMNS), rows), ""]
    lines += [
        "misprints: A, frequency 2 of 8 DOF is .0443 %; FEM, frequency 3 is 21.8, 1.25, .774, .359 %.",
        f"\nPendulum with {TIP:g} masses of the beam at its end: errors [%]; the source says 'analogous'\n",
    ]
    rows = [
        (str(n), *(f"{found.pendulum[c][i, k]:.4f}" for k in range(2) for c in COLUMNS)) for i, n in enumerate(DOFS)
    ]
    lines.append(table(("DOF", *(f"{c}, {k}" for k in (1, 2) for c in COLUMNS)), rows))
    lines.append(f"\none superelement under a force and a moment at its end: within {static.error:.0e} of the beam\n")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("beam", __doc__, 101, "points of the lines", arguments)
    with Stages(2, options.quiet) as stage:
        found = stage("frequencies", errors)
        static = stage("statics", lambda: statics(options.samples))
    figures = {
        "console": figure_errors(found.console, "Console, against the beam equation (AS Table 1)"),
        "pendulum": figure_errors(found.pendulum, f"Pendulum with {TIP:g} masses of the beam at its end"),
        "statics": figure_statics(static),
    }
    paths = [save(figure, options, f"beam_{name}") for name, figure in figures.items()]
    print(report(found, static))
    say_figures(paths)


if __name__ == "__main__":
    main()
