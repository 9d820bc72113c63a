"""What items share, in words: facts and statements of our own; of a file, keys in its columns."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.wording import counted, listed, say

__all__ = ["counted_keys", "counted_sources", "key_column"]


def key_column(columns: Sequence[str]) -> str:
    """The columns by name, as one; empty for items of our own, which have none."""
    return listed(columns)


def counted_keys(n: int, columns: Sequence[str]) -> str:
    """``12 statements``; of a file ``12 keys in book``."""
    if not columns:
        return counted(n, "statement")
    return say("{keys} in {column}", keys=counted(n, "key"), column=key_column(columns))


def counted_sources(n: int, columns: Sequence[str]) -> str:
    """``12 sources or facts``; of a file ``12 keys in book``."""
    if not columns:
        return counted(n, "source or fact", "sources or facts")
    return counted_keys(n, columns)
