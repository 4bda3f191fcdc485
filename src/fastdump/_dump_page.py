"""`report`: what is to be known of a dump, or of two, as one page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fastdump._arguments import Engine, PathLike
from fastdump._compare import compare
from fastdump._figures.on_page import check_drawable
from fastdump._page.page import page_html
from fastdump._page.parts import Drawing, Part, Section, Words
from fastdump._selection import Conditions, takes_conditions
from fastdump._stats import What
from fastdump._table.page import about, sections
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.pictures import magnitudes
from fastdump._triage import full_table
from fastdump._triage.records import Origin
from fastdump._triage.report import TriageReport
from fastdump._triage.story import tell
from fastdump._words import page_catalogue as say
from fastdump.errors import FastdumpError, UnsupportedDTypeError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MAX_INPUTS = 3


@takes_conditions
def report(
    what: What,
    other: What | None = None,
    *,
    root: PathLike | None = None,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[Any], object] | None = None,
    follow_links: bool = False,
    **conditions: Unpack[Conditions],
) -> str:
    """Return a page of HTML about a dump, or about where two dumps part.

    The page is one file that needs no network. Of one dump it has what `triage` finds, the health
    of all ranks, steps and layers, how large values are, and the worst tensors; of two what
    `compare` finds. Its size does not grow with the dump: of long lists it has the worst rows.

    Parameters
    ----------
    what
        What is looked at, as for `triage`: a dump or a table of it, best of level "full".
    other
        What `what` is compared with, as for `compare`; None for a page about `what` alone.
    root
        The directory that the paths of a table are relative to, if the dump was moved.
    threads, io_depth, engine, progress, follow_links
        How to read; as for `stats`, or with `other` as for `compare`.
    **conditions
        Which tensors; `Selection` says what each condition means.

    Raises
    ------
    MissingDependencyError
        If Bokeh, which draws the figures, is not installed: ``pip install 'fastdump[report]'``.
    NoDumpError
        If there is no tensor at all, or none is selected.
    TypeError, ValueError
        If an argument has a value that it cannot have, or a table has no statistics.
    OSError
        If a path does not exist or is not readable.

    Examples
    --------
    >>> html = fastdump.report("dump_dir")  # doctest: +SKIP
    >>> Path("report.html").write_text(html)  # doctest: +SKIP
    """
    check_drawable()
    if other is not None:
        if root is not None:
            raise ValueError("root is for one table, not for two")
        compared = compare(
            what,
            other,
            threads=threads,
            io_depth=io_depth,
            engine=engine,
            progress=progress,
            follow_links=follow_links,
            **conditions,
        )
        return compared.to_html()
    table = full_table(
        what,
        root=root,
        threads=threads,
        io_depth=io_depth,
        engine=engine,
        progress=progress,
        follow_links=follow_links,
        **conditions,
    )
    return dump_page(table, tell(table))


def dump_page(table: StatsTable, triage: TriageReport) -> str:
    """Return the page of a table and of what a triage of it found."""
    origin = triage.origins[0] if triage.origins else None
    answer, spread, findings = triage.sections(about(table))
    began = Section(say.WHERE_IT_BEGAN(), () if origin is None else tuple(_tensors(origin)))
    where, sizes, tensors = sections(table, None if origin is None else origin.tensor)
    parts = (answer, where, spread, began, findings, sizes, tensors)
    return page_html("fastdump report", parts)


def _tensors(origin: Origin) -> Iterator[Part]:
    """Yield how large the elements are of the first bad tensor, and of what its operator read."""
    for row in (origin.tensor, *origin.inputs[:_MAX_INPUTS]):
        try:
            figure = magnitudes(row.tensor())
        except UnsupportedDTypeError:
            continue
        except (FastdumpError, OSError, ValueError) as error:
            text = say.TENSOR_OF_FILE(tensor=row.tensor_name, path=row.path, error=str(error))
            yield Words((text,))
        else:
            yield Drawing(figure, say.OF_OPERATOR(operator=row.op_name or row.path))
