"""Names of operators that may have been meant by a text that names none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fastdump import _core
from fastdump._op_name import in_file_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"[^_*?\[\]]+")
_MOST_NAMES = 20_000
"""Words are taken from so many names, spread over all: layers have the same words."""
_MOST_ASKED = 8
"""Only so many of the last words of a text are looked for."""
_MOST_WORDS = 3_000
"""Comparing two words takes about ten microseconds."""
_LIKENESS = 0.6


def near_names(text: str, op_names: Iterable[str], most: int = 3) -> list[str]:
    """Return some names that are near to a text: a name, or a shell pattern.

    Each word of the text is looked for in the names, and if it is in none, the word most like it.
    Case does not matter. The result has the names with most of these words, and at least half of
    them. A million names take about a second.

    Parameters
    ----------
    text
        What was asked for.
    op_names
        All names, or types, of operators.
    most
        How many names are returned at most.
    """
    names = list(dict.fromkeys(op_names))
    lower = [in_file_name(name).lower() for name in names]
    spread = lower[:: len(lower) // _MOST_NAMES + 1]
    known = {word for name in spread for word in _WORD.findall(name)}
    words = _WORD.findall(in_file_name(text).lower())[-_MOST_ASKED:]
    meant = [_meant(word, known) for word in words]
    n_found = sum((_contain(word, lower) for word in meant if word), np.zeros(len(names), np.int64))
    most_found = int(n_found.max(initial=0))
    if most_found == 0 or 2 * most_found < len(meant):
        return []
    found = [names[i] for i in np.flatnonzero(n_found == most_found)]
    pattern = "*".join(["", *filter(None, meant), ""])
    in_order = _core.match_op_names([pattern], [name.lower() for name in found])
    # A misspelt name has about the length of the right one.
    ranked = sorted(
        (not is_it, abs(len(name) - len(text)), name)
        for name, is_it in zip(found, in_order, strict=True)
    )
    return [name for *_, name in ranked[:most]]


def _contain(word: str, names: Iterable[str]) -> NDArray[np.int64]:
    if _is_whole(word):
        return np.array([f"_{word}_" in f"_{name}_" for name in names], np.int64)
    return np.array([word in name for name in names], np.int64)


def _meant(word: str, known: set[str]) -> str:
    """Return the word if names have it, else the known word that is most like it; '' if none is."""
    if word in known:
        return word
    if _is_whole(word):
        return ""
    if any(word in other for other in known):
        return word
    alike = sorted(known, key=lambda other: (abs(len(other) - len(word)), other))[:_MOST_WORDS]
    return next(iter(difflib.get_close_matches(word, alike, 1, _LIKENESS)), "")


def _is_whole(word: str) -> bool:
    """Tell whether a word counts only as a whole: 2 is not in V2, nor near 3."""
    return word.isdecimal() or len(word) == 1
