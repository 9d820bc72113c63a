"""Put an item's texts into its prompt: passages, whole documents or search results.

They are delimited by marks with a code, without hidden characters, before the question. The marks
of search results name the passage.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from proofstone.judging.question import fence_code, harmless
from proofstone.records.calls import Message, TextPart
from proofstone.records.ids import content_id
from proofstone.records.knowledge import Passage

T = TypeVar("T")

_VERSION = 1  # increase when passages are placed differently while the words stay the same
_DIGITS = 16  # characters of a passage's id that suffice to find it
_PLACE = rf"passage:([0-9a-f]{{{_DIGITS}}}) (\d+)-(\d+)"
_CODE = 8  # characters of the code in marks


class BlockWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language around passages. ``opens`` may contain ``{place}``."""

    material: str
    opens: str
    closes: str
    question: str


class RetrievedWords(BlockWords, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language; ``nothing`` is shown if a search found nothing."""

    nothing: str


class ShownIn(Struct, frozen=True, gc=False):
    """A chunk in a prompt: a passage id as ``show`` takes it, and code points [start, end)."""

    passage: str
    start: int
    end: int


def with_passages(
    messages: Sequence[Message], passages: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with passages before the text of its last message, the question.

    Few-shot examples before it stay as they are, without passages.
    """
    return _preceded(messages, evidence_block([passage.text for passage in passages], language))


def with_documents(
    messages: Sequence[Message], documents: Sequence[Passage], language: str, *, is_alone: bool
) -> list[Message]:
    """Return the conversation with whole documents before the text of its last message.

    Documents come first, so that an endpoint's prefix cache can serve all questions on one. Search
    results follow unless they are shown alone (``is_alone``).
    """
    words = _document_words(_language(language))
    block = _document_block(_language(language), tuple(document.text for document in documents))
    if not is_alone:
        block = block.removesuffix(f"\n\n{words.question}")
    return _preceded(messages, block)


@lru_cache(maxsize=8)  # questions on one document follow each other
def _document_block(language: str, texts: tuple[str, ...]) -> str:
    return _block_of(_document_words(language), texts)


def document_prompt() -> bytes:
    """Return the hash of everything that the texts around documents depend on."""
    return content_id("document-prompt", [_VERSION, _document_words("en"), _document_words("zh")])


def evidence_block(texts: Sequence[str], language: str) -> str:
    """Return texts as a prompt shows them; the question follows."""
    return _block_of(_words(_language(language)), texts)


def _language(code: str) -> str:
    return "zh" if code.lower().partition("-")[0] == "zh" else "en"


def _block_of(words: BlockWords, texts: Sequence[str], places: Sequence[str] = ()) -> str:
    """Return texts between marks with a code that occurs in none of them, with places if given."""
    code = fence_code(texts)

    def mark(of: str, number: int) -> str:
        place = places[number - 1] if places else ""
        named = of.replace("{number}", str(number)).replace("{place}", place)
        return named.replace("{code}", code)

    blocks = [
        f"{mark(words.opens, number)}\n{harmless(text)}\n{mark(words.closes, number)}"
        for number, text in enumerate(texts, start=1)
    ]
    return "\n\n".join([words.material.replace("{code}", code), *blocks, words.question])


def _preceded(messages: Sequence[Message], block: str) -> list[Message]:
    """Return the conversation with a block before the text of the question.

    That is the last message, or the one before a continuation to score. Images in it keep their
    place.
    """
    is_scored = len(messages) > 1 and messages[-1].role == "assistant"
    at = len(messages) - (2 if is_scored else 1)
    asked, text = messages[at], f"{block}\n\n"
    parts = text + asked.content if isinstance(asked.content, str) else (
        TextPart(text), *asked.content
    )  # fmt: skip
    return [*messages[:at], structs.replace(asked, content=parts), *messages[at + 1 :]]


@cache
def _words(language: str) -> BlockWords:
    return _read_words(f"evidence.{language}.toml", BlockWords)


@cache
def _document_words(language: str) -> BlockWords:
    return _read_words(f"document.{language}.toml", BlockWords)


@cache
def _retrieved_words(language: str) -> RetrievedWords:
    return _read_words(f"retrieved.{language}.toml", RetrievedWords)


def _read_words(name: str, kind: type[T]) -> T:
    """Read the words in a file of this folder."""
    file = files(__package__) / name
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), kind)


def evidence_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id("evidence-prompt", [_VERSION, _words("en"), _words("zh")])


def with_retrieved(
    messages: Sequence[Message], chunks: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with chunks, best first, before the text of its last message.

    Each chunk is a passage shortened to the part shown. Without chunks, a text says that nothing
    was found. Few-shot examples before it stay as they are.
    """
    words = _retrieved_words(_language(language))
    if not chunks:
        return _preceded(messages, words.nothing)
    places = [f"passage:{each.id.hex()[:_DIGITS]} {each.start}-{each.end}" for each in chunks]
    return _preceded(messages, _block_of(words, [each.text for each in chunks], places))


def shown_to(prompt: bytes) -> list[ShownIn]:
    """Return the chunks that a stored prompt (canonical JSON of its messages) shows.

    Empty for a purged prompt.
    """
    if not prompt:
        return []
    messages = msgspec.json.decode(prompt, type=list[Message])
    asked = [message for message in messages if message.role == "user"]
    return shown_in(asked[-1].text) if asked else []


def shown_in(text: str) -> list[ShownIn]:
    """Return the chunks that a prompt's text shows, in order; empty if it shows none.

    Only the marks of the opening block count, or of the block after the documents that open the
    text. A chunk, document or question cannot imitate them, since none contains the code.
    """
    for language in ("en", "zh"):
        words = _retrieved_words(language)
        after = _after_documents(text, _document_words(language))
        before, _, _after = words.material.partition("{code}")
        if not after.startswith(before):
            continue
        code = after[len(before) : len(before) + _CODE]
        pattern = re.escape(words.opens)
        for name, value in (("number", r"\d+"), ("place", _PLACE), ("code", re.escape(code))):
            pattern = pattern.replace(re.escape(f"{{{name}}}"), value)
        return [
            ShownIn(f"passage:{found[1]}", int(found[2]), int(found[3]))
            for found in re.finditer(f"^{pattern}$", after, re.MULTILINE)
        ]
    return []


def _after_documents(text: str, words: BlockWords) -> str:
    """Return what follows the documents that open a text; the text if none do."""
    before, _, _after = words.material.partition("{code}")
    if not text.startswith(before):
        return text
    code = text[len(before) : len(before) + _CODE]
    end = re.escape(words.closes).replace(re.escape("{code}"), re.escape(code))
    end = end.replace(re.escape("{number}"), r"\d+")
    closed = list(re.finditer(f"^{end}$", text, re.MULTILINE))
    return text[closed[-1].end() :].lstrip("\n") if closed else text


def retrieved_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id(
        "retrieved-prompt", [_VERSION, _retrieved_words("en"), _retrieved_words("zh")]
    )
