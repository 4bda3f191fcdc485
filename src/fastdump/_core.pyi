# The C++ extension. Translation only: the functions that users call are in the modules beside it.

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeAlias, overload

from typing_extensions import Buffer

__version__: str

class FormatError(Exception):
    """A file is not what its format asks for; fastdump raises DumpFormatError in its place."""

class TableTooLargeError(Exception):
    """The rows take too much memory; fastdump raises its own class of this name in its place."""

class FileChangedError(FormatError):
    """A file is not in the state that was asked for; fastdump raises its own class instead."""

class LayoutError(Exception):
    """There is no way to the host's order; fastdump raises its own LayoutError in its place."""

def data_types() -> list[tuple[int, str, str, int, bool]]:
    """Return (number, vendor's name, name, bits, reducible) of each type, ordered by number."""

def tensor_formats() -> list[str]:
    """Return the names of the memory layouts; the position of each is its number."""

def simd_tiers() -> list[tuple[str, bool, bool]]:
    """Return (name, usable, active) of each tier that was compiled, best first."""

def default_threads() -> int:
    """Return FASTDUMP_THREADS, or the number of CPUs that this process may use."""

def has_room_for_thread() -> bool:
    """Return whether a limit on the address space, if there is one, leaves room for a thread."""

def describe_file(path: bytes) -> dict[str, object]:
    """Return what the headers of one file say, of each tensor too; no payload is read."""

def reduce_buffer(
    data: Buffer, dtype: str, n_elements: int, level: str, threads: int
) -> dict[str, int | float | None]:
    """Return the statistics of elements that lie in `data` as in a dump."""

def compare_buffers(
    a: Buffer,
    dtype_a: str,
    b: Buffer,
    dtype_b: str,
    n_elements: int,
    *,
    rtol: float,
    atol: float,
    kl: bool,
    threads: int,
) -> dict[str, int | float | bool | None]:
    """Return the metrics of elements that lie in `a` and, as reference, in `b` as in dumps."""

def reduce_file(
    path: bytes, state: int, offset: int, dtype: str, n_elements: int, level: str, threads: int
) -> dict[str, int | float | None]:
    """Return the statistics of elements that lie in a file as in a dump, from `offset` on.

    `state` is, here and elsewhere, what `describe_file` tells as "state" of the file: where the
    file is in another one, or changes meanwhile, FileChangedError is raised.
    """

def file_state(descriptor: int) -> int:
    """Return the state of an open file."""

def require_state(path: bytes, state: int) -> None:
    """Raise FileChangedError if the file is not in this state."""

def read_into(path: bytes, state: int, offset: int, out: Buffer) -> int:
    """Fill `out` from a place in a file; return the bytes read, fewer where the file ends."""

def unpack(data: Buffer, dtype: str, n_elements: int, out: Buffer, threads: int) -> None:
    """Write elements that are narrower than a byte as codes, in the low bits of a byte each."""

def copy(copies: Sequence[tuple[Buffer, Buffer]], threads: int) -> None:
    """Copy the bytes of the first buffer of each pair to the start of the second, by threads."""

def text_codes(ends: Buffer, texts: Buffer, is_null: Buffer, codes: Buffer) -> bytes:
    """Write texts as indices into the distinct ones (int32), and return the first row of each.

    Ends (int32 or int64) are one more than texts, the first of which begins where `texts` does.
    `is_null` has a byte for each, or none; the index of null is -1. First rows are int64.
    """

def to_dlpack(
    data: Buffer,
    shape: Sequence[int],
    *,
    fortran_order: bool,
    code: int,
    bits: int,
    versioned: bool,
    read_only: bool,
    copied: bool,
) -> object:
    """Return a DLPack capsule of the elements in `data`, which it keeps alive."""

def is_private_format(format: int) -> bool:
    """Return whether elements may lie in another order than the host's, or among padding."""

class _pybind11_type(type): ...

