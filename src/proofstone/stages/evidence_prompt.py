"""Passages in a prompt: set apart by marks with a code, nothing hidden in them, before the
question."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

import msgspec

from proofstone.engines.judging import fence_code, harmless
from proofstone.identity import content_id
from proofstone.records import Message, Passage, TextPart

__all__ = [
    "BlockWords",
    "block_of",
    "evidence_block",
    "evidence_prompt",
    "preceded",
    "read_words",
    "with_passages",
]

T = TypeVar("T")
_VERSION = 1  # raised where passages are put differently though the words are the same


class BlockWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language around passages. ``opens`` may name each one's ``{place}``."""

    material: str
    opens: str
    closes: str
    question: str


def with_passages(
    messages: Sequence[Message], passages: Sequence[Passage], language: str
) -> list[Message]:
    """The conversation with passages before the text of its last message, which asks. Worked
    examples before it stay as they are, without passages of their own."""
    return preceded(messages, evidence_block([passage.text for passage in passages], language))


def evidence_block(texts: Sequence[str], language: str) -> str:
    """Texts as they stand in a prompt; the question follows."""
    return block_of(_words("zh" if language.lower().partition("-")[0] == "zh" else "en"), texts)


def block_of(words: BlockWords, texts: Sequence[str], places: Sequence[str] = ()) -> str:
    """Texts between marks with a code that stands in none of them, each with its place where there
    are places."""
    code = fence_code(texts)
    blocks = [
        f"{_mark(words.opens, number, code, places)}\n{harmless(text)}\n"
        f"{_mark(words.closes, number, code, places)}"
        for number, text in enumerate(texts, start=1)
    ]
    return "\n\n".join([words.material.replace("{code}", code), *blocks, words.question])


def preceded(messages: Sequence[Message], block: str) -> list[Message]:
    """The conversation with a block before the text of its last message, which asks; images in it
    stay where they are."""
    *before, last = messages
    text = f"{block}\n\n"
    if isinstance(last.content, str):
        return [*before, msgspec.structs.replace(last, content=text + last.content)]
    return [*before, msgspec.structs.replace(last, content=(TextPart(text), *last.content))]


def _mark(mark: str, number: int, code: str, places: Sequence[str]) -> str:
    place = places[number - 1] if places else ""
    named = mark.replace("{number}", str(number)).replace("{place}", place)
    return named.replace("{code}", code)


@cache
def _words(name: str) -> BlockWords:
    return read_words(f"evidence.{name}.toml", BlockWords)


def read_words(name: str, kind: type[T]) -> T:
    """The words that a file beside this one holds."""
    file = files(__package__) / name
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), kind)


def evidence_prompt() -> bytes:
    """The hash of all that these texts are made by."""
    return content_id("evidence-prompt", [_VERSION, _words("en"), _words("zh")])
