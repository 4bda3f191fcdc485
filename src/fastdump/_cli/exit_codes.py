"""Exit codes of the command line."""

from __future__ import annotations

SUCCESS = 0
FINDINGS = 1
"""Finished, and found what it was asked to look for."""
NOTHING_READ = 2
"""Wrong usage, or nothing that could be read."""
INCOMPLETE = 3
"""Finished, but some files could not be read."""
INTERRUPTED = 130
"""128 + SIGINT; what was finished has been printed or written."""
BROKEN_PIPE = 141
"""128 + SIGPIPE: the reader of the output went away, as `head` does."""
