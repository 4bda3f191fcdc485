"""A command of the user that is run for each finding."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from fastdump._tensor.shown_path import file_of
from fastdump._words import catalogue as say
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from fastdump._follow.events import FollowEvent

_MAX_TEXT = 16384
"""Names come from files, and what a process is started with has a limit."""


class FindingCommand:
    """Runs a command of the shell for each finding, while following goes on.

    Parameters
    ----------
    command
        What the shell gets. It finds the facts in its environment, so that no name that a file has
        can become a part of it.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, event: FollowEvent) -> None:
        """Start it for an event that is about a finding.

        Raises
        ------
        OSError
            If the system does not start it.
        """
        # What it prints must not get between the lines of --json.
        stdout = sys.stderr if _has_number(sys.stderr) else subprocess.DEVNULL
        self._running.append(
            subprocess.Popen(
                self._command,
                shell=True,
                env={**os.environ, **environment(event)},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
            )
        )

    def failures(self, *, wait: bool = False) -> list[str]:
        """Return what to say of commands that have failed since; `wait` for those that run."""
        ended = [one for one in self._running if wait or one.poll() is not None]
        self._running = [one for one in self._running if one not in ended]
        return [
            say.COMMAND_FAILED(code=code, command=self._command)
            for one in ended
            if (code := one.wait()) != 0
        ]


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
