"""Falsified statements: a model picks the error that suits a true one, and says why it is false."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.documents.passages import terms
from proofstone.judging.panel import SeatedJudges, WordedQuestions, panel_parameters, why_undecided
from proofstone.judging.question import fence
from proofstone.methods.encyclo_k.ask import render_template, template_bytes
from proofstone.methods.encyclo_k.extraction.rows import (
    SPEAKING_VERSION,
    Claim,
    Draft,
    Falsehood,
    speaks_of_passage,
)
from proofstone.methods.encyclo_k.filters.cascade import FILTERS_VERSION, REASONS_OF_TRUE, sift_row
from proofstone.methods.encyclo_k.review import ERROR_TYPES, ErrorType, read_error_type
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.records.ids import digest
from proofstone.records.tables import Row, SiftedRow
from proofstone.records.verdicts import PanelVerdict

# The questions that judges are asked of statements, by one judge or a panel of them.

QuestionName = Literal["standing", "support", "falsity", "reason"]


_KEEPS: Mapping[str, str] = {
    "standing": "stands",
    "support": "supported",
    "falsity": "false",
    "reason": "fits",
}


_QUESTIONS = WordedQuestions(__package__, _KEEPS)


PANEL_PARAMETERS = panel_parameters(
    votes="Votes of each judge on support and falsity; more than half are its vote.",
    orders="Orders of the labels in which each vote is asked for; more than half decide.",
    tie="What becomes of a row on which a panel has no majority.",
    usual_tie="drop",
)


def judged_by(judges: SeatedJudges, name: QuestionName, votes: int = 1) -> dict[str, Any]:
    """What a step that asks this question depends on besides its row and the models."""
    return _QUESTIONS.config(judges, name, votes)


async def ask_judges(
    judges: SeatedJudges,
    context: StepContext,
    name: QuestionName,
    language: str,
    texts: Mapping[str, str],
    *,
    votes: int = 1,
) -> PanelVerdict:
    """What the judges come to on ``texts``, by their names in the question. See
    ``SeatedJudges.ask``."""
    question = _QUESTIONS.question(name, language, texts)
    return await _QUESTIONS.ask(judges, context, name, question, votes=votes)


# Judges over drafts: does it stand alone, and does its passage support it?

_LEANS, _UNSUPPORTED = "needs its book", "not supported by its passage"


_SCHEMA = {
    "title": "statement",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class _Rewritten(Struct, frozen=True):
    text: str


def standing_step(judges: SeatedJudges) -> Step:
    """Drops what cannot be understood without its book, after one round of rewriting by the writer
    with the passage at hand."""

    async def check(row: Draft, context: StepContext) -> Kept:
        writer, language = context.calls["writer"], row.ground.language
        first = await ask_judges(judges, context, "standing", language, {"statement": row.text})
        if first.label == "stands":
            return row
        if not first.label:
            return Drop(why_undecided(first), row.text)
        prompt = render_template(
            "rewrite",
            language,
            passage=fence("passage", row.ground.text, language),
            statement=fence("statement", row.text, language),
            book=row.ground.book,
        )
        new = await ask_for(writer, "rewrite", [Message("user", prompt)], _Rewritten, _SCHEMA)
        text = "" if isinstance(new, str) else " ".join(new.text.split())
        if not text or text == row.text:
            return Drop(_LEANS, row.text)
        again = await ask_judges(judges, context, "standing", language, {"statement": text})
        if again.label != "stands":
            return Drop(_LEANS if again.label else why_undecided(again), text)
        return structs.replace(row, text=text, rewritten=True)

    return Step(
        name="stands alone",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_LEANS, *judges.silent),
        config={**judged_by(judges, "standing"), "prompt": digest(template_bytes("rewrite")).hex()},
        asks=(*judges.asks, "writer"),
    )


def support_step(judges: SeatedJudges) -> Step:
    """Drops what the passage does not support, by the votes of the judges."""

    async def check(row: Draft, context: StepContext) -> Kept:
        verdict = await ask_judges(
            judges,
            context,
            "support",
            row.ground.language,
            {"passage": row.ground.text, "statement": row.text},
            votes=judges.votes,
        )
        if verdict.label == "supported":
            return row
        return Drop(_UNSUPPORTED if verdict.label else why_undecided(verdict), row.text)

    return Step(
        name="support",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_UNSUPPORTED, *judges.silent),
        config=judged_by(judges, "support", judges.votes),
        asks=judges.asks,
    )


# Is what was falsified false, and does its reason fit? Two questions, two rates.

_TRUE, _OPEN, _MISSES = "still true", "neither true nor false", "reason does not fit"


def falsity_step(judges: SeatedJudges) -> Step:
    """Drops falsified statements that are not found false by the judges with the passage."""

    async def check(row: Claim, context: StepContext) -> Kept:
        if row.false is None:
            return row
        ground = row.draft.ground
        verdict = await ask_judges(
            judges,
            context,
            "falsity",
            ground.language,
            {"passage": ground.text, "statement": row.false.text},
            votes=judges.votes,
        )
        dropped = {"true": _TRUE, "open": _OPEN, "": why_undecided(verdict)}.get(verdict.label)
        return row if dropped is None else Drop(dropped, row.false.text)

    return Step(
        name="false",
        version=1,
        takes=Claim,
        work=check,
        reasons=(_TRUE, _OPEN, *judges.silent),
        config=judged_by(judges, "falsity", judges.votes),
        asks=judges.asks,
    )


def reason_step(judges: SeatedJudges) -> Step:
    """Drops falsified statements whose stated reason does not name what is wrong."""

    async def check(row: Claim, context: StepContext) -> Kept:
        if row.false is None:
            return row
        verdict = await ask_judges(
            judges,
            context,
            "reason",
            row.draft.ground.language,
            {"true": row.draft.text, "changed": row.false.text, "reason": row.false.reason},
        )
        dropped = {"misses": _MISSES, "": why_undecided(verdict)}.get(verdict.label)
        return row if dropped is None else Drop(dropped, row.false.reason)

    return Step(
        name="reason",
        version=1,
        takes=Claim,
        work=check,
        reasons=(_MISSES, *judges.silent),
        config=judged_by(judges, "reason"),
        asks=judges.asks,
    )


# How much of a statement stands in its passage's own words, and the filters of M2.

_OF_PASSAGE = "speaks of its passage"


def overlap(statement: str, passage: str) -> float:
    """The share of a statement's words (numbers too; of Chinese its pairs of characters) that stand
    in the passage, in [0, 1]; 0 where it has none."""
    wanted = terms(statement)
    there = terms(passage)
    return sum(term in there for term in wanted) / len(wanted) if wanted else 0.0


def overlap_step(least: float) -> Step:
    """Drops statements of which less than ``least`` stands in their passage's words: a paraphrase
    that far off, or knowledge that the model brought along."""

    def check(row: Draft, _context: StepContext) -> Kept:
        found = overlap(row.text, row.ground.text)
        return row if found >= least else Drop("not in its passage's words", f"{found:.2f}")

    return Step(
        name="overlap",
        version=1,
        takes=Draft,
        work=check,
        reasons=("not in its passage's words",),
        config={"least": least},
    )


def filter_step() -> Step:
    """The cleaner and the filters for statements as they come from a book, and a filter for what
    only models write: statements on the passage rather than its subject."""

    def check(row: Draft, _context: StepContext) -> Kept:
        if found := speaks_of_passage(row.text):
            return Drop(_OF_PASSAGE, found)
        sifted = sift_row(Row("", {"text": row.text, "correct": True}))
        if not isinstance(sifted, SiftedRow):
            return row
        if sifted.reason:
            return Drop(sifted.reason, sifted.found)
        return structs.replace(row, text=str(sifted.row.values["text"]))

    return Step(
        name="filters",
        version=FILTERS_VERSION,
        takes=Draft,
        work=check,
        reasons=(_OF_PASSAGE, *REASONS_OF_TRUE),
        config={"speaking": SPEAKING_VERSION},
    )


_UNREADABLE, _UNCHANGED, _UNTYPED = "unreadable reply", "not changed", "no known type of error"


_LENGTH, _FILTERED = "of another length", "fails a filter"


# The same length (the paper's demand): by this factor at most, either way.
_MOST_LONGER = 1.6


class _Made(Struct, frozen=True):
    error_type: str
    statement: str
    reason: str
    analysis: str = ""
    right: str = ""
    wrong: str = ""


_FALSIFY_SCHEMA: Mapping[str, Any] = {
    "title": "falsified",
    "type": "object",
    "properties": {
        "analysis": {"type": "string"},
        "error_type": {"type": "string", "enum": list(ERROR_TYPES)},
        "right": {"type": "string"},
        "wrong": {"type": "string"},
        "statement": {"type": "string"},
        "reason": {"type": "string"},
    },
    "required": ["analysis", "error_type", "right", "wrong", "statement", "reason"],
    "additionalProperties": False,
}


def claim_step(share: float) -> Step:
    """Each draft as a claim, and ``share`` of them, drawn, once more to be falsified."""

    def claim(row: Draft, context: StepContext) -> Kept:
        true = Claim(draft=row)
        if context.draws("falsify").uniform() >= share:
            return true
        return [true, Claim(draft=row, turned=True)]

    return Step(
        name="claims", version=1, takes=Draft, work=claim, config={"share": share}, draws=True
    )


def falsify_step(types: Mapping[ErrorType, float]) -> Step:
    """What is to be falsified with its false words; all else goes by. With no ``types`` the model
    picks the one that suits; else one is drawn for each by its weight."""

    async def falsify(row: Claim, context: StepContext) -> Kept:
        if not row.turned:
            return row
        drawn = _drawn(types, context) if types else None
        made = await ask_for(
            context.call, "falsify", [Message("user", _prompt(row, drawn))], _Made, _FALSIFY_SCHEMA
        )
        if isinstance(made, str):
            return Drop(_UNREADABLE, made)
        return _checked(row, made)

    return Step(
        name="falsify",
        version=2,
        takes=Claim,
        work=falsify,
        reasons=(_UNREADABLE, _UNTYPED, _UNCHANGED, _LENGTH, _FILTERED),
        config={
            "types": dict(types),
            "filters": FILTERS_VERSION,
            "prompt": digest(template_bytes("falsify")).hex(),
        },
        asks=("falsifier",),
        draws=bool(types),
    )


def _prompt(row: Claim, drawn: ErrorType | None) -> str:
    language = row.draft.ground.language
    return render_template(
        "falsify",
        language,
        statement=fence("statement", row.draft.text, language),
        book=row.draft.ground.book,
        types=(drawn,) if drawn else ERROR_TYPES,
    )


def _drawn(types: Mapping[ErrorType, float], context: StepContext) -> ErrorType:
    left = context.draws("error type").uniform() * sum(types.values())
    for name, weight in types.items():
        left -= weight
        if left < 0:
            return name
    return list(types)[-1]


def _checked(row: Claim, made: _Made) -> Kept:
    text = _changed(row.draft.text, made)
    kind = read_error_type(made.error_type)
    if kind is None:
        return Drop(_UNTYPED, made.error_type)
    if _signless(text) in ("", _signless(row.draft.text)) or not made.reason.strip():
        return Drop(_UNCHANGED, text)
    ratio = len(text) / len(row.draft.text)
    if not 1 / _MOST_LONGER <= ratio <= _MOST_LONGER:
        return Drop(_LENGTH, f"{ratio:.2f} times as long")
    sifted = sift_row(Row("", {"text": text, "correct": False}))
    if isinstance(sifted, SiftedRow) and sifted.reason:
        return Drop(_FILTERED, f"{sifted.reason}: {sifted.found}")
    return structs.replace(row, false=Falsehood(text, kind, made.reason.strip()))


def _changed(true: str, made: _Made) -> str:
    """The false words. Where a model names its change and then copies the true statement (a small
    one often does), the change is made for it."""
    text, right = " ".join(made.statement.split()), made.right.strip()
    if _signless(text) == _signless(true) and right and true.count(right) == 1:
        return true.replace(right, made.wrong.strip())
    return text


def _signless(text: str) -> str:
    """Letters and digits in their order, of one case: quotes and stops make no other statement."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
