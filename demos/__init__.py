"""Experiments of the source documents, one command each: ``./run demo NAME``, or ``python -m demos NAME``.

Each is a module of its name (with underscores) with ``main(arguments: list[str] | None = None) -> None``: it parses
its options (:mod:`demos.options`), shows progress, prints a short table, writes figures and says where they are.
"""

DEMOS = {
    "lwr": "inverse and forward dynamics of the KUKA LWR 4+ [WM15 4.2-4.4]",
    "hydraulic": "five-axis hydraulic manipulator: path, torques, closing valves, cylinders [G13 3, Figs. 3-5]",
    "trainer": "disorientation trainer: torques, and what its motors can do [KV IV-VI, Fig. 3]",
    "elastic": "seven axes with elastic gears: motor torques, against the rigid model [H04 5.1, Figs. 5.2-5.3]",
    "palletizer": "palletizing robot with two coupled loops: order of solution, torques, cost [H04 5.2, Figs. 5.4-5.5]",
    "palletizer-path": "the palletizing robot's fastest pick-and-place, within what its motors give [H04 5.2]",
    "gait": "a humanoid walks, statically stable: optimal control in two phases [H04 5.4, Fig. 5.9]",
    "aibo": "a four-legged robot trots: optimal control on point feet [H04 5.4]",
    "calibration": "large six-axis robot: poses, identification by cameras, corrected commands [H04 5.3]",
    "beam": "eigenfrequencies of beams by in-cut joints and by finite elements [AS 2.2, Table 1]",
    "flexible-robot": "three driven joints and two flexible links, 27 degrees of freedom [AS 3, Figs. 2-3]",
    "space-manipulator": "two long booms: small vibrations on the rigid motion, against the full one [AS 2.2]",
}
"""Names of the experiments, and what they show."""
