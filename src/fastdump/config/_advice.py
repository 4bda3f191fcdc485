"""Warnings of what the vendor's code silently accepts, although it does not do what one expects."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fastdump._words import config_catalogue as say
from fastdump.config._dump_path import split_remote
from fastdump.config._findings import Findings
from fastdump.config._graph_engine import GraphEngineVerdict
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import JsonObject
from fastdump.config._keys import BLACKLISTS, DUMP, ROOT, Keys
from fastdump.config._model import BlacklistItem, DumpConfig, ListEntry
from fastdump.config._patterns import names_in, wildcard_in
from fastdump.config._wording import quoted

_POSITION = re.compile(r"(input|output)[0-9]+")
_UNUSED = ("dump_list", "dump_mode", "dump_level", "dump_data", "dump_stats", "dump_step")


def advise_on_keys(
    members: JsonObject, findings: Findings, path: JsonPath = ROOT, keys: Keys = DUMP
) -> None:
    """Warn of unknown keys in the "dump" object and in the objects below it.

    Parameters
    ----------
    members
        The object.
    findings
        Receives the warnings.
    path
        Path of the object.
    keys
        The keys that are known.
    """
    for name, value in members.items():
        kind = keys.get(name)
        if kind is None:
            # Looking for a near name takes time, and a hostile file may have a million keys.
            if not findings.is_full("unknown-key"):
                near = near_name(name, keys)
                if near:
                    unknown = say.UNKNOWN_KEY_NEAR(name=quoted(name), near=quoted(near))
                else:
                    unknown = say.UNKNOWN_KEY(name=quoted(name))
                findings.warning("unknown-key", (*path, name), unknown)
        elif isinstance(kind, list) and isinstance(kind[0], dict) and isinstance(value, list):
            for i, element in enumerate(value):
                if isinstance(element, dict):
                    advise_on_keys(element, findings, (*path, name, i), kind[0])


def near_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that `name` resembles most; None if it resembles none."""
    close = difflib.get_close_matches(name[:60].lower(), names, n=1, cutoff=0.75)
    return close[0] if close else None


@dataclass(frozen=True)
class Advice:
    """The warnings about a configuration that is not refused.

    Attributes
    ----------
    config
        The configuration.
    graph_engine
        What the graph engine makes of it.
    findings
        Receives the warnings.
    """

    config: DumpConfig
    graph_engine: GraphEngineVerdict
    findings: Findings

    def advise(self) -> None:
        """Add all warnings."""
        config = self.config
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
        if config.is_on and self.graph_engine.verdict == "reject":
            refusal = say.GRAPH_ENGINE_REFUSES(reason=self.graph_engine.reason)
            self._warn("graph-engine", refusal)

    def _warn(self, rule: str, message: str, *path: str | int) -> None:
        self.findings.warning(rule, (*ROOT, *path), message)

    def _advise_on_path(self, path: str) -> None:
        if split_remote(path) is not None:
            return
        if "$" in path or path.startswith("~"):
            self._warn("path-expansion", say.TAKEN_LITERALLY(path=quoted(path)), "dump_path")
        if ":" in path:
            host = quoted(path.partition(":")[0])
            self._warn("path-host", say.NO_ADDRESS(host=host), "dump_path")

    def _advise_on_nothing(self) -> None:
        config = self.config
        if config.is_on:
            return
        if config.dump_kernel_data is not None:
            self._warn("kernel-data", say.ONLY_KERNEL_MESSAGES(), "dump_kernel_data")
        else:
            is_empty = config.dump_list == ()
            nothing = say.NOTHING_DUMPED_LIST_EMPTY if is_empty else say.NOTHING_DUMPED
            self._warn("nothing", nothing())

    def _advise_on_exception(self) -> None:
        config = self.config
        for name in _UNUSED:
            if getattr(config, name) is not None:
                self._warn("unused", say.IGNORED_IN_EXCEPTION(name=name), name)
        if config.dump_kernel_data is not None and not config.dump_path:
            self._warn("unused", say.IGNORED_WITHOUT_PATH(), "dump_kernel_data")
        if config.dump_scene == "aic_err_detail_dump":
            self._warn("detail", say.SCENE_NEEDS_DEVICE(), "dump_scene")

    def _advise_on_overflow(self) -> None:
        config = self.config
        if config.dump_mode not in (None, "all"):
            self._warn("unused", say.MODE_OF_OVERFLOW(), "dump_mode")
        for name in ("dump_data", "dump_stats"):
            if getattr(config, name) not in (None, "tensor"):
                self._warn("unused", say.DATA_OF_OVERFLOW(name=name), name)

    def _advise_on_watcher(self) -> None:
        config = self.config
        if not config.dump_list:
            self._warn("watcher-list", say.NOTHING_WATCHED(), "dump_scene")
        if config.dump_mode is None:
            self._warn("older-release", say.OLD_RELEASE_WATCHER(), "dump_scene")

    def _advise_on_list(self, entries: tuple[ListEntry, ...]) -> None:
        if entries and self.config.level == "kernel":
            self._warn("level-kernel", say.LIST_WITHOUT_GRAPHS(), "dump_level")
        self._advise_on_dropped(entries)
        self._advise_on_lost(entries)
        for i, entry in enumerate(entries):
            path = ("dump_list", i)
            for below, name in names_in(entry):
                if self.findings.is_full("pattern"):
                    break
                if character := wildcard_in(name):
                    message = say.NO_WILDCARD(character=character, name=quoted(name))
                    self._warn("pattern", message, *path, *below)
            for name in BLACKLISTS:
                for j, item in enumerate(getattr(entry, name) or ()):
                    self._advise_on_item(item, *path, name, j)
            for both in sorted(set(entry.layer or ()) & set(entry.watcher_nodes or ())):
                message = say.WATCHED_TOO(name=quoted(both))
                self._warn("watched-layer", message, *path, "layer")

    def _advise_on_dropped(self, entries: tuple[ListEntry, ...]) -> None:
        dropped = [i for i, entry in enumerate(entries) if entry.is_void]
        is_all = len(dropped) == len(entries)
        message = say.ALL_ENTRIES_DROPPED if is_all else say.ENTRY_DROPPED
        for i in dropped:
            name = "model_name" if entries[i].model_name == "" else "layer"
            self._warn("entry-dropped", message(name=name), "dump_list", i)

    def _advise_on_lost(self, entries: tuple[ListEntry, ...]) -> None:
        kept = [(i, entry) for i, entry in enumerate(entries) if not entry.is_void]
        last = {entry.model_name: i for i, entry in kept}
        for i, entry in kept:
            later = last[entry.model_name]
            if i != later and entry.model_name:
                message = say.SAME_MODEL_LATER(i=str(later))
            elif i != later:
                message = say.NO_MODEL_LATER(i=str(later))
            elif None in last and entry.model_name:
                message = say.ALL_MODELS_LATER(i=str(last[None]))
            else:
                continue
            self._warn("entry-lost", message, "dump_list", i)

    def _advise_on_item(self, item: BlacklistItem, *path: str | int) -> None:
        if not item.name or not item.pos:
            missing = "pos" if item.name else "name"
            message = say.EXCLUDES_NOTHING(name=missing)
            self._warn("blacklist-item", message, *path)
            return
        for k, position in enumerate(item.pos):
            match = _POSITION.fullmatch(position)
            if match is None:
                message = say.NO_POSITION(position=quoted(position))
            elif not self.config.takes(match[1]):
                message = say.NOT_DUMPED_ANYWAY(
                    position=quoted(position), mode=quoted(self.config.mode)
                )
            else:
                continue
            self._warn("position", message, *path, "pos", k)
