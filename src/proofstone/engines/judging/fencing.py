"""Texts under judgement, set apart so that nothing in them can pass for anything else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from proofstone.identity import digest

__all__ = ["fence_code", "harmless"]

# What chat templates use for turns: within a text some endpoints' tokenizers take them for real.
_TURN_SIGNS = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\uff5c[^\uff5c<>\n]{0,40}\uff5c>|\[/?(?:INST|SYS(?:TEM)?)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|start_of_turn|end_of_turn|think|tool_call)>",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans({"<": "\u2039", ">": "\u203a", "[": "\u2045", "]": "\u2046"})


def fence_code(texts: Sequence[str]) -> str:
    """Eight hexadecimal digits that stand in none of ``texts``, the same for the same texts: who
    wrote a text could not know them without knowing all of it."""
    joined = "\0".join(texts)
    for number in range(1 << 20):
        code = digest(f"fence {number}\0{joined}".encode("utf-8", "replace")).hex()[:8]
        if code not in joined:
            return code
    raise AssertionError("no text holds a million codes")


def harmless(text: str) -> str:
    """``text`` with nothing hidden in it: control, direction and zero-width characters are named
    (``⟨U+200B⟩``), the signs of chat turns get other brackets. All else stays as it is."""
    seen = "".join(map(_visible, text))
    return _TURN_SIGNS.sub(lambda found: found[0].translate(_BRACKETS), seen)


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co"}:
        return character
    return f"\u27e8U+{ord(character):04X}\u27e9"
