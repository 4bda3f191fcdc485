"""Realistic sample dumps, to try fastdump where there is no device.

`write_demo` writes an ordinary dump, all tensors of two ranks. `write_overflow_demo` and
`write_watcher_demo` write the dumps that a device makes with its switches for overflows and for
overwritten memory.
"""

from __future__ import annotations

from fastdump.demo._scenes import (
    OverflowDemo,
    WatcherDemo,
    write_overflow_demo,
    write_watcher_demo,
)
from fastdump.demo._write import DemoDump, PlantedOverflow, write_demo

__all__ = [
    "DemoDump",
    "OverflowDemo",
    "PlantedOverflow",
    "WatcherDemo",
    "write_demo",
    "write_overflow_demo",
    "write_watcher_demo",
]
