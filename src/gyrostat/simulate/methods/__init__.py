"""Methods of time integration, one file each. ``METHODS`` holds them by name: every class in a file of this folder, or
of one inside it, that is derived from :class:`Method` and has a ``name`` of its own."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from inspect import isabstract

from gyrostat.simulate.methods.method import Method as Method
from gyrostat.simulate.methods.method import Step as Step
from gyrostat.simulate.methods.method import StepFailure as StepFailure

METHODS: dict[str, type[Method]] = {}

for _file in pkgutil.walk_packages(__path__, f"{__name__}."):
    for _value in vars(import_module(_file.name)).values():
        if (
            isinstance(_value, type)
            and issubclass(_value, Method)
            and "name" in vars(_value)
            and not isabstract(_value)
        ):
            METHODS[_value.name] = _value
