"""An acl.json as far as every reader of JSON goes: size, nesting, encoding, syntax, places."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fastdump.config._findings import Draft, Finding, Findings, Place, path_text
from fastdump.config._json_text import (
    Json,
    JsonArray,
    JsonObject,
    JsonPath,
    JsonSyntaxError,
    read_json,
)

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_NESTING = 10

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """A text and its value.

    Attributes
    ----------
    text
        As far as it could be decoded.
    value
        None if the text is no JSON, or was not read.
    mark_nbytes
        Size of the byte order mark, which `text` does not have.
    """

    text: str = ""
    value: Json = None
    mark_nbytes: int = 0

    def finding(self, draft: Draft) -> Finding:
        """Return a finding with its place."""
        index = self._index(draft.path) if draft.index is None else draft.index
        place = Place(path_text(draft.path))
        if index is not None:
            before = self.text[:index]
            place = Place(
                place.path,
                line=before.count("\n") + 1,
                column=index - before.rfind("\n"),
                offset=self.mark_nbytes + len(before.encode()),
            )
        return Finding(draft.severity, draft.rule, draft.message, place, draft.code)

    def _index(self, path: JsonPath) -> int | None:
        """Return where the key or the element at `path` starts, or the last one above it."""
        value, index = self.value, None
        for step in path:
            if isinstance(step, str):
                if not isinstance(value, JsonObject) or step not in value:
                    break
                index, value = value.starts[step], value[step]
            else:
                if not isinstance(value, JsonArray) or step >= len(value):
                    break
                index, value = value.starts[step], value[step]
        return index


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file, at most one more than are allowed.

    Raises
    ------
    OSError
        If there is no such file, or it is no regular one, which the vendor's code refuses too.
    """
    # Looked at before it is opened: opening a pipe waits for its writer.
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    with Path(path).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def read_document(data: bytes, findings: Findings) -> Document | None:
    """Return the document in `data`; None, with the reason in `findings`, if there is none."""
    if len(data) > MAX_FILE_BYTES:
        findings.error("file-size", (), f"more than {MAX_FILE_BYTES:,} bytes")
        return None
    data, nul, unread = data.partition(b"\0")
    # The vendor's code counts brackets before it parses.
    characters = np.frombuffer(data, np.uint8)
    for kind, pair in (("objects", b"{}"), ("arrays", b"[]")):
        nesting = _nesting(characters, *pair)
        if nesting > MAX_NESTING:
            findings.error("nesting", (), f"{kind} nest {nesting:,} deep, {MAX_NESTING} at most")
    if findings.refused:
        return None
    mark_nbytes = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    try:
        text = data[mark_nbytes:].decode()
    except UnicodeDecodeError as error:
        return _undecodable(data, mark_nbytes, error, findings)
    if nul:
        message = f"the text ends at a NUL byte; {len(unread):,} bytes behind it are not read"
        findings.warning("nul", (), message, index=len(text))
    try:
        value, duplicates = read_json(text)
    except JsonSyntaxError as error:
        findings.error("syntax", (), str(error), index=error.index)
        return Document(text, None, mark_nbytes)
    for path, index in duplicates:
        message = "the key is repeated; its last value counts"
        findings.warning("duplicate-key", path, message, index=index)
    return Document(text, value, mark_nbytes)


def _nesting(data: np.ndarray[tuple[int], np.dtype[np.uint8]], opening: int, closing: int) -> int:
    """Return how deep brackets nest; one that closes nothing does not count."""
    steps = (data == opening).astype(np.int8) - (data == closing)
    depth = np.cumsum(steps, dtype=np.int32)
    floor = np.minimum.accumulate(np.minimum(depth, 0))
    return int((depth - floor).max(initial=0))


def _undecodable(
    data: bytes, mark_nbytes: int, error: UnicodeDecodeError, findings: Findings
) -> Document:
    text = data[mark_nbytes : mark_nbytes + error.start].decode()
    byte = data[mark_nbytes + error.start]
    findings.error("encoding", (), f"byte 0x{byte:02x} is not UTF-8 here", index=len(text))
    return Document(text, None, mark_nbytes)
