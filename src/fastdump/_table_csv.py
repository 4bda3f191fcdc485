"""Tables as CSV (RFC 4180, UTF-8): for people, spreadsheets and whatever reads nothing else."""

from __future__ import annotations

import csv
import functools
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from arro3.core import Array, RecordBatch, Schema, Table

from fastdump._arrow_column import column_of
from fastdump._chunks import ROWS, chunks
from fastdump._column import EXPECTED, MAX_EXACT_INTEGER, Column, Kind, TableKind
from fastdump._column_table import AnyTable, ColumnTable
from fastdump._conform import check_names, conform

# Longer than any row can be: 37 fields, of which the csv module reads up to 128 Ki characters.
_MAX_LINE_BYTES = 32 << 20

# In headers of the statistics that the vendor's software writes, never in ours.
_VENDOR_COLUMNS = {"Input/Output", "Data Type"}


def write_csv(table: ColumnTable[Any], file: IO[bytes]) -> None:
    """Write `table`, without the columns that say nothing at its level."""
    batch = table.arrow.to_batches()[0]
    names = [name for name in batch.column_names if table.is_csv_column(name)]
    columns_by_name = table.kind.columns
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    for lists in chunks(batch):
        columns = [
            map(_CELLS[kind], lists[name])
            if (kind := columns_by_name[name].kind) in _CELLS
            else lists[name]
            for name in names
        ]
        writer.writerows(zip(*columns, strict=True))
    text.flush()
    text.detach()


def _shape_cell(shape: tuple[int, ...] | None) -> str | None:
    if shape is None:
        return None
    return "x".join(map(str, shape)) if shape else "()"


def _boolean_cell(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


_CELLS: dict[Kind, Callable[[Any], str | None]] = {"shape": _shape_cell, "boolean": _boolean_cell}


def read_csv(file: IO[bytes], table_type: type[AnyTable]) -> AnyTable:
    """Read what `write_csv` or a spreadsheet has written; raise ValueError if it is not that."""
    records = _records(file)
    _, names = next(records, (0, []))
    if not _VENDOR_COLUMNS.isdisjoint(names):
        raise ValueError(
            "these are statistics that the device's software wrote: stats() reads them, "
            "not read_stats"
        )
    check_names(names, table_type.kind)
    schema = table_type.schema_for(names, {})
    batches = list(_batches(records, names, schema, table_type.kind))
    return table_type(Table.from_batches(batches, schema=schema))


def _records(file: IO[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's last line, and its fields."""
    reader = csv.reader(_lines(file), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _lines(file: IO[bytes]) -> Iterator[str]:
    # Not a text file: that reads lines of any length, and does not know which one is not UTF-8.
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
    records: Iterator[tuple[int, list[str]]],
    names: Sequence[str],
    schema: Schema,
    kind: TableKind,
) -> Iterator[RecordBatch]:
    while part := list(itertools.islice(records, ROWS)):
        part = [(line, row) for line, row in part if row]  # without empty lines
        for line, row in part:
            if len(row) != len(names):
                raise ValueError(f"line {line}: {len(row)} fields, the header has {len(names)}")
        lines = [line for line, _ in part]
        columns = {
            name: _parsed([row[i] for _, row in part], kind.columns[name], lines)
            for i, name in enumerate(names)
        }
        yield conform(columns, len(part), schema, kind)


def _parsed(cells: Sequence[str], column: Column, lines: Sequence[int]) -> Array:
    if column.kind == "text":
        # An empty cell stands for null; in a column without nulls it can only be empty text.
        return column_of([cell or None for cell in cells] if column.nullable else cells, "text")
    parse = _PARSERS[column.kind]
    try:
        return column_of([parse(cell) if cell else None for cell in cells], column.kind)
    except (ValueError, OverflowError):
        for line, cell in zip(lines, cells, strict=True):
            try:
                column_of([parse(cell) if cell else None], column.kind)
            except (ValueError, OverflowError):
                expected = EXPECTED[column.kind]
                raise ValueError(
                    f"line {line}, column {column.name!r}: {cell!r:.80} is not {expected}"
                ) from None
        raise


def _integer(cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        # pandas writes a column of integers as floats if there are nulls.
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


_PARSERS: dict[Kind, Callable[[str], object]] = {
    "integer": _integer,
    "real": float,
    "shape": _shape,
    "boolean": _boolean,
}
