"""The places of a table as a tree: ranks, steps, layers, operators; each a range of sorted rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._browse.health import BAD, CLEAN, INCOMPLETE, MASKED, UNKNOWN
from fastdump._op_name import after_layer
from fastdump._table.arrow_column import codes_of, integer_array
from fastdump._words.places import operator_text
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

_LAST = np.iinfo(np.int64).max


class Place(NamedTuple):
    """A rank, a step, a layer or an operator of it, or all there is.

    Attributes
    ----------
    depth
        How many levels are above it: 0 for all there is.
    begin, end
        Its range of the sorted rows.
    title
        Its own words: ``layer 2``. Printable.
    health
        The most urgent health of its rows.
    n_bad
        Number of rows with NaN or +Inf.
    """

    depth: int
    begin: int
    end: int
    title: str
    health: int
    n_bad: int


class _Level(NamedTuple):
    name: str
    keys: NDArray[np.int64]
    title: Callable[[int], str]


class Places:
    """The tree of places of a table. A level that tells nothing apart is left out.

    Parameters
    ----------
    table
        The table.
    health
        The health of its rows, shape (rows,).
    """

    def __init__(self, table: StatsTable, health: NDArray[np.int8]) -> None:
        levels = _levels(table)
        # The last key of lexsort is the primary one. It is stable: rows stay in order.
        self._order = np.lexsort([level.keys for level in reversed(levels)])
        self._names = [level.name for level in levels]
        self._titles = [level.title for level in levels]
        self._keys = [level.keys[self._order] for level in levels]
        sorted_health = health[self._order]
        # The number of rows of each health up to each row, so that a range costs nothing.
        self._sums = {
            one: np.concatenate(([0], np.cumsum(sorted_health == one)))
            for one in (UNKNOWN, MASKED, INCOMPLETE, BAD)
        }

    @property
    def depth(self) -> int:
        """The number of levels below all there is; places of the last one are operators."""
        return len(self._keys)

    def everything(self, title: str) -> Place:
        """Return the place of all rows."""
        return self._place(0, 0, len(self._order), title)

    def children(self, place: Place) -> list[Place]:
        """Return the places directly below a place, in order."""
        if place.depth == self.depth or place.begin == place.end:
            return []
        keys = self._keys[place.depth][place.begin : place.end]
        begins = np.concatenate(([0], np.flatnonzero(np.diff(keys)) + 1)) + place.begin
        ends = [*begins[1:].tolist(), place.end]
        title = self._titles[place.depth]
        return [
            self._place(place.depth + 1, begin, end, title(int(key)))
            for begin, end, key in zip(
                begins.tolist(), ends, keys[begins - place.begin].tolist(), strict=True
            )
        ]

    def rows(self, place: Place) -> NDArray[np.int64]:
        """Return the indices of a place's rows, in the order of the table."""
        return np.sort(self._order[place.begin : place.end])

    def same_in_all(self, place: Place) -> set[str]:
        """Return the columns of which all rows of a place have one value, as far as places tell."""
        if place.begin == place.end:
            return set()
        ranges = [keys[place.begin : place.end] for keys in self._keys]
        same = {
            name for name, keys in zip(self._names, ranges, strict=True) if keys.min() == keys.max()
        }
        return same | ({"op_type"} if "op_name" in same else set())

    def _place(self, depth: int, begin: int, end: int, title: str) -> Place:
        n_of = {one: int(sums[end] - sums[begin]) for one, sums in self._sums.items()}
        urgent = (one for one in (BAD, INCOMPLETE) if n_of[one])
        # What is meant to be so does not make a place worth a look, and neither do a few rows of
        # which nothing is known.
        calm = UNKNOWN if n_of[UNKNOWN] == end - begin else CLEAN
        return Place(depth, begin, end, title, next(urgent, calm), n_of[BAD])


def _levels(table: StatsTable) -> list[_Level]:
    batch = table.batch
    levels: list[_Level | None] = []
    if (time := _texts(table, "time")) is not None:
        levels.append(time)
    # Ranks tell more than devices, which some dumps know alone.
    has_rank = batch.column("rank").null_count < len(table)
    levels.append(_numbers(table, "rank" if has_rank else "device", "no rank"))
    if (model := _texts(table, "model")) is not None:
        levels.append(model)
    levels.append(_numbers(table, "step", "no step"))
    levels.append(_numbers(table, "layer", "outside of layers"))
    known = [level for level in levels if level is not None]
    return [*known, _operators(table)]


def _numbers(table: StatsTable, name: str, none: str) -> _Level | None:
    column = table.batch.column(name)
    if column.null_count == len(table):
        return None
    return _Level(
        name,
        integer_array(column, null=_LAST),
        lambda key: none if key == _LAST else f"{name} {key}",
    )


def _texts(table: StatsTable, name: str) -> _Level | None:
    """Return a level of texts if there are several."""
    codes, texts = codes_of(table.batch.column(name))
    if len(texts) < 2:
        return None
    return _Level(name, codes, lambda key: printable(texts[key]) if key >= 0 else f"no {name}")


def _operators(table: StatsTable) -> _Level:
    """Return the level of operators, in the order in which they first ran."""
    batch = table.batch
    type_codes, types = codes_of(batch.column("op_type"))
    name_codes, names = codes_of(batch.column("op_name"))
    pairs = (type_codes + 1) * (len(names) + 1) + name_codes + 1
    distinct, first, codes = np.unique(pairs, return_index=True, return_inverse=True)
    position = np.empty(len(distinct), np.int64)
    by_time = np.argsort(first)
    position[by_time] = np.arange(len(distinct))
    pair_at = distinct[by_time]

    def title(key: int) -> str:
        type_code, name_code = divmod(int(pair_at[key]), len(names) + 1)
        op_type = types[type_code - 1] if type_code else None
        op_name = names[name_code - 1] if name_code else None
        named = op_name and (after_layer(op_name) or op_name)
        return operator_text(named, op_type) or "no name"

    return _Level("op_name", position[codes.reshape(-1)], title)
