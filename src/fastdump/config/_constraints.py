"""The third thing that the vendor's code checks: what keys ask of each other.

In its order, and with its two early ends: in an exception scene nothing else counts, and with
dump_debug on nothing after dump_path. A check that needs a value which is broken is left out.
"""

from __future__ import annotations

from collections.abc import Collection

from fastdump.config._dump_path import (
    MAX_PATH_BYTES,
    disk_problem,
    failing_characters,
    split_remote,
)
from fastdump.config._dump_step import step_problems
from fastdump.config._findings import Findings, shown
from fastdump.config._json_places import JsonPath
from fastdump.config._model import DumpConfig, ListEntry

MAX_BLACKLIST_ITEMS = 100


class Constraints:
    """The checks of one configuration.

    Parameters
    ----------
    config
        What has the right types and values.
    broken
        Paths, below `root`, of what has not, and is not in `config` therefore.
    root
        Path of the "dump" object.
    findings
        Gets what is found.
    here
        Whether a dump_path that is missing on this machine is an error.
    """

    def __init__(
        self,
        config: DumpConfig,
        broken: Collection[JsonPath],
        root: JsonPath,
        findings: Findings,
        *,
        here: bool,
    ) -> None:
        self._config = config
        self._broken = broken
        self._root = root
        self._findings = findings
        self._here = here

    def check(self) -> None:
        """Make the checks that the vendor's code would come to."""
        config = self._config
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
                self._error("debug", "dump_op_switch", '"on" together with dump_debug "on"')
            return
        for problem in step_problems(config.dump_step or ""):
            self._error("step", "dump_step", problem)
        for i, entry in enumerate(config.dump_list or ()):
            if self._known("dump_list", i):
                self._check_entry(entry, i)
        self._check_stats()

    def _known(self, *path: str | int) -> bool:
        return path not in self._broken

    def _error(self, rule: str, key: str, message: str, *, code: str | None = None) -> None:
        self._findings.error(rule, (*self._root, key), message, code=code)

    def _check_scene(self, scene: str) -> None:
        config = self._config
        if config.is_overflow:
            self._error("scene", "dump_debug", f'"on" together with dump_scene {shown(scene)}')
        if config.is_single_operator:
            self._error("scene", "dump_op_switch", f'"on" together with dump_scene {shown(scene)}')
        if config.is_watcher and config.dump_mode not in (None, "output"):
            message = f'{shown(str(config.dump_mode))} with dump_scene "watcher", expected "output"'
            self._error("scene", "dump_mode", message)

    def _check_path(self, path: str | None) -> None:
        if not path:
            found = "is missing" if path is None else "is empty"
            self._error("path", "dump_path", f"dump_path {found}")
            return
        n_bytes = len(path.encode())
        if n_bytes > MAX_PATH_BYTES:
            message = f"{n_bytes:,} bytes long, at most {MAX_PATH_BYTES} are allowed"
            self._error("path-length", "dump_path", message)
            return
        remote = split_remote(path)
        if remote is None:
            self._check_disk(path)
        elif failing := failing_characters(remote[1]):
            message = f"{shown(remote[1])} after the address has {shown(failing)}"
            self._error("path-characters", "dump_path", message)

    def _check_disk(self, path: str) -> None:
        if problem := disk_problem(path):
            add = self._findings.error if self._here else self._findings.warning
            add("path-exists", (*self._root, "dump_path"), f"{shown(path)} {problem}")

    def _check_stats(self) -> None:
        config = self._config
        if config.dump_stats is None:
            return
        if not config.dump_stats:
            self._error("stats", "dump_stats", "dump_stats is empty")
        if self._known("dump_data") and config.data == "tensor":
            found = 'dump_data "tensor"' if config.dump_data else "dump_data missing"
            self._error("stats-data", "dump_stats", f"dump_stats with {found}")

    def _check_entry(self, entry: ListEntry, i: int) -> None:
        config = self._config
        if self._known("dump_op_switch") and not config.is_single_operator:
            if entry.model_name == "":
                self._entry_error("entry", i, "model_name", "model_name is empty")
            if entry.layer == ():
                self._entry_error("entry", i, "layer", "layer is empty; leave it out for all")
        self._check_watcher_nodes(entry, i)
        for name in ("optype_blacklist", "opname_blacklist"):
            items = getattr(entry, name) or ()
            if len(items) > MAX_BLACKLIST_ITEMS:
                message = f"{len(items):,} items, at most {MAX_BLACKLIST_ITEMS} are allowed"
                self._entry_error("blacklist-size", i, name, message)
        for name in ("optype_blacklist", "opname_blacklist"):
            if getattr(entry, name):
                self._check_level("blacklist-level", i, name)
        if entry.opname_range:
            self._check_range(entry, i)

    def _check_watcher_nodes(self, entry: ListEntry, i: int) -> None:
        if not self._config.is_watcher:
            if entry.watcher_nodes:
                message = 'watcher_nodes without dump_scene "watcher"'
                self._entry_error("watcher-nodes", i, "watcher_nodes", message)
            return
        if not entry.watcher_nodes and self._known("dump_list", i, "watcher_nodes"):
            found = "is missing" if entry.watcher_nodes is None else "is empty"
            self._entry_error("watched", i, "watcher_nodes", f"watcher_nodes {found}")
        if entry.model_name is not None:
            message = 'model_name with dump_scene "watcher"'
            self._entry_error("watched", i, "model_name", message, code="EP0005")

    def _check_range(self, entry: ListEntry, i: int) -> None:
        self._check_level("range-level", i, "opname_range")
        if not entry.model_name and self._known("dump_list", i, "model_name"):
            found = "missing" if entry.model_name is None else "empty"
            message = f"opname_range with model_name {found}"
            self._entry_error("range-model", i, "model_name", message)
        for j, span in enumerate(entry.opname_range or ()):
            for name in ("begin", "end"):
                path = ("dump_list", i, "opname_range", j, name)
                if not getattr(span, name) and self._known(*path):
                    found = "missing" if getattr(span, name) is None else "empty"
                    message = f"{name} of the range is {found}"
                    self._findings.error("range", (*self._root, *path[:-1]), message)

    def _check_level(self, rule: str, i: int, name: str) -> None:
        config = self._config
        if self._known("dump_level") and config.level != "op":
            found = shown(config.dump_level) if config.dump_level else 'missing, which means "all"'
            self._entry_error(rule, i, name, f'{name} needs dump_level "op", which is {found}')

    def _entry_error(
        self, rule: str, i: int, name: str, message: str, *, code: str | None = None
    ) -> None:
        self._findings.error(rule, (*self._root, "dump_list", i, name), message, code=code)
