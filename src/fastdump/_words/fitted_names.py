"""Long names in few cells, of which the numbers and the operation stay.

A beginning that many names share, such as ``model.layers.``, is told once, and an ellipsis stands
for it. Then words go from the left on, each as a whole with what separates it from the next one:
``model.layers.3.mlp.experts.255.up_proj/MatMul`` is shown as ``…3.…255.up_proj/MatMul``. The
numbers, of a layer or an expert, and the last word, the operation, tell more than the rest.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

from rich.cells import cell_len

from fastdump._words.elision import elide_middle

_WORD = re.compile(r"[^./]*[./]?")
_FINE_WORD = re.compile(r"[^./_]*[./_]?")
# Of a layer, an expert, a block; longer numbers are times and the like.
_NUMBER = re.compile(r"(?!\d{5,}[./_]?$).*\d.*")
# What stands before the first word with a digit.
_HEAD = re.compile(r"(?:[^./_\d]+[./_])*")
_NOTHING: Set[str] = frozenset()

_MIN_SAVED = 4
"""Cells that a beginning must save at least to be told once."""

_MAX_LEAST = 40
"""Cells that a column of names asks for at most: paths would leave nothing for others."""


class FittedNames:
    """The names of one column, which may be empty and may repeat.

    Attributes
    ----------
    prefix
        What a leading ellipsis stands for; '' if no beginning is worth it.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(filter(None, names)))
        self.prefix = _shared_beginning(self._names)

    def width(self, ellipsis: str = "\u2026") -> int:
        """Return how many cells the names need if only the prefix goes."""
        n_saved = cell_len(self.prefix) - cell_len(ellipsis)
        widths = (
            cell_len(name) - (n_saved if self._has_prefix(name) else 0) for name in self._names
        )
        return max(widths, default=0)

    @cached_property
    def least(self) -> int:
        """How many cells keep numbers and operations, and different names different."""
        least = min(max(map(self._essential, self._names), default=0), _MAX_LEAST)
        most = min(self.width(), _MAX_LEAST)
        step = 1 + len(self._names) // 500  # many names take long
        while least < most and len(set(self.fitted(least).values())) < len(self._names):
            least += step
        return min(least, max(most, 1))

    def fitted(self, width: int, ellipsis: str = "\u2026") -> dict[str, str]:
        """Return each name in at most `width` cells."""
        shown = {name: self._fitted(name, width, ellipsis, _NOTHING) for name in self._names}
        for same in _shown_as_another(shown):
            words = [set(_words(name)) for name in same]
            common = set.intersection(*words)
            for name, of_name in zip(same, words, strict=True):
                shown[name] = self._fitted(name, width, ellipsis, of_name - common)
        return shown

    def _essential(self, name: str) -> int:
        """Return how many cells the numbers and the operation take."""
        has_prefix = self._has_prefix(name)
        words = _words(name[len(self.prefix) :] if has_prefix else name)
        last = len(words) - 1
        kept = {i for i, word in enumerate(words) if i == last or _NUMBER.fullmatch(word)}
        return cell_len(self._form(words, kept, "\u2026", has_prefix=has_prefix))

    def _has_prefix(self, name: str) -> bool:
        return bool(self.prefix) and name.startswith(self.prefix)

    def _fitted(self, name: str, width: int, ellipsis: str, telling: Set[str]) -> str:
        """Return the longest way to show a name that fits."""
        for form in self._forms(name, ellipsis, telling):
            if cell_len(form) <= width:
                return form
        return _shortest(_words(name)[-1], width, ellipsis)

    def _forms(self, name: str, ellipsis: str, telling: Set[str]) -> Iterator[str]:
        """Yield ways to show a name, each shorter than the one before it.

        The words in `telling` stay longer than other words without a number.
        """
        has_prefix = self._has_prefix(name)
        words = _words(name[len(self.prefix) :] if has_prefix else name)
        kept = set(range(len(words)))
        yield self._form(words, kept, ellipsis, has_prefix=has_prefix)
        for i in self._removable(words, telling, has_prefix=has_prefix):
            kept.discard(i)
            yield self._form(words, kept, ellipsis, has_prefix=has_prefix)

    def _removable(self, words: list[str], telling: Set[str], *, has_prefix: bool) -> list[int]:
        """Return which words may go, in this order: in the end, numbers from the right on."""
        before = range(len(words) - 1)
        numbers = [i for i in before if _NUMBER.fullmatch(words[i])]
        others = [i for i in before if i not in numbers]
        others.sort(key=lambda i: (i == 0 and not has_prefix, words[i] in telling, i))
        return others + numbers[::-1]

    def _form(self, words: list[str], kept: Set[int], ellipsis: str, *, has_prefix: bool) -> str:
        pieces = [ellipsis] if has_prefix else []
        is_elided = False
        for i, word in enumerate(words):
            if i in kept:
                pieces.append(word)
            elif not is_elided:
                # One ellipsis at the beginning would stand for the prefix.
                pieces.append(
                    ellipsis * 2 if i == 0 and self.prefix and not has_prefix else ellipsis
                )
            is_elided = i not in kept
        return "".join(pieces)


def _shared_beginning(names: list[str]) -> str:
    """Return the beginning that saves most cells, '' if none saves enough in two names."""
    saved: Counter[str] = Counter()
    for name in names:
        for beginning in _beginnings(name):
            saved[beginning] += cell_len(beginning) - 1
    best = max(saved, key=lambda beginning: (saved[beginning], len(beginning)), default="")
    n_cells = cell_len(best) - 1
    return best if n_cells >= _MIN_SAVED and saved[best] > n_cells else ""


def _beginnings(name: str) -> Iterator[str]:
    """Yield the beginnings of a name before its operation and all numbers."""
    before = "".join(_words(name)[:-1])
    match = _HEAD.match(before)
    assert match is not None  # it may be empty
    head = match[0]
    for i, character in enumerate(head[:-1], 1):
        if character in "./":
            yield head[:i]
    if head:
        yield head


def _words(name: str) -> list[str]:
    """Return the words of a name, each with the separator after it; the last is the operation."""
    separator = "/" if "/" in name else "."
    if separator not in name:  # as file names spell it
        return [word for word in _FINE_WORD.findall(name) if word]
    operation = name.rpartition(separator)[2]
    before = name[: len(name) - len(operation)]
    return [*(word for word in _WORD.findall(before) if word), operation]


def _shown_as_another(shown: dict[str, str]) -> list[list[str]]:
    """Return the groups of names that are shown alike."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, text in shown.items():
        names[text].append(name)
    return [same for same in names.values() if len(same) > 1]


def _shortest(operation: str, width: int, ellipsis: str) -> str:
    """Return the end of an operation that is longer than `width`."""
    words = _FINE_WORD.findall(operation)[:-1]
    for i in range(1, len(words)):
        tail = ellipsis + "".join(words[i:])
        if cell_len(tail) <= width:
            return tail
    return elide_middle(operation, width, ellipsis)
