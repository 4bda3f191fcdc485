"""Names of converted files: those of the vendor's converter, made of the dump file's own name.

A name is one component of a path, whatever headers say: nothing but the name that the file has on
disk, numbers and words of this package goes into it, with one exception that is checked
(`msnpy_stem`).
"""

from __future__ import annotations

import hashlib
import os

from fastdump._tensor import Tensor

NAME_MAX = 255
"""Bytes of a name that file systems take."""

_WORDS = {"input": "input", "output": "output", "buffer": "l1buffer", "space": "space"}
_STANDARD_PARTS = 5
_OP_NAME = 1  # its position among them


def tensor_part(tensor: Tensor, appended: int) -> str:
    """Return what tells the tensors of one file apart: ``.output.0``.

    The vendor has no name for tensors of a dump that was appended to another one; those of the
    first such dump are ``.output.0.appended1``.
    """
    return f".{_WORDS[tensor.io]}.{tensor.index}{appended_part(appended)}"


def appended_part(appended: int) -> str:
    """Return ``.appended1`` for the first dump that was appended to another, '' for that one."""
    return f".appended{appended}" if appended else ""


def shape_part(shape: tuple[int, ...]) -> str:
    """Return ``.2x19x3x5``; a scalar is named as a single element is."""
    return "." + ("x".join(map(str, shape)) or "1")


def msnpy_stem(file_name: str, op_name: str | None) -> str:
    """Return the dump's part of an msnpy name: the operator's name is its last component.

    That comes from the header. If it is not plain text without dots the file's name stays.
    """
    parts = file_name.split(".")
    last = (op_name or "").rpartition("/")[2]
    if len(parts) != _STANDARD_PARTS or not last.isprintable() or "." in last or not last:
        return file_name
    parts[_OP_NAME] = last
    return ".".join(parts)


def storable(name: str) -> str:
    """Return a name that file systems take: `name`, or digits and its suffix if it is too long.

    The digits depend on the name alone, so that a second run finds what the first one wrote.
    """
    encoded = os.fsencode(name)
    if len(encoded) <= NAME_MAX:
        return name
    key = int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest(), "little")
    # Readers take 10 to 32 digits for such a name.
    return f"{key:020d}{os.path.splitext(name)[1]}"  # noqa: PTH122
