"""A configuration in words: what it dumps, where the files go, and which calls start it."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from fastdump._stats import What
from fastdump._words import config_catalogue as say
from fastdump._words.quantities import merged_ranges, ranges_text
from fastdump.config._catch_text import catch_lines
from fastdump.config._dump_path import split_remote
from fastdump.config._dump_step import step_spans
from fastdump.config._footprint import Footprint, footprint
from fastdump.config._model import DumpConfig, ListEntry
from fastdump.config._wording import listed, quoted

_TENSORS = {"input": say.DUMPS_INPUTS, "output": say.DUMPS_OUTPUTS, "all": say.DUMPS_ALL}
_STATISTICS = {
    "input": say.DUMPS_STATISTICS_OF_INPUTS,
    "output": say.DUMPS_STATISTICS_OF_OUTPUTS,
    "all": say.DUMPS_STATISTICS_OF_ALL,
}
_OF_EXCEPTIONS = {
    "lite_exception": say.DUMPS_OF_EXCEPTIONS,
    "aic_err_brief_dump": say.DUMPS_OF_EXCEPTIONS,
    "aic_err_norm_dump": say.DUMPS_OF_EXCEPTIONS_TYPED,
    "aic_err_detail_dump": say.DUMPS_OF_EXCEPTIONS_DETAILED,
}
_OPERATOR_FILE = "{op_type}.{op_name}.{task_id}.{stream_id}.{timestamp}"
_EXCEPTION_FILES = {
    "lite_exception": "exception_info.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_brief_dump": "exception_info.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_norm_dump": "{op_type}.{op_name}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_detail_dump": "{kernel}.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}.core",
}
_MAX_ITEMS = 8
_WIDTH = 100
_INDENT = "  "


@dataclass(frozen=True)
class Explanation:
    """A configuration in sentences.

    Attributes
    ----------
    what
        What is dumped.
    where
        The directories and file names. The writer fills in the parts in braces.
    size
        The size that the dump may have; empty if no example was given.
    calls
        The functions to call, in order.
    notes
        Further remarks.
    footprint
        The size in numbers, and what each rule catches; None if no example was given.
    """

    what: tuple[str, ...]
    where: tuple[str, ...]
    size: tuple[str, ...]
    calls: tuple[str, ...]
    notes: tuple[str, ...]
    footprint: Footprint | None = None

    def __str__(self) -> str:
        return self.wrapped()

    def wrapped(self, width: int | None = None) -> str:
        """Return the explanation as a text of several paragraphs.

        Parameters
        ----------
        width
            The most characters of a line, up to 100 in sentences, in which longer names and paths
            stay whole. None leaves the names in tables whole too.
        """
        found = self.footprint
        catches = []
        if found is not None:
            room = None if width is None else width - len(_INDENT)
            catches = catch_lines(found.rules, found.parts, room)
        wrapped = functools.partial(_wrapped, width=min(width or _WIDTH, _WIDTH))
        sections = {
            "What is dumped": map(wrapped, self.what),
            "Where": map(wrapped, self.where),
            "How large": map(wrapped, self.size),
            "What each rule catches in one step of one rank": (
                f"{_INDENT}{line}" for line in catches
            ),
            "Which calls": map(wrapped, self.calls),
            "Notes": map(wrapped, self.notes),
        }
        texts = ((title, "\n".join(lines)) for title, lines in sections.items())
        return "\n\n".join(f"{title}\n{text}" for title, text in texts if text)


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(
        line,
        width,
        initial_indent=_INDENT,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def explain(config: DumpConfig, *, like: What | None = None) -> Explanation:
    """Explain in words what a configuration will do.

    Parameters
    ----------
    config
        A configuration from `load`, `parse` or a `Report`.
    like
        A dump of the same model, a `Dump` or a table of it: the size, and what each rule catches,
        are estimated from it.

    Returns
    -------
    Explanation
        Sentences; ``str`` of it is a text of several paragraphs.

    Examples
    --------
    >>> print(fastdump.config.explain(fastdump.config.load("acl.json")))  # doctest: +SKIP
    """
    if not config.is_on:
        what = say.DUMPS_NOTHING()
        if config.dump_kernel_data is not None:
            what = say.DUMPS_KERNEL_MESSAGES(kinds=", ".join(config.dump_kernel_data))
        return Explanation((what,), (), (), (), ())
    found = None if like is None else footprint(config, like)
    return Explanation(
        what=tuple(_what(config)),
        where=tuple(_where(config)),
        size=() if found is None else tuple(found.sentences(config)),
        calls=tuple(_calls(config)),
        notes=tuple(_notes(config)),
        footprint=found,
    )


def _what(config: DumpConfig) -> Iterable[str]:
    if config.dump_scene is not None and config.is_exception:
        yield _OF_EXCEPTIONS[config.dump_scene]()
        if config.dump_path:
            yield from _kernel_messages(config)
        return
    if config.is_watcher:
        yield from _what_is_watched(config)
    elif config.is_overflow:
        yield say.DUMPS_OVERFLOWS()
        yield say.DUMPS_STATUS()
    else:
        statistics = ", ".join(config.stats) if config.data == "stats" else ""
        for operators in _operators(config):
            if statistics:
                of_statistics = _STATISTICS[config.mode]
                yield of_statistics(statistics=statistics, operators=operators)
            else:
                yield _TENSORS[config.mode](operators=operators)
        for exclusion in _exclusions(config):
            yield say.DUMPS_NOT(tensors=exclusion)
    steps = ranges_text(merged_ranges(step_spans(config.dump_step)))
    yield say.DUMPS_STEPS(steps=steps) if steps else say.DUMPS_ALL_STEPS()
    yield from _kernel_messages(config)


def _kernel_messages(config: DumpConfig) -> Iterable[str]:
    if config.dump_kernel_data is not None:
        yield say.AND_KERNEL_MESSAGES(kinds=", ".join(config.dump_kernel_data))


def _what_is_watched(config: DumpConfig) -> Iterable[str]:
    entry = config.entries_in_force.get(None)
    if entry is None or not entry.watcher_nodes:
        yield say.WATCHES_NOTHING()
        return
    watched = listed(map(quoted, entry.watcher_nodes))
    if entry.layer is None:
        yield say.WATCHES(watched=watched)
    else:
        yield say.WATCHES_AFTER(watched=watched, executed=listed(map(quoted, entry.layer)))
    yield say.WATCHED_DIFFERS()


def _operators(config: DumpConfig) -> Iterable[str]:
    if config.level != "kernel":
        entries = config.entries_in_force
        if not entries:
            yield say.ALL_OPERATORS_OF_ALL()
        for model, entry in entries.items():
            yield _operators_of_entry(entry, model)
        if config.is_single_operator:
            yield say.ONE_BY_ONE()
    if config.level != "op":
        yield say.KERNELS()


def _operators_of_entry(entry: ListEntry, model: str | None) -> str:
    names = listed(map(quoted, entry.layer)) if entry.layer else ""
    for span in (entry.opname_range or ())[:_MAX_ITEMS]:
        several = say.FROM_TO(begin=quoted(span.begin or ""), end=quoted(span.end or ""))
        names = say.AND_OTHERS(names=names, other=several) if names else several
    if model is None:
        return say.OPERATORS_OF_ALL(names=names) if names else say.ALL_OPERATORS_OF_ALL()
    if names:
        return say.OPERATORS_OF_MODEL(names=names, model=quoted(model))
    return say.ALL_OPERATORS_OF_MODEL(model=quoted(model))


def _exclusions(config: DumpConfig) -> Iterable[str]:
    if config.level == "kernel":
        return
    for model, entry in config.entries_in_force.items():
        kinds = (
            (say.EXCLUDED_TYPE, say.EXCLUDED_TYPE_OF_MODEL, entry.optype_blacklist),
            (say.EXCLUDED_NAME, say.EXCLUDED_NAME_OF_MODEL, entry.opname_blacklist),
        )
        for excluded, excluded_of_model, items in kinds:
            for item in (items or ())[:_MAX_ITEMS]:
                if not item.name or not item.pos:
                    continue
                tensors = {"positions": listed(item.pos), "name": quoted(item.name)}
                if model is None:
                    yield excluded(**tensors)
                else:
                    yield excluded_of_model(**tensors, model=quoted(model))


def _where(config: DumpConfig) -> Iterable[str]:
    if config.dump_scene is not None and config.is_exception:
        files = _EXCEPTION_FILES[config.dump_scene]
        yield f"{{path}}/extra-info/data-dump/{{device}}/{files}"
        own = f"dump_path {quoted(config.dump_path)}, " if config.dump_path else ""
        yield (
            "{path} is the first of these that can be written to: ASCEND_DUMP_PATH,"
            f' ASCEND_WORK_PATH (environment), {own}"./".'
        )
        return
    root, host = config.dump_path or "", ""
    if remote := split_remote(root):
        host, root = f" on host {quoted(remote[0])}", remote[1]
    suffix = ".csv" if config.data == "stats" and not config.is_overflow else ""
    below = [f"{{time}}/{{device}}/{{model}}/{{model_id}}/{{step}}/{_OPERATOR_FILE}{suffix}"]
    if config.level == "kernel":
        below = []
    if not config.is_watcher and (config.level != "op" or config.is_single_operator):
        below.append(f"{{time}}/{{device}}/{_OPERATOR_FILE}{suffix}")
    for path in below:
        yield f"{root.rstrip('/')}/{path}{host}"
    if config.is_overflow:
        record = "Opdebug.Node_OpDebug.{task_id}.{stream_id}.{timestamp}"
        yield f"Beside them, one file for each overflow: {record}."
    if config.is_watcher:
        yield "A repeated dump of a watched output has the op_name {executed}_To_{watched}."
    if remote:
        return
    if not root.startswith("/"):
        yield "The path is relative to the current directory of the process."
        yield "The vendor's documents say that it is relative to the directory of the executable."
    yield f"{quoted(root)} must exist; the directories below it are created."
    yield "A name that is too long for a file becomes digits, which mapping.csv beside it explains."


def _calls(config: DumpConfig) -> Iterable[str]:
    either = 'aclInit("acl.json"), or aclInit, aclmdlInitDump, aclmdlSetDump("acl.json")'
    if config.dump_scene == "aic_err_detail_dump":
        yield f"{either}; in both cases before aclrtSetDevice."
        yield "aclmdlFinalizeDump does not switch the dump off."
    elif config.is_exception:
        yield f"{either}; run; aclmdlFinalizeDump."
    else:
        yield 'Either, once in a process: aclInit("acl.json"), load the model, run, unload it.'
        yield (
            "Or, as often as needed: aclInit without a dump, aclmdlInitDump,"
            ' aclmdlSetDump("acl.json"), load the model, run, aclmdlFinalizeDump, unload it.'
        )
        yield "Models loaded before this configuration are dumped only after they are loaded again."
        yield "After an aclInit with a dump, aclmdlInitDump fails."
    yield "In Python: acl.init, acl.mdl.init_dump, acl.mdl.set_dump, acl.mdl.finalize_dump."


def _notes(config: DumpConfig) -> Iterable[str]:
    if config.is_exception:
        yield "The first exception dump of a process stays: a later one succeeds and is ignored."
        yield "NPU_COLLECT_PATH (environment) switches one on before any configuration does."
        if config.dump_scene == "aic_err_detail_dump":
            yield "This needs an Atlas A2 or A3 and driver 25.0.RC1 or newer."
            yield "The AI Core stops while it is dumped, and the process is ended afterwards."
        return
    yield "A later aclmdlSetDump replaces this configuration."
    if config.is_overflow:
        yield "Overflows are detected in models that were built with --status_check=1."
    elif config.is_watcher:
        yield "Only operators of static graphs count, by the names that they have after fusion."
        yield "A collective operator (Hcom*) in layer gives no second dump."
    else:
        if config.mode == "all":
            yield "A collective operator (Hcom*) gives two files: inputs before, and outputs after."
        if config.dump_stats is not None:
            yield "dump_stats is for Atlas A2."
            yield "A later aclmdlSetDump adds its dump_stats to these and does not replace them."
        if config.is_single_operator and not config.dump_list:
            yield "If the process runs a graph as well, all its operators are dumped."
