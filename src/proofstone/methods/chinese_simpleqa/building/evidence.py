"""Pairs against what searches of the workspace's sources, or of the web, find for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.building.criteria import Scope
from proofstone.methods.chinese_simpleqa.building.rows import Draft, Ground
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS, questions_for
from proofstone.ports import Drop, FoundText, Kept, Searcher, Step, StepContext
from proofstone.records import Exhibit, JudgeQuestion, Label

__all__ = ["evidence_question", "evidence_step", "source_question"]

_REASONS = {
    "contradicted": "contradicted by evidence",
    "several": "several answers by evidence",
    "changes": "changes with time by evidence",
    "insufficient": "not enough evidence",
}
_SAID = "text"


def evidence_step(judges: SeatedJudges, n: int, searches: Sequence[str], scope: Scope) -> Step:
    """Drops pairs that the ``n`` texts each search finds for them do not bear out. Of the others
    the text that says it is kept as their support; the address of one of the web stands among the
    pair's pages, and beside a passage that the pair was written from it is no more than that. The
    evidence of a private document is its passage and what is found of the same document."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        found = await _found(row, context.search, n)
        texts = _texts(row, found, n, scope)
        if not texts:
            return Drop(_REASONS["insufficient"], row.question)
        question = evidence_question(row, texts, scope)
        verdict = await questions.ask(judges, context, "evidence", question, votes=judges.votes)
        if verdict.label != "supported":
            reason = _REASONS.get(verdict.label) or why_undecided(verdict)
            return Drop(reason, row.question)
        support = _by_rule(row, texts) or await _by_judges(row, texts, judges, context)
        if support is None:
            return Drop(_REASONS["insufficient"], row.question)
        address = next((each.address for each in found if _is_of_web(each, support)), "")
        if not address:
            return structs.replace(row, support=support)
        urls = tuple(dict.fromkeys([*row.urls, address]))
        return structs.replace(row, urls=urls, support=Ground() if row.ground.passage else support)

    return Step(
        name="evidence",
        version=1,
        takes=Draft,
        work=check,
        reasons=(*_REASONS.values(), *judges.silent),
        config={**questions.config(judges, "evidence", judges.votes), "texts": n},
        asks=judges.asks,
        reads=tuple(f"search:{name}" for name in searches),
    )


def evidence_question(row: Draft, texts: Sequence[Ground], scope: Scope) -> JudgeQuestion:
    """What judges are asked of a pair and the texts that were found."""
    asked = questions_for(scope).question(
        "evidence", row.language, {"question": row.question, "answer": row.answer, "text": ""}
    )
    *pair, shown = asked.exhibits
    found = [
        Exhibit(f"{shown.name} {number}", each.text) for number, each in enumerate(texts, start=1)
    ]
    return structs.replace(asked, exhibits=(*pair, *found))


def source_question(row: Draft, texts: Sequence[Ground]) -> JudgeQuestion:
    """Which of the texts says it: ``text 1``, ``text 2``, ... or none."""
    asked = QUESTIONS.question(
        "source", row.language, {"question": row.question, "answer": row.answer}
    )
    says, none = asked.labels
    exhibits = [Exhibit(f"{says.name} {n}", each.text) for n, each in enumerate(texts, start=1)]
    labels = [Label(each.name, says.meaning) for each in exhibits]
    return structs.replace(asked, labels=(*labels, none), exhibits=(*asked.exhibits, *exhibits))


async def _found(row: Draft, search: Searcher | None, n: int) -> Sequence[FoundText]:
    """What the searches find, best first."""
    made_from = (row.ground.source,) if row.ground.source else ()
    return () if search is None else await search(row.question, n, made_from=made_from)


def _texts(row: Draft, found: Sequence[FoundText], n: int, scope: Scope) -> list[Ground]:
    """What was found; before it the text that a ready pair came with. Of a private document: its
    passage, and what else of it was found."""
    if scope.is_private and row.ground.text:
        others = [each for each in found if each.passage != row.ground.passage]
        same = [each for each in others if each.source == row.ground.source]
        return [row.ground, *(_ground(each, row.ground) for each in same[: n - 1])]
    own = [row.ground] if row.ground.text and not row.ground.passage else []
    return [*own, *(_ground(each, row.ground) for each in found)]


def _is_of_web(found: FoundText, support: Ground) -> bool:
    return found.is_web and found.source == support.source


def _ground(found: FoundText, own: Ground) -> Ground:
    """A text as what a pair rests on, with its page where it is of the pair's own passage."""
    page = own.page if found.passage == own.passage else ""
    return Ground(found.text, found.title, "", page, found.passage, found.source)


def _by_rule(row: Draft, texts: Sequence[Ground]) -> Ground | None:
    """The one text with the answer in it, whole; of several that of the pair's own passage."""
    said = [each for each in texts if any(_holds(each.text, text) for text in row.asked().answers)]
    own = [each for each in said if each.passage and each.passage == row.ground.passage]
    if own:
        return own[0]
    return said[0] if len(said) == 1 else None


async def _by_judges(
    row: Draft, texts: Sequence[Ground], judges: SeatedJudges, context: StepContext
) -> Ground | None:
    verdict = await QUESTIONS.ask(judges, context, "source", source_question(row, texts))
    number = verdict.label.removeprefix(f"{_SAID} ")
    return texts[int(number) - 1] if number.isdigit() else None


def _holds(text: str, answer: str) -> bool:
    """Whether an answer stands in a text: not as a part of a longer word or number."""
    pattern = re.escape(answer.strip())
    before = r"(?<![A-Za-z0-9])" if answer.strip()[:1].isascii() else ""
    after = r"(?![A-Za-z0-9])" if answer.strip()[-1:].isascii() else ""
    return re.search(before + pattern + after, text, re.IGNORECASE) is not None
