"""A realistic dump to try things on where there is no device: see `write_demo`."""

from __future__ import annotations

from fastdump.demo._write import DemoDump, PlantedOverflow, write_demo

__all__ = ["DemoDump", "PlantedOverflow", "write_demo"]
