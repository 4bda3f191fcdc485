# The C++ extension. Translation only: the functions that users call are in the modules beside it.

from collections.abc import Callable, Sequence

from typing_extensions import Buffer

__version__: str

class FormatError(Exception):
    """A file is not what its format asks for; fastdump raises DumpFormatError in its place."""

def data_types() -> list[tuple[int, str, str, int, bool]]:
    """Return (number, vendor's name, name, bits, reducible) of each type, ordered by number."""

def tensor_formats() -> list[str]:
    """Return the names of the memory layouts; the position of each is its number."""

def simd_tiers() -> list[tuple[str, bool, bool]]:
    """Return (name, usable, active) of each tier that was compiled, best first."""

def default_threads() -> int:
    """Return FASTDUMP_THREADS, or the number of CPUs that this process may use."""

def describe_file(path: bytes) -> dict[str, object]:
    """Return what the headers of one file say, of each tensor too; no payload is read."""

def reduce_buffer(
    data: Buffer, dtype: str, n_elements: int, level: str, threads: int
) -> dict[str, int | float | None]:
    """Return the statistics of elements that lie in `data` as in a dump."""

class _pybind11_type(type): ...

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

class Table(metaclass=_pybind11_type):
    """The rows of a scan, as one record batch of the Arrow C data interface."""

    def __init__(self, /, *args: object, **kwargs: object) -> None: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class Scan(metaclass=_pybind11_type):
    """One pass over files and directories."""

    def __init__(
        self,
        paths: Sequence[bytes],
        *,
        level: str,
        threads: int,
        io: str,
        follow_links: bool,
        op_type: Sequence[str],
        op_name: Sequence[str],
        step: Sequence[int],
        rank: Sequence[int],
        tensor: Sequence[str],
    ) -> None: ...
    def run(self, on_progress: Callable[[Progress], object] | None, interval_s: float) -> None: ...
    def progress(self) -> Progress: ...
    def table(self) -> Table: ...
    def skipped(self) -> dict[str, int]: ...
