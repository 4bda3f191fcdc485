"""Exit codes of the command line."""

from __future__ import annotations

SUCCESS = 0
FINDINGS = 1
"""Finished, with findings."""
NOTHING_READ = 2
"""Wrong usage, nothing that could be read, or an output that could not be written."""
INCOMPLETE = 3
"""Finished, but something could not be read whole, compared or converted."""
INTERNAL_ERROR = 70
"""A bug of fastdump; EX_SOFTWARE of sysexits.h."""
SIGNALLED = 128
"""What shells add to the number of a signal that ended a program."""
INTERRUPTED = 130
"""Of commands that were ended by any signal; finished results have been printed or written.

`main` puts 128 + the number of the signal in its place: 130 is SIGINT, 143 SIGTERM, 129 SIGHUP.
"""
BROKEN_PIPE = 141
"""128 + SIGPIPE; the reader of the output, such as `head`, went away."""
