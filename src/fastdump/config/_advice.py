"""Warnings: what the vendor's code takes without a word, and what then does not happen."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from fastdump.config._dump_path import split_remote
from fastdump.config._findings import Findings, shown
from fastdump.config._graph_engine import GraphEngineVerdict
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import JsonObject
from fastdump.config._keys import DUMP, ROOT, Array, Object
from fastdump.config._model import BlacklistItem, DumpConfig, ListEntry

_POSITION = re.compile(r"(input|output)[0-9]+")
_UNUSED_IN_EXCEPTIONS = (
    "dump_list",
    "dump_mode",
    "dump_level",
    "dump_data",
    "dump_stats",
    "dump_step",
)


def advise_on_keys(
    members: JsonObject, findings: Findings, path: JsonPath = ROOT, kind: Object = DUMP
) -> None:
    """Warn of unknown keys in an object, and in the objects below it."""
    for name, value in members.items():
        known = kind.keys.get(name)
        if known is None:
            # Looking for a near name takes its time, and a hostile file has a million keys.
            hint = near_name(name, kind.keys) if findings.is_listed("unknown-key") else None
            message = f"the key {shown(name)} is not known"
            message += f"; {shown(hint)} is" if hint else ""
            findings.warning("unknown-key", (*path, name), message)
        elif isinstance(known, Array) and isinstance(known.of, Object) and isinstance(value, list):
            for i, element in enumerate(value):
                if isinstance(element, dict):
                    advise_on_keys(element, findings, (*path, name, i), known.of)


def near_name(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` resembles, if there is one."""
    close = difflib.get_close_matches(name[:60].lower(), names, n=1, cutoff=0.75)
    return close[0] if close else None


