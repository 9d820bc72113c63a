"""What somebody asks for who gives sheets out."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proofstone.records import ReviewPolicy

__all__ = ["SheetsAsked"]


class SheetsAsked(Struct, frozen=True, kw_only=True):
    """Who reads how much of what.

    ``overlap`` is the share of statements (None: a fifth) that ``readers`` people read (None: all
    of them); questions are answered by two people each, which leaves no choice. ``most`` is the
    most that one is given. ``truth``: a sample of so many is checked for its truth, or
    ``half_width`` says how many; ``only`` takes those that are meant to be true, or false.
    ``undecided``: what ``policy`` (else the one in force) leaves open, to people who have not read
    it.
    """

    people: tuple[str, ...]
    overlap: float | None = None
    readers: int | None = None
    most: int | None = None
    truth: int | None = None
    half_width: float | None = None
    only: Literal["true", "false", ""] = ""
    undecided: bool = False
    policy: ReviewPolicy | None = None
    seed: int = 0
