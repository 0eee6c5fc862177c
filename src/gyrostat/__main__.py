"""``python -m gyrostat``: the command line."""

import sys

from gyrostat.cli import main

if __name__ == "__main__":
    sys.exit(main())
