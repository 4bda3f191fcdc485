"""Record batches as Python objects, some thousand rows at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from arro3.core import DataType

from fastdump._table.arrow_column import shape_list

if TYPE_CHECKING:
    from arro3.core import RecordBatch

ROWS = 8192


def chunks(batch: RecordBatch) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of up to `ROWS` rows as lists, None for null, shapes as tuples."""
    for start in range(0, batch.num_rows, ROWS):
        part = batch.slice(start, min(ROWS, batch.num_rows - start))
        yield {
            name: shape_list(part.column(name))
            if _has_lists(part.column(name).type)
            else list(part.column(name).to_pylist())
            for name in batch.column_names
        }


def _has_lists(type: DataType) -> bool:
    return DataType.is_list(type) or DataType.is_large_list(type)
