"""``fastdump merge``: tables of several scans become one."""

from __future__ import annotations

from pathlib import Path

import click

from fastdump._cli.completion import complete_path
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option
from fastdump._cli.output_file import check_output
from fastdump._cli.scanning import Outcome
from fastdump._cli.unread import say_skipped
from fastdump._cli.usage import refusing
from fastdump._progress import working
from fastdump._table.table_files import read_stats
from fastdump._words.quantities import counted, numbered


@click.command("merge")
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.argument("parts", nargs=-1, required=True, metavar="PART...", shell_complete=complete_path)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there.")
@json_option
def command(out: Path, parts: tuple[str, ...], overwrite: bool, as_json: bool) -> int:
    """Join tables that 'fastdump stats -o' has written into one, OUT: .parquet, .arrow, ...

    PART is a table, or a directory with .parquet and .arrow files at any depth. The table is that
    which one scan of everything would have given: rows are in the order of execution, and files
    that were skipped add up. Parts must have one level. Two rows about the same tensor are an
    error: scan dumps of different ranks with --as-rank, and several directories with --base.

    \b
    Examples:
      fastdump merge all.parquet parts/
      fastdump merge all.parquet node0.parquet node1.parquet

    Exit codes: 0 done; 2 wrong usage, or tables that cannot be joined; 3 done, but something could
    not be read whole when the parts were made.
    """  # noqa: D301 (\b is for click: do not wrap)
    if out.exists() and not overwrite:
        raise click.UsageError(f"{str(out)!r} is there already: give --overwrite to replace it")
    check_output(out)
    with working("joining tables"):
        with refusing():
            table = read_stats(parts)
        table.write(out)
    summary = table.summary()
    if as_json:
        print_json({"out": str(out), **summary, "level": table.level, "notes": table.notes})
    else:
        facts = [counted(len(table), "row"), counted(summary["files"], "file")]
        facts += [numbered("rank", summary["ranks"])] if summary["ranks"] else []
        click.echo(f"{out}: {', '.join(facts)}, level {table.level}")
        for note in table.notes:
            click.echo(f"note: {note}", err=True)
    say_skipped(table.skipped)
    return Outcome(table).exit_code
