"""``dump_path``: on which machine it lies, whether its characters pass, whether it can be used."""

from __future__ import annotations

import os
import re
import stat
import string
from pathlib import Path

MAX_PATH_BYTES = 512

_PASSING = frozenset(string.ascii_letters + string.digits + "-=[];\\,./!@#$%^&*()_+{}:?")
# What std::stoi takes; whatever follows does not matter to it.
_LEADING_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]+)")


def split_remote(path: str) -> tuple[str, str] | None:
    """Return host and path if the vendor's code takes `path` for ``ip:path``, else None.

    Its reading of numbers is lenient: whatever stands behind the leading digits is ignored.
    """
    host, colon, remainder = path.partition(":")
    if not colon or not remainder:
        return None
    octets = host.split(".")
    if octets[-1] == "":
        octets.pop()  # a dot at the end separates nothing
    return (host, remainder) if len(octets) == 4 and all(map(_is_octet, octets)) else None


def _is_octet(text: str) -> bool:
    match = _LEADING_INTEGER.match(text)
    if match is None:
        return False
    digits = match[2].lstrip("0") or "0"
    # Compared as text first: int() refuses digits without end.
    return len(digits) <= 3 and int(digits) <= (0 if match[1] == "-" else 255)


def failing_characters(path: str) -> str:
    """Return the distinct characters of `path` that the vendor's list does not have, sorted."""
    return "".join(sorted(set(path) - _PASSING))


def disk_problem(path: str) -> str | None:
    """Return why this process could not dump into a local `path`, None if it could."""
    # C ends a path at the first NUL.
    local = path.partition("\0")[0]
    try:
        status = Path(local).stat() if local else None
    except (OSError, ValueError):
        status = None
    if status is None:
        relative = "" if local.startswith("/") else ", relative to the current directory,"
        return f"does not exist{relative} on this machine"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory on this machine"
    if not os.access(local, os.R_OK | os.W_OK):
        return "may not be read and written by this user"
    return None
