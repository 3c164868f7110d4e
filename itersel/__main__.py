"""`python -m itersel` is the `itersel` command."""

import sys

from itersel.cli import main

sys.exit(main())
