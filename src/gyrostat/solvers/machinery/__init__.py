"""What all solvers share.

Who derives from whom: every class is abstract (it has subclasses and is never built) or final (it is built and has
none), and between :class:`Solver` and a final class lie at most two others::

    Solver                          abstract: model, network, options, recording                    solver.py
    |-- ForwardKinematics           final
    `-- StateSolver                 abstract: one function of a state, ``compute``                  state_solver.py
        |-- InverseDynamics, ...    final: most solvers
        |-- OfFrame                 abstract: Jacobian, JacobianRate, ParameterJacobian             kinematics/
        |-- DerivativeSolver        abstract: derivatives of inverse and forward dynamics           dynamics/
        `-- RotorCouplingSolver     abstract: coupling for given rates, its coefficients            dynamics/

Everything else is composed: the order of joints is a :class:`JointOrder`, calls take their form from a function of
``call_signatures``, derivatives and exports are functions of a solver in files of their own.

Imports between the rooms of ``solvers`` point one way: machinery < kinematics < dynamics < builders < functions."""
