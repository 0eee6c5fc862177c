"""The KUKA LWR 4+ of WM15 4.2-4.4: torques by inverse dynamics; forward dynamics for 14 s under the PD laws (32)-(34);
differences against Exudyn, a Cartesian DAE code (where it is installed: pip install exudyn); evaluations of the
right-hand side over tolerance, Table 1; wall time over simulated time, Figs. 12 and 13.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import gyrostat as gs
from demos import lwr_exudyn, lwr_figures, lwr_reference
from demos.lwr_inverse_dynamics import table as torque_table
from demos.lwr_problem import DIFFERENCES, DURATION, TABLE, TIMES, run
from demos.lwr_study import (
    CARTESIAN,
    FIRST,
    FIXED,
    STEPS,
    TOLERANCES,
    Differences,
    Row,
    Torques,
    cartesian,
    compared,
    compared_first,
    course,
    measured,
    solution,
    stepped,
    torques,
    usable,
)
from demos.options import Stages, parser, save, say_figures, table

EXPLICIT = 0.25
"""How long dopri5 is allowed to run [s]."""


def main(arguments: list[str] | None = None) -> None:
    options = parser("lwr", __doc__).parse_args(arguments)
    inverse = torques()
    say_torques(inverse)
    methods, sentences = usable()
    for sentence in sentences:
        print(f"left out: {sentence}")
    if "radau" not in methods or "bdf" not in methods:
        print("left out: forward dynamics, a stiff system. Hint: pip install gyrostat[simulate]")
        return
    by_exudyn = CARTESIAN if lwr_exudyn.available() else ()
    stages = len(methods) * (len(TOLERANCES) + 2) + 2 * len(FIXED) + len(by_exudyn) + 2
    with Stages(stages, options.quiet) as stage:
        exact = stage("the solution", solution)
        rows = measurements(stage, methods, exact)
        curves = {
            (name, tolerance): stage(f"wall time of {name} at {tolerance:g}", partial(course, name, tolerance))
            for tolerance in (1e-6, 1e-3)
            for name in methods
        }
        fixed = [
            stage(f"{name}, step {1e3 * step:g} ms", partial(stepped, name, step, exact))
            for name, steps in FIXED.items()
            for step in steps
        ]
        bodies = [stage(f"Exudyn, step {1e3 * step:g} ms", partial(cartesian, step, exact)) for step in by_exudyn]
        explicit = stage("dopri5", partial(run, "dopri5", 1e-6, 1e-6, EXPLICIT, [EXPLICIT]))
    say_solution(exact)
    say_rows(rows)
    say_fixed([*fixed, *(row for row, _ in bodies)])
    say_explicit(explicit)
    bdf = run("bdf", 1e-6, 1e-6)
    figures = {
        "lwr_torques": lwr_figures.torque_figure(inverse, bdf),
        "lwr_motion": lwr_figures.motion_figure(bdf),
        "lwr_evaluations": lwr_figures.evaluation_figure(rows),
        "lwr_wall_time": lwr_figures.wall_figure(curves, bodies),
    }
    if lwr_exudyn.available():
        against, limits, first = comparisons(bdf, exact, options.quiet)
        say_differences(against, limits, first)
        figures["lwr_differences"] = lwr_figures.difference_figure(against, limits)
    else:
        print(f"left out: {lwr_exudyn.MISSING}")
    say_figures([save(figure, options, name) for name, figure in figures.items()])


# ---------------------------------------------------------------------------------------------------- inverse dynamics
def say_torques(inverse: Torques) -> None:
    print("Inverse dynamics along q = pi/2 cos(pi t/7) [WM15 4.2], gravity (0, -9.81, 0) m/s^2\n")
    print(torque_table(inverse.t, inverse.tau))
    odd = np.abs(inverse.tau - inverse.tau[::-1]).max()
    print(f"symmetry about 7 s: max |tau(7 - s) - tau(7 + s)| = {odd:.1e} N m\n")


# ---------------------------------------------------------------------------------------------------- Table 1
def measurements(stage: Stages, methods: list[str], exact: gs.Result) -> list[Row]:
    """All methods at all tolerances."""
    work = [(name, tolerance) for name in methods for tolerance in TOLERANCES]
    return [stage(f"{name} at {of:g}", partial(measured, name, of, exact)) for name, of in work]


def say_solution(exact: gs.Result) -> None:
    at = np.isin(np.round(TIMES, 9), lwr_reference.T)
    far = np.abs(exact.q[at] - lwr_reference.Q).max()
    print("Forward dynamics under the PD laws, 14 s [WM15 4.3]")
    print(f"radau at 1e-11 is within {far:.1e} rad of Pinocchio with SciPy at 1e-12: errors are those against it\n")


def say_rows(rows: list[Row]) -> None:
    head = ("method", "tolerance", "evaluations", "Jacobians", "steps", "error [rad]", "wall [ms]", "wall/simulated")
    print("Cost over tolerance, relative and absolute [WM15 4.4, Table 1]; largest error of any joint\n")
    print(table(head, (row_cells(row) for row in rows)))
    scilab = TABLE["Scilab BDF"]
    others = [counts for name, counts in TABLE.items() if name != "Scilab BDF"]
    fewest = [min(counts[k] for counts in others) for k in (0, 1)]
    print(f"WM15, Scilab BDF: {scilab[0]} at 1e-6, {scilab[1]} at 1e-3; fewest of ADAMS: {fewest[0]} and {fewest[1]}")


def row_cells(row: Row) -> tuple[str, ...]:
    cost = (str(row.evaluations), str(row.jacobians), str(row.steps))
    wall = (f"{1e3 * row.wall:.0f}", f"{row.wall / DURATION:.4f}")
    return (row.method, f"{row.tolerance:g}", *cost, f"{row.errors[0]:.1e}", *wall)


def say_fixed(rows: list[Row]) -> None:
    head = ("method", "step [ms]", "evaluations", "Jacobians", "steps", "error [rad]", "wall [ms]", "wall/simulated")
    print("\nThe same with fixed steps, of inverse dynamics; Exudyn: Newton iterations of 7 bodies with constraints\n")
    cells = (row_cells(row) for row in rows)
    print(table(head, ((name, f"{1e3 * float(step):g}", *rest) for name, step, *rest in cells)))


def say_explicit(motion: gs.Result) -> None:
    c, times = motion.counters, DURATION / EXPLICIT
    print(
        f"dopri5, held back by stability: {c.rhs_evaluations} evaluations for the first {EXPLICIT:g} s alone, "
        f"{1e-6 * times * c.rhs_evaluations:.1f} million and {times * c.wall_time:.0f} s for all at this rate\n"
    )


# ---------------------------------------------------------------------------------------------------- Exudyn
def comparisons(
    bdf: gs.Result, exact: gs.Result, quiet: bool
) -> tuple[list[Differences], list[Differences], Differences]:
    """Exudyn against gyrostat at 1e-6 and at 1e-11, for each step, and the first 10 ms."""
    with Stages(len(STEPS) + 1, quiet) as stage:
        motions = [
            (step, stage(f"Exudyn, step {1e3 * step:g} ms", partial(lwr_exudyn.simulate, DURATION, step)))
            for step in STEPS
        ]
        first = stage("Exudyn, the first 10 ms", compared_first)
    against, limits = ([compared(motion, step, of) for step, motion in motions] for of in (bdf, exact))
    return against, limits, first


def say_differences(against: list[Differences], limits: list[Differences], first: Differences) -> None:
    head = ("gyrostat", "step of Exudyn", "steps", "Newton", "dq [rad]", "dv [rad/s]", "da [rad/s^2]", "wall [s]")
    print("Largest differences of any joint against Exudyn: 7 bodies, 49 coordinates, 42 constraints [WM15 (35)]\n")
    rows = [("bdf, 1e-6", x) for x in against] + [("radau, 1e-11", x) for x in limits]
    rows += [(f"first {1e3 * FIRST:g} ms", first)]
    print(table(head, (difference_cells(name, x) for name, x in rows)))
    q, v, a = DIFFERENCES
    print(f"WM15, ADAMS against Scilab: {q:g} rad, {v:g} rad/s, {a:g} rad/s^2\n")


def difference_cells(name: str, x: Differences) -> tuple[str, ...]:
    sizes = (f"{size:.1e}" for size in x.largest)
    return (name, f"{1e3 * x.step:g} ms", str(x.steps), str(x.newton), *sizes, f"{x.wall:.1f}")


if __name__ == "__main__":
    main()
