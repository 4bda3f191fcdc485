"""What rules catch as lines of text: a table with a line for each rule and each step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fastdump._words.answer import fitted
from fastdump._words.quantities import counted, numbered, size_text
from fastdump._words.text_table import Cell, Column, TextTable, plain
from fastdump.config._catches import Catch, PartCatch

_COLUMNS = (
    Column("operators", right=True),
    Column("tensors", right=True),
    Column("bytes", right=True),
    Column("rule"),
)
_MAX_NAMES = 8
_MAX_EMPTY = 20


def catch_lines(
    rules: Iterable[Catch], parts: Iterable[PartCatch], width: int | None = None
) -> list[str]:
    """Return a table of what each rule catches, and what each step of each rank of the example has.

    Of the names in one list, the first eight and those that catch nothing have a line. With a
    width, long names are shortened to fit it.
    """
    rows = [*_rule_rows(rules), *_part_rows(parts)]
    numbers = zip(_COLUMNS, zip(*rows, strict=True), strict=True) if width is not None else ()
    widths = [max(len(column.title), *map(len, texts)) + 2 for column, texts in numbers]
    room = None if width is None else width - sum(widths[:-1])
    cells = ([*map(Cell, row[:-1]), Cell(_fitted(row[-1], room))] for row in rows)
    return [plain(line) for line in TextTable(_COLUMNS, cells, width=None).lines()]


def _fitted(text: str, room: int | None) -> str:
    rule = text.lstrip()
    indent = text[: len(text) - len(rule)]
    return indent + fitted(rule, None if room is None else room - len(indent), "...")


def _rule_rows(rules: Iterable[Catch]) -> Iterator[tuple[str, str, str, str]]:
    lists: defaultdict[str, list[Catch]] = defaultdict(list)
    for rule in rules:
        lists[rule.place.rpartition("[")[0] if _is_name(rule) else rule.place].append(rule)
    for listed in lists.values():
        full = [rule for rule in listed if not rule.is_empty][:_MAX_NAMES]
        empty = [rule for rule in listed if rule.is_empty][:_MAX_EMPTY]
        shown = [rule for rule in listed if rule in full or rule in empty]
        for rule in shown:
            indent = "  " if _is_name(rule) else ""
            yield (*_numbers(rule), indent + rule.rule)
            if rule.note:
                yield "", "", "", f"{indent}  {rule.note}"
        if more := len(listed) - len(shown):
            yield "", "", "", f"  and {counted(more, 'name')} more; --json lists all"


def _is_name(rule: Catch) -> bool:
    """Tell whether a rule is an element of a list in an entry of ``dump_list``."""
    return rule.place.count("[") > 1


def _part_rows(parts: Iterable[PartCatch]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each rank and number of bytes, with the steps that have it."""
    steps: defaultdict[tuple[object, ...], dict[int | None, list[int]]] = defaultdict(dict)
    for part in parts:
        found = steps[_numbers(part)].setdefault(part.rank, [])
        if part.step is not None:
            found.append(part.step)
    for numbers, by_rank in steps.items():
        ranks: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for rank, of_rank in by_rank.items():
            ranks[tuple(sorted(of_rank))] += [] if rank is None else [rank]
        for of_ranks, together in ranks.items():
            where = [numbered("rank", together)] if together else []
            where += [numbered("step", of_ranks)] if of_ranks else []
            operators, tensors, nbytes = map(str, numbers)
            yield operators, tensors, nbytes, f"example: {', '.join(where) or 'all'}"


def _numbers(catch: Catch | PartCatch) -> tuple[str, str, str]:
    if catch.n_tensors is None or catch.nbytes is None:
        return f"{catch.n_operators:,}", "?", "?"
    return f"{catch.n_operators:,}", f"{catch.n_tensors:,}", size_text(catch.nbytes)
