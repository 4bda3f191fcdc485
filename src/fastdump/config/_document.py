"""An acl.json as a JSON document: size, nesting, encoding and syntax, and places in the text."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastdump._words import config_catalogue as say
from fastdump.config._findings import Draft, Finding, Findings, Place
from fastdump.config._json_places import find_places
from fastdump.config._json_text import Json, JsonSyntaxError, read_json, repeated_keys

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_NESTING = 10
# The depth to which values may nest. The vendor's count is no bound, for strings mislead it.
MAX_DEPTH = 100

# A hostile file may repeat a million keys.
_MAX_REPEATED_KEYS = 100

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """A text and its value.

    Attributes
    ----------
    text
        The text up to the first byte that is not UTF-8, without a byte order mark.
    value
        The value; None if the text is not JSON.
    mark_nbytes
        Size of the byte order mark.
    """

    text: str = ""
    value: Json = None
    mark_nbytes: int = 0

    def findings(self, drafts: Sequence[Draft]) -> tuple[Finding, ...]:
        """Return findings with their places."""
        places = find_places(self.text, {draft.path for draft in drafts})
        return tuple(
            replace(draft.finding, place=self._place(draft.finding.place.path, index))
            for draft in drafts
            for index in [places[draft.path] if draft.index is None else draft.index]
        )

    def _place(self, path: str, index: int | None) -> Place:
        if index is None:
            return Place(path)
        before = self.text[:index]
        line, column = before.count("\n") + 1, index - before.rfind("\n")
        return Place(path, line, column, self.mark_nbytes + len(before.encode()))


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file, at most one more than an acl.json may have.

    Raises
    ------
    OSError
        If the file cannot be read, or is not a regular file, which the vendor's code refuses too.
    """
    # The kind of file is checked first, because opening a pipe would wait for its writer.
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    with Path(path).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def read_document(data: bytes, findings: Findings) -> Document | None:
    """Return the document in `data`; None if it is refused before it is parsed.

    Parameters
    ----------
    data
        The bytes of a file.
    findings
        Receives errors and warnings.
    """
    if len(data) > MAX_FILE_BYTES:
        findings.error("file-size", (), say.TOO_MANY_BYTES(most=MAX_FILE_BYTES))
        return None
    data, nul, unread = data.partition(b"\0")
    braces, brackets, depth = _nesting(data)
    for nests, nesting in ((say.OBJECTS_NEST, braces), (say.ARRAYS_NEST, brackets)):
        if nesting > MAX_NESTING:
            findings.error("nesting", (), nests(n=nesting, most=MAX_NESTING))
    if findings.refused:
        return None
    mark_nbytes = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    try:
        text = data[mark_nbytes:].decode()
    except UnicodeDecodeError as error:
        return _undecodable(data, mark_nbytes, error, findings)
    if nul:
        findings.warning("nul", (), say.ENDS_AT_NUL(n=len(unread)), index=len(text))
    try:
        if depth > MAX_DEPTH:
            raise JsonSyntaxError(say.VALUES_NEST(n=depth, most=MAX_DEPTH), 0)
        value = read_json(text)
    except JsonSyntaxError as error:
        findings.error("syntax", (), error.reason, index=error.index)
        return Document(text, None, mark_nbytes)
    for path in islice(repeated_keys(value), _MAX_REPEATED_KEYS):
        findings.warning("duplicate-key", path, say.KEY_REPEATED())
    return Document(text, value, mark_nbytes)


def _nesting(data: bytes) -> tuple[int, int, int]:
    """Return how deep braces nest, how deep brackets nest, and how deep both nest together.

    The first two numbers are those that the vendor's code counts, with braces and brackets in
    strings. The third leaves out those in strings.
    """
    # Without escapes, every quotation mark begins or ends a string.
    without_escapes = data.replace(rb"\\", b"").replace(rb"\"", b"")
    characters = np.frombuffer(without_escapes, np.uint8)
    braces, brackets = (
        (characters == opening).astype(np.int8) - (characters == closing)
        for opening, closing in (b"{}", b"[]")
    )
    is_outside = ~np.logical_xor.accumulate(characters == ord('"'))
    return _depth(braces), _depth(brackets), _depth((braces + brackets)[is_outside])


def _depth(steps: NDArray[np.int8]) -> int:
    """Return how deep brackets nest; an opening bracket is 1, a closing one -1."""
    # A closing bracket without an opening one does not count.
    depth = np.cumsum(steps, dtype=np.int32)
    floor = np.minimum.accumulate(np.minimum(depth, 0))
    return int((depth - floor).max(initial=0))


def _undecodable(
    data: bytes, mark_nbytes: int, error: UnicodeDecodeError, findings: Findings
) -> Document:
    text = data[mark_nbytes : mark_nbytes + error.start].decode()
    byte = data[mark_nbytes + error.start]
    findings.error("encoding", (), say.NOT_UTF8(byte=f"0x{byte:02x}"), index=len(text))
    return Document(text, None, mark_nbytes)
