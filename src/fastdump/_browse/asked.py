"""What screens ask the program for: other screens, which they need not know."""

from __future__ import annotations

from textual.message import Message

from fastdump._compare import ComparisonTable
from fastdump._table.stats_table import StatsTable


class TensorAsked(Message):
    """Someone wants to see the tensor of a row."""

    def __init__(self, table: StatsTable, row: int) -> None:
        self.table = table
        self.row = row
        super().__init__()


class OriginAsked(Message):
    """Someone wants to know where the bad values of a row began."""

    def __init__(self, table: StatsTable, row: int) -> None:
        self.table = table
        self.row = row
        super().__init__()


class PairAsked(Message):
    """Someone wants to see the two tensors of a row of a comparison."""

    def __init__(self, table: ComparisonTable, row: int) -> None:
        self.table = table
        self.row = row
        super().__init__()
