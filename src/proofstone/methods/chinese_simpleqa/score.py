"""Grade each response by rule or by a judge; grade multiple choice by the chosen option.

A response that needs a judge has no score without one, or if the judges did not respond: it waits.
If the judges reach no label, it is ``unparsed``: that is not the model's error, and it is excluded
(``measures``). A multiple-choice response without exactly one option is also unparsed and excluded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from proofstone.choices import likelihood
from proofstone.choices.options import labels
from proofstone.choices.outcomes import not_read, read_choice
from proofstone.methods.chinese_simpleqa.ask import STEPS
from proofstone.methods.chinese_simpleqa.payloads import Closed, asked_of, closed_of
from proofstone.methods.chinese_simpleqa.sameness import (
    BY_RULE,
    GRADED,
    SURE,
    ReadAnswer,
    grade_question,
    read_answer,
    settled_as,
)
from proofstone.records.calls import Judge
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Outcome, Response, Score
from proofstone.records.verdicts import PanelVerdict

# Incremented with every change that can move a score, including judge prompts; each score stores
# it.
SCORER_VERSION = 2


_SHOWN = 200  # characters of an answer that are stored with its score


_PROMPT_METHODS = {
    step: prompt_method
    for prompt_method, step in STEPS.items()
    if prompt_method not in likelihood.VARIANTS
}


class _Graded(Struct, frozen=True):
    """Hold the grade of a response, its ``basis``, and the verdict."""

    outcome: Outcome
    value: float | None
    basis: str
    flags: tuple[str, ...] = ()
    verdict: PanelVerdict | None = None
    letter: str | None = None  # chosen option; empty without one


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    """Return the item as one unit; empty without a response.

    Questions are sampled independently: each depends on its own fact only.
    """
    if not {*_PROMPT_METHODS, likelihood.STEP} & responses.keys():
        return ()
    key = item.facts[0].id if item.facts else item.item.id
    kind = "fact" if item.facts else "item"
    return (Unit(item=item, sample=sample, responses=responses, clusters=((kind, key),)),)


async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """Return the scores of units in order; none for a unit that waits for a judge.

    Each has its grade ("correct"), whether a rule settled it ("by_rule"), and any stated
    confidence.
    """
    scored = [place for place, unit in enumerate(units) if likelihood.STEP in unit.responses]
    scores = [score for place in scored for score in _scored(place, units[place])]
    if len(scored) == len(units):
        return scores
    if scored:
        raise ValueError("units of one run are all likelihoods, or none is")
    answered = [_answered(unit) for unit in units]
    graded = await asyncio.gather(
        *(_graded(unit, one, judge) for unit, one in zip(units, answered, strict=True))
    )
    return [
        score
        for place, (one, found) in enumerate(zip(answered, graded, strict=True))
        if found is not None
        for score in _scores(place, one.read, found)
    ]


def _scored(place: int, unit: Unit) -> list[Score]:
    """The scores of an item whose options were scored: no response is read, no judge is asked."""
    closed = closed_of(unit.item)
    if closed is None:
        return []
    names = labels(len(closed.options))
    right = names[closed.answer_key]
    scores = likelihood.likelihood_scores(place, unit.responses, names, right, GRADED)
    return [*scores, Score(unit=place, measure=BY_RULE, outcome="answered", value=1.0)]


def answer_key(unit: Unit) -> tuple[str, int]:
    """Return the correct letter and the number of options; no label and no choices for an open
    answer.
    """
    closed = closed_of(unit.item)
    if closed is None:
        return "", 0
    n = len(closed.options)
    return labels(n)[closed.answer_key], n


class _Answered(Struct, frozen=True):
    """Hold a unit's response, and its answer."""

    response: Response
    read: ReadAnswer


def _answered(unit: Unit) -> _Answered:
    (step,) = _PROMPT_METHODS.keys() & unit.responses.keys()
    response: Response = unit.responses[step]
    if response.is_extracted:
        return _Answered(response, ReadAnswer(response.text))
    return _Answered(response, read_answer(response.text, _PROMPT_METHODS[step]))


async def _graded(unit: Unit, answered: _Answered, judge: Judge | None) -> _Graded | None:
    response, read = answered.response, answered.read
    closed = closed_of(unit.item)
    if closed is not None:
        return _chosen(response, read, closed)
    unread = _without_text(response, read)
    if unread is not None:
        return unread
    flags = (*read.flags, *(("truncated",) if response.finish == "length" else ()))
    asked = asked_of(unit.item)
    settled = settled_as(read.text, asked)
    if settled:
        return _Graded("answered", 1.0, f"rule: {settled}", flags)
    if judge is None:
        return None
    verdict = await judge(grade_question(read.text, asked, unit.item.item.language))
    return _judged(verdict, flags)


def _chosen(response: Response, read: ReadAnswer, closed: Closed) -> _Graded:
    """Return the grade of a multiple-choice response by its chosen option.

    The stated confidence is removed before parsing; the last choice in the rest counts.
    """
    letters = labels(len(closed.options))
    text = read.text if read.sure is not None else response.text
    reading = read_choice(structs.replace(response, text=text), letters, closed.options)
    letter = reading.extraction.letter
    value = float(letter == letters[closed.answer_key]) if reading.outcome == "answered" else None
    basis = f"choice: {reading.extraction.tier}" if value is not None else "no choice"
    return _Graded(reading.outcome, value, basis, reading.flags, letter=letter)


def _without_text(response: Response, read: ReadAnswer) -> _Graded | None:
    """Return the grade of a response without an answer to judge, otherwise None."""
    unread = not_read(response)
    if unread is not None:
        return _Graded(unread.outcome, None, "no answer", unread.flags)
    cut_off = response.finish == "length"
    if not response.text.strip() or (cut_off and not read.is_stated):
        return _Graded("truncated" if cut_off else "refused", None, "no answer", read.flags)
    return None


def _judged(verdict: PanelVerdict, flags: tuple[str, ...]) -> _Graded | None:
    """Return the grade by a verdict; None if judges did not respond."""
    if any(b.state == "failed" for b in verdict.judge_votes) and (
        not verdict.label or verdict.by_rule
    ):
        return None
    label = verdict.label
    basis = "judge, by the tie rule" if verdict.by_rule else "judge"
    if label == "NOT_ATTEMPTED":
        return _Graded("refused", None, basis, flags, verdict)
    if label:
        return _Graded("answered", float(label == "CORRECT"), basis, flags, verdict)
    return _Graded("unparsed", None, f"judge: {verdict.state.replace('_', ' ')}", flags, verdict)


def _scores(place: int, read: ReadAnswer, found: _Graded) -> list[Score]:
    answer = found.letter if found.letter is not None else " ".join(read.text.split())
    scores = [
        Score(
            unit=place,
            measure=GRADED,
            outcome=found.outcome,
            value=found.value,
            answer=answer if len(answer) <= _SHOWN else f"{answer[: _SHOWN - 3]}...",
            basis=found.basis,
            flags=found.flags,
            verdict=found.verdict,
        ),
        Score(
            unit=place,
            measure=BY_RULE,
            outcome="answered",
            value=float(found.basis.startswith(("rule", "choice"))),
        ),
    ]
    if read.sure is not None:
        scores.append(Score(unit=place, measure=SURE, outcome="answered", value=read.sure))
    return scores
