"""What drivers know of a plant: one array of 64-bit words with sizes, addresses of kernels, and addresses of their
inputs. Kernels take pointers, and return zero if all that they found is finite:

    LAW          (t, q, v, p, m, parameters, constants | tau, p_rate, work)
    FORWARD      (t, q, v, tau, directions, live | a, work)             accelerations, friction that slides included
    INVERSE      (t, q, v, a, directions, live | f, work)               Newton-Euler efforts less sliding friction
    SLOPES       (t, q, v, a, directions, live | f_q, f_v, M, work)     of these; f_q along the rates
    LAW_SLOPES   (t, q, v, p, m, parameters, constants | tau_q, tau_v, tau_p, p_q, p_v, p_p, work)
    CHART        (q0, x, v | q, x_rate, work)                           local coordinates around q0
    RETRACT      (q0, d | q, work)                                      ``gs.integrate``
    UPDATE       (t, q, v, p, m, parameters, constants | m_next, work)  of digital parts, at a sample
    CONSTRAIN    (t, q, v | a, work)                                    changes a by the forces of active constraints
    GUARDS       (t, q, v, p, m, constants | values, work)              functions of events
    MOMENTUM     (t, q, v, directions, live | p, g, M, M_rate, work)    p = M v, and forces g of discrete_mechanics
    RATES        (t, q, p, live | v, work)                              of momenta p
    CARRIED      (d, p, half | p0, p1, work)                            momenta at both ends of a displacement
    ARRIVAL      (d, v | d_rate, work)                                  rate of a displacement at its end
    PROJECT      (t, q, v | N, b, work)                                 active constraints that depend on q: see below
    MASS         (t, q, live | M, work)                                 mass matrix
    CLOSE        (t, q, live | d, work)                                 Newton step (nv,) towards closed loops
    CLOSED_RATES (t, q, v, live | v, work)                              rates without what opens loops
    LOOP_ROWS    (t, q, v, live | g, J, b, work)                        equations of loops: J v = 0, J a + b = 0
    MARGINS      (t, q, v, live | r, r', work)                          distances to the ends of closed forms, rates

Residuals r of inverse dynamics under active constraints are N r + (a - N a) + b, with N (nv, nv) = I - J^+ J and
b (nv,) = J^+ dJ/dt v at ``PROJECTOR`` and ``PROJECTOR_BIAS``; PROJECTOR is 0 if none is active.

Each may be machine code or a Python function behind the same address (:mod:`~gyrostat.simulate.kernels.callback`)."""

from __future__ import annotations

(
    NQ, NV, NP, NM, PLAIN, TURNING,  # sizes; whether q and v are alike; rotations
    LAW, FORWARD, INVERSE, SLOPES, LAW_SLOPES, CHART, RETRACT, UPDATE, CONSTRAIN, GUARDS,  # kernels
    MEMORY, PARAMETERS, CONSTANTS, DIRECTIONS, LIVE, GUARD_CONSTANTS,  # inputs that stay between events
    UPDATE_CONSTANTS, TIME, WORK,  # constants of the update; one double for the time; scratch of the kernels
    ANGULAR, SIZE_OF,  # words: first rate of each rotation; coordinate whose size counts for each rate, or -1
    ABORT,  # set by a Python function that has failed
    RHS_COUNT, RESIDUAL_COUNT, JACOBIAN_COUNT, OUTPUT_COUNT,  # evaluations
    NEW_MEMORY,  # where an update writes
    LAW_INPUT,
    MOMENTUM, RATES, CARRIED, ARRIVAL,  # kernels of discrete mechanics
    NUMBERS, NUMBER_COUNT,  # words: coordinate and rate of each number that is no part of a rotation
    TURNS,  # words of each rotation: its quaternion and its position in q, its angular and its linear rates in v; -1
    PROJECT, PROJECTOR, PROJECTOR_BIAS,  # of active constraints
    BY_ACCELERATIONS,  # 1 if accelerations are those of a user's block, which has no inverse dynamics
    MASS,
    CLOSE, CLOSED_RATES, LOOP_ROWS, LOOP_COUNT,  # of loops that are constraints; CLOSE is 0 if nothing is projected
    LOOP_WORK, LOOP_PROJECTOR,  # memory of residuals; 1 if loops are among the constraints of residuals
    LOOPS, BAUMGARTE,  # their memory, see loop_projection; CLOSE where accelerations draw loops together
    MARGINS, MARGIN_COUNT, MARGIN_MEMORY,  # of loops in closed form
    CONTACTS,  # words of closed contacts, see closed_contacts; 0 if there are none, or they are treated in Python
) = range(58)  # fmt: skip
WORDS_OF_A_PLANT = 60
