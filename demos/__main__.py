"""python -m demos [NAME] [arguments]: an experiment of :data:`demos.DEMOS`; without a name, a short demonstration."""

from __future__ import annotations

import importlib
import sys
from difflib import get_close_matches

from demos import DEMOS, lwr_inverse_dynamics


def usage() -> str:
    width = max(map(len, DEMOS))
    return "\n".join(
        [
            "usage: ./run demo [--samples N] [--out FOLDER] [--quiet]   torques of the KUKA LWR 4+, with a figure",
            "       ./run demo NAME [--out FOLDER] [--quiet] [...]      an experiment; NAME --help tells its options",
            "",
            *(f"  {name:{width}}  {text}" for name, text in DEMOS.items()),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in ("-h", "--help"):
        print(usage())
        return 0
    if not words or words[0].startswith("-"):
        lwr_inverse_dynamics.main(words)
        print(f"more: ./run demo {' | '.join(DEMOS)}")
        return 0
    name, *rest = words
    if name not in DEMOS:
        near = get_close_matches(name, DEMOS, 1)
        hint = f" Hint: did you mean {near[0]}?" if near else ""
        print(f"demo: there is no experiment {name!r}, expected one of: {', '.join(DEMOS)}.{hint}", file=sys.stderr)
        return 2
    try:
        importlib.import_module(f"demos.{name.replace('-', '_')}").main(rest)
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    except OSError as error:  # the folder of --out
        print(f"demo {name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
