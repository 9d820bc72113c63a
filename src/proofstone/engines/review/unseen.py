"""Signs that nobody sees, and that nobody means to write."""

from __future__ import annotations

import unicodedata

__all__ = ["unseen_sign"]


def unseen_sign(text: str) -> str:
    """The first control character of a text, as ``U+0007``, tabs and line ends aside; empty where
    there is none."""
    found = (c for c in text if c not in "\t\n\r" and unicodedata.category(c) == "Cc")
    return next((f"U+{ord(c):04X}" for c in found), "")
