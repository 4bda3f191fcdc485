"""Exports: statistics by rank, layer and step, as other programs draw them over time.

`aggregates` computes what is exported; `tensorboard` writes it as event files, `openmetrics` as
text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastdump._arguments import Engine, PathLike, path_bytes
from fastdump._core import Progress
from fastdump._export.openmetrics import exposition
from fastdump._export.tensorboard import check_installed, write_runs
from fastdump._selection import Conditions, takes_conditions
from fastdump._stats import What, stats
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["export_tensorboard", "openmetrics_text"]


@takes_conditions
def export_tensorboard(
    what: What,
    logdir: PathLike,
    *,
    append: bool = False,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[Progress], object] | None = None,
    follow_links: bool = False,
    as_rank: int | Literal["env"] | None = None,
    **conditions: Unpack[Conditions],
) -> list[Path]:
    """Write statistics by layer and step as event files of TensorBoard.

    Each rank is a run: a directory ``rank0`` in `logdir`, with one event file. Rows without a rank
    are in `logdir` itself, and rows without a step in a run ``no_step`` below that of their rank,
    at step 0. Tags are ``rms/layer_3``, ``rms/no_layer`` and ``rms/all``: the statistic, and the
    tensors that are taken together. A file gets its name when it is complete; if one cannot be
    written, those before it are removed.

    Parameters
    ----------
    what
        A dump or a table of it, as for `triage`; best of level "full".
    logdir
        The directory for TensorBoard; it is made if need be.
    append
        Whether a run may have event files already. The new file comes beside them, and TensorBoard
        shows both as one run; a step that both have is shown twice.
    threads, io_depth, engine, progress, follow_links, as_rank
        How to read a dump, and where it belongs; as for `stats`.
    **conditions
        Which tensors to take; `Selection` says what each condition means.

    Returns
    -------
    list of Path
        The event files that were written, one for each run.

    Raises
    ------
    MissingDependencyError
        If TensorBoard is not installed: ``pip install 'fastdump[tensorboard]'``.
    NoDumpError
        If there is no tensor at all, or none is selected.
    FileExistsError
        If a run has event files already and `append` is not given. Nothing was written.
    TypeError, ValueError
        If an argument has a value that it cannot have, or a table has no statistics.
    OSError
        If a path does not exist or is not readable, or `logdir` is not writable.

    Notes
    -----
    docs/export.md has the statistics. TensorBoard keeps values as float32: one that is larger than
    float32 can hold is left out, as is what is not known.

    Examples
    --------
    >>> fastdump.export_tensorboard("dump_dir", "logs", io="output")  # doctest: +SKIP
    """
    check_installed()
    directory = Path(os.fsdecode(path_bytes(logdir)))
    table = _statistics(
        what,
        threads=threads,
        io_depth=io_depth,
        engine=engine,
        progress=progress,
        follow_links=follow_links,
        as_rank=as_rank,
        **conditions,
    )
    return write_runs(table, directory, append=append)


@takes_conditions
def openmetrics_text(
    what: What,
    *,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[Progress], object] | None = None,
    follow_links: bool = False,
    as_rank: int | Literal["env"] | None = None,
    **conditions: Unpack[Conditions],
) -> str:
    """Return statistics by rank and layer as OpenMetrics text, which Prometheus reads.

    The text is of the last step of each rank, and of rows that tell no step. A sample has the
    labels ``rank`` and ``layer`` as far as the dump tells them: the one without a layer is of the
    operators that are in none.

    Parameters
    ----------
    what
        A dump or a table of it, as for `triage`; best of level "full".
    threads, io_depth, engine, progress, follow_links, as_rank
        How to read a dump, and where it belongs; as for `stats`.
    **conditions
        Which tensors to take; `Selection` says what each condition means. With ``step=3`` the last
        step is 3.

    Returns
    -------
    str
        The text, which ends with ``# EOF``. Control characters of paths are escaped.

    Raises
    ------
    NoDumpError
        If there is no tensor at all, or none is selected.
    TypeError, ValueError
        If an argument has a value that it cannot have, or a table has no statistics.
    OSError
        If a path does not exist or is not readable.

    Notes
    -----
    docs/export.md has the statistics.

    Examples
    --------
    >>> text = fastdump.openmetrics_text("dump_dir")  # doctest: +SKIP
    >>> Path("fastdump.prom").write_text(text, "utf-8")  # doctest: +SKIP
    """
    table = _statistics(
        what,
        threads=threads,
        io_depth=io_depth,
        engine=engine,
        progress=progress,
        follow_links=follow_links,
        as_rank=as_rank,
        **conditions,
    )
    return exposition(table)


def _statistics(what: What, **options: Any) -> StatsTable:
    """Return the table that is exported; parameters and errors are those of the functions above."""
    table = stats(what, level="full", **options)
    if table.level == "header":
        raise ValueError("the table has level 'header': an export needs statistics")
    return table
