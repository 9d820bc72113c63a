"""When two short texts are the same answer without anybody's judgement: equal but for their dress.

Only what can never change the meaning is taken off. What might (the case of "Co" and "CO" or of
"mW" and "MW", a superscript, a unit, a question mark) stays, and a judge decides.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation

__all__ = ["as_number", "plain_answer", "without_label"]

_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u30fb\uff65\u2022\u2027\u2219", "\u00b7"),
        **dict.fromkeys("\u201c\u201d\u300c\u300d\u300e\u300f\u00ab\u00bb\u201e", '"'),
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        "\uff61": "\u3002",
        "\u3008": "\u300a",
        "\u3009": "\u300b",
    }
)
_AROUND = (("\u300a", "\u300b"), ('"', '"'), ("'", "'"), ("**", "**"), ("*", "*"), ("`", "`"))
_LABEL = re.compile(
    r"\A\s*\**(?:final answer|answer|最终答案|答案|答)\**\s*[:：]\**\s*", re.IGNORECASE
)
# A space between two letters or digits of a script with spaces parts words; any other is dress.
_SPACE = re.compile(r"(?<=\S)[^\S\n]+(?=\S)")
_WORD = re.compile(r"[^\W\d_]{5,}")


def plain_answer(text: str) -> str:
    """``text`` without its dress: one width of characters, one kind of dash, quote and dot, no
    unseen characters, no marks of quotation or emphasis around it, no full stop behind it, spaces
    only between words; words of five letters or more in lower case. It may come out empty."""
    plain = unicodedata.normalize("NFC", text.translate(_UNSEEN).translate(_WIDTH))
    plain = _undressed(plain.translate(_ALIKE).strip())
    return _WORD.sub(lambda found: found[0].lower(), _SPACE.sub(_space, plain))


def without_label(text: str) -> str:
    """``text`` without a mere "Answer:" before it."""
    return _LABEL.sub("", text, count=1)


def as_number(text: str) -> Decimal | None:
    """The number that a plain answer is and nothing else, or None."""
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", text, re.ASCII):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # pragma: no cover - the pattern lets none through
        return None


def _undressed(text: str) -> str:
    while True:
        shorter = text.strip()
        if shorter.endswith((".", "\u3002")) and not shorter.endswith(".."):
            shorter = shorter[:-1].rstrip()
        for opens, closes in _AROUND:
            if len(shorter) > len(opens) + len(closes) and _is_around(shorter, opens, closes):
                shorter = shorter[len(opens) : -len(closes)].strip()
        if shorter == text:
            return text
        text = shorter


def _is_around(text: str, opens: str, closes: str) -> bool:
    """Whether the marks are one pair around all of the text, not two quotations beside another."""
    inside = text[len(opens) : -len(closes)]
    is_pair = text.startswith(opens) and text.endswith(closes)
    return is_pair and opens not in inside and closes not in inside


def _space(found: re.Match[str]) -> str:
    before, after = found.string[found.start() - 1], found.string[found.end()]
    if before == "," and after.isdecimal():  # "1, 200" is two numbers
        return " "
    return " " if _parts_words(before) and _parts_words(after) else ""


def _parts_words(character: str) -> bool:
    """Whether words of this script have spaces between them."""
    return character.isalnum() and unicodedata.east_asian_width(character) not in {"W", "F"}
