"""`fastdump browse` without a terminal: keys, the screens that they lead to, and those of the docs.

    python tests/browse_screens.py

draws the screens of docs/browse.md anew. There, a comment says which keys lead to the block below
it: ``<!-- screen: n o -->``; ``<!-- screen 120x30: n o -->`` for another size than 80x24.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from fastdump._browse.app import BrowseApp
from fastdump._browse.table_view import TableView
from fastdump._selection import Selection
from fastdump.demo import write_demo

PAGE = Path(__file__).resolve().parents[1] / "docs" / "browse.md"
_SCREEN = re.compile(r"(<!-- screen(?: (\d+)x(\d+))?: ?(.*?) -->\n```\n)(.*?)(```\n)", re.S)


class Driven:
    """A program that runs, with the keys that are pressed and the screen that they lead to."""

    def __init__(self, app: BrowseApp, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    async def settle(self) -> None:
        """Wait for what threads do, and for what that leads to.

        A pilot takes a process that did not run for some milliseconds to have nothing left to do,
        which may be wrong on a machine with much to do.
        """
        n_quiet = 0
        while n_quiet < 2:  # a message that is being answered is in no queue
            with suppress(WorkerCancelled):  # as those of a program are that ends by itself
                await self.app.workers.wait_for_complete()
            await self._pilot.pause()
            n_quiet = n_quiet + 1 if self._is_quiet() else 0

    def _is_quiet(self) -> bool:
        """Tell whether no thread is at work, and no message waits for anything on the screen."""
        shown = [self.app, *self.app.screen.walk_children(with_self=True)]
        is_waiting = any(one.message_queue_size for one in shown)
        return not is_waiting and all(worker.is_finished for worker in self.app.workers)

    async def press(self, *keys: str) -> list[str]:
        for key in keys:
            await self._pilot.press(key)
            await self.settle()
        return self.lines()

    async def pause(self) -> None:
        """Wait for what the program has begun, threads apart."""
        await self._pilot.pause()

    async def press_while_reading(self, *keys: str) -> None:
        for key in keys:
            await self._pilot.press(key)
            await self.pause()

    async def type(self, text: str) -> list[str]:
        for character in text:
            await self._pilot.press(character)
        await self.settle()
        return self.lines()

    def lines(self) -> list[str]:
        """Return what is on the screen."""
        if not self.app.screen.is_running:
            return [""]
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return ["".join(segment.text for segment in strip) for strip in strips]

    @property
    def view(self) -> TableView:
        return self.app.screen.query_one(TableView)

    def shown(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the indices of the rows that the table shows, in order."""
        return self.view.rows


def drive(
    path: Path | str,
    script: Callable[[Driven], Any],
    *,
    other: Path | None = None,
    size: tuple[int, int] = (80, 24),
    wait: bool = True,
) -> BrowseApp:
    """Run the program with a script, and return it when it has ended."""
    reading: dict[str, Any] = {
        "threads": 1,
        "io_depth": None,
        "engine": "auto",
        "follow_links": False,
    }
    second = None if other is None else str(other)
    app = BrowseApp(str(path), second, selection=Selection(), **reading)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            driven = Driven(app, pilot)
            if wait:
                await driven.settle()
            await script(driven)

    asyncio.run(run())
    return app


def page_with_screens(page: str, dump: Path) -> str:
    """Return a page with its screens drawn anew, of the sample dump."""

    def drawn(match: re.Match[str]) -> str:
        head, width, height, keys, _, end = match.groups()
        lines: list[str] = []

        async def script(driven: Driven) -> None:
            lines.extend(await driven.press(*keys.split()))

        drive(dump, script, size=(int(width or 80), int(height or 24)))
        return head + "".join(f"{line.rstrip()}\n" for line in lines) + end

    return _SCREEN.sub(drawn, page)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        written = write_demo(Path(directory) / "dump").directory
        PAGE.write_text(page_with_screens(PAGE.read_text(), written))
