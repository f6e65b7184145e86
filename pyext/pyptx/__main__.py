"""python -m pyptx: the command pyptx."""

import sys

from pyptx.cli import main

sys.exit(main())
