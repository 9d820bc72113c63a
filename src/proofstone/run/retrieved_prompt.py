"""What a search found, in a prompt: set apart by marks that say of which passage it is.

So the request itself keeps what it showed: ``shown_in`` reads it back from the text that was sent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

import msgspec
from msgspec import Struct

from proofstone.judging.question import fence_code, harmless
from proofstone.records.calls import Message, TextPart
from proofstone.records.ids import content_id
from proofstone.records.knowledge import Passage

# Passages in a prompt: set apart by marks with a code, nothing hidden in them, before the
# question.

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
    words = _retrieved_prompt_words("zh" if language.lower().partition("-")[0] == "zh" else "en")
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
        words = _retrieved_prompt_words(name)
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
def _retrieved_prompt_words(name: str) -> RetrievedWords:
    return read_words(f"retrieved.{name}.toml", RetrievedWords)


def retrieved_prompt() -> bytes:
    """The hash of all that these texts are made by."""
    return content_id(
        "retrieved-prompt", [_VERSION, _retrieved_prompt_words("en"), _retrieved_prompt_words("zh")]
    )
