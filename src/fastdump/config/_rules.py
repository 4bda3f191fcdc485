"""The rules by name: what the vendor's code demands, and what it accepts although it surprises."""

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
        What the vendor's code reports if the rule is broken; None if it reports nothing.
    """

    text: str
    code: str | None = None


_ERRORS: Final[dict[str, Rule]] = {
    "file-size": Rule("A file is at most 10 MiB large.", "100003"),
    "nesting": Rule(
        "Braces nest at most 10 deep, and so do brackets. Those in strings count too.", "100006"
    ),
    "encoding": Rule("The text is UTF-8; a byte order mark may precede it.", "EP0004"),
    "syntax": Rule(
        "The text is strict JSON: no comments, no trailing commas, no single quotes, no NaN.",
        "EP0004",
    ),
    "type": Rule("Every known key has a value of its type, and never null.", "EP0001"),
    "value": Rule("A key with fixed values has one of them, spelled exactly.", "EP0002"),
    "path": Rule("dump_path is present and not empty, except in an exception scene.", "EP0001"),
    "path-length": Rule("dump_path is at most 512 bytes long.", "EP0003"),
    "path-characters": Rule(
        "Only ASCII letters, digits and -=[];\\,./!@#$%^&*()_+{}:? are allowed in the path after an"
        " IPv4 address.",
        "EP0003",
    ),
    "path-exists": Rule(
        "A local dump_path is a directory that exists and can be read and written. It is never"
        " created.",
        "EP0003",
    ),
    "scene": Rule(
        "With dump_scene, neither dump_debug nor dump_op_switch is on, and a watcher has dump_mode"
        " output.",
        "EP0005",
    ),
    "debug": Rule("With dump_debug on, dump_op_switch is not on.", "EP0005"),
    "step": Rule(
        "dump_step has at most 100 items separated by |. Each is a number N or a range N-M in which"
        " N is not greater than M.",
        "EP0003",
    ),
    "entry": Rule(
        "Unless dump_op_switch is on, no entry of dump_list has an empty model_name or layer."
        " Releases before 9.1.0 accept the list if one of its entries is right.",
        "EP0001",
    ),
    "watched": Rule(
        "With dump_scene watcher, every entry of dump_list has watcher_nodes, and none has a"
        " model_name.",
        "EP0001",
    ),
    "watcher-nodes": Rule("watcher_nodes needs dump_scene watcher.", "EP0005"),
    "blacklist-size": Rule("A blacklist has at most 100 items.", "EP0003"),
    "blacklist-level": Rule("A blacklist needs dump_level op; the default is all.", "EP0005"),
    "range-level": Rule("opname_range needs dump_level op; the default is all.", "EP0005"),
    "range-model": Rule("An entry with opname_range has a model_name.", "EP0001"),
    "range": Rule("A range of operators has a begin and an end, and neither is empty.", "EP0003"),
    "stats": Rule("dump_stats is not empty.", "EP0001"),
    "stats-data": Rule("dump_stats needs dump_data stats; the default is tensor.", "EP0005"),
}

_WARNINGS: Final[dict[str, Rule]] = {
    "more": Rule("At most 20 findings of one rule are listed."),
    "nul": Rule("A NUL byte ends the text; what follows it is not read."),
    "nothing": Rule(
        "Something is dumped only if dump_list has an entry, dump_op_switch or dump_debug is on, or"
        " dump_scene is set."
    ),
    "kernel-data": Rule(
        "dump_kernel_data starts the dump of kernel messages by itself if there is a dump_path."
    ),
    "duplicate-key": Rule("If a key is repeated, its last value counts."),
    "unknown-key": Rule("Unknown keys are ignored silently."),
    "unused": Rule("A key that the rest of the configuration makes useless is ignored."),
    "graph-engine": Rule(
        "The graph engine reads the text a second time. If it refuses the text, only its log says"
        " so: the call succeeds, and operators of graphs are not dumped."
    ),
    "entry-lost": Rule(
        "Of entries with the same model_name only the last one counts, and an entry without a"
        " model_name makes those with one useless."
    ),
    "entry-dropped": Rule(
        "With dump_op_switch on, entries with an empty model_name or layer are dropped. If none is"
        " left, all models are dumped."
    ),
    "level-kernel": Rule("With dump_level kernel, operators of graphs are not dumped."),
    "pattern": Rule(
        "Names of models and operators, and types of operators, are compared as they are: *, ? and"
        " [ are no wildcards."
    ),
    "position": Rule("A position in a blacklist is inputN or outputN; others are ignored."),
    "blacklist-item": Rule("An item of a blacklist without a name or a pos excludes nothing."),
    "watcher-list": Rule("A watcher without an entry in dump_list watches nothing."),
    "watched-layer": Rule(
        "An operator in both layer and watcher_nodes gives its own file only: the watched outputs"
        " are not dumped again after it."
    ),
    "path-expansion": Rule("Variables and ~ in dump_path are not expanded."),
    "path-host": Rule(
        "A dump_path with a colon is remote only if four numbers up to 255 precede the first colon"
        " and something follows it. Otherwise all of it is a local path."
    ),
    "older-release": Rule("Some earlier releases refuse what the current one accepts."),
    "detail": Rule(
        "aic_err_detail_dump needs an Atlas A2 or A3 and driver 25.0.RC1 or newer; elsewhere,"
        " switching it on fails with 500000."
    ),
}

RULES: Final[Mapping[str, Rule]] = {**_ERRORS, **_WARNINGS}
"""All rules, by the name that a finding gives."""
