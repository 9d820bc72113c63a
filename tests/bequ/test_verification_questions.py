"""What judges are asked, word for word, and what their answers may rest on."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_world import KnownJudge, elicited_rows, gathered, reference_rows

from proofstone.engines.judging import pose
from proofstone.engines.judging.fencing import fence_code
from proofstone.methods.bequ.verification import VerifySettings, make_plan, verify
from proofstone.methods.bequ.verification.questions import (
    cited_place,
    precision_question,
    recall_question,
)
from proofstone.methods.bequ.verification.records import GivenTriple, ReferenceTriple
from proofstone.records import Ballot, JudgeQuestion, PanelVerdict
from proofstone.records.triples import Passage

SNAPSHOTS = Path(__file__).parent / "snapshots"
QUESTIONS = {
    "precision.en": precision_question(
        "Ulm", GivenTriple("Ulm", "locatedIn", "Bavaria"), [Passage("Ulm is in Württemberg.")]
    ),
    "precision.zh": precision_question(
        "北京", GivenTriple("北京", "人口", "两千万"), [Passage("北京是中国的首都。")]
    ),
    "recall.en": recall_question(
        "Ulm",
        ReferenceTriple("river", "Danube", Passage("Ulm stands on the Danube.")),
        [GivenTriple("Ulm", "liesOn", "Danube"), GivenTriple("Ulm", "country", "Germany")],
    ),
    "recall.zh": recall_question(
        "北京", ReferenceTriple("国家", "中国", Passage("")), [GivenTriple("北京", "属于", "中国")]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_as_it_is_asked(name: str) -> None:
    question = QUESTIONS[name]
    form = "json" if name.startswith("precision") else "line"
    code = fence_code([exhibit.text for exhibit in question.exhibits])
    asked = "\n---\n".join(message.text for message in pose(question, form))
    wanted = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert asked.replace(code, "CODE") + "\n" == wanted


def test_a_name_in_chinese_letters_alone_does_not_make_the_question_chinese() -> None:
    asked = precision_question("東京", GivenTriple("東京", "country", "Japan"), [Passage("x")])
    assert asked.language == "en"


@pytest.mark.parametrize(
    ("cited", "place"), [("passage 3", 2), ("段落 10", 9), ("", None), ("none", None)]
)
def test_the_place_of_what_a_verdict_rests_on(cited: str, place: int | None) -> None:
    assert cited_place(cited) == place


async def said_of(verdict: PanelVerdict) -> list[tuple[str, str, str, str]]:
    """What becomes of a panel's verdict on the one triple that is judged."""

    async def judge(question: JudgeQuestion) -> PanelVerdict:
        del question
        return verdict

    with gathered(elicited_rows(1)[:1], reference_rows(1)[:1]) as held:
        plan = make_plan(held, VerifySettings())
        found = [each async for page in verify(held, plan, judge) for each in page]
    return [
        (each.verdict.label, each.verdict.basis, each.verdict.passage.text, each.verdict.trouble)
        for each in found
        if each.direction == "precision"
    ]


async def test_a_verdict_keeps_the_passage_that_it_rests_on() -> None:
    ballot = Ballot(judge="j", state="voted", label="entailment", cited="passage 1")
    decided = PanelVerdict(state="decided", label="entailment", ballots=(ballot,))
    passage = "Town 0 is known for fact0, which is value 0-0."
    assert await said_of(decided) == [("entailment", "judge", passage, "")]


async def test_a_judge_that_cites_what_it_was_not_given_is_not_parsed() -> None:
    ballot = Ballot(judge="j", state="unparsed", trouble="not_shown")
    silent = PanelVerdict(state="no_quorum", ballots=(ballot,))
    assert await said_of(silent) == [("", "unparsed", "", "not_shown")]


async def test_a_judge_that_was_not_heard_leaves_the_triple_waiting() -> None:
    ballot = Ballot(judge="j", state="failed", trouble="overloaded")
    failed = PanelVerdict(state="no_quorum", ballots=(ballot,))
    assert await said_of(failed) == [("", "waiting", "", "")]


async def test_who_said_nothing_of_an_entity_covers_nothing_unasked() -> None:
    judge = KnownJudge()
    with gathered(elicited_rows(1)[:1], reference_rows(2)) as held:
        plan = make_plan(held, VerifySettings(sample=0))
        found = [each async for page in verify(held, plan, judge) for each in page]
    bases = [each.verdict.basis for each in found if each.direction == "recall"]
    assert bases == ["same words", *["judge"] * 11, *["nothing elicited"] * 12]
