"""`Operator`: one execution of an operator, what the name of its file tells, and its tensors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.opened_files import OpenedFiles
from fastdump._tensor.tensor import Tensor
from fastdump._words.places import where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump.errors import FastdumpError, NoTensorError


class Record(NamedTuple):
    """What `_core.Index` tells about one file; `Operator` explains the fields."""

    path: str
    relative: str
    kind: str
    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    task_id: int | None
    stream_id: int | None
    timestamp: int | None
    context_id: int | None
    thread_id: int | None


class _Content(NamedTuple):
    """The content of a file's header."""

    header: Mapping[str, object]
    dumps: tuple[tuple[Tensor, ...], ...]  # the first, then those appended to it


class Operator:
    r"""One dump file: usually one execution of one operator. Immutable.

    A `Dump` returns it. What the file's name tells is known at once. The file is opened when
    `header` or the tensors are first used, and payloads are read only when their elements are.
    ``op["output.0"]`` is one tensor.

    ``dump[name]`` may join several files of one execution: collective operators have one file for
    their inputs and one for their outputs. `paths` has all of them; `header` and the attributes are
    those of the first.

    Two operators are equal if they are the same files.

    Attributes
    ----------
    path
        The path to open the file with.
    relative
        The path below the dump's root, as tables show it: bytes that are not UTF-8 are ``\xNN``.
    kind
        The kind of file by its name: "operator"; "op_debug" (overflow records); "exception";
        "custom" (saved by a program); "digits" (a name that was too long and that mapping.csv does
        not resolve); "statistics" (CSV); "converted" (an array made from one tensor of a dump). A
        file that was itself given to `open` may also be "mapping", "core" or "unknown".
    rank, time, device, model, model_id, step
        Where it was dumped, as far as directories tell; None where they do not.
    op_type, op_name
        Type and name of the operator. In file names ``_`` stands for blanks, dots, slashes and
        backslashes; `op_name` is the real name once the header was read.
    task_id, stream_id, context_id, thread_id
        How it was executed; 65535 is unknown.
    timestamp
        The time as written: 16 digits are microseconds since 1970, 17 digits a local time,
        ``YYYYMMDDHHMMSSmmm``.
    """

    __slots__ = (
        *(name for name in Record._fields if name != "op_name"),
        "__weakref__",
        "_contents",
        "_files",
        "_records",
    )

    path: str
    relative: str
    kind: str
    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    task_id: int | None
    stream_id: int | None
    timestamp: int | None
    context_id: int | None
    thread_id: int | None
    _records: tuple[Record, ...]
    _files: OpenedFiles
    _contents: tuple[_Content, ...] | None

    __iter__ = None  # else Python would try op[0], op[1]

    def __init__(self, records: tuple[Record, ...], files: OpenedFiles) -> None:
        for name, value in records[0]._asdict().items():
            if name != "op_name":
                object.__setattr__(self, name, value)
        object.__setattr__(self, "_records", records)
        object.__setattr__(self, "_files", files)
        object.__setattr__(self, "_contents", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an Operator is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an Operator is immutable: {name!r} cannot be deleted")

    def joined(self, others: Iterable[Operator]) -> Operator:
        """Return one operator of this one's files and those of others."""
        records = [record for operator in (self, *others) for record in operator._records]
        return Operator(tuple(records), self._files)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files; nearly always one."""
        return tuple(record.path for record in self._records)

    @property
    def op_name(self) -> str | None:
        """The operator's name: the header's once that was read, the file name's until then."""
        if self._contents is not None and self._contents[0].header["op_name"]:
            return str(self._contents[0].header["op_name"])
        return self._records[0].op_name

    @property
    def header(self) -> Mapping[str, object]:
        """What the header says about the file as a whole; it is read at first use.

        Keys: ``kind`` (of the content: "standard", "version_1", "nano", "npy" or "statistics"),
        ``version``, ``dump_time`` (microseconds since 1970), ``op_name``, ``dfx_message``,
        ``attrs`` (pairs of str), ``header_nbytes``, ``file_nbytes`` and ``note``.

        Raises
        ------
        DumpFormatError
            If the file is not a dump. All that reads the header raises these errors.
        OSError
            If the file cannot be read; FileNotFoundError if it is gone.
        ClosedDumpError
            If the dump was closed.
        """
        return self._read()[0].header

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor by `Tensor.name`: ``op["output.0"]``.

        Raises
        ------
        NoTensorError
            If the operator has no such tensor.
        DumpFormatError, OSError, ClosedDumpError
            As `header` does.
        """
        tensors = self.tensors
        for tensor in tensors:
            if tensor.name == name:
                return tensor
        names = ", ".join(tensor.name for tensor in tensors) or "no tensor"
        raise NoTensorError(f"{self.relative!r} has no {name!r}; it has {names}")

    @property
    def inputs(self) -> list[Tensor]:
        """Input tensors of the first dump in the file, in order."""
        return self._tensors("input")

    @property
    def outputs(self) -> list[Tensor]:
        """Output tensors of the first dump in the file, in order."""
        return self._tensors("output")

    @property
    def buffers(self) -> list[Tensor]:
        """Fusion buffers (L1), as bytes."""
        return self._tensors("buffer")

    @property
    def spaces(self) -> list[Tensor]:
        """Workspaces, as bytes."""
        return self._tensors("space")

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors of the first dump in the file, in the order of the file."""
        return [tensor for content in self._read() for tensor in content.dumps[0]]

    @property
    def appended(self) -> list[list[Tensor]]:
        """Tensors of each dump that was appended to the first; nearly always empty."""
        return [list(tensors) for content in self._read() for tensors in content.dumps[1:]]

    def _tensors(self, io: str) -> list[Tensor]:
        return [tensor for tensor in self.tensors if tensor.io == io]

    def _read(self) -> tuple[_Content, ...]:
        self._files.check()
        if self._contents is None:
            contents = tuple(_content(self._files.open(path)) for path in self.paths)
            object.__setattr__(self, "_contents", contents)
            return contents
        return self._contents

    def _absolute(self) -> tuple[str, ...]:
        return tuple(os.path.abspath(path) for path in self.paths)  # noqa: PTH100

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return self._absolute() == other._absolute()

    def __hash__(self) -> int:
        return hash(self._absolute())

    def __copy__(self) -> Operator:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # The path suffices, because the file can be read again.
        pairs = zip(self._records, self._absolute(), strict=True)
        records = tuple(tuple(record._replace(path=path)) for record, path in pairs)
        return _restored, (records, self._files.safe)

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("op_type", "op_name", "rank", "step")}
        facts = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        if self.kind != "operator":
            facts.append(f"kind={self.kind!r}")
        files = [repr(record.relative) for record in self._records]
        return f"Operator({', '.join([*files, *facts])})"

    def _repr_html_(self) -> str:
        from fastdump._tensor.tensor_rows import tensor_table
        from fastdump._words.html import fragment

        what = printable(f"{self.op_type or 'Operator'} {self.op_name or self.relative}")
        facts = [what, where_text(rank=self.rank, step=self.step)]
        try:
            tensors = self.tensors
        except (FastdumpError, OSError) as error:
            return fragment([*filter(None, facts), printable(str(error))])
        facts.append(counted(len(tensors), "tensor"))
        return fragment(filter(None, facts), tensor_table(tensors))


def _restored(records: tuple[tuple[Any, ...], ...], safe: bool) -> Operator:
    made = tuple(Record(*record) for record in records)
    return Operator(made, OpenedFiles(repr(made[0].path), safe=safe))


def _content(file: DumpFile) -> _Content:
    description = dict(file.header())
    descriptions = description.pop("tensors")
    del description["state"]  # a number without meaning
    description["attrs"] = tuple(description["attrs"])
    return _Content(MappingProxyType(description), _dumps(file, descriptions))


def _dumps(
    file: DumpFile, descriptions: Iterable[dict[str, Any]]
) -> tuple[tuple[Tensor, ...], ...]:
    """Return the tensors of each dump in the file; the first dump may have none."""
    dumps: list[list[Tensor]] = [[]]
    for description in descriptions:
        # Formats without appended dumps do not give the number.
        number = description.get("appended", 0)
        while len(dumps) <= number:
            dumps.append([])
        dumps[number].append(Tensor(file, description))
    return tuple(map(tuple, dumps))
