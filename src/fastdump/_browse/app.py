"""The program: it reads tables in a thread, and shows its screens."""

from __future__ import annotations

import functools
import threading
from typing import Any, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.worker import WorkerFailed, get_current_worker

from fastdump._browse.asked import OriginAsked, PairAsked, TensorAsked
from fastdump._browse.comparison_screen import ComparisonScreen
from fastdump._browse.health import health_of
from fastdump._browse.help_screen import HelpScreen
from fastdump._browse.loading import Reached, Stopped, compared, tables_of
from fastdump._browse.pair_screen import PairScreen
from fastdump._browse.places import Places
from fastdump._browse.rows_screen import RowsScreen
from fastdump._browse.tensor_screen import TensorScreen
from fastdump._browse.way_screen import WayScreen
from fastdump._compare.progress import CompareProgress
from fastdump._selection import Selection
from fastdump._table.stats_table import StatsTable
from fastdump._triage.ways import Ways


class BrowseApp(App[None]):
    """Looks at a dump, or at a table of statistics; beside a second one, if there is one.

    Threads read and reckon; what they found, they leave with `call_later`, which never waits.

    Parameters
    ----------
    path
        The dump or table.
    other
        Another one to compare it with.
    selection
        Which tensors are looked at.
    **reading
        Options for reading, as of `new_scan`.

    Attributes
    ----------
    failure
        Why there is nothing to look at, if that ended the program.
    unexpected
        An exception that nobody expected, if one ended the program.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
        Binding("ctrl+q", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        path: str,
        other: str | None = None,
        *,
        selection: Selection,
        **reading: Any,
    ) -> None:
        super().__init__()
        self.failure: BaseException | None = None
        self.unexpected: BaseException | None = None
        self._path = path
        self._other = other
        self._comparison: ComparisonScreen | None = None
        self._selection = selection
        self._reading = reading
        self._rows = RowsScreen(path)
        self._ways: tuple[StatsTable, Ways] | None = None
        self._finding_ways = threading.Lock()

    def on_mount(self) -> None:
        """Begin to read."""
        self.push_screen(self._rows)
        self._load()

    @work(thread=True)
    def _load(self) -> None:
        worker = get_current_worker()

        def on_progress(reached: Reached) -> None:
            if worker.is_cancelled:
                raise Stopped
            found = f"{reached.files_found:,}{'+' if reached.walking else ''}"
            text = f"{reached.files_done:,} of {found} files read"
            self.call_later(self._rows.show_progress, text)

        is_first = True
        try:
            for table, is_last in tables_of(
                self._path, self._selection, on_progress, **self._reading
            ):
                progress = "" if is_last else "reading tensors"
                health = health_of(table)
                if is_first:  # rows are there before the tree is
                    is_first = False
                    self.call_later(self._rows.show_table, table, health, None)
                places = Places(table, health)
                if worker.is_cancelled:
                    return
                self.call_later(self._rows.show_table, table, health, places)
                self.call_later(self._rows.show_progress, progress)
        except Stopped:
            return
        except Exception as error:
            self.call_later(self._fail, error)

    def _fail(self, error: BaseException) -> None:
        """Say what went wrong: on the screen if there is something on it, else by ending."""
        if self._rows.table is not None:
            self._rows.show_progress(f"not all was read: {error}")
            return
        self.failure = error
        self.exit()

    def _handle_exception(self, error: Exception) -> None:
        # textual would print a page with the locals of each call; the command line says a line.
        super()._handle_exception(error)
        self._exit_renderables.clear()
        if self.unexpected is None:
            self.unexpected = error.error if isinstance(error, WorkerFailed) else error

    # Screens that others ask for

    def on_tensor_asked(self, event: TensorAsked) -> None:
        """Show a tensor."""
        self.push_screen(TensorScreen(event.table, event.row))

    def on_origin_asked(self, event: OriginAsked) -> None:
        """Show the way of bad values to a tensor."""
        if event.table.level == "header":
            self.notify("statistics are not there yet", markup=False)
            return
        ways = functools.partial(self._ways_of, event.table)
        self.push_screen(WayScreen(event.table, event.row, ways))

    def on_pair_asked(self, event: PairAsked) -> None:
        """Show two tensors that were compared."""
        self.push_screen(PairScreen(event.table, event.row))

    def _ways_of(self, table: StatsTable) -> Ways:
        """Return the ways of a table, which are looked for once."""
        with self._finding_ways:
            if self._ways is None or self._ways[0] is not table:
                self._ways = table, Ways(table)
            return self._ways[1]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer no comparison without a second dump."""
        return action != "compare" or self._other is not None

    def action_compare(self) -> None:
        """Compare with the second dump."""
        if self._other is None:
            return
        if self._comparison is None:
            self._comparison = ComparisonScreen(self._path, self._other)
            self.push_screen(self._comparison)
            self._compare(self._comparison, self._other)
        else:
            self.push_screen(self._comparison)

    @work(thread=True)
    def _compare(self, screen: ComparisonScreen, other: str) -> None:
        worker = get_current_worker()

        def on_progress(reached: CompareProgress) -> None:
            if worker.is_cancelled:
                raise Stopped
            text = f"{reached.pairs_done:,} of {reached.pairs:,} pairs compared"
            self.call_later(screen.show_progress, text)

        try:
            table = compared(self._path, other, self._selection, on_progress, **self._reading)
            if not worker.is_cancelled:
                self.call_later(screen.show_comparison, table)
        except Stopped:
            return
        except Exception as error:  # of any file of either dump
            self.call_later(screen.show_progress, str(error))

    def action_help(self) -> None:
        """Show what the keys do."""
        self.push_screen(HelpScreen())
