"""`python -m mheal` runs the command `mheal`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
