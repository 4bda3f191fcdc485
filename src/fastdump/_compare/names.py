"""Names of operators made comparable, without what versions, frameworks and file names change."""

from __future__ import annotations

import functools
import re

from fastdump import _op_name

_SEPARATORS = re.compile(r"[\s./\\_:\-]+")
# Names of wrappers around a model, which one run may have and the other lack.
_WRAPPERS = frozenset(
    ("model", "module", "default", "network", "net", "backbone", "graph", "main", "root", "self")
)
_SUBGRAPH = re.compile(r"^partition\d+_rank\d+_new_sub_graph\d+_(?:sgt_graph_\d+_)?")
_SLICE = re.compile(r"_lxslice\d+$")
_COUNTER = re.compile(r"(?:op)?\d+")
_CONVERTED = re.compile(r"\.(?:input|output|space|l1buffer)\.\d+(?:\..*)?\.npy$")
_DIGITS_AT_END = re.compile(r"\d+$")
_MAX_DIGITS = 18


@functools.lru_cache(maxsize=1 << 16)
def in_file_name(name: str | None) -> str | None:
    """Return `name` as file names spell it."""
    return None if name is None else _op_name.in_file_name(name)


def dump_file_name(path: str | None) -> str | None:
    """Return the name of a dump file, or of the dump file that a file was converted from."""
    return None if path is None else _CONVERTED.sub("", path.rpartition("/")[2])


@functools.lru_cache(maxsize=1 << 16)
def tokens(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without their separators."""
    plain = _SLICE.sub("", _SUBGRAPH.sub("", name))
    return tuple(word for word in _SEPARATORS.split(plain.lower()) if word)


@functools.lru_cache(maxsize=1 << 16)
def normalised(name: str | None) -> str | None:
    """Return `name` without leading wrappers and with ``_`` as the only separator.

    >>> normalised("model.layers.3/Add")
    'layers_3_add'
    """
    if name is None:
        return None
    words = tokens(name)
    n_wrappers = 0
    while n_wrappers < len(words) - 1 and words[n_wrappers] in _WRAPPERS:
        n_wrappers += 1
    return "_".join(words[n_wrappers:]) or None


@functools.lru_cache(maxsize=1 << 16)
def without_counter(name: str | None) -> str | None:
    """Return a normalised `name` without the number that tells operators of one kind apart.

    >>> without_counter("Default/network/Add-op17")
    'add'
    """
    words = (normalised(name) or "").split("_")
    while len(words) > 1 and _COUNTER.fullmatch(words[-1]):
        words.pop()
    words[-1] = _DIGITS_AT_END.sub("", words[-1]) or words[-1]
    return "_".join(words) or None


@functools.lru_cache(maxsize=1 << 16)
def counter_of(name: str | None) -> int | None:
    """Return the number that `without_counter` takes away; None if there is none.

    >>> counter_of("model.layers.1.self_attn/mm_111")
    111
    """
    found = _DIGITS_AT_END.search((name or "")[-_MAX_DIGITS:])
    return None if found is None else int(found[0])
