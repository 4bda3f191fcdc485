"""The table that an output has, and when it is to get another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastdump._follow.clock import Clock
    from fastdump._table.stats_table import StatsTable

_SHARE = 0.05
"""Writing takes at most this share of the time."""


class WrittenTable:
    """What of a table that grows was written last, and how long that took.

    Parameters
    ----------
    clock
        The time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._table: StatsTable | None = None
        self._begin_s = self._not_before_s = float("-inf")

    def found(self, table: StatsTable) -> None:
        """Say that the output has a table already."""
        self._table = table

    def has(self, table: StatsTable) -> bool:
        """Tell whether the output has this very table."""
        return self._table is table

    def is_due(self, table: StatsTable, *, is_last: bool) -> bool:
        """Tell whether a table is to be written now, and begin that if so.

        One without rows is not written first, and another one only if the last writing was long
        enough ago, or if there will be no later one.
        """
        self._begin_s = self._clock.steady_s()
        if self.has(table) or (self._table is None and not len(table)):
            return False
        return is_last or self._begin_s >= self._not_before_s

    def end(self, table: StatsTable) -> None:
        """Say that the writing has ended that `is_due` began."""
        end_s = self._clock.steady_s()
        self._not_before_s = end_s + (end_s - self._begin_s) * (1 / _SHARE - 1)
        self._table = table
