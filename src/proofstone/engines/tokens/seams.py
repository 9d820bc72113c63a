"""Where a run of letters can be cut without changing how its bytes merge.

Chinese has no spaces: a whole clause is one piece, few clauses come twice, and merging takes the
square of their length. No token reaches across most of its characters' borders, so the clause is
cut there, and the parts (mostly one character) come again and again.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Seams"]


class Seams(dict[str, bool]):
    """Whether some token may join two neighbouring characters, by the two; filled as they come.

    It may where the end of the first one's UTF-8 and the start of the second one's stand side by
    side in a token.
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        self._joined = {pair for token in tokens if not token.isascii() for pair in _borders(token)}

    def __missing__(self, pair: str) -> bool:
        left, right = pair[0].encode("utf-8", "replace"), pair[1].encode("utf-8", "replace")
        joins = (left.isascii() and right.isascii()) or any(
            (left[start:], right[:end]) in self._joined
            for start in range(len(left))
            for end in range(1, len(right) + 1)
        )
        self[pair] = joins
        return joins

    def parts(self, piece: str) -> list[str]:
        """``piece`` cut wherever no token reaches across."""
        parts, start = [], 0
        for place in range(1, len(piece)):
            if not self[piece[place - 1 : place + 1]]:
                parts.append(piece[start:place])
                start = place
        parts.append(piece[start:])
        return parts


def _borders(token: bytes) -> Iterable[tuple[bytes, bytes]]:
    """What stands left and right of each border between characters inside a token: a whole
    character, or the part of one that the token holds."""
    starts = [place for place, byte in enumerate(token) if byte & 0xC0 != 0x80]
    ends = [*starts, len(token)]
    for place, border in enumerate(starts):
        if border:
            before = starts[place - 1] if place else 0
            yield token[before:border], token[border : ends[place + 1]]
