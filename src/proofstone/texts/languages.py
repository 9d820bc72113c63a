"""Language codes, and the one small guess at the language of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

# What BCP 47 calls a language that was not determined; written where a row has none.
UNDETERMINED = "und"


_CODE = re.compile(r"([A-Za-z]{2,3})((?:-[A-Za-z0-9]{2,8})*)")


_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")


_LETTER = re.compile(r"[^\W\d_]")


_SHORT = {
    "eng": "en", "zho": "zh", "chi": "zh", "cmn": "zh", "deu": "de", "ger": "de", "fra": "fr",
    "fre": "fr", "spa": "es", "ita": "it", "por": "pt", "rus": "ru", "jpn": "ja", "kor": "ko",
    "ara": "ar", "nld": "nl", "pol": "pl", "tur": "tr", "hin": "hi", "ces": "cs", "swe": "sv",
}  # fmt: skip


_USUAL_SCRIPTS = {
    "ar": "Arab", "bg": "Cyrl", "el": "Grek", "he": "Hebr", "ja": "Jpan", "ko": "Kore",
    "ru": "Cyrl", "sr": "Cyrl", "uk": "Cyrl", "zh": "Hans",
}  # fmt: skip


_TRADITIONAL = {"TW", "HK", "MO"}


_LEAST_SHARE = 0.1


_LOOKED_AT = 20_000


_LEAST_LETTERS = 80  # of another script, before a passage is said to be in it


_MOST_NAMED = 0.05  # Chinese characters in an untranslated passage: the titles that it refers to


def guess_language(texts: Iterable[str]) -> str:
    """``zh`` where at least a tenth of the letters are Chinese characters, else ``en``.

    Formulas and names put many Latin letters into Chinese text, English text hardly ever holds a
    Chinese character; hence the low share. No other language is told apart: a text in French
    comes out as ``en``, one in Japanese as ``zh``, so readers take the language as a parameter.
    The first 20,000 characters decide.
    """
    looked_at, ideographs, letters = 0, 0, 0
    for text in texts:
        part = text[: _LOOKED_AT - looked_at]
        looked_at += len(part)
        ideographs += len(_IDEOGRAPH.findall(part))
        letters += len(_LETTER.findall(part))
        if looked_at >= _LOOKED_AT:
            break
    return "zh" if ideographs and ideographs >= _LEAST_SHARE * letters else "en"


@lru_cache(maxsize=256)
def read_language_code(text: str) -> str | None:
    """A code such as ``en`` or ``zh-Hant`` with its first part in lower case, or None where it is
    no code; ``und`` gives the empty text."""
    found = _CODE.fullmatch(text.strip())
    if found is None:
        return None
    code = found[1].lower() + found[2]
    return "" if code == UNDETERMINED else code


def said_language(text: str) -> str:
    """The language that a document says it is in, without a region and in two letters where it has
    such: ``en`` of ``en-US`` and of ``eng``, whatever its format; empty where that is no code.

    A region tells texts apart that readers and models take for one language, and most programs
    write their own. A script stays (``zh-Hant``), also where a region alone says it (``zh-TW``),
    but for the one that is meant without it (``zh-Hans`` is ``zh``). What people state is left as
    they state it.
    """
    code = read_language_code(text) or ""
    language, *parts = code.split("-")
    language = _SHORT.get(language, language)
    scripts = [part.title() for part in parts if len(part) == 4 and part.isalpha()]
    regions = {part.upper() for part in parts if len(part) == 2}
    if language == "zh" and not scripts and regions & _TRADITIONAL:
        scripts = ["Hant"]
    if not scripts or _USUAL_SCRIPTS.get(language, "Latn") == scripts[0]:
        return language
    return f"{language}-{scripts[0]}"


def passage_language(text: str, language: str) -> str:
    """The language of a passage of a document in ``language``: another one where its script says
    so, Chinese in a document that is not, or hardly any of it in a Chinese one (a manual that is
    translated in part)."""
    is_chinese = guess_language([text]) == "zh"
    if is_chinese and language.partition("-")[0] not in {"zh", "ja", "ko"}:
        return "zh"
    letters = len(_LETTER.findall(text))
    if language.startswith("zh") and letters >= _LEAST_LETTERS:
        return "en" if len(_IDEOGRAPH.findall(text)) < _MOST_NAMED * letters else language
    return language


# Signs that nobody sees, and that nobody means to write.


def unseen_sign(text: str) -> str:
    """The first control character of a text, as ``U+0007``, tabs and line ends aside; empty where
    there is none."""
    found = (c for c in text if c not in "\t\n\r" and unicodedata.category(c) == "Cc")
    return next((f"U+{ord(c):04X}" for c in found), "")


# Passages by their language: folders may mix them, and what is built may be of some alone.


def main_language(code: str) -> str:
    """The first part of a language's code, ``zh`` of ``zh-Hant``; ``und`` where none is known."""
    return code.partition("-")[0] or UNDETERMINED


def is_chinese(code: str) -> bool:
    """Whether a language's code is of Chinese: texts carried in two languages are Chinese then, and
    English for all others."""
    return code.lower().partition("-")[0] == "zh"


def in_languages(code: str, languages: Collection[str]) -> bool:
    """Whether a text of this language is wanted; every one is where ``languages`` is empty."""
    return not languages or main_language(code) in languages
