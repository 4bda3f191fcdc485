"""The findings in sentences that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastdump._watcher.records import Suspect, WatcherComparison
from fastdump._words.places import where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, shape_text

CHECKS = {
    "watcher": "Check: recordings after other operators (dump_scene=watcher) against the watched "
    "operators' own outputs.",
    "addresses": "Check: inputs against the outputs that last lay at their device addresses (this "
    "is no dump of dump_scene=watcher).",
}


def sentence_of(
    check: str, findings: Sequence[WatcherComparison], counts: Mapping[str, int]
) -> str:
    """Return the sentence that leads the report."""
    if findings:
        return finding_text(check, findings[0])
    n_same = counts.get("same", 0)
    what = "recording" if check == "watcher" else "input"
    if not n_same:
        return f"Nothing could be compared: no {what} has an output to compare it with."
    return f"No change: {counted(n_same, what)} equal, byte for byte, to what was written."


def finding_text(check: str, finding: WatcherComparison) -> str:
    """Return which tensor changed, after which operator, and where."""
    where = where_text(rank=finding.rank, step=finding.step)
    place = f"{where}: " if where else ""
    tensor = f"output.{finding.output} of {finding.op_type or '?'} {finding.op_name or '?'}"
    kind = f"({finding.dtype} {shape_text(finding.shape)})"
    seen = finding.seen_by or finding.seen_path
    if check == "watcher":
        what = f"{tensor} {kind} changed first after {seen}"
        until = f" (it was the same until after {finding.same_until})" if finding.same_until else ""
    else:
        reader = f"{finding.seen_as} of {seen}"
        what = f"{reader} {kind} is not what {tensor} wrote at {finding.address:#x}"
        until = ": an overwrite candidate"
    return f"{place}{printable(what)}{printable(until)}. {change_text(finding)}"


def change_text(finding: WatcherComparison) -> str:
    """Return where a tensor changed and who may have done it."""
    change = finding.change
    assert change is not None
    text = f"Bytes {change.first_byte:,} to {change.last_byte:,} of {finding.nbytes or 0:,}"
    if change.words:
        text += f": {change.words}"
    if not finding.suspects:
        wrote = "No other output that was dumped lies there."
        return f"{text}. {wrote if finding.address else ''}".rstrip()
    proven = [suspect for suspect in finding.suspects if suspect.wrote_it]
    return f"{text}. {suspect_text((proven or finding.suspects)[0])}"


def suspect_text(suspect: Suspect) -> str:
    """Return which operator wrote over the tensor, and where."""
    proof = ", and the bytes there are the ones that it wrote" if suspect.wrote_it else ""
    first, last = suspect.overlap
    return printable(
        f"In between, output.{suspect.output} of {suspect.op_type or '?'} "
        f"{suspect.op_name or '?'} was written over bytes {first:,} to {last:,}{proof}."
    )
