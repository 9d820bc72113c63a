"""Pairs from a passage, by a model that is told the criteria and shown examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from proofstone.choices.outcomes import ask_for
from proofstone.judging.panel import SeatedJudges, WordedQuestions, why_undecided
from proofstone.judging.question import fence
from proofstone.methods.chinese_simpleqa.build.examples import (
    PairExample,
    Scope,
    Shots,
    criteria_digest,
    criteria_in,
)
from proofstone.methods.chinese_simpleqa.build.rows import Draft, Ground, Written, placed
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.methods.chinese_simpleqa.templates import is_chinese
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.records.ids import digest
from proofstone.records.knowledge import SourcedPassage, Stratum

if TYPE_CHECKING:
    from jinja2 import Template


# The prompts of building, in Chinese for Chinese texts, else in English.

_NAMES = {
    "passage": "文字",
    "question": "问题",
    "answer": "答案",
    "known question": "已有的问题",
}


# What judges are asked, and of each the label that keeps a row.
QUESTIONS = WordedQuestions(
    __package__,
    {
        "knowledge": "enough",
        "criteria": "meets",
        "category": "meets",
        "evidence": "supported",
        "alias": "same",
        "source": "none",
        "rewritten": "sound",
        "sensitive": "harmless",
        "type": "other",
        "grade": "INCORRECT",
        "opened": "same",
        "distractor": "wrong",
    },
)


_PRIVATE = WordedQuestions(__package__, QUESTIONS.keeps, "private_questions")


def questions_for(scope: Scope) -> WordedQuestions:
    """The questions about knowledge, criteria, category, evidence and sensitive content as they are
    put of public knowledge, or of private documents."""
    return _PRIVATE if scope.is_private else QUESTIONS


def render(name: str, language: str, **values: Any) -> str:
    """A prompt of ``prompts/`` in this language with its values."""
    code = language.partition("-")[0]
    return _template(name, "zh" if is_chinese(language) else "en").render(language=code, **values)


def block(name: str, text: str, language: str) -> str:
    """A text set apart in a prompt under its name in the prompt's language."""
    shown = _NAMES[name] if is_chinese(language) else name
    return fence(shown, text, language)


def prompt_digest(name: str) -> str:
    """What a step depends on that sends this prompt."""
    return digest("\0".join(_text(name, language) for language in ("en", "zh")).encode()).hex()


@cache
def _template(name: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would put entities into them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(name, language))


@cache
def _text(name: str, language: str) -> str:
    return (files(__package__) / f"prompts/{name}.{language}.jinja").read_text(encoding="utf-8")


_UNREADABLE, _NONE = "unreadable reply", "no question in it"


_PAIR: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "aliases": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["question", "answer", "aliases"],
    "additionalProperties": False,
}


PAIR_SCHEMA: Mapping[str, Any] = {"title": "pair", **_PAIR}


_SCHEMA: Mapping[str, Any] = {
    "title": "pairs",
    "type": "object",
    "properties": {"pairs": {"type": "array", "items": _PAIR}},
    "required": ["pairs"],
    "additionalProperties": False,
}


class PairsAsked(Struct, frozen=True, kw_only=True):
    """What is asked for: so many pairs of a passage, of which knowledge, in the passage's language
    or in another, and the categories of what has none; ``valid_at`` is the date at which private
    documents are valid, else the year that they state."""

    most: int
    scope: Scope
    valid_at: str = ""
    write_in: str = ""
    primary: str = ""
    secondary: str = ""


class _Pairs(Struct, frozen=True):
    pairs: tuple[Written, ...]


