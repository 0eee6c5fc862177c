"""The command ``gyrostat``: one file for each group of commands, and ``command_line``, which runs them."""

from gyrostat.cli.command_line import main as main
