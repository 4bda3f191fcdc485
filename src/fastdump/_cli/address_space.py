"""Whether a limit on the address space leaves room for a command.

Libraries below fastdump end the process where they get no memory: OpenBLAS, while numpy is
imported, with the exit code 1 or by SIGINT, and Arrow, which is written in Rust, by SIGABRT.
"""

from __future__ import annotations

import errno
import mmap
import os
import resource

NEEDED_NBYTES = 320 << 20
"""What a command takes for its libraries, some 160 MiB, and a small dump."""


def missing_room() -> str:
    """Return what there is to say if a command cannot begin, else an empty text.

    Where there is a limit, OpenBLAS is asked for one thread, for nothing is computed with it; else
    it would take room for a thread of each CPU.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return ""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        mmap.mmap(-1, NEEDED_NBYTES).close()
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        return (
            f"the address space is limited to {limit >> 20} MiB (ulimit -v), of which a command "
            f"needs {NEEDED_NBYTES >> 20} MiB beyond those of the interpreter"
        )
    return ""
