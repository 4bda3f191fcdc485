"""The limit: how fast this machine hands over the same bytes to as many threads."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

_BUFFER_NBYTES = (64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20)
_SMALL_FILE_BUFFER_NBYTES = 64 << 10


class NoCompilerError(Exception):
    """There is no C compiler, or it does not work."""


class FileList:
    """Paths of files that hold `nbytes` bytes in all, as C has them."""

    def __init__(self, paths: Sequence[Path], nbytes: int) -> None:
        self.array = (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))
        self.nbytes = nbytes


class PlainReader:
    """Native threads that read and do nothing else; see plain_read.c.

    They run in this process, so that neither side has to start one.
    """

    def __init__(self, directory: Path) -> None:
        library = ctypes.CDLL(str(_compile(Path(__file__).with_name("plain_read.c"), directory)))
        paths = ctypes.POINTER(ctypes.c_char_p)
        self._read_large = library.plain_read_large
        self._read_large.argtypes = (
            paths,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_size_t,
            ctypes.c_int,
        )
        self._read_large.restype = ctypes.c_longlong
        self._read_small = library.plain_read_small
        self._read_small.argtypes = (paths, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t)
        self._read_small.restype = ctypes.c_longlong
        self._fastest: dict[tuple[int, int, int], int] = {}

    def read_file(
        self, path: Path, threads: int, buffer_nbytes: int, *, direct: bool = False
    ) -> None:
        """Read a file in pieces of `buffer_nbytes`, threads taking turns.

        `direct` passes by the page cache. Every thread then is one request that the disk has at a
        time.
        """
        files = FileList([path], path.stat().st_size)
        self.read_large_files(files, threads, buffer_nbytes, direct=direct)

    def read_large_files(
        self, files: FileList, threads: int, buffer_nbytes: int, *, direct: bool = False
    ) -> None:
        """Read files as `read_file` reads one; threads share each of them."""
        n_read = self._read_large(files.array, len(files.array), threads, buffer_nbytes, direct)
        _check(n_read, files.nbytes)

    def read_small_files(self, files: FileList, threads: int) -> None:
        """Open, read and close each of the files."""
        n_read = self._read_small(files.array, len(files.array), threads, _SMALL_FILE_BUFFER_NBYTES)
        _check(n_read, files.nbytes)

    def fastest_buffer(self, path: Path, threads: int) -> int:
        """Return the size of buffers with which `read_file` is fastest; also warms the page cache.

        The limit must not be beaten by a better choice of buffer.
        """
        status = path.stat()
        key = (status.st_ino, status.st_mtime_ns, threads)
        if key not in self._fastest:
            self._fastest[key] = self._find_fastest_buffer(path, threads)
        return self._fastest[key]

    def _find_fastest_buffer(self, path: Path, threads: int) -> int:
        self.read_file(path, threads, _BUFFER_NBYTES[-1])
        seconds: dict[int, list[float]] = {nbytes: [] for nbytes in _BUFFER_NBYTES}
        for _ in range(3):
            for nbytes in _BUFFER_NBYTES:
                start = time.perf_counter()
                self.read_file(path, threads, nbytes)
                seconds[nbytes].append(time.perf_counter() - start)
        return min(_BUFFER_NBYTES, key=lambda nbytes: median(seconds[nbytes]))


def _check(n_read: int, nbytes: int) -> None:
    if n_read < 0:
        raise OSError(-n_read, os.strerror(-n_read))
    if n_read != nbytes:
        raise AssertionError(f"read {n_read} bytes of {nbytes}")


def _compile(source: Path, directory: Path) -> Path:
    library = directory / "plain_read.so"
    arguments = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-pthread"]
    command = [*_compiler(), *arguments, str(source), "-o", str(library)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise NoCompilerError(f"{command[0]} failed: {error.stderr}") from None
    return library


def _compiler() -> list[str]:
    for command in (os.environ.get("CC"), "cc", "gcc", "clang", sysconfig.get_config_var("CC")):
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    raise NoCompilerError("no C compiler: none of $CC, cc, gcc, clang is there")
