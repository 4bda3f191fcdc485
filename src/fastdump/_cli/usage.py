"""Values that the library refuses, as errors of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from fastdump import FastdumpError


@contextmanager
def refusing(
    error_type: type[click.ClickException] = click.ClickException,
) -> Iterator[None]:
    """Raise `error_type` for a ValueError of the block that is not fastdump's own.

    Click has checked the options. What is left are environment variables such as FASTDUMP_THREADS,
    and values that only the library can judge.
    """
    try:
        yield
    except FastdumpError:
        raise
    except ValueError as error:
        raise error_type(str(error)) from error
