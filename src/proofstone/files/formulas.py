"""Texts that a spreadsheet would take for a formula, made harmless in a way that reads back.

A text that begins with ``= + - @``, a tab or a line break (also in full width) gets an apostrophe
before it, as spreadsheets themselves mark a text; one that began with apostrophes and such a sign
gets one more. Reading takes one away, so every text comes back as it was. Numbers are no texts.
"""

from __future__ import annotations

import re

_SIGNS = "=+\\-@\t\r\n＝＋－＠"


_LIVE = re.compile(f"'*[{_SIGNS}]")


_MARKED = re.compile(f"'+[{_SIGNS}]")


def neutralised(text: str) -> str:
    """``text`` as a cell that no spreadsheet evaluates."""
    return f"'{text}" if _LIVE.match(text) else text


def restored(cell: str) -> str:
    """The text of which ``neutralised`` made ``cell``."""
    return cell[1:] if _MARKED.match(cell) else cell
