"""The kinds of reference frame that a context makes (H04 2.2.1.4); algorithms have a row for each."""


class FixedBase:
    """The reference frame of a context whose base is fixed."""


class FreeBase:
    """The reference frame with its conceptual six-degree-of-freedom joint."""


class DrivenBase:
    """The reference frame that moves as a given function of time."""
