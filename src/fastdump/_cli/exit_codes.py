"""Exit codes of the command line."""

from __future__ import annotations

SUCCESS = 0
FINDINGS = 1
"""Finished, with findings."""
NOTHING_READ = 2
"""Wrong usage, or nothing that could be read."""
INCOMPLETE = 3
"""Finished, but some files could not be read."""
INTERRUPTED = 130
"""128 + SIGINT; finished results have been printed or written."""
BROKEN_PIPE = 141
"""128 + SIGPIPE; the reader of the output, such as `head`, went away."""
