"""What a person has to know first of overwritten memory: the first change on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fastdump._op_name import in_layer
from fastdump._watcher.records import Suspect, WatcherComparison
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.places import operator_text, ranks_and_steps_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.shown import answer_about
from fastdump._words.styles import BAD, DOUBTFUL, GOOD


def answer_of(
    check: str,
    findings: Sequence[WatcherComparison],
    unchecked: Sequence[WatcherComparison],
    counts: Mapping[str, int],
    notes: Sequence[str],
    next_command: str,
) -> Answer:
    """Return the answer to who overwrote memory.

    Parameters
    ----------
    check, findings, unchecked, counts
        As in `WatcherReport`.
    notes
        What limits the answer.
    next_command
        The command that shows the operator whose output changed first, "" if there is none.
    """
    remarks = list(notes)
    n_same = counts.get("same", 0)
    if len(findings) > 1:
        remarks.append(_reach(findings))
    if findings and n_same:
        remarks.append(say.N_SAME(n_same))
    if unchecked:
        statuses = ", ".join(dict.fromkeys(one.status for one in unchecked))
        remarks.append(say.UNCHECKED(tensors=say.TENSORS(len(unchecked)), statuses=statuses))
    by_watcher = check == "watcher"
    if findings:
        headline, style = _headline(findings[0], by_watcher=by_watcher), BAD
        facts = tuple(_facts(findings, by_watcher=by_watcher))
        return Answer(headline, style, facts, next_command, tuple(remarks))
    if n_same:
        seen = (say.RECORDINGS if by_watcher else say.INPUTS)(n_same)
        return Answer(say.NO_CHANGE(seen=seen), GOOD, remarks=tuple(remarks))
    nothing = say.NO_RECORDING if by_watcher else say.NO_INPUT
    return Answer(nothing(), DOUBTFUL, remarks=tuple(remarks))


@answer_about.register
def comparison_answer(comparison: WatcherComparison) -> Answer:
    """Return the answer that a comparison is alone."""
    by_watcher = comparison.seen_as.startswith("output")
    if comparison.change is not None:
        headline = _headline(comparison, by_watcher=by_watcher)
        return Answer(headline, BAD, tuple(_facts([comparison], by_watcher=by_watcher)))
    status = say.TENSOR_STATUS(tensor=f"output.{comparison.output}", status=comparison.status)
    operator = operator_text(comparison.op_type, comparison.op_name)
    notes = (comparison.note,) if comparison.note else ()
    return Answer(status, facts=((say.ABOUT_OPERATOR(), operator),), remarks=notes)


def _headline(finding: WatcherComparison, *, by_watcher: bool) -> str:
    name = in_layer(finding.op_name) if finding.op_name else finding.op_type or "?"
    changed = say.CHANGED if by_watcher else say.NOT_WHAT_WAS_WRITTEN
    headline = changed(operator=name, tensor=f"output.{finding.output}")
    place = where_text(rank=finding.rank, step=finding.step)
    return say.AT_PLACE(place=place, answer=headline) if place else headline


def _facts(findings: Sequence[WatcherComparison], *, by_watcher: bool) -> Iterator[tuple[str, str]]:
    first = findings[0]
    operator = operator_text(first.op_type, first.op_name)
    yield (
        say.ABOUT_OPERATOR(),
        say.OPERATOR_WITH_TENSOR(
            operator=operator, dtype=first.dtype or "", shape=shape_text(first.shape)
        ),
    )
    change = first.change
    assert change is not None
    places: dict[str, str | int] = {
        "first": change.first_byte,
        "last": change.last_byte,
        "nbytes": first.nbytes or 0,
    }
    if where := change.place or change.words or first.note:
        yield say.ABOUT_WHAT(), say.BYTES_CHANGED_WHERE(**places, where=where)
    else:
        yield say.ABOUT_WHAT(), say.BYTES_CHANGED(**places)
    seen = first.seen_by or first.seen_path
    if not by_watcher:
        yield say.ABOUT_READER(), say.OPERATOR_TENSOR(operator=seen, tensor=first.seen_as)
    else:
        if first.same_until:
            yield say.ABOUT_SAME(), printable(first.same_until)
        yield say.ABOUT_CHANGED(), printable(seen)
    if first.suspects:
        yield say.ABOUT_WHO(), _who(first.suspects)
    elif first.address:
        yield say.ABOUT_WHO(), say.NOBODY_KNOWN()


def _who(suspects: Sequence[Suspect]) -> str:
    proven = [suspect for suspect in suspects if suspect.wrote_it]
    return suspected((proven or suspects)[0])


def suspected(suspect: Suspect) -> str:
    """Return who may have written over a tensor, and what tells so."""
    wrote = say.WROTE_THESE_BYTES if suspect.wrote_it else say.WROTE_THERE
    operator = operator_text(suspect.op_type, suspect.op_name)
    return wrote(operator=operator, tensor=f"output.{suspect.output}")


def _reach(findings: Sequence[WatcherComparison]) -> str:
    tensors, places = say.N_CHANGED(len(findings)), ranks_and_steps_text(findings)
    return say.AGAIN(times=tensors, places=places) if places else tensors
