"""How far a comparison is, and a progress bar of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fastdump._progress import ProgressBar


@dataclass(frozen=True)
class CompareProgress:
    """How far a comparison is.

    Attributes
    ----------
    pairs, pairs_done : int
        Pairs of tensors.
    bytes_done : int
        Of both sides, of either pass.
    """

    pairs: int
    pairs_done: int
    bytes_done: int


@contextmanager
def pair_bar() -> Iterator[Callable[[CompareProgress], None]]:
    """Give what draws a progress bar on stderr, if that is a terminal."""
    with ProgressBar(noun="pairs") as bar:
        yield lambda progress: bar(_Counts(progress))


class _Counts:
    """Pairs as the bar counts files."""

    walking = False
    bad = 0

    def __init__(self, progress: CompareProgress) -> None:
        self.files_found = progress.pairs
        self.files_done = progress.pairs_done
        self.bytes_done = progress.bytes_done
