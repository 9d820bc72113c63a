"""Define what reviewers see of a statement, shared questions with judges, and artifact
contrasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofstone.choices.options import roman
from proofstone.method import ComparedQuestion, Contrast, Contrasts, JudgedText, Reviewing
from proofstone.methods.encyclo_k.extraction import Claim, Draft
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, Statement
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, source_of
from proofstone.records.reviews import ReviewText

# Review text of a statement, with its intended truth kept separate.


def review_text(fact: Fact) -> ReviewText:
    """Return the review text of a statement; its reason is reviewed only if it is false."""
    statement: Statement = fact.payload
    return ReviewText(
        text=statement.text,
        field="text",
        claim="true" if statement.correct else "false",
        key_field="correct",
        because="" if statement.correct else statement.reason,
    )


# Judge questions that people also answer, and the labels that their verdicts map to.
#
# ``standing`` and the format review ask whether a statement is usable unchanged: one that people
# would fix or drop counts as leaning. ``support`` is about the passage, truth about the world. A
# true statement that its passage does not support is therefore a disagreement worth a review.


def _drafted(row: Draft) -> JudgedText:
    text = ReviewText(text=row.text, field="text", claim="true", key_field="correct")
    return JudgedText(text, row.ground.passage, row.ground.source)


def _perturbed(row: Claim) -> JudgedText | None:
    if row.false is None:
        return None
    ground, false = row.draft.ground, row.false
    text = ReviewText(
        text=false.text, field="text", claim="false", key_field="correct", because=false.reason
    )
    return JudgedText(text, ground.passage, ground.source)


_COMPARED = {
    "standing": ComparedQuestion(
        task="format",
        labels=("stands", "leans"),
        people={"keep": "stands", "fix": "leans", "drop": "leans"},
        takes=Draft,
        judged=_drafted,
    ),
    "support": ComparedQuestion(
        task="truth",
        labels=("supported", "unsupported"),
        people={"true": "supported", "false": "unsupported"},
        takes=Draft,
        judged=_drafted,
    ),
    "falsity": ComparedQuestion(
        task="truth",
        labels=("false", "true", "open"),
        people={"false": "false", "true": "true"},
        takes=Claim,
        judged=_perturbed,
    ),
    "reason": ComparedQuestion(
        task="reason",
        labels=("fits", "misses"),
        people={"fits": "fits", "misses": "misses"},
        takes=Claim,
        judged=_perturbed,
    ),
}


REVIEWING = Reviewing(review_text=review_text, compared=_COMPARED)


# Text pairs that must not be separable without knowledge: true and false statements, correct and
# other options.

_NUMERALS = 20  # later places are plain numbers


def fact_contrasts(facts: Iterable[Fact]) -> Iterator[Contrast]:
    """Return statements, the false ones as the second kind."""
    for fact in facts:
        yield Contrast(
            text=fact.payload.text,
            is_second=not fact.payload.correct,
            source=source_of(fact),
            row=fact.id,
        )


def item_contrasts(items: Iterable[LoadedItem]) -> Iterator[Contrast]:
    """Return options, the correct ones as the second kind.

    Options of a composed question are given as numerals. An item about a single statement has none.
    """
    for loaded in items:
        payload = loaded.item.payload
        if isinstance(payload, ComposedQuestion):
            texts = [
                " ".join(roman(at + 1) if at < _NUMERALS else str(at + 1) for at in option)
                for option in payload.options
            ]
        elif isinstance(payload, ChoiceQuestion):
            texts = list(payload.options)
        else:
            continue
        source = source_of(loaded.facts[0]) if loaded.facts else loaded.item.id.hex()
        for place, text in enumerate(texts):
            yield Contrast(
                text=text, is_second=place == payload.answer_key, source=source, row=loaded.item.id
            )


CONTRASTS = Contrasts(
    kinds={"fact": ("true", "perturbed"), "item": ("other options", "correct options")},
    of_facts=fact_contrasts,
    of_items=item_contrasts,
)
