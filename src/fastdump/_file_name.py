"""What the name of a file has in the place of characters that names of operators may hold."""

from __future__ import annotations

_REPLACED = str.maketrans(dict.fromkeys(" ./\\", "_"))


def in_file_name(op_name: str) -> str:
    """Return an operator's name as it is in the name of a file."""
    return op_name.translate(_REPLACED)
