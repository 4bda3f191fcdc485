r"""The file that a row's path names: bytes that are not UTF-8 are shown there as ``\xNN``."""

from __future__ import annotations

import os
import re

_ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")


def unescaped(name: bytes) -> bytes:
    r"""Return a name as it was before bytes that are not UTF-8 were shown as ``\xNN``."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), name)


def row_path(root: str, shown: str) -> str:
    """Return what opens the file of a row.

    Parameters
    ----------
    root
        What the row's path is relative to; empty for nothing.
    shown
        The path in the row.
    """
    path = os.path.join(root, shown)  # noqa: PTH118
    encoded = os.fsencode(shown)
    # A name may really hold a backslash: what exists as it is shown is not looked for elsewhere.
    if not _ESCAPED.search(encoded) or os.path.lexists(path):
        return path
    return os.path.join(root, os.fsdecode(unescaped(encoded)))  # noqa: PTH118
