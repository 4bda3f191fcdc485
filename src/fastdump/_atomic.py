"""Files that exist whole or not at all: they get their name when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, *, through_link: bool = True) -> Iterator[IO[bytes]]:
    """Provide a file that takes the place of `path` when the block ends without an exception.

    After an exception, the new file is removed, and a file that had the name before stays.

    Parameters
    ----------
    path
        The file.
    through_link
        If `path` is a symbolic link, whether to replace the file that it points to rather than the
        link.

    Raises
    ------
    OSError
        If the file cannot be written, with its name; exceptions of the block are passed on.
    """
    target = path.resolve() if through_link else path
    # The name is random, so that processes which write the same file do not collide. Files of the
    # module tempfile would be unreadable for other users.
    temporary = target.with_name(f".fastdump-{secrets.token_hex(8)}.part")
    try:
        try:
            # The file is closed here, because some file systems report a full disk only then.
            with temporary.open("xb") as file:
                yield file
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        # The temporary name would tell users nothing, and a failed write has no name at all.
        if error.filename is None or os.fsdecode(error.filename) == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
