"""Whether the characters of a page are words at all, and what to say where they are not.

A PDF without a map from its glyphs to characters gives the glyphs' numbers or another alphabet's
letters; one that was scanned gives nothing, or the lines of a poor reading.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["garbled"]

_LEAST = 40  # characters: fewer decide nothing
_STRANGE_SHARE = 0.12
# Controls, dingbats, the private areas and what stands for no character.
_STRANGE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u2700-\u27bf\ue000-\uf8ff\ufffd-\uffff\U000e0000-\U0010ffff]"
)
_WORD = re.compile(r"[^\W\d_]+")
_WIDE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_LONG = 30  # letters in a run: no words of an alphabetic script are so long on average
_VOWELS = set("aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýαεηιουωάέήίόύώаеёиоуыэюяії")

Garbled = Literal["", "strange characters", "no word boundaries", "no words"]


def garbled(text: str, n_unmapped: int = 0) -> Garbled:
    """What is wrong with a page's text; empty where nothing is, or where there is too little of it.

    ``n_unmapped`` counts characters for which the file names no code point.
    """
    n_marks = sum(map(len, text.split()))
    if n_marks < _LEAST:
        return ""
    if n_unmapped + len(_STRANGE.findall(text)) > _STRANGE_SHARE * n_marks:
        return "strange characters"
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if letters < 0.3 * n_marks or len(_WIDE.findall(text)) > 0.2 * letters:
        return ""  # figures and formulas, or a script that sets no spaces
    if letters / len(words) > _LONG:
        return "no word boundaries"
    return "" if _reads_as_words(words) else "no words"


def _reads_as_words(words: list[str]) -> bool:
    """Whether enough of the longer words hold a vowel, in scripts that write them."""
    longer = [w.lower() for w in words if len(w) >= 4 and w[0].lower() <= "\u04ff"]
    if len(longer) < 10:
        return True
    return sum(not _VOWELS.isdisjoint(word) for word in longer) >= 0.5 * len(longer)
