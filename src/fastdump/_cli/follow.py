"""``fastdump follow``: read a dump while a run writes it, and tell where bad values begin."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.console import print_fitted, stdout_console
from fastdump._cli.json_document import print_json_line
from fastdump._cli.language import language_option
from fastdump._cli.messages import say
from fastdump._cli.options import reading_options, selection_options, verbose_option
from fastdump._cli.unread import is_unread, say_skipped
from fastdump._cli.usage import refusing
from fastdump._follow import FollowEvent, follow
from fastdump._follow.command import WHICH, FindingCommand
from fastdump._follow.text import event_lines
from fastdump._table.arrow_column import count_by
from fastdump._words.quantities import skipped_text

_seconds = click.FloatRange(min=0)


@click.command("follow")
@click.argument("paths", nargs=-1, required=True, metavar="DIR...", shell_complete=complete_path)
@click.option(
    "--settle",
    type=_seconds,
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="A file is complete when nobody has written to it for so long.",
)
@click.option(
    "--every",
    type=_seconds,
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Look for files so often, at most.",
)
@click.option(
    "--until-idle",
    type=_seconds,
    metavar="SECONDS",
    help="End when nothing new has come for so long; 0 ends when all that is there was read.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write the table to FILE, .parquet or .arrow, now and then and in the end. DIR/, or a "
    "directory that is there, gets what is new as further parts. If it is there, go on from it.",
)
@click.option(
    "--on-finding",
    metavar="COMMAND",
    help="Run COMMAND in the shell for each finding. FASTDUMP_RANK, FASTDUMP_STEP, "
    "FASTDUMP_OPERATOR, FASTDUMP_SENTENCE and others tell it which.",
)
@click.option(
    "--on",
    "which",
    multiple=True,
    type=click.Choice(WHICH),
    help="With --on-finding: run it only for the first bad value, or for findings of this kind. "
    "May be repeated.",
)
@click.option(
    "--delete-clean",
    is_flag=True,
    help="Delete files that are complete, clean, and needed neither for a step that goes on nor "
    "for a finding. Needs -o, which keeps their rows.",
)
@click.option("--dry-run", is_flag=True, help="With --delete-clean: name these files only.")
@click.option(
    "--keep-steps",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="With --delete-clean: keep the last N steps of each rank.",
)
@selection_options
@verbose_option
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each event.")
@reading_options
@language_option
def command(
    paths: tuple[str, ...],
    on_finding: str | None,
    which: tuple[str, ...],
    conditions: dict[str, Any],
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Follow a run that dumps to DIR...: read each file once, tell where bad values begin.

    A file is read when nobody has written to it for a while. A line says how many files, steps and
    ranks there are, and how many tensors are bad; in a pipe, there is one each time it changes. The
    first origin, as 'fastdump triage' gives it, is printed when it is known, and again if files
    that come late show an earlier one.

    Ctrl-C or SIGTERM ends it. With -o, the same command goes on from there; a second one that
    writes to the same FILE is refused.

    \b
    Examples:
      fastdump follow dump_dir
      fastdump follow dump_dir -o run.parquet --on-finding 'mail -s "$FASTDUMP_SENTENCE" me'
      fastdump follow dump_dir -o parts/ --rank 0 --op-name 'model.layers.3*'
      fastdump follow dump_dir -o run.parquet --delete-clean --keep-steps 3
      fastdump follow dump_dir --until-idle 600 --json

    Exit codes: 0 nothing was found; 1 there is a finding; 2 wrong usage, nothing that could be
    read, or a table that could not be written; 3 nothing was found, but something could not be read
    whole.
    """  # noqa: D301 (\b is for click: do not wrap)
    if which and on_finding is None:
        raise click.UsageError("--on is about --on-finding: give both")
    last: FollowEvent | None = None
    is_found = False
    with refusing(click.UsageError):
        events = follow(paths, **options, **conditions)
    # Closing writes the table, before anything else happens.
    with _shown(verbose=verbose, as_json=as_json) as shown:
        hook = on_finding and FindingCommand(on_finding, which, show=shown.beside)
        with suppress(KeyboardInterrupt), closing(events):
            for event in events:
                last, is_found = event, is_found or event.finding is not None
                shown.show(event)
                if hook:
                    _run(hook, event, shown)
        if hook:
            with suppress(KeyboardInterrupt):
                shown.say(hook.failures(wait=True))
    if last is None or not (is_found or len(last.table)):
        skipped = last.table.skipped if last is not None else {}
        why = f"; skipped: {skipped_text(skipped)}" if skipped else ""
        say(f"no file of a dump was read below {', '.join(paths)}{why}")
        return exit_codes.NOTHING_READ
    say_skipped(last.table.skipped)
    if is_found:
        return exit_codes.FINDINGS
    statuses = count_by(last.table.batch.column("status"))
    unread = is_unread(statuses, last.table.skipped)
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def _run(hook: FindingCommand, event: FollowEvent, shown: _Shown) -> None:
    shown.say(hook.failures())
    if hook.is_for(event):
        try:
            hook.start(event)
        except (OSError, ValueError) as error:
            shown.say([f"the command of --on-finding could not be started: {error}"])


