"""``python -m fastdump`` is the command line."""

from __future__ import annotations

import sys

from fastdump._cli import main

sys.exit(main())
