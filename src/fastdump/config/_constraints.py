"""The vendor's third check: what keys demand of each other.

The checks have the vendor's order and end where the vendor's do: an exception scene is accepted
whatever other keys say, and with dump_debug on, nothing after dump_path is checked. A check that
needs a broken value is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fastdump._words import config_catalogue as say
from fastdump.config._dump_path import (
    MAX_PATH_BYTES,
    disk_problem,
    forbidden_characters,
    split_remote,
)
from fastdump.config._dump_step import step_problems
from fastdump.config._findings import Findings
from fastdump.config._json_places import JsonPath
from fastdump.config._keys import BLACKLISTS, ROOT
from fastdump.config._model import DumpConfig, ListEntry
from fastdump.config._wording import missing_or_empty, quoted

MAX_BLACKLIST_ITEMS = 100


@dataclass(frozen=True)
class Constraints:
    """The checks of one configuration.

    Attributes
    ----------
    config
        The keys with right types and values.
    broken
        Paths, below the "dump" object, of values that are wrong.
    findings
        Receives the errors.
    here
        Whether a dump_path that is missing on this machine is an error rather than a warning.
    """

    config: DumpConfig
    broken: Collection[JsonPath]
    findings: Findings
    here: bool

    def check(self) -> None:
        """Make the checks that the vendor's code would reach."""
        config = self.config
        if not self._known("dump_scene"):
            return
        if config.dump_scene is not None:
            self._check_scene(config.dump_scene)
        if config.is_exception:
            return
        if self._known("dump_path"):
            self._check_path(config.dump_path)
        if not self._known("dump_debug"):
            return
        if config.is_overflow:
            if config.is_single_operator and config.dump_scene is None:
                self._error("debug", say.CONFLICTS_WITH_DEBUG(), "dump_op_switch")
            return
        for problem in step_problems(config.dump_step or ""):
            if self.findings.is_full("step"):
                break
            self._error("step", problem, "dump_step")
        for i, entry in enumerate(config.dump_list or ()):
            if self._known("dump_list", i):
                self._check_entry(entry, i)
        self._check_stats()

    def _known(self, *path: str | int) -> bool:
        return path not in self.broken

    def _error(self, rule: str, message: str, *path: str | int, code: str | None = None) -> None:
        self.findings.error(rule, (*ROOT, *path), message, code=code)

    def _check_scene(self, scene: str) -> None:
        config = self.config
        switches = {"dump_debug": config.is_overflow, "dump_op_switch": config.is_single_operator}
        for name, is_on in switches.items():
            if is_on:
                self._error("scene", say.CONFLICTS_WITH_SCENE(scene=quoted(scene)), name)
        if config.is_watcher and config.dump_mode not in (None, "output"):
            message = say.WATCHER_MODE(mode=f'"{config.dump_mode}"')
            self._error("scene", message, "dump_mode")

    def _check_path(self, path: str | None) -> None:
        if not path:
            self._error("path", missing_or_empty("dump_path", path), "dump_path")
            return
        n_bytes = len(path.encode())
        remote = split_remote(path)
        if n_bytes > MAX_PATH_BYTES:
            message = say.PATH_TOO_LONG(n=n_bytes, most=MAX_PATH_BYTES)
            self._error("path-length", message, "dump_path")
        elif remote is None:
            self._check_disk(path)
        elif forbidden := forbidden_characters(remote[1]):
            message = say.PATH_CHARACTERS(characters=quoted(forbidden))
            self._error("path-characters", message, "dump_path")

    def _check_disk(self, path: str) -> None:
        if problem := disk_problem(path):
            add = self.findings.error if self.here else self.findings.warning
            add("path-exists", (*ROOT, "dump_path"), problem(path=quoted(path)))

    def _check_stats(self) -> None:
        config = self.config
        if config.dump_stats is None:
            return
        if not config.dump_stats:
            self._error("stats", say.IS_EMPTY(name="dump_stats"), "dump_stats")
        if self._known("dump_data") and config.data != "stats":
            message = _needs("dump_stats", "dump_data", "stats", config.dump_data, config.data)
            self._error("stats-data", message, "dump_stats")

    def _check_entry(self, entry: ListEntry, i: int) -> None:
        path = ("dump_list", i)
        if self._known("dump_op_switch") and not self.config.is_single_operator:
            if entry.model_name == "":
                self._error("entry", say.IS_EMPTY(name="model_name"), *path, "model_name")
            if entry.layer == ():
                self._error("entry", say.LAYER_EMPTY(), *path, "layer")
        self._check_watcher_nodes(entry, i)
        for name in BLACKLISTS:
            n_items = len(getattr(entry, name) or ())
            if n_items > MAX_BLACKLIST_ITEMS:
                message = say.TOO_MANY_ITEMS(n=n_items, most=MAX_BLACKLIST_ITEMS)
                self._error("blacklist-size", message, *path, name)
        for name in BLACKLISTS:
            if getattr(entry, name):
                self._check_level("blacklist-level", *path, name)
        if entry.opname_range:
            self._check_range(entry, i)

    def _check_watcher_nodes(self, entry: ListEntry, i: int) -> None:
        path = ("dump_list", i, "watcher_nodes")
        if not self.config.is_watcher:
            if entry.watcher_nodes:
                self._error("watcher-nodes", say.NODES_NEED_WATCHER(), *path)
            return
        if not entry.watcher_nodes and self._known(*path):
            message = missing_or_empty("watcher_nodes", entry.watcher_nodes)
            self._error("watched", message, *path)
        if entry.model_name is not None:
            message = say.NO_MODEL_WITH_WATCHER()
            self._error("watched", message, "dump_list", i, "model_name", code="EP0005")

    def _check_range(self, entry: ListEntry, i: int) -> None:
        path = ("dump_list", i)
        self._check_level("range-level", *path, "opname_range")
        if not entry.model_name and self._known(*path, "model_name"):
            is_missing = entry.model_name is None
            needs = say.RANGE_NEEDS_MODEL if is_missing else say.RANGE_NEEDS_MODEL_NOT_EMPTY
            self._error("range-model", needs(), *path, "model_name")
        for j, span in enumerate(entry.opname_range or ()):
            for name in ("begin", "end"):
                value = getattr(span, name)
                if not value and self._known(*path, "opname_range", j, name):
                    lacks = say.RANGE_LACKS if value is None else say.RANGE_HAS_EMPTY
                    self._error("range", lacks(name=name), *path, "opname_range", j)

    def _check_level(self, rule: str, *path: str | int) -> None:
        config = self.config
        if self._known("dump_level") and config.level != "op":
            message = _needs(str(path[-1]), "dump_level", "op", config.dump_level, config.level)
            self._error(rule, message, *path)


def _needs(name: str, key: str, value: str, found: str | None, default: str) -> str:
    needs = say.NEEDS_VALUE_NOT_DEFAULT if found is None else say.NEEDS_VALUE
    return needs(name=name, key=key, value=quoted(value), found=quoted(found or default))
