"""A command of the user that is run for each finding."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection
from typing import IO, TYPE_CHECKING, Final

from fastdump._tensor.shown_path import file_of
from fastdump._words import catalogue as say
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from fastdump._follow.events import FollowEvent

_MAX_TEXT = 16384
"""Names come from files, and what a process is started with has a limit."""

ORIGIN: Final = "origin"
WHICH: Final = (ORIGIN, "inf", "nan", "saturated")
"""What a command may be for: the first bad value, or findings of a kind."""

_LAST_WORDS_S = 1.0
"""How long the output of a command is waited for that has ended: a process that it has left behind
may keep it open."""


class FindingCommand:
    """Runs a command of the shell for each finding, while following goes on.

    Parameters
    ----------
    command
        What the shell gets. It finds the facts in its environment, so that no name that a file has
        can become a part of it.
    only
        For which findings, of `WHICH`; empty for all.
    show
        Function that gets what it prints, whole lines, from another thread. Default: it goes to
        standard error as it comes.
    """

    def __init__(
        self,
        command: str,
        only: Collection[str] = (),
        *,
        show: Callable[[bytes], object] | None = None,
    ) -> None:
        self._command, self._only, self._show = command, only, show
        self._running: list[_Running] = []

    def is_for(self, event: FollowEvent) -> bool:
        """Tell whether it is to run for an event."""
        if not event.is_new_finding:
            return False
        assert event.finding is not None
        is_origin = event.event.endswith(ORIGIN)
        what = {event.finding.kind, ORIGIN if is_origin else ""}
        return not self._only or not what.isdisjoint(self._only)

    def start(self, event: FollowEvent) -> None:
        """Start it for an event that is about a finding.

        Raises
        ------
        OSError
            If the system does not start it.
        """
        # What it prints must not get between the lines of --json.
        stdout = sys.stderr if _has_number(sys.stderr) else subprocess.DEVNULL
        process = subprocess.Popen(
            self._command,
            shell=True,
            env={**os.environ, **environment(event)},
            stdin=subprocess.DEVNULL,
            stdout=stdout if self._show is None else subprocess.PIPE,
            stderr=None if self._show is None else subprocess.STDOUT,
        )
        self._running.append(_Running(process, self._show))

    def failures(self, *, wait: bool = False) -> list[str]:
        """Return what to say of commands that have failed since; `wait` for those that run."""
        ended = [one for one in self._running if wait or one.has_ended()]
        self._running = [one for one in self._running if one not in ended]
        return [
            say.COMMAND_FAILED(code=code, command=self._command)
            for one in ended
            if (code := one.wait()) != 0
        ]


class _Running:
    """A command that runs, and what it prints, if somebody is to see it line by line."""

    def __init__(
        self, process: subprocess.Popen[bytes], show: Callable[[bytes], object] | None
    ) -> None:
        self._process = process
        self._reader = None
        if show is not None:
            assert process.stdout is not None
            # A daemon, as a process that the command has left behind may print for ever.
            self._reader = threading.Thread(
                target=_pass_lines_on, args=(process.stdout, show), daemon=True
            )
            self._reader.start()

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> int:
        """Return the exit code, after all that it has printed was shown."""
        code = self._process.wait()
        if self._reader is not None:
            self._reader.join(_LAST_WORDS_S)
        return code


def _pass_lines_on(stream: IO[bytes], show: Callable[[bytes], object]) -> None:
    with stream:
        for line in stream:
            show(line if line.endswith(b"\n") else line + b"\n")


def environment(event: FollowEvent) -> dict[str, str]:
    """Return the facts of a finding as environment variables; '' for what is not known."""
    assert event.finding is not None
    assert event.finding.origin is not None
    run, tensor = event.finding.origin.operator, event.finding.origin.tensor
    facts = {
        "EVENT": event.event,
        "KIND": event.finding.kind,
        "RANK": run.rank,
        "DEVICE": run.device,
        "STEP": run.step,
        "OP_TYPE": run.op_type,
        "OPERATOR": run.op_name,
        "TENSOR": tensor.tensor_name,
        "SENTENCE": event.finding.sentence,
    }
    texts = {
        f"FASTDUMP_{name}": "" if fact is None else printable(str(fact))[:_MAX_TEXT]
        for name, fact in facts.items()
    }
    return {**texts, "FASTDUMP_FILE": file_of(event.table.root or "", tensor.path)}


def _has_number(stream: object) -> bool:
    try:
        return stream is not None and stream.fileno() >= 0  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return False
