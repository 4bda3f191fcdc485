"""``fastdump report``: one page of HTML about a dump, or about two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fastdump import compare
from fastdump._atomic import check_replaceable, replacing
from fastdump._cli import exit_codes
from fastdump._cli.compared import exit_code_of
from fastdump._cli.completion import complete_path
from fastdump._cli.language import language_option
from fastdump._cli.messages import say
from fastdump._cli.options import reading_options, root_option, selection_options
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import scan_for_triage
from fastdump._cli.unread import say_skipped
from fastdump._cli.usage import refusing
from fastdump._dump_page import dump_page
from fastdump._figures.on_page import check_drawable
from fastdump._progress import working
from fastdump._report import Report
from fastdump._triage.story import tell
from fastdump._words.quantities import size_text


@click.command("report")
@click.argument("path", shell_complete=complete_path)
@click.argument("other", required=False, shell_complete=complete_path)
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path, dir_okay=False),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The page.",
)
@root_option
@selection_options
@reading_options
@language_option
def command(
    path: str,
    other: str | None,
    output: Path,
    root: Path | None,
    conditions: dict[str, Any],
    **reading: Any,
) -> int:
    """Write a page of HTML about PATH, or about where PATH and OTHER part.

    PATH is a dump, or a table that 'fastdump stats --level full -o' has written. The page is one
    file that opens from disk and needs no network: what 'fastdump triage' finds, the graph around
    it, the health of ranks, steps and layers, how large values are, and the worst tensors, in
    tables that sort and filter. With OTHER it has what 'fastdump compare PATH OTHER' finds. The
    answer is printed, too.

    Bokeh draws the figures: pip install 'fastdump[report]'.

    \b
    Examples:
      fastdump report dump_dir
      fastdump report stats.parquet -o monday.html
      fastdump report run1 run2 -o run1-run2.html

    Exit codes: those of 'fastdump triage', or with OTHER those of 'fastdump compare'.
    """  # noqa: D301 (\b is for click: do not wrap)
    check_drawable()
    check_replaceable(output)
    if other is not None:
        if root is not None:
            raise click.UsageError("--root is for one table, not for two")
        with refusing():
            table = compare(path, other, progress=True, **conditions, **reading)
        _write(output, table.to_html(), table)
        for side in ("skipped_a", "skipped_b"):
            say_skipped(table.about[side])
        return exit_code_of(table)
    outcome = scan_for_triage((path,), conditions, root, **reading)
    with working("following bad values"):
        triage = tell(outcome.table)
    with working("drawing"):
        page = dump_page(outcome.table, triage)
    _write(output, page, triage)
    say_skipped(outcome.table.skipped)
    if not outcome.interrupted and not triage.clean:
        return exit_codes.FINDINGS
    return outcome.exit_code


def _write(output: Path, page: str, report: Report) -> None:
    encoded = page.encode()
    with replacing(output) as file:
        file.write(encoded)
    print_report(report, as_json=False)
    say(f"{output}: {size_text(len(encoded))}")
