"""Passages in a prompt: set apart by marks with a code, nothing hidden in them, before the
question."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec

from proofstone.engines.judging import fence_code, harmless
from proofstone.identity import content_id
from proofstone.records import Message, Passage, TextPart

__all__ = ["evidence_block", "evidence_prompt", "with_passages"]

_VERSION = 1  # raised where passages are put differently though the words are the same


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language around passages."""

    material: str
    opens: str
    closes: str
    question: str


def with_passages(
    messages: Sequence[Message], passages: Sequence[Passage], language: str
) -> list[Message]:
    """The conversation with passages before the text of its last message, which asks. Worked
    examples before it stay as they are, without passages of their own."""
    *before, last = messages
    text = f"{evidence_block([passage.text for passage in passages], language)}\n\n"
    return [*before, _preceded(last, text)]


def evidence_block(texts: Sequence[str], language: str) -> str:
    """Texts as they stand in a prompt; the question follows."""
    words = _words("zh" if language.lower().partition("-")[0] == "zh" else "en")
    code = fence_code(texts)
    blocks = [
        f"{_mark(words.opens, number, code)}\n{harmless(text)}\n{_mark(words.closes, number, code)}"
        for number, text in enumerate(texts, start=1)
    ]
    return "\n\n".join([words.material.replace("{code}", code), *blocks, words.question])


def _preceded(message: Message, text: str) -> Message:
    """The message with a text before its own; images in it stay where they are."""
    if isinstance(message.content, str):
        return msgspec.structs.replace(message, content=text + message.content)
    return msgspec.structs.replace(message, content=(TextPart(text), *message.content))


def _mark(mark: str, number: int, code: str) -> str:
    return mark.replace("{number}", str(number)).replace("{code}", code)


@cache
def _words(name: str) -> _Words:
    file = files(__package__) / f"evidence.{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _Words)


def evidence_prompt() -> bytes:
    """The hash of all that these texts are made by."""
    return content_id("evidence-prompt", [_VERSION, _words("en"), _words("zh")])