class MappedFile(metaclass=_pybind11_type):
    """A file in memory. If written to by copy_on_write, that stays in this mapping."""

    def __init__(self, path: bytes, state: int, copy_on_write: bool = False) -> None: ...
    @property
    def data(self) -> memoryview: ...
    @property
    def nbytes(self) -> int: ...

class GuardedMapping(metaclass=_pybind11_type):
    """A mapping that one thread reads, in a `with` block, while its file may become shorter."""

    def __init__(self, mapping: MappedFile) -> None: ...
    def __enter__(self) -> MappedFile: ...
    def __exit__(self, *args: object) -> None: ...
    @property
    def lost(self) -> bool: ...

class HostLayout(metaclass=_pybind11_type):
    """Where the elements of a host array lie in a stored tensor."""

    def __init__(
        self,
        *,
        format: int,
        shape: Sequence[int],
        origin_shape: Sequence[int],
        sub_format: int,
        order: str,
        origin_format: str,
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def order(self) -> str: ...
    @property
    def is_identity(self) -> bool: ...
    @property
    def n_elements(self) -> int: ...
    @property
    def n_stored(self) -> int: ...
    def gather(
        self, stored: Buffer, out: Buffer, element_nbytes: int, first: int, n: int, threads: int
    ) -> None:
        """Copy elements [first, first + n) of the host array to `out`."""

class Progress(metaclass=_pybind11_type):
    """How far a scan is."""

    # Only a scan makes one; pybind11 raises TypeError whatever the arguments.
    def __init__(self, /, *args: object, **kwargs: object) -> None: ...
    @property
    def files_found(self) -> int: ...
    @property
    def files_done(self) -> int: ...
    @property
    def bytes_done(self) -> int: ...
    @property
    def tensors(self) -> int: ...
    @property
    def bad(self) -> int: ...
    @property
    def walking(self) -> bool: ...

_StoredColumn: TypeAlias = tuple[str, int, int, Sequence[Buffer | None], _StoredColumn | None]

class Table(metaclass=_pybind11_type):
    """One record batch of the Arrow C data interface: the rows of a scan, for example."""

    def __init__(self, /, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def of_buffers(n_rows: int, columns: Sequence[tuple[str, bool, _StoredColumn]]) -> Table:
        """Return columns given by Arrow's format, rows, nulls, buffers, and items of lists."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class Selection(metaclass=_pybind11_type):
    """Conditions on tensors; `fastdump.Selection` says what each means. Empty ones select all."""

    def __init__(
        self,
        *,
        rank: Sequence[tuple[int, int]],
        device: Sequence[tuple[int, int]],
        model_id: Sequence[tuple[int, int]],
        step: Sequence[tuple[int, int]],
        index: Sequence[tuple[int, int]],
        time: Sequence[str | bytes],
        model: Sequence[str | bytes],
        op_type: Sequence[str | bytes],
        op_name: Sequence[str | bytes],
        dtype: Sequence[str | bytes],
        io: Sequence[str | bytes],
        status: Sequence[str | bytes],
    ) -> None: ...

def match_texts(patterns: Sequence[str | bytes], texts: Sequence[str]) -> list[bool]:
    """Return which texts match any of some shell patterns."""

def match_op_names(patterns: Sequence[str | bytes], names: Sequence[str]) -> list[bool]:
    """Return which names match any of some shell patterns, both as file names spell them."""

def layer_number(op_name: str) -> tuple[int, int, int] | None:
    """Return the number of the block that a name tells, and where it begins and ends, in bytes."""

_Part: TypeAlias = tuple[
    list[tuple[bytes, bytes, tuple[object, ...], dict[bytes, bytes], bool]], bytes, bytes
]
"""Directories (path, path in rows, where, real names, whether it is there for one file that was
given), the number of the directory of each file, and the names of the files, each with b"\\0"."""

def directory_device(path: bytes) -> int | None:
    """Return the device that the directories of an absolute path tell."""

class Index(metaclass=_pybind11_type):
    """The names below some paths, parsed and in the order of execution.

    With `every_file`, they are in the order of the walk, and not only those that look like parts of
    a dump: as a scan of the paths reads them. Positions, given and returned, are unsigned 32-bit
    integers.
    """

    def __init__(
        self,
        paths: Sequence[bytes],
        *,
        follow_links: bool,
        every_file: bool = False,
        known: Sequence[tuple[str, int, Mapping[str, int]]] = [],
    ) -> None:
        """List what is there; of directories that are `known` to be in this state, nothing.

        `known` has what rows show of each, its state, or 0, and what was skipped in it. Files in
        such directories are not part of the index; rows of them are true still for `unchanged`.
        """

    @staticmethod
    def of_part(part: _Part) -> Index:
        """Return an index of what `part` took apart; nothing is read."""

    def part(self, positions: Buffer) -> _Part:
        """Return some files as objects that can be pickled, in the order of `positions`."""

    def shard(self, i: int, n: int) -> bytes:
        """Return the positions of shard `i` of `n`, which the paths in rows decide."""

    def unchanged(
        self,
        positions: Buffer,
        *,
        paths: Buffer,
        ends: Buffer,
        states: Buffer,
        shown: Sequence[str],
        threads: int,
        io_depth: int | None = None,
    ) -> tuple[bytes, bytes]:
        """Return which files are to be read, and which rows of an earlier table are true still.

        Parameters
        ----------
        positions
            The files that are asked about.
        paths, ends, states
            Of each row the path, as UTF-8 one behind the other with the end of each as an unsigned
            64-bit integer; and the state of its file, 0 if nobody knows.
        shown
            What these paths begin with for each of `directories`, with a slash at its end; empty
            where that is what rows of the index show.

        Returns
        -------
        to_read, is_kept : bytes
            Positions, and one byte a row: 1 where the file is there and in the same state.
        """

    def directories(self) -> list[str]:
        """Return what rows show of each directory."""

    def __len__(self) -> int: ...
    def record(
        self, position: int
    ) -> tuple[
        str,  # path, to open
        str,  # path, to show
        str,  # kind
        int | None,  # rank
        str | None,  # time
        int | None,  # device
        str | None,  # model
        int | None,  # model_id
        int | None,  # step
        str | None,  # op_type
        str | None,  # op_name
        int | None,  # task_id
        int | None,  # stream_id
        int | None,  # timestamp
        int | None,  # context_id
        int | None,  # thread_id
    ]: ...
    def shown_path(self, position: int) -> str: ...
    def select(self, positions: Buffer, selection: Selection) -> tuple[bytes, bytes]:
        """Return the positions that may be selected, and those of them that headers decide."""

    def find(self, positions: Buffer, op_name: bytes) -> bytes: ...
    def nameless(self, positions: Buffer) -> bytes: ...
    def of_kinds(self, positions: Buffer, kinds: Set[str]) -> bytes: ...
    def op_names(self, positions: Buffer) -> list[str]: ...
    def summary(self, positions: Buffer) -> dict[str, object]: ...
    def skipped(self) -> dict[str, int]: ...

class Scan(metaclass=_pybind11_type):
    """One pass over files: those below some paths, or those at some positions of an index."""

    @overload
    def __init__(
        self,
        paths: Sequence[bytes],
        *,
        level: str,
        threads: int,
        io_depth: int | None = None,
        engine: str,
        logical: bool,
        follow_links: bool,
        selection: Selection,
    ) -> None: ...
    @overload
    def __init__(
        self,
        index: Index,
        positions: Buffer,
        *,
        level: str,
        threads: int,
        io_depth: int | None = None,
        engine: str,
        logical: bool,
        selection: Selection,
        digests: bool = False,
    ) -> None: ...
    def run(self, on_progress: Callable[[Progress], object] | None, interval_s: float) -> None: ...
    def progress(self) -> Progress: ...
    def table(self) -> Table: ...
    def skipped(self) -> dict[str, int]: ...
    def directories(self) -> list[tuple[str, int, bool, dict[str, int]]]:
        """Return what rows show of each directory, its state, and what is told of its files.

        The state is 0 where it is not known. Then come whether a file may be unfinished, and how
        many were skipped, by reason.
        """

_Place: TypeAlias = tuple[bytes, int, int, str, int, HostLayout | None]

class ComparisonProgress(metaclass=_pybind11_type):
    """How far a comparison is."""

    def __init__(self, /, *args: object, **kwargs: object) -> None: ...
    @property
    def pairs(self) -> int: ...
    @property
    def pairs_done(self) -> int: ...
    @property
    def bytes_done(self) -> int: ...

class TensorPlaces(metaclass=_pybind11_type):
    """Tensors by where their elements lie, a column for each part of that.

    A path is `root` and the part of `texts` up to its end, which begins where the one before ends;
    or the latter alone if it is absolute. dtypes are positions in `dtype_names`, layouts by the
    position of the tensor. All other columns are contiguous, of 64-bit integers.
    """

    def __init__(
        self,
        *,
        root: bytes,
        texts: Buffer,
        ends: Buffer,
        states: Buffer,
        offsets: Buffer,
        dtypes: Buffer,
        dtype_names: Sequence[str],
        n_elements: Buffer,
        layouts: Mapping[int, HostLayout],
    ) -> None: ...

class ExtractProgress(metaclass=_pybind11_type):
    """How far an extraction is."""

    def __init__(self, /, *args: object, **kwargs: object) -> None: ...
    @property
    def files_done(self) -> int: ...
    @property
    def bytes_done(self) -> int: ...

class Extraction(metaclass=_pybind11_type):
    """Ranges of files, each copied to a new file of its own behind a head.

    `paths`, `states`, `directory_of` and `ends` are of the sources: the extracts of each follow
    those of the source before, up to its end. `offsets`, `sizes` and `kind_of` are of the extracts;
    a kind is the end of the new file's name, behind that of the source, and its head. Columns are
    contiguous, of 64-bit integers. Outcomes, a byte each: 0 left, 1 written, 2 kept.
    """

    def __init__(
        self,
        *,
        paths: Sequence[bytes],
        states: Buffer,
        directory_of: Buffer,
        ends: Buffer,
        offsets: Buffer,
        sizes: Buffer,
        kind_of: Buffer,
        kinds: Sequence[tuple[bytes, bytes]],
        directories: Sequence[bytes],
        output_directory: int,
        overwrite: bool,
        threads: int,
        io_depth: int | None = None,
    ) -> None: ...
    def run(
        self, on_progress: Callable[[ExtractProgress], object] | None, interval_s: float
    ) -> None: ...
    def progress(self) -> ExtractProgress: ...
    def outcomes(self) -> bytes: ...

class Comparison(metaclass=_pybind11_type):
    """Tensors of `a`, each compared with the one at the same place in `b`, the reference.

    `TensorPlaces` are taken, and empty afterwards. In a list, a tensor is (path, state of the file,
    offset of its elements, dtype, number of stored elements, how its host array lies in it), where
    None compares the elements as they are stored.
    """

    @overload
    def __init__(
        self,
        a: TensorPlaces,
        b: TensorPlaces,
        *,
        rtol: float,
        atol: float,
        kl: bool,
        threads: int,
        io_depth: int | None = None,
        engine: str,
    ) -> None: ...
    @overload
    def __init__(
        self,
        a: Sequence[_Place],
        b: Sequence[_Place],
        *,
        rtol: float,
        atol: float,
        kl: bool,
        threads: int,
        io_depth: int | None = None,
        engine: str,
    ) -> None: ...
    def run(
        self, on_progress: Callable[[ComparisonProgress], object] | None, interval_s: float
    ) -> None: ...
    def progress(self) -> ComparisonProgress: ...
    def table(self) -> Table: ...
