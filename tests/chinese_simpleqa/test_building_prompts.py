"""The prompts of building short questions, as they are sent; examples, criteria and small rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from proofstone.errors import BadInput, BadUsage
from proofstone.judging.question import pose
from proofstone.methods.chinese_simpleqa.build.checks import (
    check_prompt,
    deletion_question,
    evidence_question,
    revise_prompt,
    rewrite_prompt,
    source_question,
    type_by_rule,
)
from proofstone.methods.chinese_simpleqa.build.pairs import (
    CRITERIA,
    Draft,
    Ground,
    PairsAsked,
    Scope,
    Shots,
    criteria_in,
    questions_for,
    read_shots,
    with_names,
    write_prompt,
)
from proofstone.records.ids import Draws
from proofstone.records.knowledge import Stratum
from proofstone.records.verdicts import JudgeQuestion

PUBLIC, PRIVATE = Scope(as_of="2023-12-31"), Scope(is_private=True)
SNAPSHOTS = Path(__file__).parent / "snapshots"
PAIRS = {
    "en": (
        "The metal mercury melts at minus 39 degrees. It was known in antiquity.",
        "Which metal melts at minus 39 degrees?",
        "mercury",
        Stratum("Science", "Chemistry"),
    ),
    "zh": (
        "金属汞在零下39度熔化，古代已为人所知。",
        "哪种金属在零下39度熔化？",
        "汞",
        Stratum("科学", "化学"),
    ),
    "fr": (
        "Le mercure fond à moins 39 degrés.",
        "Quel métal fond à moins 39 degrés ?",
        "le mercure",
        Stratum(),
    ),
}


def draft_in(language: str, valid_at: str = "") -> Draft:
    text, question, answer, place = PAIRS[language]
    ground = Ground(text=text, book="Metals", heading="Liquids")
    return Draft(
        question=question, answer=answer, language=language, stratum=place, ground=ground,
        like=question, valid_at=valid_at,
    )  # fmt: skip


def posed(question: JudgeQuestion) -> str:
    return "\n".join(f"--- {turn.role}\n{turn.text}" for turn in pose(question, "line")) + "\n"


def prompt_of(step: str, language: str, scope: Scope = PUBLIC, valid_at: str = "") -> str:
    draft = draft_in(language, valid_at)
    if step == "write":
        asked = PairsAsked(most=2, scope=scope, write_in="fr" if language == "fr" else "")
        examples = Shots(2).draw(Draws(1, 2, "examples"), language, draft.stratum)
        return write_prompt(draft.ground, draft.stratum, language, asked, examples, valid_at)
    if step == "check":
        return check_prompt(draft, scope)
    if step == "revise":
        return revise_prompt(draft, {"single": "Say which one.", "lasting": ""}, scope)
    return rewrite_prompt(draft)


def question_of(name: str, language: str, scope: Scope = PUBLIC) -> JudgeQuestion:
    draft = draft_in(language, "2024-05-01" if scope.is_private else "")
    texts = [draft.ground, structs.replace(draft.ground, text="39")]
    pair = {"question": draft.question, "answer": draft.answer}
    if name == "second look":
        return deletion_question(draft, scope)[1]
    if name == "evidence":
        return evidence_question(draft, texts, scope)
    if name == "source":
        return source_question(draft, texts)
    if name == "rewritten":
        pair = {"before": draft.question, "after": draft.like, "answer": draft.answer}
    if name == "alias":
        pair |= {"alias": draft.answer.upper()}
    if name == "knowledge":
        pair = {"passage": draft.ground.text}
    return questions_for(scope).question(name, language, pair)


def compared(name: str, text: str) -> None:
    assert text == (SNAPSHOTS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("step", ["write", "check", "revise", "rewrite"])
def test_prompts_to_authors_and_checkers_are_as_they_were_read(step: str, language: str) -> None:
    text = prompt_of(step, language)
    assert "{{" not in text
    assert "{%" not in text
    compared(f"build.{step}.{language}.txt", text + "\n")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "name",
    ["knowledge", "second look", "evidence", "alias", "source", "rewritten", "sensitive", "type"],
)
def test_questions_to_judges_are_as_they_were_read(name: str, language: str) -> None:
    text = posed(question_of(name, language))
    assert "{criteria}" not in text
    compared(f"build.{name.replace(' ', '-')}.{language}.txt", text)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("step", ["write", "check", "revise"])
def test_prompts_about_private_documents_are_as_they_were_read(step: str, language: str) -> None:
    text = prompt_of(step, language, PRIVATE, "2024-05-01")
    assert "{{" not in text
    assert "{%" not in text
    compared(f"private.{step}.{language}.txt", text + "\n")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["knowledge", "second look", "evidence", "sensitive"])
def test_questions_about_private_documents_are_as_they_were_read(name: str, language: str) -> None:
    text = posed(question_of(name, language, PRIVATE))
    assert "{criteria}" not in text
    compared(f"private.{name.replace(' ', '-')}.{language}.txt", text)


def test_criteria_are_the_same_ones_in_both_languages() -> None:
    for language in ("en", "zh"):
        assert tuple(criteria_in(language, PUBLIC)) == CRITERIA
        assert "2023-12-31" in criteria_in(language, PUBLIC)["datable"]
        dated = criteria_in(language, PRIVATE, "2024-05")
        assert tuple(dated) == CRITERIA
        assert "2024-05" in dated["lasting"]
        undated = criteria_in(language, PRIVATE)
        assert {name for name in CRITERIA if undated[name] != dated[name]} == {"lasting"}
        assert "{" not in "".join(undated.values())


def test_examples_of_a_passages_own_category_come_first() -> None:
    draws = Draws(3, 4, "examples")
    shown = Shots(3).draw(draws, "en", Stratum("Natural Science"))
    assert [each.category for each in shown[:2]] == ["Natural science"] * 2
    assert shown[2].category != "Natural science"
    (chinese,) = Shots(1).draw(draws, "zh-Hant", Stratum("", "计算机"))
    assert chinese.category == "计算机"


def test_examples_of_a_file_stand_in_for_those_carried(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("passage,question,answer,category\nA b.,What?,b,Letters\n", encoding="utf-8")
    (example,) = read_shots(1, str(file)).draw(Draws(0, 0, ""), "de", Stratum())
    assert (example.passage, example.category) == ("A b.", "Letters")
    assert example.response == '{"pairs":[{"question":"What?","answer":"b","aliases":[]}]}'
    with pytest.raises(BadUsage, match="--shots must be at most 1, the number of examples, got 2"):
        read_shots(2, str(file))
    file.write_text("passage,question,answer\nA b.,What?,\n", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_shots(1, str(file))
    assert [problem.where for problem in refused.value.problems] == ["line 2, field answer"]


@pytest.mark.parametrize(
    ("answer", "aliases", "found"),
    [
        ("雅各布·福格（Jakob Fugger）", (), ("雅各布·福格", "Jakob Fugger")),
        ("Laozi (老子)", ("Lao Tzu",), ("Laozi", "老子", "Lao Tzu")),
        ("Valentia Island (Ireland)", (), ()),  # two names of one script are two things
        ("汞（水银）", ("水银", "水银"), ("水银",)),
        ("Paris", ("paris", "", "  Paris ", "Lutetia"), ("Lutetia",)),
    ],
)
def test_a_name_with_its_original_in_brackets_is_known_by_either(
    answer: str, aliases: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert with_names(answer, aliases) == found


@pytest.mark.parametrize(
    ("question", "answer", "kind"),
    [
        ("In which year was it founded?", "1998", "date"),
        ("它成立于哪一年？", "1998", "date"),
        ("它成立于哪一年？", "公元前221年", "date"),
        ("On what day?", "12 March 1905", "date"),
        ("On what day?", "March 12th, 1905", "date"),
        ("On what day?", "1905-03-12", "date"),
        ("它是什么时候成立的？", "1949年10月1日", "date"),
        ("How many islands are there?", "1998", "number"),
        ("共有多少座岛？", "12", "number"),
        ("What is the port number of SSH?", "22", ""),  # a number, or a name
        ("How many years did it last, and which year ended it?", "1998", "number"),
        ("Who wrote it?", "Ian Murdock", ""),
        ("How many are there?", "about a dozen", ""),
    ],
)
def test_types_that_a_rule_is_certain_of(question: str, answer: str, kind: str) -> None:
    assert type_by_rule(question, answer) == kind
