"""The rules by name: what the vendor's code asks for, and what surprises although it is legal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """One rule.

    Attributes
    ----------
    text
        The rule in a sentence.
    code
        What the vendor's code reports when it is broken; None if nothing is.
    """

    text: str
    code: str | None = None


_ERRORS: Final[dict[str, Rule]] = {
    "file-size": Rule("A file has at most 10 MiB.", "100003"),
    "nesting": Rule(
        "Braces nest at most 10 deep and so do brackets, counted separately; those inside strings"
        " count too.",
        "100006",
    ),
    "encoding": Rule("The text is UTF-8; a byte order mark may stand before it.", "EP0004"),
    "syntax": Rule(
        "The text is strict JSON: no comments, no trailing commas, no single quotes, no NaN.",
        "EP0004",
    ),
    "type": Rule("Every key that is known has the type of its values; null is none.", "EP0001"),
    "value": Rule("A key with fixed values has one of them, in this spelling.", "EP0002"),
    "path": Rule("dump_path is there and not empty, except in an exception scene.", "EP0001"),
    "path-length": Rule("dump_path has at most 512 bytes.", "EP0003"),
    "path-characters": Rule(
        "The path after an IPv4 address has ASCII letters, digits and -=[];\\,./!@#$%^&*()_+{}:?"
        " only.",
        "EP0003",
    ),
    "path-exists": Rule(
        "A local dump_path is a directory that exists and may be read and written; it is never"
        " created.",
        "EP0003",
    ),
    "scene": Rule(
        "With dump_scene neither dump_debug nor dump_op_switch is on; a watcher has dump_mode"
        " output.",
        "EP0005",
    ),
    "debug": Rule("With dump_debug on dump_op_switch is not on.", "EP0005"),
    "step": Rule(
        "dump_step has at most 100 items separated by |, each a number N or a range N-M with N not"
        " above M.",
        "EP0003",
    ),
    "entry": Rule(
        "Unless dump_op_switch is on, model_name and layer of an entry of dump_list are not empty."
        " Releases before 9.1.0 are content if one entry is good.",
        "EP0001",
    ),
    "watched": Rule(
        "With dump_scene watcher every entry of dump_list has watcher_nodes and none has"
        " model_name.",
        "EP0001",
    ),
    "watcher-nodes": Rule("Only dump_scene watcher has watcher_nodes.", "EP0005"),
    "blacklist-size": Rule("A blacklist has at most 100 items.", "EP0003"),
    "blacklist-level": Rule("A blacklist needs dump_level op; the default is all.", "EP0005"),
    "range-level": Rule("opname_range needs dump_level op; the default is all.", "EP0005"),
    "range-model": Rule("An entry with opname_range has a model_name.", "EP0001"),
    "range": Rule("A range of operators has a begin and an end, neither empty.", "EP0003"),
    "stats": Rule("dump_stats is not empty.", "EP0001"),
    "stats-data": Rule("dump_stats needs dump_data stats; the default is tensor.", "EP0005"),
}

_WARNINGS: Final[dict[str, Rule]] = {
    "more": Rule("Of findings of one rule the first 20 are listed."),
    "nul": Rule("A NUL byte ends the text; what is behind it is not read."),
    "nothing": Rule(
        "Something is dumped only if dump_list has an entry, dump_op_switch or dump_debug is on, or"
        " dump_scene is set."
    ),
    "kernel-data": Rule(
        "dump_kernel_data starts the dump of kernel messages by itself, wherever there is a"
        " dump_path."
    ),
    "duplicate-key": Rule("Of a key that is repeated the last value counts."),
    "unknown-key": Rule("Keys that are not known are ignored without a word."),
    "unused": Rule("A key that the rest of the configuration makes useless is ignored."),
    "graph-engine": Rule(
        "The graph engine reads the text a second time. If it refuses, it only writes to its log:"
        " the call succeeds, and operators of graphs are not dumped."
    ),
    "entry-lost": Rule(
        "Of entries with the same model_name only the last one counts, and an entry without"
        " model_name makes those with one useless."
    ),
    "entry-dropped": Rule(
        "With dump_op_switch on, entries with an empty model_name or layer are dropped; if none is"
        " left, all models are dumped."
    ),
    "level-kernel": Rule("With dump_level kernel the operators of graphs are not dumped."),
    "position": Rule("A position in a blacklist is inputN or outputN; others are passed over."),
    "blacklist-item": Rule("An item of a blacklist excludes nothing without name or pos."),
    "watcher-list": Rule("A watcher without an entry in dump_list watches nothing."),
    "watched-layer": Rule(
        "An operator that is both in layer and in watcher_nodes gives only its own plain file."
    ),
    "path-expansion": Rule("Variables and ~ in dump_path are not expanded."),
    "path-host": Rule(
        "A dump_path with a colon is a remote one only if four numbers up to 255 stand before the"
        " first colon and something behind it; otherwise all of it is a local path."
    ),
    "older-release": Rule("Some earlier releases refuse what the current one takes."),
    "detail": Rule(
        "aic_err_detail_dump needs an Atlas A2 or A3 and driver 25.0.RC1 or newer; elsewhere"
        " switching it on fails with 500000."
    ),
}

RULES: Final[Mapping[str, Rule]] = {**_ERRORS, **_WARNINGS}
"""All rules by the name that a finding gives."""
