"""Which of several operators of one kind belong together, by what they read.

Of two sequences that have one operator of a kind more on one side, kinds and shapes do not tell
which of them it is. Inputs that are alike on both sides do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

_MAX_CELLS = 1 << 18
"""Larger tables of possible pairs are not filled: both sides have hundreds of one kind."""
_MAX_CELLS_OF_ALL = 1 << 21
"""All tables together have no more, so that the time has an end."""


def paired_by_content(
    pairs: Mapping[int, int],
    tokens: tuple[Sequence[Hashable], Sequence[Hashable]],
    alike: Callable[[int, int], bool],
) -> dict[int, int]:
    """Return pairs, with others where these make more operators read what is alike.

    Parameters
    ----------
    pairs
        Positions in the two sequences.
    tokens
        Kinds of the operators of each sequence; None stands for those that are left alone.
    alike
        Tells whether the operators at two positions read what is alike.
    """
    found = dict(pairs)
    places_a, places_b = (_places(of_side) for of_side in tokens)
    cells_left = _MAX_CELLS_OF_ALL
    for token in places_a.keys() & places_b.keys():
        of_a, of_b = places_a[token], places_b[token]
        n_cells = len(of_a) * len(of_b)
        if len(of_a) == len(of_b) or n_cells > min(_MAX_CELLS, cells_left):
            continue
        chosen = {i: j for i in of_a if (j := pairs.get(i)) is not None}
        if not chosen or not set(chosen.values()) <= set(of_b):
            continue
        cells_left -= n_cells
        flags = np.array([[alike(i, j) for j in of_b] for i in of_a], np.bool_)
        best = _most_alike(flags)
        n_before = sum(flags[of_a.index(i), of_b.index(j)] for i, j in chosen.items())
        if sum(flags[i, j] for i, j in best) > n_before:
            for i in chosen:
                del found[i]
            found |= {of_a[i]: of_b[j] for i, j in best}
    return found


def _places(tokens: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for position, token in enumerate(tokens):
        if token is not None:
            places.setdefault(token, []).append(position)
    return places


def _most_alike(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """Return pairs of rows and columns that increase in both: most of them flagged, then most."""
    n, m = flags.shape
    worth = flags * (n + m) + 1
    best = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n):
        for j in range(m):
            best[i + 1, j + 1] = max(best[i, j] + worth[i, j], best[i, j + 1], best[i + 1, j])
    pairs, i, j = [], n, m
    while i and j:
        if best[i, j] == best[i - 1, j - 1] + worth[i - 1, j - 1]:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif best[i, j] == best[i - 1, j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]