class Advice:
    """The warnings about a configuration that is not refused.

    Parameters
    ----------
    config
        The configuration.
    graph_engine
        What the graph engine makes of it.
    root
        Path of the "dump" object.
    findings
        Gets the warnings.
    """

    def __init__(
        self,
        config: DumpConfig,
        graph_engine: GraphEngineVerdict,
        root: JsonPath,
        findings: Findings,
    ) -> None:
        self._config = config
        self._graph_engine = graph_engine
        self._root = root
        self._findings = findings

    def advise(self) -> None:
        """Make all warnings."""
        config = self._config
        self._advise_on_path(config.dump_path or "")
        self._advise_on_nothing()
        if config.is_exception:
            self._advise_on_exception()
        elif config.is_overflow:
            self._advise_on_overflow()
        else:
            self._advise_on_list(config.dump_list or ())
        if config.is_watcher:
            self._advise_on_watcher()
        if config.is_on and self._graph_engine.verdict == "reject":
            message = (
                f"the graph engine refuses this ({self._graph_engine.reason}), which only its log"
                " tells: operators of graphs are not dumped"
            )
            self._findings.warning("graph-engine", self._root, message)

    def _warn(self, rule: str, key: str, message: str) -> None:
        self._findings.warning(rule, (*self._root, key), message)

    def _advise_on_path(self, path: str) -> None:
        if split_remote(path) is not None:
            return
        if "$" in path or path.startswith("~"):
            self._warn("path-expansion", "dump_path", f"{shown(path)} is taken as it is written")
        if ":" in path:
            host = shown(path.partition(":")[0])
            message = f"{host} is no IPv4 address with a path, so all of it is a local path"
            self._warn("path-host", "dump_path", message)

    def _advise_on_nothing(self) -> None:
        config = self._config
        if config.is_on:
            return
        if config.dump_kernel_data is not None:
            message = "only messages of kernels are dumped"
            self._warn("kernel-data", "dump_kernel_data", message)
        else:
            message = "nothing is dumped"
            if config.dump_list is not None:
                message += ': dump_list is empty; "dump_list": [{}] is all operators of all models'
            self._findings.warning("nothing", self._root, message)

    def _advise_on_exception(self) -> None:
        config = self._config
        for name in _UNUSED_IN_EXCEPTIONS:
            if getattr(config, name) is not None:
                self._warn("unused", name, f"{name} is ignored in an exception scene")
        if config.dump_kernel_data is not None and not config.dump_path:
            message = "dump_kernel_data is ignored in an exception scene without dump_path"
            self._warn("unused", "dump_kernel_data", message)
        if config.dump_scene == "aic_err_detail_dump":
            message = "not every device and driver has this"
            self._warn("detail", "dump_scene", message)

    def _advise_on_overflow(self) -> None:
        config = self._config
        if config.dump_mode not in (None, "all"):
            message = "dump_mode is ignored: overflows are dumped with inputs and outputs"
            self._warn("unused", "dump_mode", message)
        for name in ("dump_data", "dump_stats"):
            if getattr(config, name) not in (None, "tensor"):
                message = f"{name} is ignored: overflows are dumped as tensors"
                self._warn("unused", name, message)

    def _advise_on_watcher(self) -> None:
        config = self._config
        if not config.dump_list:
            self._warn("watcher-list", "dump_scene", "no operator is watched")
        if config.dump_mode is None:
            message = 'release 8.5.0 refuses a watcher without "dump_mode": "output"'
            self._warn("older-release", "dump_scene", message)

    def _advise_on_list(self, entries: tuple[ListEntry, ...]) -> None:
        config = self._config
        if entries and config.level == "kernel":
            message = "dump_list selects operators of graphs, which dump_level kernel leaves out"
            self._warn("level-kernel", "dump_level", message)
        self._advise_on_dropped(entries)
        self._advise_on_lost(entries)
        for i, entry in enumerate(entries):
            path = (*self._root, "dump_list", i)
            for name in ("optype_blacklist", "opname_blacklist"):
                for j, item in enumerate(getattr(entry, name) or ()):
                    self._advise_on_item(item, (*path, name, j))
            for both in sorted(set(entry.layer or ()) & set(entry.watcher_nodes or ())):
                message = f"{shown(both)} is watched too, so it gives only its own plain file"
                self._findings.warning("watched-layer", (*path, "layer"), message)

    def _advise_on_dropped(self, entries: tuple[ListEntry, ...]) -> None:
        dropped = [i for i, entry in enumerate(entries) if entry.is_void]
        what = "all models are dumped" if len(dropped) == len(entries) else "the others stay"
        for i in dropped:
            name = "model_name" if entries[i].model_name == "" else "layer"
            message = f"{name} is empty, so this entry is dropped; {what}"
            self._findings.warning("entry-dropped", (*self._root, "dump_list", i), message)

    def _advise_on_lost(self, entries: tuple[ListEntry, ...]) -> None:
        kept = [(i, entry) for i, entry in enumerate(entries) if not entry.is_void]
        last = {entry.model_name: i for i, entry in kept}
        for i, entry in kept:
            later = last[entry.model_name]
            if i != later:
                same = "model_name" if entry.model_name else "absence of a model_name"
                message = f"entry {later} has the same {same} and takes the place of this one"
            elif None in last and entry.model_name:
                message = f"entry {last[None]} has no model_name and decides for all models"
            else:
                continue
            self._findings.warning("entry-lost", (*self._root, "dump_list", i), message)

    def _advise_on_item(self, item: BlacklistItem, path: JsonPath) -> None:
        if not item.name or not item.pos:
            missing = "pos" if item.name else "name"
            message = f"the item excludes nothing: {missing} is missing or empty"
            self._findings.warning("blacklist-item", path, message)
            return
        mode = self._config.mode
        for k, position in enumerate(item.pos):
            match = _POSITION.fullmatch(position)
            if match is None:
                message = f"{shown(position)} is not inputN or outputN and is passed over"
            elif mode not in (match[1], "all"):
                message = f"{shown(position)} is not dumped anyway: dump_mode is {mode}"
            else:
                continue
            self._findings.warning("position", (*path, "pos", k), message)
