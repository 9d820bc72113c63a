"""The paper's funnel, 10,000 -> 7,160 -> 3,470 -> 3,000: made rows whose judges, panel and people
say what makes exactly these numbers, through the filters themselves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct, structs

from proofstone.build.flow import MemoryJournal, make_row, perform_plain, plain_keys
from proofstone.build.funnel import funnel_lines, read_funnel
from proofstone.judging.difficulty import DifficultyRule, MemberAnswer, decide_difficulty
from proofstone.judging.question import read_label
from proofstone.methods.chinese_simpleqa.payloads import Pair
from proofstone.methods.chinese_simpleqa.review import check_answer
from proofstone.records.builds import BuildFunnel, Drop, Kept, Step, StepContext, StepName
from proofstone.records.reviews import ANSWER_STATES, AnswerPolicy, Review, ReviewTask
from proofstone.records.runs import Response

DOC = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "reproductions.md"
GENERATED = 10_000
# What the paper states: 2,840 by both verifications together, 3,690 by the panel, and 3,000 left.
# How the first and the last divide among reasons it does not say; that is made up here.
FAILS_CRITERIA, CONTRADICTED, TOO_EASY = 1_640, 1_200, 3_690
DISCARDED = (("unfit", 210), ("one page", 60), ("no list", 50), ("differs", 150))
KEPT_OTHERWISE = (("third", 400), ("compared", 250))  # the others agree at once
PANEL = ("a", "b", "c", "d", "e")
POLICY = AnswerPolicy(sources=("baike.baidu.com", "wikipedia.org"))
WIKI, BAIDU = "https://zh.wikipedia.org/wiki/{}", "https://baike.baidu.com/item/{}"
ELSEWHERE = ("https://example.com/1", "https://example.com/2")
LABELS = ("MEETS", "FAILS")


class Made(Struct, frozen=True):
    """A generated pair, with what everybody will say of it: the kind of each fate below."""

    number: int
    criteria: str
    evidence: str
    right: tuple[bool, ...]
    people: str = ""


def made_rows() -> list[Made]:
    """Fates in blocks: first those that fail the criteria, and so on down to those that stay."""
    fates = ["criteria"] * FAILS_CRITERIA + ["evidence"] * CONTRADICTED + ["easy"] * TOO_EASY
    for name, n in (*DISCARDED, *KEPT_OTHERWISE):
        fates += [name] * n
    fates += ["agree"] * (GENERATED - len(fates))
    return [_made(number, fate) for number, fate in enumerate(fates)]


def _made(number: int, fate: str) -> Made:
    wrong = -1 if fate == "easy" else number % len(PANEL)
    return Made(
        number=number,
        criteria=_says("FAILS" if fate == "criteria" else "MEETS"),
        evidence=_says("FAILS" if fate == "evidence" else "MEETS"),
        right=tuple(place != wrong for place in range(len(PANEL))),
        people=fate,
    )


def _says(label: str) -> str:
    return json.dumps({"reason": "as scripted", "label": label})


# ---------------------------------------------------------------- the filters


def criteria(row: Made, _context: StepContext) -> Kept:
    return _judged(row, row.criteria, "misses the criteria")


def evidence(row: Made, _context: StepContext) -> Kept:
    return _judged(row, row.evidence, "contradicted by evidence")


def _judged(row: Made, said: str, reason: str) -> Kept:
    read = read_label(Response(text=said), LABELS, "json")
    assert read.label, read.trouble
    return row if read.label == "MEETS" else Drop(reason)


def difficulty(row: Made, _context: StepContext) -> Kept:
    answers = [
        MemberAnswer(member=name, state="right" if right else "wrong")
        for name, right in zip(PANEL, row.right, strict=True)
    ]
    decision = decide_difficulty(answers, DifficultyRule(len(PANEL), 1))
    return row if decision.state == "keep" else Drop("too easy")


def people(row: Made, _context: StepContext) -> Kept:
    target = row.number.to_bytes(32, "big")
    pair = Pair(question=f"第{row.number}号是谁？", answer=f"人物{row.number}")
    found = check_answer(target, pair, reviews_of(row, target, pair.answer), POLICY)
    assert not found.is_waiting
    return row if found.state == "kept" else Drop(found.state)


def reviews_of(row: Made, target: bytes, answer_key: str) -> list[Review]:
    """What the two, and where it needs one a further person, said of a question."""

    def said(who: str, answer: str, urls: int = 2, task: ReviewTask = "answer") -> Review:
        own = (WIKI.format(row.number), BAIDU.format(row.number))[:urls]
        return Review(
            target=target, task=task, verdict="answered", reviewer=who.encode() * 32,
            answer=answer, urls=own, at=0.0,
        )  # fmt: skip

    def decided(who: str, verdict: str, task: ReviewTask) -> Review:
        return Review(target=target, task=task, verdict=verdict, reviewer=who.encode() * 32, at=0.0)

    other, dressed, longer = "别人", f"“{answer_key}”。", f"{answer_key}先生"
    first, second = said("a", answer_key), said("b", dressed)
    elsewhere = structs.replace(first, reviewer=b"b" * 32, urls=ELSEWHERE)
    told = {
        "unfit": [first, decided("b", "unfit", "answer")],
        "one page": [first, said("b", answer_key, urls=1)],
        "no list": [first, elsewhere],
        "differs": [said("a", other), said("b", other), decided("c", "differs", "same")],
        "third": [said("a", other), second, said("c", answer_key, urls=0, task="third")],
        "compared": [said("a", longer), said("b", longer), decided("c", "same", "same")],
    }
    return told.get(row.people, [first, second])


STEPS = (
    Step(name="criteria", version=1, takes=Made, work=criteria, reasons=("misses the criteria",)),
    Step(name="evidence", version=1, takes=Made, work=evidence,
         reasons=("contradicted by evidence",)),
    Step(name="difficulty", version=1, takes=Made, work=difficulty, reasons=("too easy",)),
    Step(name="people", version=1, takes=Made, work=people, reasons=ANSWER_STATES[4:8]),
)  # fmt: skip


def performed(rows: Sequence[Made]) -> BuildFunnel:
    """The funnel as it is read of any build: from the journal of its steps."""
    entering = [make_row(row) for row in rows]
    keys = list(plain_keys(STEPS, {}, 0))
    journal = MemoryJournal()
    for key, step in zip(keys, perform_plain(STEPS, entering), strict=True):
        outcomes = [(row.id, done) for row, done in zip(step.rows, step.outcomes, strict=True)]
        asyncio.run(journal.write(key, outcomes))
    names = [StepName(s.name, 1, key, s.reasons) for s, key in zip(STEPS, keys, strict=True)]
    return read_funnel(names, keys, lambda: iter([entering]), journal)


@pytest.fixture(scope="module")
def funnel() -> BuildFunnel:
    return performed(made_rows())


def test_the_papers_numbers_come_out_of_the_filters(funnel: BuildFunnel) -> None:
    """10,000 - 2,840 = 7,160; 7,160 - 3,690 = 3,470; 3,470 - 470 = 3,000."""
    kept = {step.name: step.kept for step in funnel.steps}
    assert funnel.entered == 10_000
    assert kept["evidence"] == 10_000 - 2_840 == 7_160
    assert kept["difficulty"] == 7_160 - 3_690 == 3_470
    assert kept["people"] == 3_470 - 470 == 3_000 == funnel.left
    shares = [kept[name] / funnel.entered for name in ("evidence", "difficulty", "people")]
    assert [f"{share:.1%}" for share in shares] == ["71.6%", "34.7%", "30.0%"]


def test_each_reason_took_what_was_made_for_it(funnel: BuildFunnel) -> None:
    (last,) = [step for step in funnel.steps if step.name == "people"]
    assert last.dropped == {
        "not compliant": 210, "too few pages": 60, "no authoritative source": 50,
        "differs from the model": 150,
    }  # fmt: skip
    assert sum(last.dropped.values()) == 470


def test_the_docs_show_this_very_table(funnel: BuildFunnel) -> None:
    assert "\n".join(funnel_lines(funnel)) in DOC.read_text(encoding="utf-8")
