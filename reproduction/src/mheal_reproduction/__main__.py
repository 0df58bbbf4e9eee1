"""`python -m mheal_reproduction`."""

import sys

from .command import main

sys.exit(main())
