"""What judges are asked, word for word, and what their answers may rest on."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_world import KnownJudge, elicited_rows, gathered, reference_rows

from proofstone.judging.question import fence_code, pose
from proofstone.methods.bequ.records import GivenTriple, ReferenceTriple, VerifySettings
from proofstone.methods.bequ.verification.plan import make_plan
from proofstone.methods.bequ.verification.verify import (
    cited_place,
    covered_question,
    posed_questions,
    precision_question,
    recall_question,
    verify,
)
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict, Passage

SNAPSHOTS = Path(__file__).parent / "snapshots"
QUESTIONS = {
    "precision.en": precision_question(
        "Ulm", GivenTriple("Ulm", "locatedIn", "Bavaria"), [Passage("Ulm is in Württemberg.")]
    ),
    "precision.zh": precision_question(
        "北京", GivenTriple("北京", "人口", "两千万"), [Passage("北京是中国的首都。")]
    ),
    **{
        f"{name}.{language}": ask(*asked)
        for name, ask in (("recall_single", covered_question), ("recall_together", recall_question))
        for language, asked in {
            "en": (
                "Ulm",
                ReferenceTriple("river", "Danube", Passage("Ulm stands on the Danube.")),
                [GivenTriple("Ulm", "liesOn", "Danube"), GivenTriple("Ulm", "country", "Germany")],
            ),
            "zh": (
                "北京",
                ReferenceTriple("国家", "中国", Passage("")),
                [GivenTriple("北京", "属于", "中国")],
            ),
        }.items()
    },
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
    judge_vote = JudgeVote(judge="j", state="voted", label="entailment", cited="passage 1")
    decided = PanelVerdict(state="decided", label="entailment", judge_votes=(judge_vote,))
    passage = "Town 0 is known for fact0, which is value 0-0."
    assert await said_of(decided) == [("entailment", "judge", passage, "")]


async def test_a_judge_that_cites_what_it_was_not_given_is_not_parsed() -> None:
    judge_vote = JudgeVote(judge="j", state="unparsed", trouble="not_shown")
    silent = PanelVerdict(state="no_quorum", judge_votes=(judge_vote,))
    assert await said_of(silent) == [("", "unparsed", "", "not_shown")]


async def test_a_judge_that_was_not_heard_leaves_the_triple_waiting() -> None:
    judge_vote = JudgeVote(judge="j", state="failed", trouble="overloaded")
    failed = PanelVerdict(state="no_quorum", judge_votes=(judge_vote,))
    assert await said_of(failed) == [("", "waiting", "", "")]


async def test_who_said_nothing_of_an_entity_covers_nothing_unasked() -> None:
    judge = KnownJudge()
    with gathered(elicited_rows(1)[:1], reference_rows(2)) as held:
        plan = make_plan(held, VerifySettings(sample=0))
        found = [each async for page in verify(held, plan, judge) for each in page]
    bases = [each.verdict.basis for each in found if each.direction == "recall"]
    assert bases == ["same words", *["judge"] * 11, *["nothing elicited"] * 12]


@pytest.mark.parametrize(
    ("said", "known", "basis"),
    [
        (("Ulm", "birthPlace", "C++"), ("birthPlace", "C++"), "same words"),
        (("ULM_", "birth_place", "“c++”."), ("birthPlace", "C++"), "same words"),
        (("Ulm", "birthPlace", "C"), ("birthPlace", "C++"), "judge"),
        (("Ulm", "height", "15"), ("height", "1.5"), "judge"),
        (("Ulm", "height", "5"), ("height", "-5"), "judge"),
        (("Ulm", "नाम", "की"), ("नाम", "का"), "judge"),
        (("Bern", "birthPlace", "C++"), ("birthPlace", "C++"), "judge"),
    ],
)
async def test_only_the_very_same_words_of_the_entity_cover_a_fact_unasked(
    said: tuple[str, str, str], known: tuple[str, str], basis: str
) -> None:
    """A sign within a text may be all the difference; a vowel sign is one. What is said of another
    subject covers nothing by itself."""
    given = dict(zip(("subject", "predicate", "object"), said, strict=True))
    listed = dict(zip(("predicate", "object"), known, strict=True))
    with gathered([{**given, "subject_name": "Ulm"}], [{"entity": "Ulm", **listed}]) as held:
        posed = posed_questions(held, make_plan(held, VerifySettings(sample=0)))
        (recall,) = [each for each in posed if each.direction == "recall"]
    assert (recall.overridden.basis if recall.overridden else "judge") == basis


async def test_of_a_long_text_a_question_shows_what_is_near() -> None:
    """The passage that a reference triple was taken from may be a whole article, and an object a
    whole document: a judge is sent neither."""
    facts = [f"Of Ulm the thing number {number} is so." for number in range(20_000)]
    row = {"entity": "Ulm", "predicate": "tower", "object": "the minster", "passage": " ".join(
        [*facts[:9_000], "The tower of Ulm is that of the minster.", *facts[9_000:]]
    )}  # fmt: skip
    given = {"subject": "Ulm", "predicate": "essay", "object": "long " * 100_000}
    with gathered([given], [row]) as held:
        posed = list(posed_questions(held, make_plan(held, VerifySettings(sample=0))))
    texts = [each.text for one in posed if one.question for each in one.question.exhibits]
    assert len(posed) == 2
    assert max(map(len, texts)) < 2_100
    (recall,) = [each.question for each in posed if each.direction == "recall"]
    assert recall is not None
    assert "The tower of Ulm is that of the minster." in recall.exhibits[2].text
