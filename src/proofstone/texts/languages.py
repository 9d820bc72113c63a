"""Language codes and simple language detection."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

# The BCP 47 code for an undetermined language; written if a row has none.
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


_LEAST_LETTERS = 80  # letters of another script that decide a passage's language


_MOST_NAMED = 0.05  # Chinese characters in an untranslated passage: cited titles


def guess_language(texts: Iterable[str]) -> str:
    """Return ``zh`` if at least a tenth of the letters are Chinese characters, otherwise ``en``.

    Formulas and names put many Latin letters into Chinese text, while English text rarely has a
    Chinese character; hence the low threshold. Other languages are not detected: French is returned
    as ``en``, Japanese as ``zh``, so readers accept the language as a parameter. Only the first
    20,000 characters are used.
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
    """Return a code such as ``en`` or ``zh-Hant`` with its first part in lower case, or None.

    ``und`` gives the empty text; an invalid code gives None.
    """
    found = _CODE.fullmatch(text.strip())
    if found is None:
        return None
    code = found[1].lower() + found[2]
    return "" if code == UNDETERMINED else code


def said_language(text: str) -> str:
    """Return the language that a document states, without a region and in two letters if possible.

    ``en`` for ``en-US`` and for ``eng``; empty if it is not a code. A region does not matter to
    readers and models, and most programs write their own. A script is kept (``zh-Hant``), also if
    only a region implies it (``zh-TW``), except the default one (``zh-Hans`` is ``zh``). Languages
    that users state are not changed.
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
    """Return the language of a passage of a document in ``language``.

    It differs if its script shows that: Chinese in another document, or almost none in a Chinese
    one (a partly translated manual).
    """
    is_chinese = guess_language([text]) == "zh"
    if is_chinese and language.partition("-")[0] not in {"zh", "ja", "ko"}:
        return "zh"
    letters = len(_LETTER.findall(text))
    if language.startswith("zh") and letters >= _LEAST_LETTERS:
        return "en" if len(_IDEOGRAPH.findall(text)) < _MOST_NAMED * letters else language
    return language


# Invisible control characters.


def unseen_sign(text: str) -> str:
    """Return the first control character of a text, as ``U+0007``, or "".

    Tabs and line ends do not count.
    """
    found = (c for c in text if c not in "\t\n\r" and unicodedata.category(c) == "Cc")
    return next((f"U+{ord(c):04X}" for c in found), "")


# Filtering passages by language, as folders may mix languages.


def main_language(code: str) -> str:
    """Return the first part of a language code, ``zh`` for ``zh-Hant``; ``und`` if unknown."""
    return code.partition("-")[0] or UNDETERMINED


def is_chinese(code: str) -> bool:
    """Return True if a language code is Chinese: bundled texts exist in Chinese and English
    only.
    """
    return code.lower().partition("-")[0] == "zh"


def in_languages(code: str, languages: Collection[str]) -> bool:
    """Return True if a text of this language is wanted; always if ``languages`` is empty."""
    return not languages or main_language(code) in languages
