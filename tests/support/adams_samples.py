"""Figures of all 28 histories at 1, 2.5 and 5 s, as MSC ADAMS has printed them (numbers below 1e-9 are 0).

Source: unit tests of projectchrono/chrono, commit 7689fbc, data/testing/joints/*/*_ADAMS_*.txt (BSD-3). Each line:
case, t [s], position of the centre of mass [m], force [N] and torque [N m] on the ground at its marker; of the actuator
the force that it exerts on the body, and the torque of its prismatic joint on the ground.
"""

from __future__ import annotations

import numpy as np

from tests.support.adams_cases import CASES

COLUMNS = {"revolute-spherical": ("Rforce_Body1", "Rtorque_Body1"), "actuator": ("RforceA", "RtorqueP")}
"""Where the names are not Rforce and Rtorque."""
TWINS = {"TranSpringCB_Case01": "TranSpring_Case01", "TranSpringCB_Case02": "TranSpring_Case02"}
"""Histories that are the same numbers."""
TEXT = """
Revolute_Case01     1.0 -0.892381 0 -1.78988 -11.4612 0 -23.2273 0 0 0
Revolute_Case01     2.5 -0.265506 0 -1.9823 -3.77661 0 -28.4357 0 0 0
Revolute_Case01     5.0 -1.99968 0 -0.0355587 -0.510225 0 -0.248259 0 0 0
Revolute_Case02     1.0 1.0421 3.4139 1.5861 0.427164 9.56081 -19.3673 -13.8654 0.206446 -0.206446
Revolute_Case02     2.5 -0.846888 2.54268 2.45732 -7.19193 -2.67074 -7.13638 -5.32214 -9.05632 9.05632
Revolute_Case02     5.0 1.20996 3.4064 1.5936 2.11895 9.40977 -19.2164 -13.792 1.0295 -1.0295
Spherical_Case01    1.0 -0.892369 0 -1.78988 -11.4609 0 -23.227 0 0 0
Spherical_Case01    2.5 -0.265279 0 -1.98233 -3.77304 0 -28.4336 0 0 0
Spherical_Case01    5.0 -1.99967 0 -0.0361929 -0.511671 0 -0.248448 0 0 0
Spherical_Case02    1.0 0.107619 2 1.21012 -11.4613 1.02227e-05 -23.2273 0 0 0
Spherical_Case02    2.5 0.734494 2 1.0177 -3.77661 -9.69627e-06 -28.4358 0 0 0
Spherical_Case02    5.0 -0.999684 2 2.96444 -0.510211 8.33421e-06 -0.248253 0 0 0
Universal_Case01    1.0 0 -0.892369 -1.78988 0 -11.4609 -23.227 0 0 0
Universal_Case01    2.5 0 -0.265279 -1.98233 0 -3.77304 -28.4336 0 0 0
Universal_Case01    5.0 0 -1.99967 -0.0361929 0 -0.511669 -0.248448 0 0 0
Universal_Case02    1.0 0.892369 0 -1.78988 11.4609 0 -23.227 0 0 0
Universal_Case02    2.5 0.265279 0 -1.98233 3.77304 0 -28.4336 0 0 0
Universal_Case02    5.0 1.99967 0 -0.0361929 0.511671 0 -0.248448 0 0 0
Universal_Case03    1.0 -0.63624 -0.614073 -1.79391 -7.94349 -7.92297 -23.3034 0.00107918 -0.381743 -0.270696
Universal_Case03    2.5 -0.206772 -0.190945 -1.9801 -2.72781 -2.77505 -28.2075 0.0841253 -0.151411 -0.166549
Universal_Case03    5.0 -1.43495 -1.39257 -0.041018 -0.416737 -0.40461 -0.251164 -0.00511434 -0.00514269 -2.00451e-05
Cylindrical_Case01  1.0 2 0 -4.90332 0 0 0 0 0 0
Cylindrical_Case01  2.5 2 0 -30.6458 0 0 0 0 0 0
Cylindrical_Case01  5.0 2 0 -122.583 0 0 0 0 0 0
Cylindrical_Case02  1.0 -0.892381 0 -1.78988 -11.4612 0 -23.2273 0 0 0
Cylindrical_Case02  2.5 -0.265506 0 -1.9823 -3.77661 0 -28.4358 0 0 0
Cylindrical_Case02  5.0 -1.99968 0 -0.0355587 -0.510231 0 -0.248259 0 0 0
Cylindrical_Case03  1.0 1.0421 0.962238 -0.865563 0.427153 14.4646 -14.4646 70.9248 -1.04724 1.04724
Cylindrical_Case03  2.5 -0.846888 -12.7802 -12.8656 -7.19188 2.23283 -2.23283 68.4267 110.2 -110.2
Cylindrical_Case03  5.0 1.20996 -57.8852 -59.698 2.11887 14.3128 -14.3128 1754.5 -129.869 129.869
Prismatic_Case01    1.0 2 0 -4.90332 0 0 0 0 0 0
Prismatic_Case01    2.5 2 0 -30.6458 0 0 0 0 0 0
Prismatic_Case01    5.0 2 0 -122.583 0 0 0 0 0 0
Prismatic_Case02    1.0 3 -0.451662 0.548338 0 4.90332 -4.90332 24.0426 9.80665 9.80665
Prismatic_Case02    2.5 3 -13.3229 -12.3229 0 4.90332 -4.90332 150.266 9.80665 9.80665
Prismatic_Case02    5.0 3 -59.2916 -58.2916 0 4.90332 -4.90332 601.064 9.80664 9.80664
Prismatic_Case03    1.0 3 2 3 0 0 -9.80665 0 19.6133 0
Prismatic_Case03    2.5 3 2 3 0 0 -9.80665 0 19.6133 0
Prismatic_Case03    5.0 3 2 3 0 0 -9.80665 0 19.6133 0
Distance_Case01     1.0 0 -0.956545 -1.756423 0 -12.35703 -22.69017 0 0 0
Distance_Case01     2.5 0 -0.07453383 -1.998611 0 -1.095646 -29.37955 0 0 0
Distance_Case01     5.0 0 -1.999998 -0.002779575 0 -0.04099856 -5.697934e-05 0 0 0
Distance_Case02     1.0 0.2110285 2.771399 -0.1183646 0.4166617 0.1081177 -1.182809 0 0 0
Distance_Case02     2.5 2.439854 0.5960968 2.308729 0.1602826 0.05598839 -0.1177532 0 0 0
Distance_Case02     5.0 0.3652558 2.66491 -0.7909707 -0.537911 9.010248 -25.02392 0 0 0
Distance_Case03     1.0 0 1.588488 -3.670108 0 11.79422 -25.75644 0 0 0
Distance_Case03     2.5 0 -3.999212 -0.0766786 0 -1.251283 -0.01753966 0 0 0
Distance_Case03     5.0 0 3.955759 -0.3015866 0 0.948915 -0.1964742 0 0 0
RevSpherical_Case01 1.0 0.775822 0.805022 -1.08047 0.197422 -0.832747 -0.909302 -1.76956 -0.419514 0
RevSpherical_Case01 2.5 -0.318957 1.78088 -0.438837 0.0183622 -0.00612985 -0.261547 -0.165639 -0.496176 0
RevSpherical_Case01 5.0 -1.32782 1.24003 -1.28683 -0.000104601 -0.162916 -1.02194 -2.04388 0.00131228 0
RevSpherical_Case02 1.0 1.64652 2.95968 0.284272 -0.128015 -0.178968 -0.63634 -1.07209 -0.300068 0.300068
RevSpherical_Case02 2.5 -0.0355264 2.82599 1.96207 0.079794 -0.129537 -0.155944 0.0919939 -0.277971 0.277971
RevSpherical_Case02 5.0 0.0628772 5.28335 1.65208 -5.62225 58.2866 -2.32401 78.4707 7.27895 -7.27895
LinActuator_Case01  1.0 0 0 1 0 0 9.80665 0 0 0
LinActuator_Case01  2.5 0 0 2.5 0 0 9.80665 0 0 0
LinActuator_Case01  5.0 0 0 5 0 0 9.80665 0 0 0
LinActuator_Case02  1.0 0.353553 0 0.353553 4.903325 0 4.903325 0 3.46717 0
LinActuator_Case02  2.5 0.883883 0 0.883883 4.903325 0 4.903325 0 8.66794 0
LinActuator_Case02  5.0 1.76777 0 1.76777 4.903325 0 4.903325 0 17.3359 0
RotSpring_Case01    1.0 1.994921 0 -0.1424453 0.1710964 0 -7.811281 0 15.45839 0
RotSpring_Case01    2.5 1.990319 0 -0.1965414 0.009909953 0 -9.728362 0 19.35666 0
RotSpring_Case01    5.0 1.990439 0 -0.1953254 -0.002108525 0 -9.828137 0 19.5638 0
RotSpring_Case02    1.0 1.804202 0 -0.8630493 -0.8843338 0 -11.84937 0 22.25312 0
RotSpring_Case02    2.5 1.871598 0 -0.7050667 -0.1812868 0 -10.28674 0 19.40613 0
RotSpring_Case02    5.0 1.882432 0 -0.6756116 0.008265755 0 -9.783619 0 18.41019 0
TranSpring_Case01   1.0 0 0 -1.74502 0 0 -17.4371 0 0 0
TranSpring_Case01   2.5 0 0 -0.953206 0 0 -10.3643 0 0 0
TranSpring_Case01   5.0 0 0 -1.26242 0 0 -12.6002 0 0 0
TranSpring_Case02   1.0 0 -0.5973274 -2.189069 0 -6.94731 -25.4603 0 0 0
TranSpring_Case02   2.5 0 -0.9805595 -1.992887 0 -10.58429 -21.51149 0 0 0
TranSpring_Case02   5.0 0 -1.945198 -0.767401 0 -6.49326 -2.561659 0 0 0
TranSpringCB_Case03 1.0 -0.5266615 3.486916 -1.046425 -15.52339 13.82865 -29.16117 0 0 0
TranSpringCB_Case03 2.5 3.533851 -0.4973384 1.654916 1.729246 -0.7530162 -0.9479602 0 0 0
TranSpringCB_Case03 5.0 -1.444917 4.419559 1.322425 -1.556888 1.060104 -0.3315315 0 0 0
TranSpringCB_Case04 1.0 0 2.100738 -3.874815 0 11.40569 -21.48817 0 0 0
TranSpringCB_Case04 2.5 0 -3.974916 -0.2684079 0 -0.3117505 -0.06470214 0 0 0
TranSpringCB_Case04 5.0 0 3.974236 -0.5858086 0 0.914778 -0.1775309 0 0 0
"""


def samples(case: str) -> tuple[list[int], dict[str, np.ndarray]]:
    """Numbers of the samples in ``adams_histories.TIMES``, and columns (3, 3)."""
    words = [line.split() for line in TEXT.splitlines() if line.startswith(TWINS.get(case, case) + " ")]
    table = np.array([[float(x) for x in line[1:]] for line in words])
    names = ("Pos", *COLUMNS.get(CASES[case].kind, ("Rforce", "Rtorque")))
    return [round(100 * t) for t in table[:, 0]], dict(zip(names, np.split(table[:, 1:], 3, axis=1), strict=True))
