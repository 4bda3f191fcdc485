"""``dump_path``: whether it is remote, which characters are allowed in it, whether it exists."""

from __future__ import annotations

import os
import re
import stat
import string
from pathlib import Path

from fastdump._words import config_catalogue as say
from fastdump._words.sentence import Sentence

MAX_PATH_BYTES = 512

_ALLOWED = frozenset(string.ascii_letters + string.digits + "-=[];\\,./!@#$%^&*()_+{}:?")
# What std::stoi reads; it ignores what follows.
_LEADING_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]+)")


def split_remote(path: str) -> tuple[str, str] | None:
    """Return host and path if the vendor's code takes `path` for ``ip:path``, else None.

    The vendor's code reads numbers leniently: it ignores what follows the leading digits.
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
    # int() refuses a number with too many digits, so they are counted before.
    return len(digits) <= 3 and int(digits) <= (0 if match[1] == "-" else 255)


def forbidden_characters(path: str) -> str:
    """Return the distinct characters of `path` that the vendor's code does not allow, sorted."""
    return "".join(sorted(set(path) - _ALLOWED))


def disk_problem(path: str) -> Sentence | None:
    """Return why this process could not dump into a local `path`; None if it could."""
    # C ends a path at the first NUL.
    local = path.partition("\0")[0]
    try:
        status = Path(local).stat() if local else None
    except (OSError, ValueError):
        status = None
    if status is None:
        return say.PATH_MISSING if local.startswith("/") else say.RELATIVE_PATH_MISSING
    if not stat.S_ISDIR(status.st_mode):
        return say.PATH_NOT_DIRECTORY
    if not os.access(local, os.R_OK | os.W_OK):
        return say.PATH_NOT_USABLE
    return None
