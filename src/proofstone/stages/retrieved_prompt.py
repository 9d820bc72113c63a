"""What a search found, in a prompt: set apart by marks that say of which passage it is.

So the request itself keeps what it showed: ``shown_in`` reads it back from the text that was sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec import Struct

from proofstone.identity import content_id
from proofstone.records import Message, Passage
from proofstone.stages.evidence_prompt import BlockWords, block_of, preceded, read_words

__all__ = ["ShownIn", "retrieved_prompt", "shown_in", "shown_to", "with_retrieved"]

_VERSION = 1  # raised where chunks are put differently though the words are the same
_DIGITS = 16  # of a passage's id: enough to find it by
_PLACE = rf"passage:([0-9a-f]{{{_DIGITS}}}) (\d+)-(\d+)"


class RetrievedWords(BlockWords, frozen=True, forbid_unknown_fields=True):
    """The words of one language; ``nothing`` says that a search found nothing."""

    nothing: str


class ShownIn(Struct, frozen=True, gc=False):
    """A chunk that a prompt shows: its passage as ``show`` finds it, and code points [start, end)
    of that passage's text."""

    passage: str
    start: int
    end: int


def with_retrieved(
    messages: Sequence[Message], chunks: Sequence[Passage], language: str
) -> list[Message]:
    """The conversation with chunks (each a passage cut to what is shown of it) before the text of
    its last message, best first; or with the words that nothing was found. Worked examples before
    it stay as they are."""
    words = _words("zh" if language.lower().partition("-")[0] == "zh" else "en")
    if not chunks:
        return preceded(messages, words.nothing)
    places = [f"passage:{each.id.hex()[:_DIGITS]} {each.start}-{each.end}" for each in chunks]
    return preceded(messages, block_of(words, [each.text for each in chunks], places))


def shown_to(prompt: bytes) -> list[ShownIn]:
    """The chunks that a stored prompt (canonical JSON of its messages) shows; none of one that was
    purged."""
    if not prompt:
        return []
    messages = msgspec.json.decode(prompt, type=list[Message])
    return shown_in(messages[-1].text) if messages else []


def shown_in(text: str) -> list[ShownIn]:
    """The chunks that a prompt's text shows, in order; none where it shows none.

    Only the marks of the block that it begins with count: nothing within a chunk or a question can
    pass for one, since none holds the code.
    """
    for name in ("en", "zh"):
        words = _words(name)
        before, _, _after = words.material.partition("{code}")
        if not text.startswith(before):
            continue
        code = text[len(before) : len(before) + 8]
        pattern = _pattern(words.opens, code)
        return [
            ShownIn(f"passage:{found[1]}", int(found[2]), int(found[3]))
            for found in pattern.finditer(text)
        ]
    return []


def _pattern(mark: str, code: str) -> re.Pattern[str]:
    """What finds the opening marks with this code, a line each."""
    pattern = re.escape(mark)
    for name, value in (("number", r"\d+"), ("place", _PLACE), ("code", re.escape(code))):
        pattern = pattern.replace(re.escape(f"{{{name}}}"), value)
    return re.compile(f"^{pattern}$", re.MULTILINE)


@cache
def _words(name: str) -> RetrievedWords:
    return read_words(f"retrieved.{name}.toml", RetrievedWords)


def retrieved_prompt() -> bytes:
    """The hash of all that these texts are made by."""
    return content_id("retrieved-prompt", [_VERSION, _words("en"), _words("zh")])