@contextmanager
def _shown(*, verbose: bool, as_json: bool) -> Iterator[_Shown]:
    """Provide what shows events, and what is printed beside them."""
    console = stdout_console()
    if as_json:
        yield _Documents()
    elif sys.stdout.isatty() and not console.is_dumb_terminal:
        with _LiveLine(console, verbose=verbose) as line:
            yield line
    else:
        yield _Lines(verbose=verbose)


def _print(event: FollowEvent, *, verbose: bool) -> None:
    if event.event == "trouble":
        say(event.sentence)
    else:
        print_fitted(event_lines, event, verbose=verbose)
        sys.stdout.flush()


class _Shown:
    """What shows events, on standard output.

    Attributes
    ----------
    beside
        Function that prints a line on standard error, where that must not be done otherwise.
    """

    beside: Callable[[bytes], object] | None = None

    def show(self, event: FollowEvent) -> None:
        """Show an event."""
        raise NotImplementedError

    def say(self, texts: list[str]) -> None:
        """Print messages on standard error."""
        for text in texts:
            say(text)


class _Documents(_Shown):
    """A line of JSON for each event."""

    def show(self, event: FollowEvent) -> None:
        """Show an event."""
        print_json_line(event.to_dict())


class _Lines(_Shown):
    """A line for each event, those of progress only where they are others."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._last = ""

    def show(self, event: FollowEvent) -> None:
        """Show an event."""
        if event.event != "progress" or event.sentence != self._last:
            _print(event, verbose=self._verbose)
        self._last = str(event.progress)


class _LiveLine(_Shown):
    """One line that changes, below what is printed for good.

    What comes on standard error goes above it, too, if that is the terminal.
    """

    def __init__(self, console: Console, *, verbose: bool) -> None:
        self._verbose = verbose
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._is_live = True
        self._last = ""
        # Commands print from threads of their own.
        self._lock = threading.Lock()
        if sys.stderr is not None and sys.stderr.isatty():
            self.beside = self._beside

    def __enter__(self) -> _LiveLine:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._is_live = False
            self._live.stop()
            print(self._last)

    def show(self, event: FollowEvent) -> None:
        """Show an event."""
        with self._lock:
            if event.event != "progress":
                with self._away():
                    _print(event, verbose=self._verbose)
            self._last = str(event.progress)
            line = Text(self._last, no_wrap=True, overflow="ellipsis")
            self._live.update(line, refresh=True)

    def say(self, texts: list[str]) -> None:
        """Print messages on standard error."""
        if texts:
            with self._lock, self._away():
                super().say(texts)

    def _beside(self, line: bytes) -> None:
        with self._lock, self._away(), suppress(OSError, ValueError):
            sys.stderr.buffer.write(line)
            sys.stderr.flush()

    @contextmanager
    def _away(self) -> Iterator[None]:
        """Take the line away for a while."""
        if not self._is_live:
            yield
            return
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)
