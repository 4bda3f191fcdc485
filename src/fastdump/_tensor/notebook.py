"""One tensor as a notebook shows it: what it is, and a small picture of its elements."""

from __future__ import annotations

import html
from collections.abc import Iterable

from fastdump._figures.as_svg import small_svg
from fastdump._tensor.pictures import Pictured, thumbnail
from fastdump._words.html import block
from fastdump._words.printable import printable
from fastdump.errors import FastdumpError


def tensor_html(tensor: Pictured, facts: Iterable[tuple[str, str]]) -> str:
    """Return a tensor as HTML; a file that cannot be read, or no longer, is told.

    `facts` are label and text of what there is to say of it.
    """
    lines = "<br>".join(f"{label}: {html.escape(printable(text))}" for label, text in facts if text)
    try:
        picture = small_svg(thumbnail(tensor)) if tensor.size else ""
    except (FastdumpError, OSError) as error:
        picture = f'<span class="subtle">no picture: {html.escape(printable(str(error)))}</span>'
    return block([f"<p><b>{html.escape(tensor.name)}</b><br>{lines}</p>", f"<p>{picture}</p>"])
