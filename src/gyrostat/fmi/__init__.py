"""Models and blocks as FMUs (Functional Mock-up Units, https://fmi-standard.org) for other tools: sources in C, the
description, a binary where a compiler is found.
FMUs of others come in as blocks: :func:`~gyrostat.fmi.controller.fmu_block`."""
