"""Events as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fastdump._follow.events import FollowEvent
from fastdump._triage.answer import finding_answer
from fastdump._words import catalogue as say
from fastdump._words.answer import fitted
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.styles import BAD, SUBTLE
from fastdump._words.text_table import Cell

_HEADINGS: Final = {
    "known origin": say.KNOWN_BEFORE(),
    "earlier origin": say.EARLIER_ORIGIN(),
    "other origin": say.OTHER_ORIGIN(),
}


def event_lines(
    event: FollowEvent, *, verbose: bool = False, width: int | None = None, ellipsis: str = "..."
) -> Iterator[list[Cell]]:
    """Yield the lines of an event as styled text.

    Parameters
    ----------
    event
        The event.
    verbose, width, ellipsis
        As of `TriageReport.lines`, which gives those of an origin.
    """
    if event.event in _HEADINGS:
        yield [Cell(told(_HEADINGS[event.event]), SUBTLE)]
    if event.event == "finding":
        yield [Cell(fitted(told(_also(event)), width, ellipsis), BAD)]
    elif event.report is not None:
        yield from event.report.lines(verbose=verbose, width=width, ellipsis=ellipsis)
    else:
        yield [Cell(fitted(printable(told(event.sentence)), width, ellipsis))]
    if event.event == "would delete":
        for path in event.paths:
            yield [Cell(say.WOULD_DELETE_FILE(path=path).told(), SUBTLE)]


def _also(event: FollowEvent) -> str:
    assert event.finding is not None
    return say.ALSO(finding=finding_answer(event.finding).headline)
