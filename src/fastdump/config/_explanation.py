"""A configuration in words: what it dumps, where the files go, which calls it takes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastdump._quantities import ranges_text
from fastdump.config._dump_path import split_remote
from fastdump.config._dump_step import step_ranges
from fastdump.config._findings import shown
from fastdump.config._footprint import footprint
from fastdump.config._model import DumpConfig, ListEntry

if TYPE_CHECKING:
    from fastdump import StatsTable

_TENSORS = {"input": "inputs", "output": "outputs", "all": "inputs and outputs"}
_OF_EXCEPTIONS = {
    "lite_exception": "inputs, outputs and workspaces, as bytes without a type",
    "aic_err_brief_dump": "inputs, outputs and workspaces, as bytes without a type",
    "aic_err_norm_dump": "inputs, outputs and workspaces with shapes, types, formats, attributes",
    "aic_err_detail_dump": "inputs, outputs and workspaces, and the memory, registers and call"
    " stack of the AI Cores",
}
_OPERATOR_FILE = "{op_type}.{op_name}.{task_id}.{stream_id}.{timestamp}"
_EXCEPTION_FILES = {
    "lite_exception": "exception_info.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_brief_dump": "exception_info.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_norm_dump": "{op_type}.{op_name}.{task_id}.{YYYYMMDDHHMMSSmmm}",
    "aic_err_detail_dump": "{kernel}.{stream_id}.{task_id}.{YYYYMMDDHHMMSSmmm}.core",
}
_MAX_NAMES = 8
_WIDTH = 100


@dataclass(frozen=True)
class Explanation:
    """A configuration in sentences.

    Attributes
    ----------
    what
        What is dumped.
    where
        Directories and file names; parts in braces are filled in by the writer.
    size
        How large it may become; empty if no example was given.
    calls
        In which order to call what.
    notes
        What else to know.
    """

    what: tuple[str, ...]
    where: tuple[str, ...]
    size: tuple[str, ...]
    calls: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        titles = {
            "What is dumped": self.what,
            "Where": self.where,
            "How large": self.size,
            "Which calls": self.calls,
            "Notes": self.notes,
        }
        return "\n\n".join(
            "\n".join([title, *(_wrapped(line) for line in lines)])
            for title, lines in titles.items()
            if lines
        )


def _wrapped(line: str) -> str:
    # Names and paths stay whole, however long.
    return textwrap.fill(
        line,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def explain(config: DumpConfig, *, like: StatsTable | None = None) -> Explanation:
    """Say in words what a configuration will do.

    Parameters
    ----------
    config
        From `load`, `parse` or a `Report`.
    like
        Table of a dump of the same model, to tell sizes from.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> print(fastdump.config.explain(fastdump.config.load("acl.json")))  # doctest: +SKIP
    """
    if not config.is_on:
        what = "Nothing: no dump_list, no switch, no scene."
        if config.dump_kernel_data is not None:
            what = f"Only what kernels print: {', '.join(config.dump_kernel_data)}."
        return Explanation((what,), (), (), (), ())
    return Explanation(
        what=tuple(_what(config)),
        where=tuple(_where(config)),
        size=() if like is None else tuple(footprint(config, like).sentences(config)),
        calls=tuple(_calls(config)),
        notes=tuple(_notes(config)),
    )


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    text = ", ".join(map(shown, listed[:_MAX_NAMES]))
    more = len(listed) - _MAX_NAMES
    return f"{text} and {more:,} more" if more > 0 else text


def _what(config: DumpConfig) -> Iterable[str]:
    if config.is_exception:
        content = _OF_EXCEPTIONS[str(config.dump_scene)]
        yield f"Of an operator that ends in an AI Core error: {content}."
        if config.dump_path:
            yield from _kernel_messages(config)
        return
    if config.is_watcher:
        yield from _what_is_watched(config)
    elif config.is_overflow:
        yield "Of every AI Core operator that overflows: inputs and outputs."
        yield "Of every overflow: what the status registers say."
    else:
        content = _TENSORS[config.mode]
        if config.data == "stats":
            content = f"{', '.join(config.stats)} of {content}, in CSV files"
        for subject in _operators(config):
            yield f"Of {subject}: {content}."
        for exclusion in _exclusions(config):
            yield f"Not {exclusion}."
    steps = step_ranges(config.dump_step)
    yield "All steps." if steps is None else f"Only these steps: {_steps_text(steps)}."
    yield from _kernel_messages(config)


def _kernel_messages(config: DumpConfig) -> Iterable[str]:
    if config.dump_kernel_data is not None:
        yield f"What kernels print: {', '.join(config.dump_kernel_data)}."


def _steps_text(steps: list[range]) -> str:
    spans = sorted((span.start, span.stop) for span in steps)
    # A range may have more steps than fit into memory.
    if any(stop - start > 10_000 for start, stop in spans):
        return ", ".join(f"{start} to {stop - 1}" for start, stop in spans)
    return ranges_text(sorted({step for span in steps for step in span}))


def _what_is_watched(config: DumpConfig) -> Iterable[str]:
    entry = config.entries_in_force.get(None)
    if entry is None or not entry.watcher_nodes:
        yield "Nothing that is named: no entry has watcher_nodes."
        return
    watched = _names(entry.watcher_nodes)
    after = "every operator" if entry.layer is None else f"each of {_names(entry.layer)}"
    yield f"The outputs of {watched} when they have run, and again when {after} has run."
    yield "If the two differ, memory was overwritten between them."


def _operators(config: DumpConfig) -> Iterable[str]:
    if config.level != "kernel":
        entries = config.entries_in_force
        if not entries:
            yield "all operators of all models"
        for model, entry in entries.items():
            yield _operators_of_entry(model, entry)
        if config.is_single_operator:
            yield "operators that are run one by one"
    if config.level != "op":
        yield "kernels of the single-operator API (aclnn)"


def _operators_of_entry(model: str | None, entry: ListEntry) -> str:
    parts = [_names(entry.layer)] if entry.layer else []
    parts += [
        f"{shown(span.begin or '')} to {shown(span.end or '')}"
        for span in (entry.opname_range or ())[:_MAX_NAMES]
    ]
    operators = f"operators {' and '.join(parts)}" if parts else "all operators"
    return f"{operators} of {'all models' if model is None else f'model {shown(model)}'}"


def _exclusions(config: DumpConfig) -> Iterable[str]:
    if config.level == "kernel":
        return
    for model, entry in config.entries_in_force.items():
        suffix = "" if model is None else f" of model {shown(model)}"
        kinds = (("type", entry.optype_blacklist), ("name", entry.opname_blacklist))
        for kind, items in kinds:
            for item in (items or ())[:_MAX_NAMES]:
                if item.name and item.pos:
                    tensors = ", ".join(item.pos[:_MAX_NAMES])
                    yield f"{tensors} of operators of {kind} {shown(item.name)}{suffix}"


def _where(config: DumpConfig) -> Iterable[str]:
    if config.is_exception:
        files = _EXCEPTION_FILES[str(config.dump_scene)]
        yield f"{{path}}/extra-info/data-dump/{{device}}/{files}"
        own = f"dump_path {shown(config.dump_path)}, " if config.dump_path else ""
        yield (
            "path is the first of these that can be written to: ASCEND_DUMP_PATH, ASCEND_WORK_PATH"
            f' (environment), {own}"./".'
        )
        return
    root, host = config.dump_path or "", ""
    if remote := split_remote(root):
        host, root = f" on host {shown(remote[0])}", remote[1]
    suffix = ".csv" if config.data == "stats" and not config.is_overflow else ""
    below = [f"{{time}}/{{device}}/{{model}}/{{model_id}}/{{step}}/{_OPERATOR_FILE}{suffix}"]
    if config.level == "kernel":
        below = []
    if not config.is_watcher and (config.level != "op" or config.is_single_operator):
        below.append(f"{{time}}/{{device}}/{_OPERATOR_FILE}{suffix}")
    for path in below:
        yield f"{root.rstrip('/')}/{path}{host}"
    if config.is_overflow:
        yield "Beside them Opdebug.Node_OpDebug.{task_id}.{stream_id}.{timestamp}, one an overflow."
    if config.is_watcher:
        yield "The op_name after another operator has run is {executed}_To_{watched}."
    if remote:
        return
    if not root.startswith("/"):
        yield (
            "The path is relative to the current directory of the process; the vendor's documents"
            " say, to the directory of the executable."
        )
    yield (
        f"{shown(root)} must exist; what is below is made. A name too long for a file becomes"
        " digits, which mapping.csv beside it explains."
    )


def _calls(config: DumpConfig) -> Iterable[str]:
    if config.dump_scene == "aic_err_detail_dump":
        yield (
            'aclInit("acl.json"), or aclInit, aclmdlInitDump, aclmdlSetDump("acl.json"); either way'
            " before aclrtSetDevice. aclmdlFinalizeDump does not switch it off."
        )
    elif config.is_exception:
        yield (
            'aclInit("acl.json"), or aclInit, aclmdlInitDump, aclmdlSetDump("acl.json"); run;'
            " aclmdlFinalizeDump."
        )
    else:
        yield 'Either, once in a process: aclInit("acl.json"), load the model, run, unload it.'
        yield (
            "Or, as often as needed: aclInit without a dump, aclmdlInitDump,"
            ' aclmdlSetDump("acl.json"), load the model, run, aclmdlFinalizeDump, unload it.'
        )
        yield (
            "Models that were loaded before the configuration was set are not dumped until they are"
            " loaded again. After an aclInit with a dump aclmdlInitDump fails."
        )
    yield "In Python: acl.init, acl.mdl.init_dump, acl.mdl.set_dump, acl.mdl.finalize_dump."


def _notes(config: DumpConfig) -> Iterable[str]:
    if config.is_exception:
        yield (
            "The first exception dump of a process stays: a later one succeeds and is ignored. The"
            " environment variable NPU_COLLECT_PATH switches one on before any configuration."
        )
        if config.dump_scene == "aic_err_detail_dump":
            yield (
                "Atlas A2 and A3 with driver 25.0.RC1 or newer only. The AI Core stops while it is"
                " dumped, and the process is ended afterwards."
            )
        return
    yield "A later aclmdlSetDump replaces this configuration."
    if config.is_overflow:
        yield "Overflows are detected in models that were built with --status_check=1."
    elif config.is_watcher:
        yield "Only operators of static graphs count, by the names that they have after fusion."
        yield "A collective operator (Hcom*) in layer gives no second dump."
    else:
        if config.mode == "all":
            yield "Collective operators (Hcom*) give two files: inputs before, outputs after."
        if config.dump_stats is not None:
            yield (
                "dump_stats is for Atlas A2. The dump_stats of a later aclmdlSetDump are added to"
                " these, they do not replace them."
            )
        if config.is_single_operator and not config.dump_list:
            yield "If the process runs a graph as well, all its operators are dumped."
