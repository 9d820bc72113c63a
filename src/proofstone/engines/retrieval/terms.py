"""The terms of a text that are looked up: words, and pairs of neighbouring Chinese characters.

Chinese has no spaces. Pairs find what a word list does without one: a pair inside a word is as
rare as the word, one across two words says little and weighs little.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from proofstone.errors import ExtraMissing

__all__ = ["TERMS_VERSION", "CutHan", "bigrams", "jieba_words", "terms_of"]

# Raised where another text would give other terms: an index that was made by others is made anew.
TERMS_VERSION = 1

CutHan = Callable[[str], Iterable[str]]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# A run of Han characters, or a word: letters and digits with an apostrophe, point or hyphen inside
# (don't, 3.14, GPT-5); the underscore parts words.
_RUN = re.compile(rf"[{_HAN}]+|(?:(?![{_HAN}_])\w)+(?:['.](?:(?![{_HAN}_])\w)+)*")
_IS_HAN = re.compile(rf"[{_HAN}]").match
_LONGEST = 64  # a longer "word" is a key or an address; its beginning is enough


def terms_of(text: str, cut: CutHan | None = None) -> Iterator[str]:
    """The terms of a text in order, as often as they stand there; none of a text without letters.

    Width and case do not count (NFKC, casefolded). ``cut`` parts a run of Han characters: pairs
    (``bigrams``) without it.
    """
    for found in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = found[0]
        if _IS_HAN(run):
            yield from (cut or bigrams)(run)
        else:
            yield run[:_LONGEST]


def bigrams(run: str) -> Iterable[str]:
    """Each character with the next one; a lone one by itself."""
    if len(run) == 1:
        return (run,)
    return (run[at : at + 2] for at in range(len(run) - 1))


def jieba_words() -> CutHan:
    """Parts Chinese by the words of jieba's list, also the shorter ones inside a word. Raises
    ExtraMissing without the package."""
    try:
        import rjieba  # noqa: PLC0415 - an extra
    except ImportError as cause:
        raise ExtraMissing(
            "words of Chinese need jieba's list, which is not installed",
            hint="pip install 'proofstone[chinese]', or leave pairs of characters",
        ) from cause
    return lambda run: [word for word in rjieba.cut_for_search(run) if word.strip()]
