"""The configuration of a dump, an acl.json: read, check, explain and write it.

`check` says what the vendor's code does with a file. `load` returns the configuration in a file as
a `DumpConfig`, `explain` puts a configuration into words, and `build` writes a new one. By a dump
of the same model, `expand` finds the names that patterns stand for, and `footprint` counts what
each rule catches. `describe_dump` says what a dump is, and `missing` says what it lacks.

>>> from fastdump import config
>>> report = config.check_text('{"dump": {"dump_path": "/data/dump", "dump_mode": "out"}}')
>>> report.verdict
'reject'
>>> report.errors[0].message
'"out" is not one of input, output, all'
"""

from __future__ import annotations

from fastdump.config._catches import Catch, PartCatch
from fastdump.config._check import check, check_text, load, parse
from fastdump.config._dump_contents import DumpContents, describe_dump, missing
from fastdump.config._expansion import Expansion, Match, expand
from fastdump.config._explanation import Explanation, explain
from fastdump.config._findings import ConfigError, Finding, Place
from fastdump.config._footprint import Footprint, footprint
from fastdump.config._model import (
    STATISTICS,
    BlacklistItem,
    DumpConfig,
    ListEntry,
    OpnameRange,
)
from fastdump.config._report import ConfigReport
from fastdump.config._rules import RULES, Rule
from fastdump.config._suspects import Suspects, suspects
from fastdump.config._torchair import torchair_code, torchair_options
from fastdump.config._writing import build

__all__ = [
    "RULES",
    "STATISTICS",
    "BlacklistItem",
    "Catch",
    "ConfigError",
    "ConfigReport",
    "DumpConfig",
    "DumpContents",
    "Expansion",
    "Explanation",
    "Finding",
    "Footprint",
    "ListEntry",
    "Match",
    "OpnameRange",
    "PartCatch",
    "Place",
    "Rule",
    "Suspects",
    "build",
    "check",
    "check_text",
    "describe_dump",
    "expand",
    "explain",
    "footprint",
    "load",
    "missing",
    "parse",
    "suspects",
    "torchair_code",
    "torchair_options",
]
