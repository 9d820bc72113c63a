"""Words that a line's end has cut in two, put together again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![-\w])")  # whole: no hyphen behind it


_CUT = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")


_NEXT = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


_MOST_WORDS = 200_000


_LONGEST = 80


# Before these a hyphen is nearly always one that the writer set.
_KEEPING = {"self", "non", "well", "quasi", "pseudo", "semi", "cross", "half", "ex", "so", "e", "x"}


class Mender:
    """Joins lines; whether a hyphen at a line's end is the writer's is told by the words of the
    document: ``learn`` them first. What was never seen whole is taken to be cut."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()

    def copy(self) -> Mender:
        """A mender that knows the same words and learns for itself."""
        other = Mender()
        other._words = self._words.copy()
        return other

    def learn(self, texts: Iterable[str]) -> None:
        """Counts the words that stand whole within lines; those cut at their ends are no words."""
        if len(self._words) < _MOST_WORDS:
            self._words.update(_WORD.findall("\n".join(texts).lower()))

    def joint(self, before: str, after: str) -> tuple[int, str]:
        """How many characters go from the end of ``before``, and what stands between it and
        ``after``: nothing, a space, or the hyphen kept."""
        cut = _CUT.search(before[-_LONGEST:]) if before.endswith("-") else None
        goes_on = _NEXT.match(after)
        if cut and goes_on:
            if goes_on[0][0].isupper():
                return 0, ""
            return (0, "") if self._keeps(cut[1].lower(), goes_on[0].lower()) else (1, "")
        if _is_wide(before[-1:]) and _is_wide(after[:1]):
            return 0, ""
        return 0, "" if before.endswith(("\u2014", "/")) and before[-2:-1].strip() else " "

    def _keeps(self, first: str, second: str) -> bool:
        whole = self._words.get(first + second, 0)
        hyphened = self._words.get(f"{first}-{second}", 0)
        if whole or hyphened:
            return hyphened > whole
        last = first.rpartition("-")[2]
        return last in _KEEPING or (last in self._words and second in self._words and "-" in first)


def _is_wide(character: str) -> bool:
    """Whether a character is Chinese, Japanese or their punctuation, which take no spaces."""
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"
