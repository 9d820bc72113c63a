r"""The pieces that cl100k_base cuts a text into before it merges bytes.

tiktoken's pattern in the ``re`` of the standard library, which has no ``\p{L}`` and ``\p{N}``:

    '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ |  ?[^\s\p{L}\p{N}]++[\r\n]*+
    | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

__all__ = ["SPACE", "piece_pattern"]

# Unicode's White_Space: what ``\s`` means to tiktoken. Python's has U+001C to U+001F besides.
SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


@cache
def piece_pattern() -> re.Pattern[str]:
    """The pattern whose matches, end to end, are the whole text."""
    number = _ranges(c for c in range(sys.maxunicode + 1) if _is_number(c))
    # \w is letters, all numbers and the underscore: taking two of them away leaves the letters.
    # The first alternative holds nothing new; it is a small class, and most letters are in it.
    letters = rf"(?:[a-zA-Z\u4e00-\u9fa5]++|[^\W_{number}])++"
    return re.compile(
        "|".join([
            r"'(?i:[sdmt]|ll|ve|re)",
            # No letter and no number is what \w lacks, and the underscore.
            rf"[^\w\r\n]?+{letters}|_{letters}",
            rf"[{number}]{{1,3}}+",
            rf" ?(?:[^\w{SPACE}]+|_+)++[\r\n]*+",
            rf"[{SPACE}]++\Z",
            rf"[{SPACE}]*[\r\n]",
            rf"[{SPACE}]+(?![^{SPACE}])",
            rf"[{SPACE}]",
        ])
    )  # fmt: skip


def _is_number(code: int) -> bool:
    return unicodedata.category(chr(code))[0] == "N"


def _ranges(codes: Iterable[int]) -> str:
    """Ascending codes as the inside of a character class."""
    ends: list[list[int]] = []
    for code in codes:
        if ends and code == ends[-1][1] + 1:
            ends[-1][1] = code
        else:
            ends.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ends)
