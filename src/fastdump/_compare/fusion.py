"""Operators that a compiler fused, found by the names of their parts or by their headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from fastdump._compare.names import in_file_name, tokens
from fastdump._tensor.dump_file import describe_file
from fastdump.errors import FastdumpError

_MAX_HEADERS = 20_000


def parts_of(fused: Iterable[str], others: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return for each joined name in `fused` the names in `others` that it begins and ends with.

    A compiler that fuses A, B and C calls the result ``A_B_C``: its inputs are those of A, its
    outputs those of C. A name that only begins, or only ends, with another one is not joined.
    """
    by_words = {tokens(name): name for name in others}
    found = {}
    for name in fused:
        words = tokens(name)
        first = next(
            (by_words[words[:i]] for i in range(len(words) - 1, 1, -1) if words[:i] in by_words),
            None,
        )
        last = next(
            (by_words[words[i:]] for i in range(1, len(words) - 1) if words[i:] in by_words), None
        )
        if first is not None and last is not None:
            found[name] = (first, last)
    return found


def original_outputs(outputs: Mapping[int, tuple[str, int]]) -> Iterator[tuple[int, str, int]]:
    """Yield for each output that stems from another operator that operator and the output's index.

    Parameters
    ----------
    outputs
        By row: the file, and the index of the output.

    Yields
    ------
    row, name, index
        `name` as file names spell it.
    """
    rows: dict[str, list[tuple[int, int]]] = {}
    for row, (path, index) in outputs.items():
        rows.setdefault(path, []).append((row, index))
    for path in list(rows)[:_MAX_HEADERS]:
        try:
            description = describe_file(path)
        except (FastdumpError, OSError):
            continue  # its rows say so already
        tensors = cast("list[dict[str, Any]]", description["tensors"])
        originals = {
            tensor["index"]: tensor["original_op"]
            for tensor in tensors
            if tensor["io"] == "output" and tensor["original_op"]
        }
        for row, index in rows[path]:
            original = originals.get(index)
            if original and original["name"]:
                yield row, in_file_name(original["name"]) or "", int(original["output_index"])
