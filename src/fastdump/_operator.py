"""One execution of an operator: what its file's name tells, and its tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from fastdump._dump_file import DumpFile
from fastdump._opened_files import OpenedFiles
from fastdump._tensor import Tensor


class Record(NamedTuple):
    """What `_core.Index` tells of one file; `Operator` says what each means."""

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
    """What the file's header tells."""

    header: Mapping[str, object]
    dumps: tuple[tuple[Tensor, ...], ...]  # the first, then those appended to it


class Operator:
    r"""One dump file: usually one execution of one operator. Immutable.

    Made by a `Dump`. What names tell is known at once; the file is opened when `header` or the
    tensors are first asked for, and payloads are read only when a tensor's data is.

    Two operators are equal if they are the same file of dumps that were opened by the same path.

    Attributes
    ----------
    path
        To open the file with.
    relative
        The path below the dump's root, as tables show it: bytes that are not UTF-8 are ``\xNN``.
    kind
        By the name: "operator"; "op_debug" (overflow records); "exception"; "custom" (saved by a
        program); "digits" (a name that was too long and that mapping.csv does not resolve);
        "statistics" (CSV); "converted" (an array made from one tensor of a dump). A file that was
        itself given to `open` may also be "mapping", "core" or "unknown".
    rank, time, device, model, model_id, step
        Where it was dumped, as far as directories tell; None where they do not.
    op_type, op_name
        The operator. In names ``_`` stands for blanks, dots, slashes and backslashes; once the
        header was read `op_name` is the real one.
    task_id, stream_id, context_id, thread_id
        How it was executed; 65535 is unknown.
    timestamp
        As written: 16 digits are microseconds since 1970, 17 digits a local time,
        ``YYYYMMDDHHMMSSmmm``.
    """

    __slots__ = (
        *(name for name in Record._fields if name != "op_name"),
        "__weakref__",
        "_content",
        "_files",
        "_name",
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
    _name: str | None  # in the file's name
    _files: OpenedFiles
    _content: _Content | None

    def __init__(self, record: Record, files: OpenedFiles) -> None:
        for name, value in zip(Record._fields, record, strict=True):
            object.__setattr__(self, "_name" if name == "op_name" else name, value)
        object.__setattr__(self, "_files", files)
        object.__setattr__(self, "_content", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an Operator is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an Operator is immutable: {name!r} cannot be deleted")

    @property
    def op_name(self) -> str | None:
        """The operator's name: the header's once that was read, the file name's until then."""
        if self._content is not None and self._content.header["op_name"]:
            return str(self._content.header["op_name"])
        return self._name

    @property
    def header(self) -> Mapping[str, object]:
        """What the header says of the file as a whole; read at first use.

        Keys: ``kind`` (of the content: "standard", "version_1", "nano", "npy" or "statistics"),
        ``version``, ``dump_time`` (microseconds since 1970), ``op_name``, ``dfx_message``,
        ``attrs`` (pairs of str), ``header_nbytes``, ``file_nbytes`` and ``note``.

        Raises
        ------
        DumpFormatError
            If the file is not a dump. This and the others come from all that reads the header.
        OSError
            If the file cannot be read; FileNotFoundError if it is gone.
        ClosedDumpError
            If the dump was closed.
        """
        return self._read().header

    @property
    def inputs(self) -> list[Tensor]:
        """Input tensors, in order; like all tensors, of the first dump in the file."""
        return self._tensors("input")

    @property
    def outputs(self) -> list[Tensor]:
        """Output tensors, in order."""
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
        return list(self._read().dumps[0])

    @property
    def appended(self) -> list[list[Tensor]]:
        """Tensors of each dump that was appended to the first; nearly always empty."""
        return [list(tensors) for tensors in self._read().dumps[1:]]

    def _tensors(self, io: str) -> list[Tensor]:
        return [tensor for tensor in self._read().dumps[0] if tensor.io == io]

    def _read(self) -> _Content:
        self._files.check()
        if self._content is None:
            file = self._files.open(self.path)
            description = dict(file.header())
            descriptions: Any = description.pop("tensors")
            attrs: Any = description["attrs"]
            description["attrs"] = tuple(attrs)
            content = _Content(MappingProxyType(description), _dumps(file, descriptions))
            object.__setattr__(self, "_content", content)
            return content
        return self._content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return (self.path, self.relative) == (other.path, other.relative)

    def __hash__(self) -> int:
        return hash((self.path, self.relative))

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("op_type", "op_name", "rank", "step")}
        facts = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        if self.kind != "operator":
            facts.append(f"kind={self.kind!r}")
        return f"Operator({', '.join([repr(self.relative), *facts])})"


def _dumps(
    file: DumpFile, descriptions: Iterable[dict[str, Any]]
) -> tuple[tuple[Tensor, ...], ...]:
    """Return the tensors of each dump in the file; the first is there even if it has none."""
    dumps: list[list[Tensor]] = [[]]
    for description in descriptions:
        # Absent from what describes one dump a file.
        number = description.get("appended", 0)
        while len(dumps) <= number:
            dumps.append([])
        dumps[number].append(Tensor(file, description))
    return tuple(map(tuple, dumps))
