"""Tables as CSV files (RFC 4180, UTF-8), for people, spreadsheets and other programs."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

from arro3.core import Array, Field, RecordBatch, Schema, Table

from fastdump._table.arrow_column import column_of
from fastdump._table.chunks import ROWS, chunks
from fastdump._table.column import (
    ARROW_TYPE,
    EXPECTED,
    MAX_EXACT_INTEGER,
    Column,
    ColumnType,
    TableKind,
)
from fastdump._table.conform import check_names
from fastdump._table.table_limit import TableLimit
from fastdump._words.quantities import shape_text

# Long enough for any row: fewer than 64 fields, each of up to 128 Ki characters (csv's limit).
_MAX_LINE_BYTES = 32 << 20

# What makes a spreadsheet run a cell, also in the wide forms that some take for the same.
_QUOTE = "'"
_RUN = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_FORMULA = re.compile(f"{_QUOTE}*[{re.escape(_RUN)}]")
_ANY_FORMULA = re.compile(f"^{_QUOTE}*[{re.escape(_RUN)}]", re.MULTILINE)

# Columns that only the vendor's files of statistics have, never a table of fastdump.
_VENDOR_COLUMNS = {"Input/Output", "Data Type"}


def write_csv(batch: RecordBatch, names: Sequence[str], kind: TableKind, file: IO[bytes]) -> None:
    """Write some columns of a table."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    for lists in chunks(batch):
        columns = [_cells(lists[name], kind.columns[name].type) for name in names]
        writer.writerows(zip(*columns, strict=True))
    text.flush()
    text.detach()


def _cells(values: list[Any], type: ColumnType) -> Iterable[Any]:
    if type == "text":
        return _text_cells(values)
    cell = _CELLS.get(type)
    return values if cell is None else map(cell, values)


def _boolean_cell(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


_CELLS: dict[ColumnType, Callable[[Any], str | None]] = {
    "shape": shape_text,
    "boolean": _boolean_cell,
}


def _text_cells(values: Sequence[str | None]) -> Iterable[str | None]:
    """Return texts so that no spreadsheet takes one for a formula: with an apostrophe before it.

    A text that looks like one with such an apostrophe gets one more, so that each can be undone.
    """
    # One search through all of them: few tables have any such text.
    if _ANY_FORMULA.search("\n".join(filter(None, values))):
        return [_QUOTE + value if value and _FORMULA.match(value) else value for value in values]
    return values


def _texts(cells: Sequence[str]) -> Sequence[str]:
    """Return the texts that `_text_cells` made cells of."""
    if f"\n{_QUOTE}" in "\n".join(("", *cells)):
        return [cell[1:] if cell[:1] == _QUOTE and _FORMULA.match(cell) else cell for cell in cells]
    return cells


def read_csv(file: IO[bytes], kind: TableKind, limit: TableLimit) -> Table:
    """Read a file that `write_csv` or a spreadsheet wrote; raise ValueError for any other file."""
    records = _records(file)
    _, names = next(records, (0, []))
    if not _VENDOR_COLUMNS.isdisjoint(names):
        raise ValueError(
            "these are statistics that the device's software wrote: stats() reads them, "
            "not read_stats"
        )
    check_names(names, kind)
    schema = Schema([Field(name, ARROW_TYPE[kind.columns[name].type], True) for name in names])
    batches = []
    for batch in _batches(records, names, schema, kind):
        limit.count_batch(batch)
        batches.append(batch)
    return Table.from_batches(batches, schema=schema)


def _records(file: IO[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's last line, and its fields."""
    reader = csv.reader(_lines(file), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _lines(file: IO[bytes]) -> Iterator[str]:
    # A text file would read lines of any length, and not tell which of them is not UTF-8.
    number = 0
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        if len(line) == _MAX_LINE_BYTES:
            raise ValueError(f"line {number} is longer than {_MAX_LINE_BYTES} bytes")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"line {number} is not UTF-8: {error.reason}") from error


def _batches(
    records: Iterator[tuple[int, list[str]]], names: Sequence[str], schema: Schema, kind: TableKind
) -> Iterator[RecordBatch]:
    while part := list(itertools.islice(records, ROWS)):
        part = [(line, row) for line, row in part if row]  # without empty lines
        for line, row in part:
            if len(row) != len(names):
                raise ValueError(f"line {line}: {len(row)} fields, the header has {len(names)}")
        lines = [line for line, _ in part]
        columns = [
            _parsed([row[i] for _, row in part], kind.columns[name], lines)
            for i, name in enumerate(names)
        ]
        yield RecordBatch.from_arrays(columns, schema=schema)


def _parsed(cells: Sequence[str], column: Column, lines: Sequence[int]) -> Array:
    if column.type == "text":
        texts = _texts(cells)
        # An empty cell is null, or empty text in a column without nulls.
        return column_of([text or None for text in texts] if column.nullable else texts, "text")
    parse = _PARSERS[column.type]
    try:
        return column_of([parse(cell) if cell else None for cell in cells], column.type)
    except (ValueError, OverflowError):
        for line, cell in zip(lines, cells, strict=True):
            try:
                column_of([parse(cell) if cell else None], column.type)
            except (ValueError, OverflowError):
                expected = EXPECTED[column.type]
                raise ValueError(
                    f"line {line}, column {column.name!r}: {cell!r:.80} is not {expected}"
                ) from None
        raise


def _integer(cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        # pandas writes integers as floats if their column has nulls.
        value = float(cell)
        if value.is_integer() and abs(value) <= MAX_EXACT_INTEGER:
            return int(value)
        raise


@functools.lru_cache(maxsize=4096)
def _shape(cell: str) -> tuple[int, ...]:
    return () if cell == "()" else tuple(map(int, cell.split("x")))


def _boolean(cell: str) -> bool:
    # Other programs write True, or TRUE.
    if cell.lower() not in ("true", "false"):
        raise ValueError
    return cell.lower() == "true"


_PARSERS: dict[ColumnType, Callable[[str], object]] = {
    "integer": _integer,
    "real": float,
    "shape": _shape,
    "boolean": _boolean,
}
