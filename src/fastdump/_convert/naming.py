"""Names of converted files, as the vendor's converter makes them from the dump file's own name.

A name is one component of a path, whatever headers say. It is made only of the name that the dump
file has on disk, numbers and words of this package; the one exception is checked (`msnpy_stem`).
"""

from __future__ import annotations

import hashlib
import os

from fastdump._tensor.tensor import Tensor

NAME_MAX = 255
"""Largest number of bytes of a name that file systems accept."""

_WORDS = {"input": "input", "output": "output", "buffer": "l1buffer", "space": "space"}
_STANDARD_PARTS = 5
_OP_NAME = 1  # its position among them


def tensor_part(tensor: Tensor, appended: int) -> str:
    """Return the part of a name that tells the tensors of one file apart: ``.output.0``.

    The vendor has no name for tensors of a dump that was appended to another one; those of the
    first such dump are ``.output.0.appended1``.
    """
    return f".{_WORDS[tensor.io]}.{tensor.index}{appended_part(appended)}"


def appended_part(appended: int) -> str:
    """Return ``.appended1`` for the first appended dump, '' for the dump that begins the file."""
    return f".appended{appended}" if appended else ""


def shape_part(shape: tuple[int, ...]) -> str:
    """Return ``.2x19x3x5``; a scalar is named as a single element is."""
    return "." + ("x".join(map(str, shape)) or "1")


def msnpy_stem(file_name: str, op_name: str | None) -> str:
    """Return a dump file's name with only the last component of the operator's name.

    That component comes from the header; if it is not plain text without dots, the name stays.
    """
    parts = file_name.split(".")
    last = (op_name or "").rpartition("/")[2]
    if len(parts) != _STANDARD_PARTS or not last.isprintable() or "." in last or not last:
        return file_name
    parts[_OP_NAME] = last
    return ".".join(parts)


def storable(name: str) -> str:
    """Return a name that file systems accept: `name`, or digits with its suffix if it is too long.

    The digits depend on the name alone, so that a second run finds what the first one wrote.
    """
    encoded = os.fsencode(name)
    if len(encoded) <= NAME_MAX:
        return name
    key = int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest(), "little")
    # Readers recognise 10 to 32 digits as such a name.
    return f"{key:020d}{os.path.splitext(name)[1]}"  # noqa: PTH122
