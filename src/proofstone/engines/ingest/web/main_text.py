"""Which blocks of a web page are its text, and which the frame that its site puts around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proofstone.engines.ingest.web.walking import WebBlock

__all__ = ["main_text"]

_SPACE = re.compile(r"\s+")
_LINKED = 0.6  # of a block's words: a menu
_LEAST = 25  # characters without spaces by which a block is known
_TRUSTED = 0.3  # of the letters outside menus that must be known as text


def main_text(blocks: Sequence[WebBlock], extracted: str) -> list[WebBlock]:
    """The blocks from the first to the last that stand in ``extracted`` (the main text by another
    reading, which loses headings and code), without menus among them, and the headings before.

    Where that reading found little, all blocks but menus.
    """
    text = _SPACE.sub("", extracted)
    plain = [block for block in blocks if block.linked <= _LINKED or block.kind == "heading"]
    known = [place for place, block in enumerate(plain) if _stands_in(block.text, text)]
    n_known = sum(len(plain[place].text) for place in known)
    if not known or n_known < _TRUSTED * sum(len(block.text) for block in plain):
        return plain
    first, last = known[0], known[-1]
    while first and plain[first - 1].kind == "heading":
        first -= 1
    return plain[first : last + 1]


def _stands_in(text: str, main: str) -> bool:
    """Whether the beginning or the end of a block stands in the main text."""
    plain = _SPACE.sub("", text.lstrip(" -"))
    if len(plain) < _LEAST:
        return False
    return plain[: 2 * _LEAST] in main or plain[-2 * _LEAST :] in main
