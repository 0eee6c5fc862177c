"""Solvers: what is computed for a model, behind one interface.

Imports point one way: machinery < kinematics < dynamics < builders < functions.

* ``machinery/``: what all solvers share: recording, calls, order of joints, live properties, derivatives, export, cache
* ``kinematics/``: frames and their Jacobians; ``inverse/``: configurations that bring a frame to a target
* ``dynamics/``: forces, accelerations, mass matrix, energies, derivatives, small motions, identification
* ``builders/``: from a specification, several answers together, a function of the user behind the interface
* ``functions``: the one-line functions ``gs.rnea(model, q, v, a)``"""
