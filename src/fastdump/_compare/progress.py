"""Progress of a comparison: the reports, and a bar that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from fastdump._progress import ProgressBar, check_progress


@dataclass(frozen=True)
class CompareProgress:
    """How far a comparison has come.

    Attributes
    ----------
    pairs, pairs_done : int
        Pairs of tensors.
    bytes_done : int
        Bytes read from both sides, in either pass.
    """

    pairs: int
    pairs_done: int
    bytes_done: int


@contextmanager
def reporting_pairs(
    progress: bool | Callable[[CompareProgress], object] | None,
) -> Iterator[Callable[[CompareProgress], object] | None]:
    """Provide the function to call with each report, as `fastdump._progress.reporting` does."""
    check_progress(progress)
    if progress is True:
        with ProgressBar(noun="pairs", first="pairing tensors") as bar:
            # The bar counts pairs as it counts files.
            yield lambda done: bar(
                SimpleNamespace(
                    files_found=done.pairs,
                    files_done=done.pairs_done,
                    bytes_done=done.bytes_done,
                    bad=0,
                    walking=False,
                )
            )
    else:
        yield progress or None