def write_step(asked: PairsAsked, shots: Shots) -> Step:
    """At most so many pairs of each passage; those without a question or an answer are none."""

    async def write(row: SourcedPassage, context: StepContext) -> Kept:
        ground = Ground.of(row)
        place = _place(row, asked)
        read_in = row.passage.language or row.source.language or "en"
        examples = shots.draw(context.draws("examples"), asked.write_in or read_in, place)
        valid_at = _validity(row, asked)
        prompt = write_prompt(ground, place, read_in, asked, examples, valid_at)
        found = await ask_for(context.call, "write", [Message("user", prompt)], _Pairs, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        blank = Draft(
            question="", answer="", language=asked.write_in or read_in, stratum=place,
            ground=ground, valid_at=valid_at or UNSET,
        )  # fmt: skip
        drafts = [blank.with_pair(pair) for pair in found.pairs[: asked.most]]
        whole = [draft for draft in drafts if draft.question and plain_answer(draft.answer)]
        return list(dict.fromkeys(whole)) or Drop(_NONE, ground.text[:200])

    return Step(
        name="pairs",
        version=1,
        takes=SourcedPassage,
        work=write,
        reasons=(_UNREADABLE, _NONE),
        config={
            "asked": asked,
            "shots": shots.key(),
            "criteria": criteria_digest(asked.scope),
            "prompt": prompt_digest("write"),
        },
        asks=("author",),
        draws=True,
    )


def write_prompt(
    ground: Ground,
    place: Stratum,
    read_in: str,
    asked: PairsAsked,
    examples: Sequence[PairExample],
    valid_at: str = "",
) -> str:
    """The prompt for one passage, in the words of the language that is to be written in."""
    language = asked.write_in or read_in
    return render(
        "write",
        language,
        most=asked.most,
        private=asked.scope.is_private,
        criteria=tuple(criteria_in(language, asked.scope, valid_at).values()),
        category=category_of(place),
        write_in=asked.write_in,
        examples=examples,
        book=ground.book,
        heading=ground.heading,
        passage=block("passage", ground.text, language),
    )


def category_of(place: Stratum) -> str:
    """A category as people read it: the coarse name, and the fine one behind it."""
    return " / ".join(filter(None, (place.discipline, place.field)))


def _validity(row: SourcedPassage, asked: PairsAsked) -> str:
    """The date at which a private document is valid: the one that is named, else its year."""
    if not asked.scope.is_private:
        return ""
    return asked.valid_at or (str(row.source.year) if row.source.year else "")


def _place(row: SourcedPassage, asked: PairsAsked) -> Stratum:
    own = placed(row.source.stratum, asked.primary, asked.secondary)
    return Stratum(own.discipline, own.field, own.subfield, own.book or row.source.title)


# Which passages hold knowledge that is worth asking for: by rules, then by a quality judge.

_SHORT, _SIGNS, _NO_SENTENCE = "too short", "hardly any words", "no sentence"


_UNPLACED = "no category"


_LITTLE, _SPECIFIC = "too little information", "too specific"


_LEAST_WIDTH = 80  # a Han character counts as three letters: so long is a sentence with a fact


_LEAST_LETTERS = 0.6  # of all that is not space: listings, tables and link lists have fewer


_HAN = re.compile(r"[\u3400-\u9fff]")


_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:\s|$)|[。！？]")


def rules_step(primary: str, *, needs_category: bool) -> Step:
    """Drops what is too short for a fact, what is hardly text, and where it ``needs_category`` the
    passages of sources that have no place."""

    def check(row: SourcedPassage, _context: StepContext) -> Kept:
        text = row.passage.text.strip()
        dropped = _by_rule(text)
        if dropped:
            return Drop(dropped, text[:200])
        if needs_category and not placed(row.source.stratum, primary, "").discipline:
            return Drop(_UNPLACED, row.source.title)
        return row

    return Step(
        name="rules",
        version=1,
        takes=SourcedPassage,
        work=check,
        reasons=(_SHORT, _SIGNS, _NO_SENTENCE, _UNPLACED),
        config={"primary": bool(primary), "needs_category": needs_category},
    )


def knowledge_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops passages in which a judge finds too little, and of public ones those that hold only
    what concerns themselves."""
    questions = questions_for(scope)

    async def check(row: SourcedPassage, context: StepContext) -> Kept:
        language = row.passage.language or row.source.language
        texts = {"passage": row.passage.text, "heading": row.passage.heading}
        shown = {name: text for name, text in texts.items() if text}
        question = questions.question("knowledge", language, shown)
        verdict = await questions.ask(judges, context, "knowledge", question)
        if verdict.label == "enough":
            return row
        reason = {"little": _LITTLE, "specific": _SPECIFIC}.get(verdict.label)
        return Drop(reason or why_undecided(verdict), row.passage.text[:200])

    return Step(
        name="knowledge",
        version=2,
        takes=SourcedPassage,
        work=check,
        reasons=(_LITTLE, *(() if scope.is_private else (_SPECIFIC,)), *judges.silent),
        config=questions.config(judges, "knowledge"),
        asks=judges.asks,
    )


def _by_rule(text: str) -> str:
    if len(text) + 2 * len(_HAN.findall(text)) < _LEAST_WIDTH:
        return _SHORT
    letters = sum(sign.isalpha() for sign in text)
    if letters < _LEAST_LETTERS * len("".join(text.split())):
        return _SIGNS
    return "" if _SENTENCE.search(text) else _NO_SENTENCE
