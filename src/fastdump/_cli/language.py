"""The language of answers and pages: that of an option, of the environment, or of the locale."""

from __future__ import annotations

import os
import sys

import click

from fastdump._words.language import LANGUAGES, in_language


def _of_locale() -> str:
    """Return the language of the locale, English if there is none or stdout could not show it."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    if not next(filter(None, names), "").lower().startswith("zh"):
        return "en"
    try:
        "\u7b97\u5b50".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return "en"
    return "zh"


def _begin(context: click.Context, _parameter: click.Parameter, language: str) -> None:
    if not context.resilient_parsing:
        context.with_resource(in_language(language))


language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    envvar="FASTDUMP_LANG",
    default=_of_locale,
    expose_value=False,
    callback=_begin,
    help="Language of the answer. Default: FASTDUMP_LANG (environment), else that of the locale.",
)
