"""`expand` turns patterns in an entry of ``dump_list`` into names, by those that a dump has."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fastdump import _core
from fastdump._op_name import layer_numbers
from fastdump._stats import What, headers_of
from fastdump._table.stats_table import StatsTable
from fastdump._words.quantities import counted, integers_text
from fastdump.config._dump_contents import of_graphs
from fastdump.config._dump_step import step_spans, without_steps
from fastdump.config._findings import ConfigError
from fastdump.config._model import BlacklistItem, ListEntry, OpnameRange
from fastdump.config._patterns import wildcard_in
from fastdump.config._selection import distinct, file_form
from fastdump.config._wording import listed, of_model, quoted

_LAYERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_N_NEAR = 3
_MAX_SHOWN = 200
# Comparing two names takes about ten microseconds.
_MAX_NAMES_COMPARED = 5_000


@dataclass(frozen=True)
class Match:
    """What one name or pattern stands for.

    Attributes
    ----------
    key
        "layer", "op_type", "model_name" or another key that holds it.
    pattern
        The pattern, as it was given.
    names
        The names that it stands for, in the order of execution.
    layers
        Numbers of the layers that the names of operators have, sorted.
    """

    key: str
    pattern: str
    names: tuple[str, ...]
    layers: tuple[int, ...]


@dataclass(frozen=True)
class Expansion:
    r"""An entry of ``dump_list`` whose patterns became names.

    Attributes
    ----------
    entries
        The entry with names for patterns; one for each model if ``model_name`` is a pattern.
    matches
        What each name and pattern that was given stands for.
    file_names
        Names of operators and models that the dump has only in the spelling of file names, in which
        ``_`` may stand for ``/``, ``.``, ``\`` or a blank. They have to be looked up in the model.
    steps
        The steps of the dump, sorted; none if its paths tell none.
    absent_steps
        Those of ``dump_step`` that the dump does not have, as first and last steps of ranges.
    """

    entries: tuple[ListEntry, ...]
    matches: tuple[Match, ...]
    file_names: tuple[str, ...]
    steps: tuple[int, ...]
    absent_steps: tuple[tuple[int, int], ...]


def expand(
    entry: ListEntry, what: What, *, op_type: Sequence[str] = (), dump_step: str | None = None
) -> Expansion:
    """Expand patterns into the exact names that the vendor's code needs, by those of a dump.

    The vendor's code compares every name in an acl.json as it is. Here names may be shell patterns
    (``*``, ``?``, ``[abc]``) for the whole name, with the rules of `Selection`; and a number, or a
    range such as ``3-5``, stands in `layer` for the layers of the model with these numbers. What a
    dump has under exactly that name is taken as it is.

    Parameters
    ----------
    entry
        The entry, with patterns for models, operators and types of operators. Each end of a range
        must stand for one operator.
    what
        A dump of the same model, a `Dump`, or a table of it, at any level.
    op_type
        Patterns for types of operators, which acl.json cannot select: only operators of these
        types are taken, of those that `layer` selects if there is a `layer`.
    dump_step
        The steps that are to be dumped, ``0|3-5|10``.

    Returns
    -------
    Expansion
        The entry with names, and what each pattern stands for.

    Raises
    ------
    ConfigError
        If a pattern matches nothing; the message says what is near it. If a range has not one
        operator at each end, or ends before it begins.
    NoDumpError
        If the dump has not a single row.
    OSError
        If a path does not exist or is not readable.

    Examples
    --------
    >>> from fastdump import config
    >>> entry = config.ListEntry(layer=("*layers.3*",))
    >>> config.expand(entry, "dump_dir").entries[0].layer  # doctest: +SKIP
    """
    table = headers_of(what)
    steps = tuple(sorted(step for (step,) in distinct(table, "step") if step is not None))
    expander = _Expander(_graph_operators(table))
    entries = expander.entries(entry, op_type)
    return Expansion(
        entries,
        tuple(expander.matches.values()),
        _unique(expander.file_names()),
        steps,
        tuple(without_steps(step_spans(dump_step), steps)) if steps else (),
    )


class _Operator(NamedTuple):
    name: str
    op_type: str
    model: str | None
    layer: int | None
    is_in_file: bool  # whether the name may be that of a file


def _graph_operators(table: StatsTable) -> list[_Operator]:
    """Return the operators that can be selected by name, in the order of execution."""
    rows = of_graphs(table)
    columns = ("op_name", "op_type", "model", "source", "io")
    operators = list(distinct(table, *columns, rows=rows))
    layers = layer_numbers(name or "" for name, *_ in operators)
    found: dict[tuple[str, str, str | None], _Operator] = {}
    for (name, op_type, model, source, io), layer in zip(operators, layers, strict=True):
        if not name:
            continue
        # A header that could not be read tells no tensor.
        is_in_file = name == file_form(name) and (source == "csv" or io is None)
        key = name, op_type or "", model
        if key not in found or not is_in_file:
            found[key] = _Operator(*key, layer, is_in_file)
    return list(found.values())


class _Expander:
    """Finds what patterns stand for among the operators of a dump, and remembers it."""

    def __init__(self, operators: list[_Operator]) -> None:
        known = {file_form(op.name) for op in operators if not op.is_in_file}
        self._operators = [op for op in operators if not op.is_in_file or op.name not in known]
        self._layers = {op.name: op.layer for op in self._operators if op.layer is not None}
        self._in_files = {op.name for op in self._operators if op.is_in_file}
        self.matches: dict[tuple[str, str], Match] = {}

    def entries(self, entry: ListEntry, op_type: Sequence[str]) -> tuple[ListEntry, ...]:
        """Return the entry with names for patterns, for each of its models that has any."""
        found = [self._entry(entry, model, op_type) for model in self._models(entry)]
        for match in self.matches.values():
            if not match.names:
                raise ConfigError(self._absence(match))
        entries = tuple(each for each in found if each.layer or each.layer == entry.layer)
        if not entries:
            types = listed(map(quoted, op_type))
            raise ConfigError(f"none of the operators in layer is of type {types}")
        return entries

    def file_names(self) -> Iterator[str]:
        """Yield names that patterns stand for, but that are perhaps not those of the model."""
        for match in self.matches.values():
            for name in match.names:
                is_of_path = match.key == "model_name" and name != match.pattern
                if "_" in name and (is_of_path or name in self._in_files):
                    yield name

    def _models(self, entry: ListEntry) -> Sequence[str | None]:
        if entry.model_name is None:
            return [None]
        models = [op.model for op in self._operators if op.model]
        # A path has a model's name as file names are spelled.
        literal = [entry.model_name] if file_form(entry.model_name) in models else []
        return self._match("model_name", entry.model_name, models, literal, _core.match_texts)

    def _entry(self, entry: ListEntry, model: str | None, op_type: Sequence[str]) -> ListEntry:
        spelled = None if model is None else file_form(model)
        among = [op for op in self._operators if spelled is None or op.model == spelled]
        return dataclasses.replace(
            entry,
            model_name=model,
            layer=self._layer(entry.layer, op_type, among),
            watcher_nodes=self._names("watcher_nodes", entry.watcher_nodes, among),
            optype_blacklist=_expanded(
                entry.optype_blacklist, lambda name: self._type("optype_blacklist", name, among)
            ),
            opname_blacklist=_expanded(
                entry.opname_blacklist, lambda name: self._name("opname_blacklist", name, among)
            ),
            opname_range=entry.opname_range
            and tuple(self._range(span, model, among) for span in entry.opname_range),
        )

    def _layer(
        self, patterns: Sequence[str] | None, op_type: Sequence[str], among: list[_Operator]
    ) -> tuple[str, ...] | None:
        names = self._names("layer", patterns, among)
        if not op_type:
            return names
        types = {found for pattern in op_type for found in self._type("op_type", pattern, among)}
        of_types = _unique(op.name for op in among if op.op_type in types)
        wanted = set(of_types if names is None else names)
        return tuple(name for name in of_types if name in wanted)

    def _names(
        self, key: str, patterns: Sequence[str] | None, among: list[_Operator]
    ) -> tuple[str, ...] | None:
        if patterns is None:
            return None
        return _unique(name for pattern in patterns for name in self._name(key, pattern, among))

    def _name(self, key: str, pattern: str, among: list[_Operator]) -> Sequence[str]:
        names = [op.name for op in among]
        if pattern in names:
            literal = [pattern]
        elif wildcard_in(pattern) is None and file_form(pattern) in self._in_files:
            literal = [pattern]  # the model may have this spelling as well as that of the file
        else:
            literal = _of_layers(pattern, among)
        return self._match(key, pattern, names, literal, _core.match_op_names)

    def _type(self, key: str, pattern: str, among: list[_Operator]) -> Sequence[str]:
        types = [op.op_type for op in among if op.op_type]
        literal = [pattern] if pattern in types else []
        return self._match(key, pattern, types, literal, _core.match_texts)

    def _match(
        self,
        key: str,
        pattern: str,
        candidates: list[str],
        literal: list[str],
        match: Callable[[Sequence[str], list[str]], list[bool]],
    ) -> Sequence[str]:
        """Return what a pattern stands for: `literal`, or else the candidates that it matches."""
        is_match = zip(candidates, [] if literal else match([pattern], candidates), strict=False)
        names = _unique(literal or (name for name, matches in is_match if matches))
        before = self.matches.get((key, pattern))
        together = names if before is None else _unique((*before.names, *names))
        layers = {self._layers[name] for name in together if name in self._layers}
        self.matches[key, pattern] = Match(key, pattern, together, tuple(sorted(layers)))
        return names

    def _range(self, span: OpnameRange, model: str | None, among: list[_Operator]) -> OpnameRange:
        order = list(_unique(op.name for op in among))
        begin = self._end("begin", span.begin, among)
        end = self._end("end", span.end, among)
        if begin in order and end in order and order.index(begin) > order.index(end):
            raise ConfigError(
                f"a range ends before it begins: {quoted(end)}{of_model(model)} runs before"
                f" {quoted(begin)}"
            )
        return OpnameRange(begin=begin, end=end)

    def _end(self, key: str, pattern: str | None, among: list[_Operator]) -> str | None:
        if not pattern:
            return pattern
        names = self._name(key, pattern, among)
        if len(names) > 1:
            raise ConfigError(
                f"{key} {quoted(pattern)} stands for {counted(len(names), 'operator')}, but a range"
                f" begins and ends at one: {listed(map(quoted, names))}"
            )
        return names[0] if names else None

    def _absence(self, match: Match) -> str:
        """Return the message for a pattern that stands for nothing, with what may be meant."""
        kind, candidates = "operator", [op.name for op in self._operators]
        if match.key == "model_name":
            kind, candidates = "model", [op.model for op in self._operators if op.model]
        elif match.key in ("op_type", "optype_blacklist"):
            kind, candidates = "type of operators", [op.op_type for op in self._operators]
        text = f"{match.key} {quoted(match.pattern)} matches no {kind} of the example"
        layers = integers_text({op.layer for op in self._operators if op.layer is not None})
        if kind == "operator" and layers:
            text += f", which has layers {layers}"
        near = _near(match.pattern, list(_unique(candidates)))
        if near:
            return f"{text}; near it: {', '.join(quoted(name, _MAX_SHOWN) for name in near)}"
        if kind != "operator" and candidates:
            return f"{text}, which has {listed(map(quoted, sorted(set(candidates))))}"
        return text


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def layer_span(pattern: str) -> tuple[int, int] | None:
    """Return the first and the last layer that a pattern gives the numbers of: 3-5; or None."""
    span = _LAYERS.fullmatch(pattern)
    return span and (int(span[1]), int(span[2] or span[1]))


def _of_layers(pattern: str, among: list[_Operator]) -> list[str]:
    span = layer_span(pattern)
    if span is None:
        return []
    return [op.name for op in among if op.layer is not None and span[0] <= op.layer <= span[1]]


def _expanded(
    items: Sequence[BlacklistItem] | None, names_of: Callable[[str], Sequence[str]]
) -> tuple[BlacklistItem, ...] | None:
    """Return an item for each name that the items of a blacklist stand for."""
    if items is None:
        return None
    return tuple(
        dataclasses.replace(item, name=name)
        for item in items
        for name in (names_of(item.name) if item.name else [item.name])
    )


def _near(pattern: str, names: list[str]) -> list[str]:
    """Return a few names that may have been meant, whole or by what follows their last slash."""
    core = re.sub(r"[]*?[]", "", pattern).lower()
    by_text = {name.lower(): name for name in reversed(names[:_MAX_NAMES_COMPARED])}
    by_text |= {text.rpartition("/")[2]: name for text, name in reversed(by_text.items())}
    near = [text for text in by_text if core and core in text]
    near.sort(key=len)
    near = near or difflib.get_close_matches(core, by_text, _N_NEAR)
    return list(_unique(by_text[text] for text in near))[:_N_NEAR]
