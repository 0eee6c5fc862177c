"""Inverse dynamics of the KUKA LWR 4+ along the trajectory of WM15 (28)-(29), section 4.2: torques for 14 s, a table
and a figure.

./run demo [--samples N] [--out FOLDER] [--quiet]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import gyrostat as gs

DURATION = 14.0  # s


def trajectory(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (N, 7): every joint moves by pi/2 cos(pi t / 7) [WM15 (28), (29)]."""
    w, ones = np.pi / 7.0, np.ones((1, 7))
    s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
    return np.pi / 2 * c * ones, -np.pi / 2 * w * s * ones, -np.pi / 2 * w**2 * c * ones


def torques(samples: int, quiet: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) and torques (N, 7) [N m], with a progress bar."""
    from rich.progress import track

    solver = gs.InverseDynamics(gs.robots.kuka_lwr4())
    t = np.linspace(0.0, DURATION, samples)
    blocks = np.array_split(np.arange(samples), 40)
    torques = [
        solver(*trajectory(t[k])) for k in track(blocks, "inverse dynamics", disable=quiet, transient=True) if k.size
    ]
    return t, np.concatenate(torques)


def table(t: np.ndarray, tau: np.ndarray) -> str:
    """Torques every two seconds."""
    head = "t [s]  " + "".join(f"{f'tau{j} [N m]':>14}" for j in range(1, 8))
    wanted = [int(np.argmin(np.abs(t - s))) for s in np.arange(0.0, DURATION + 1.0, 2.0)]
    return "\n".join([head, *(f"{t[k]:5.2f}  " + "".join(f"{x:14.6f}" for x in tau[k]) for k in dict.fromkeys(wanted))])


def figure(t: np.ndarray, tau: np.ndarray, path: Path) -> None:
    """All seven torques over time, each with its own scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(4, 2, figsize=(10, 10), sharex=True, constrained_layout=True)
    for j, ax in enumerate(axes.flat):
        if j == 7:
            ax.axis("off")
            continue
        ax.plot(t, tau[:, j], lw=1.5)
        ax.axvline(DURATION / 2, color="0.7", lw=0.8, ls="--")
        ax.set_title(f"joint q{j + 1}")
        ax.set_ylabel("torque [N m]")
        ax.grid(alpha=0.3)
        if j >= 5:
            ax.set_xlabel("time [s]")
            ax.xaxis.set_tick_params(labelbottom=True)
    fig.suptitle("KUKA LWR 4+: inverse dynamics along q = pi/2 cos(pi t / 7)\n(dashed: axis of symmetry, t = 7 s)")
    fig.savefig(path, dpi=120)
    plt.close(fig)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--samples", type=int, default=701, help="number of times, 2 at least (default: one every 20 ms)"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    if options.samples < 2:
        parser.error(f"--samples must be 2 or more, got {options.samples}")
    t, tau = torques(options.samples, options.quiet)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "lwr_inverse_dynamics.png"
    figure(t, tau, path)
    print("KUKA LWR 4+, inverse dynamics [WM15 4.2], gravity (0, -9.81, 0) m/s^2\n")
    print(table(t, tau))
    print(f"\nsymmetry about t = 7 s: max |tau(7 - s) - tau(7 + s)| = {np.abs(tau - tau[::-1]).max():.1e} N m")
    print(f"figure: {path.resolve()}")


if __name__ == "__main__":
    main()
