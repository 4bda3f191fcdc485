"""Lists of things, of clauses and of sentences, in any language."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._words.catalogue import ANOTHER_CLAUSE, ANOTHER_ITEM
from fastdump._words.page_catalogue import AND_SENTENCE


def enumerated(items: Iterable[str]) -> str:
    """Return ``a, b, c``; "" for nothing."""
    listed = ""
    for item in items:
        listed = ANOTHER_ITEM(items=listed, item=item) if listed else item
    return listed


def clauses(texts: Iterable[str]) -> str:
    """Return ``a; b; c``; "" for nothing."""
    listed = ""
    for text in texts:
        listed = ANOTHER_CLAUSE(clauses=listed, clause=text) if listed else text
    return listed


def in_sentences(*sentences: str) -> str:
    """Return sentences one after the other; "" for none."""
    text = ""
    for sentence in sentences:
        text = AND_SENTENCE(text=text, sentence=sentence) if text else sentence
    return text
