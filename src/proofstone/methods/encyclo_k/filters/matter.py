"""What of a statement is words: formulas and code set aside, and what stands before a place."""

from __future__ import annotations

import re

__all__ = ["has_formula", "is_opening", "words_only"]

_SET_ASIDE = re.compile(
    r"\$\$.+?\$\$|(?<![\\$])\$(?!\$)[^$\n]+?\$|\\\[.+?\\\]|\\\(.+?\\\)|```.+?```|`[^`\n]+`",
    re.DOTALL,
)
_FORMULA = re.compile(r"[=≈≡≤≥<>→⇌⇒∝∫∑]|->|\$|\\\[|\\\(|\ufffc")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？；;\n]")
_TITLE = re.compile(r"^[^.!?。！？\n]{1,60}?(?:: |：|:(?=\S))")
# Stands for each character of what is set aside; no pattern here matches it.
_BLANK = "\ufffc"


def words_only(text: str) -> str:
    """The text with each formula and each piece of code blanked out, of the same length."""
    return _SET_ASIDE.sub(lambda found: _BLANK * len(found[0]), text)


def has_formula(text: str) -> bool:
    """Whether there is a formula or a reaction in it, marked as one or not."""
    return _FORMULA.search(text) is not None


def is_opening(text: str, place: int) -> bool:
    """Whether ``place`` stands in the first sentence, the title of the knowledge point left out:
    nothing has been said yet to which a word there could point back."""
    title = _TITLE.match(text[:place])
    return _SENTENCE_END.search(text[title.end() if title else 0 : place]) is None
