"""Calibration of a large six-axis robot by cameras: measurement, identification, correction (H04 5.3).

H04 names the KUKA KR2000, ISO poses and a measuring cell that sees the absolute position and orientation of the hand,
and prints no numbers of the robot. Dimensions, masses, stiffnesses and the errors of the real robot are ours, the noise
of the cameras is 0.05 mm. Repeatability of such robots is several 0.1 mm, absolute accuracy up to one order worse, and
after calibration of the order of the repeatability [H04 5.3].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gyrostat as gs
from demos.options import Stages, save, say_figures, subplots, table, with_samples

Array = np.ndarray
NOISE = 5e-5
"""Of each coordinate of a marker in the measuring cell [m]."""
REPEATABILITY = 2e-5
"""Standard deviation of every joint from one approach to the next [rad]: 0.1 mm at the hand."""
HAND = "hand.tool"
AXES = (  # axis, link to the next axis [m], mass [kg], limits [rad], stiffness of the drive [N m/rad], payload not here
    ("q1", "z", (0.5, 0.0, 0.6), 900.0, 2.6, 6.0e6),
    ("q2", "y", (0.0, 0.0, 1.3), 480.0, 1.2, 4.0e6),
    ("q3", "y", (0.1, 0.0, 0.06), 420.0, 1.4, 2.5e6),
    ("q4", "x", (1.0, 0.0, 0.0), 160.0, 2.8, 6.0e5),
    ("q5", "y", (0.29, 0.0, 0.0), 90.0, 2.0, 4.0e5),
    ("q6", "x", (0.02, 0.0, 0.0), 30.0, 2.8, 3.0e5),
)
MARKERS = np.array([(0.0, 0.15, 0.0), (0.0, -0.08, 0.13), (0.0, -0.08, -0.13), (0.1, 0.0, 0.02)])
DOWN = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
CUBES = (
    gs.studies.ISOCube((1.8, 0.0, 0.9), 0.7, "a", DOWN),
    gs.studies.ISOCube((1.5, 0.8, 0.9), 0.7, "c", DOWN),
    gs.studies.ISOCube((1.5, -0.8, 0.9), 0.7, "d", DOWN),
)


def robot(elastic: bool = True) -> gs.Model:
    """Six axes with a tool of 250 kg, with or without springs in the drives."""
    parts: list[gs.Entity] = [gs.Displacement("foot", translation=(0.0, 0.0, 0.445))]
    for name, axis, out, mass, limit, _ in AXES:
        com = tuple(0.45 * np.array(out))
        size = (0.04 * mass, 0.05 * mass, 0.05 * mass)
        parts += [
            gs.Joint(name, "revolute", axis=axis, lower=-limit, upper=limit),
            gs.RigidBody(f"link_{name}", mass=mass, com=com, inertia=size),
            gs.Displacement(f"to_{name}", translation=out),
        ]
    hand = gs.RigidBody(
        "hand", mass=250.0, com=(0.18, 0.03, 0.02), inertia=(9.0, 12.0, 12.0),
        frames={"tool": {"translation": (0.32, 0.0, 0.0)}},
    )  # fmt: skip
    model = gs.assemble("KR 2000 alike", gs.chain("world", *parts, hand))
    for name, *_, stiffness in AXES if elastic else ():
        model = model.with_drive(name, gear_ratio=200.0, rotor_inertia=5e-3, stiffness=stiffness)
    return model


def unknowns(elastic: bool = True) -> list[str]:
    """What of the robot may be wrong: base, lengths, tilts, offsets, and the springs."""
    geometry = ["base", "tool", *(f"q{k}.offset" for k in range(2, 7)), *(f"q{k}.axis" for k in range(2, 7))]
    lengths = ["to_q1.translation.x", "to_q2.translation.z", "to_q3.translation.x", "to_q3.translation.z",
               "to_q4.translation.x", "to_q5.translation.y"]  # fmt: skip
    springs = [f"{name}_drive.spring.stiffness" for name, *_ in AXES[1:5]]
    return [*geometry, *lengths, *(springs if elastic else [])]


class RealRobot:
    """The machine: other numbers than those of the drawing, which only measurements tell."""

    def __init__(self, seed: int = 2000):
        self.random = np.random.default_rng(seed)
        r, changes = self.random.normal, {}
        model = robot()
        for k, (name, axis, *_rest, stiffness) in enumerate(AXES):
            across = np.array([0.0 if c == axis else 1.0 for c in "xyz"])
            n = np.array([float(c == axis) for c in "xyz"]) + 7e-4 * r(size=3) * across
            changes[f"{name}.axis"] = tuple(n / np.linalg.norm(n))
            changes[f"to_{name}.translation"] = tuple(np.array(model[f"to_{name}.translation"]) + 7e-4 * r(size=3))
            changes[f"{name}_drive.spring.stiffness"] = stiffness * (0.7, 0.75, 1.3, 0.8, 0.65, 1.0)[k]
        changes["foot.translation"] = (1.5e-3, -2e-3, 0.446)
        changes["foot.rotation"] = gs.rpy(6e-4, -9e-4, 1.2e-3)
        self.model = model.replace(changes)
        self.offsets = 6e-4 * r(size=6)
        self.placements = gs.studies.StaticPoses(self.model, [HAND])

    def at(self, commands: Array, approach: bool = True) -> tuple[Array, Array]:
        """R (n, 3, 3) and p (n, 3) of the hand after the robot was sent there once."""
        shake = REPEATABILITY * self.random.normal(size=np.shape(commands)) if approach else 0.0
        placed, _ = self.placements.rest(self.placements.read(commands + self.offsets + shake))
        return placed.R[:, 0], placed.p[:, 0]

    def markers(self, commands: Array) -> Array:
        """(n, m, 3) as the measuring cell sees them."""
        R, p = self.at(commands)
        exact = p[:, None] + np.einsum("nij,mj->nmi", R, MARKERS)
        return exact + NOISE * self.random.normal(size=exact.shape)


@dataclass(frozen=True)
class Outcome:
    """Commands that were measured, results by model, and position errors (n,) [m] of the test targets."""

    q: Array
    iso: int
    results: dict[str, Any]
    errors: dict[str, Array]
    turns: dict[str, Array]
    targets: Array
    repeatability: float


def measured_poses(real: RealRobot, chosen: int) -> tuple[Array, int]:
    """Commands of the ISO poses, and of those that observability chooses."""
    planned = gs.studies.Points(HAND, np.zeros((1, 6)), markers=MARKERS, std=NOISE)
    iso = gs.studies.iso_configurations(robot(elastic=False), HAND, CUBES, q0=np.array([0.0, 0.3, 0.2, 0.0, -0.5, 0.0]))
    best = gs.studies.select_poses(
        robot(), planned, unknowns(), chosen, candidates=500, allowed=lambda q, T: T[2, 3] > 0.4 and T[0, 3] > 0.3
    )
    return np.concatenate([iso, best.q]), len(iso)


def outcome(tests: int = 200, chosen: int = 45, stage: Any = lambda text, job: job()) -> Outcome:
    real = RealRobot()
    q, iso = stage("poses", lambda: measured_poses(real, chosen))
    seen = real.markers(q)
    # one approach differs from the next: the noise of a marker is that of the cell and of the joints together
    results = {}
    for name, elastic in (("rigid", False), ("elastic", True)):
        points = gs.studies.Points(HAND, q, seen, markers=MARKERS, name="cell")
        results[name] = stage(
            name, lambda e=elastic, p=points: gs.studies.calibrate(robot(e), p, unknowns(e), cross_validation=5)
        )
    random = np.random.default_rng(7)
    wanted = np.stack([random.uniform(-limit, limit, 60 * tests) for *_, limit, _ in AXES], axis=-1) * 0.8
    where = gs.fk(robot(False), wanted)[HAND]
    inside = (np.abs(where.p[:, 1]) < 1.2) & (where.p[:, 2] > 0.6) & (where.p[:, 0] > 0.9)
    wanted, targets = wanted[inside][:tests], where.matrix[inside][:tests]
    commands = {"as drawn": wanted}
    for name, result in results.items():
        commands[name] = stage(f"commands, {name}", lambda r=result: corrected(r, targets, wanted))
    errors, turns = {}, {}
    for name, c in commands.items():
        R, p = real.at(c)
        errors[name] = np.linalg.norm(p - targets[:, :3, 3], axis=1)
        D = np.einsum("nij,nkj->nik", R, targets[:, :3, :3])
        turns[name] = np.arccos(np.clip(0.5 * (np.trace(D, axis1=1, axis2=2) - 1.0), -1.0, 1.0))
    shaken = np.array([real.at(wanted)[1] for _ in range(10)])
    spread = np.linalg.norm(shaken - shaken.mean(axis=0), axis=2)
    return Outcome(q, iso, results, errors, turns, targets, float(spread.mean() + 3.0 * spread.std(axis=0).mean()))


def corrected(result: Any, targets: Array, q0: Array) -> Array:
    """Commands that bring the calibrated robot to the targets; near the nominal ones at a singular pose."""
    return result.commands(HAND, targets, q0).q


# ---------------------------------------------------------------------------------------------------- figures
def figure_poses(found: Outcome):
    figure, axes = subplots(1, 2, (11.0, 5.0))
    model = robot(False)
    frames = [f"{name}.a" for name, *_ in AXES] + [HAND]
    place = gs.fk(model, found.q)
    for ax, (i, j), title in zip(axes[0], ((0, 2), (0, 1)), ("from the side", "from above"), strict=True):
        for k in range(len(found.q)):
            line = np.array([place[f].p[k] for f in frames])
            first = k < found.iso
            ax.plot(line[:, i], line[:, j], "-", color="C3" if first else "C0", lw=1.4 if first else 0.6, alpha=0.6)
        p = place[HAND].p
        ax.plot(p[found.iso :, i], p[found.iso :, j], "o", ms=4, color="C0", label="chosen by observability")
        ax.plot(p[: found.iso, i], p[: found.iso, j], "s", ms=5, color="C3", label="ISO 9283, three cubes")
        ax.set(title=title, xlabel="x [m]", ylabel=("y", "z")[j - 1] + " [m]", aspect="equal")
    axes[0, 0].legend(loc="lower left", fontsize=8)
    return figure


def figure_accuracy(found: Outcome):
    figure, axes = subplots(1, 2, (11.0, 4.4))
    left, right = axes[0]
    for k, (name, e) in enumerate(found.errors.items()):
        x = np.sort(1e3 * e)
        left.semilogx(x, np.linspace(0, 1, len(x)), color=f"C{k}", lw=1.8, label=name)
    left.axvline(1e3 * found.repeatability, color="0.3", ls="--", label="repeatability, ISO 9283")
    left.set(xlabel="position error [mm]", ylabel="share of targets", title="Absolute accuracy")
    left.legend(fontsize=8)
    reach = np.linalg.norm(found.targets[:, :2, 3], axis=1)
    for k, (name, e) in enumerate(found.errors.items()):
        right.semilogy(reach, 1e3 * e, ".", color=f"C{k}", label=name)
    right.set(xlabel="distance from the axis of q1 [m]", ylabel="position error [mm]", title="over the reach")
    return figure


def figure_residuals(found: Outcome):
    figure, axes = subplots(1, 1, (9.0, 4.0))
    for k, (name, result) in enumerate(found.results.items()):
        size = 1e3 * np.sqrt(np.mean(result.residuals["cell"] ** 2, axis=1))
        axes[0, 0].semilogy(size, ".-", color=f"C{k + 1}", lw=0.8, label=f"{name} model, after")
    size = 1e3 * np.sqrt(np.mean(found.results["elastic"].residuals_before["cell"] ** 2, axis=1))
    axes[0, 0].semilogy(size, ".-", color="C0", lw=0.8, label="before")
    axes[0, 0].axhline(1e3 * NOISE, color="0.3", ls="--", label="noise of the cameras")
    axes[0, 0].set(xlabel="pose", ylabel="rms of a coordinate [mm]", title="What the model does not explain")
    axes[0, 0].legend(fontsize=8)
    return figure


# ---------------------------------------------------------------------------------------------------- words
def report(found: Outcome) -> str:
    rows = [
        (name, *(f"{1e3 * x:.3f}" for x in (e.mean(), np.sqrt(np.mean(e**2)), e.max(), found.turns[name].mean())),
         f"{e.mean() / found.repeatability:.2f}")
        for name, e in found.errors.items()
    ]  # fmt: skip
    elastic = found.results["elastic"]
    springs = [n for n in elastic.parameters if n.endswith("stiffness")]
    stiff = [
        (n, f"{elastic[n]:.3g}", f"{elastic.standard_deviations[elastic.parameters.index(n)]:.2g}") for n in springs
    ]
    head = ("commands from", "mean [mm]", "rms [mm]", "largest [mm]", "turn [mrad]", "x repeatability")
    return "\n".join(
        [
            "Calibration of a robot like the KUKA KR2000 [H04 5.3]: dimensions, masses and errors are ours\n",
            f"{len(found.q)} poses with {len(MARKERS)} markers: {found.iso} of ISO 9283, {len(found.q) - found.iso} by "
            f"observability; noise of the cameras {1e3 * NOISE:.2f} mm",
            f"repeatability of the real robot (ISO 9283, 10 approaches): {1e3 * found.repeatability:.3f} mm\n",
            f"absolute accuracy at {len(found.targets)} targets that were not measured:",
            table(head, rows),
            "",
            *(
                f"{name} model: {len(r.parameters)} unknowns, residuals "
                f"{1e3 * np.sqrt(np.mean(r.residuals['cell'] ** 2)):.3f} "
                f"mm, noise of the cameras and the joints; poses left out {r.cross_validation['cell']:.2f} of that"
                for name, r in found.results.items()
            ),
            "",
            "not identified:",
            *(f"  {words}" for words in elastic.unidentifiable),
            "",
            table(("spring [N m/rad]", "found", "deviation"), stiff),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    options = with_samples("calibration", __doc__, 200, "test targets", arguments)
    with Stages(5, options.quiet) as stage:
        found = outcome(options.samples, stage=stage)
    print(report(found))
    figures = {"poses": figure_poses, "accuracy": figure_accuracy, "residuals": figure_residuals}
    say_figures([save(draw(found), options, f"calibration_{name}") for name, draw in figures.items()])
    path = found.results["elastic"].report().save(options.out / "calibration_report.html")
    print(f"report: {path.resolve()}")


if __name__ == "__main__":
    main()
