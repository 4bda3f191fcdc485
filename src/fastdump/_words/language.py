"""The language that answers are told in: English, or for a while another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

LANGUAGES: Final = ("en", "zh")
"""English and Chinese, by their codes of ISO 639."""

_language: ContextVar[str] = ContextVar("fastdump language", default=LANGUAGES[0])


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Tell answers and pages in another language while the context lasts.

    What is shown within the context is in that language, whenever it was found. Names, numbers,
    commands, columns of tables, errors, JSON and the tables that follow an answer are the same in
    every language.

    Parameters
    ----------
    language
        "en" for English, "zh" for Chinese (simplified).

    Raises
    ------
    ValueError
        If there is no translation into that language.

    Examples
    --------
    >>> with fastdump.in_language("zh"):  # doctest: +SKIP
    ...     print(fastdump.triage("dump_dir"))
    """
    if language not in LANGUAGES:
        raise ValueError(f"{language!r} is none of {', '.join(LANGUAGES)}")
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def language_in_use() -> str:
    """Return one of `LANGUAGES`."""
    return _language.get()


def translated(text: str) -> str:
    """Return a text of the catalogue in the language in use."""
    if _language.get() == "zh":
        from fastdump._words.chinese import CHINESE  # most people never need it

        return CHINESE.get(text, text)
    return text
