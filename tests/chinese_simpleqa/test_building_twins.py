"""Twins: choices made open and filtered, and options for open questions, by scripted models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_solver import write_rows

from chinese_simpleqa.scripted_converter import Converter
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.build.funnel import list_ended
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.chinese_simpleqa.build.choices import (
    AMONG,
    NAMES_OPTIONS,
    YES_OR_NO,
    ChoiceRow,
    close_prompt,
    is_told,
    open_prompt,
    why_no_option,
    why_not_open,
)
from proofstone.methods.chinese_simpleqa.build.pairs import Draft
from proofstone.methods.chinese_simpleqa.payloads import Closed, Twin
from proofstone.records.knowledge import Fact
from serving import HurriedClock, configure, serving
from table_texts import rows as table_rows

SNAPSHOTS = Path(__file__).parent / "snapshots"
NAMES = ("Halite", "Pyrite", "Barite", "Galena", "Topaz", "Zircon", "Beryl", "Kyanite", "Rutile")
# What becomes of a choice by its tag: the step that drops it and the reason; of others nothing.
TAGS = {
    "plain": None,
    "hasty": None,
    "closed": ("open", "cannot be asked openly"),
    "mumbling": ("open", "unparsed response"),
    "telling": ("open", "gives its answer away"),
    "needy": ("still the same", "leans on its options"),
    "drifting": ("still the same", "asks for something else"),
    "foul": ("second look", "criteria not met"),
    "stubborn": ("criteria", None),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def choice(tag: str, name: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "question": f"The {tag} mineral {name} was first described in ( ).",
        "A": f"{1701 + number}",
        "B": f"{1801 + number}",
        "C": f"{1901 + number}",
        "D": f"{2001 + number}",
        "answer": "B",
        **more,
    }


def choices() -> list[dict[str, Any]]:
    """One choice a tag, and two that the rule drops before anybody is asked."""
    rows = [choice(tag, NAMES[at], at) for at, tag in enumerate(TAGS)]
    return [
        *rows,
        choice("plain", "Spinel", 20, question="Which of the following is a mineral?"),
        choice("plain", "Augite", 21, D="all of the above"),
    ]


def opened(workspace: Workspace, path: Path, **params: Any) -> BuildResult:
    asked = {"evidence": 0, "sensitive": "off", "from_choices": True, **params}
    return workspace.build_in_steps(
        "short-qa", [str(path)], name="minerals", models={"author": "scripted/author"},
        judge="scripted/judge", **asked,
    )  # fmt: skip


def closed(workspace: Workspace, path: Path, **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "choices", [str(path)], name="minerals", models={"author": "scripted/author"},
        judge="scripted/judge", **params,
    )  # fmt: skip


def dropped(result: BuildResult) -> dict[tuple[str, str], int]:
    return {
        (step.name, reason): n
        for step in result.funnel.steps
        for reason, n in step.dropped.items()
        if n
    }


def facts_of(workspace: Workspace, result: BuildResult) -> list[Fact]:
    assert result.bank is not None
    return list(workspace.store.knowledge.bank(result.bank.id).facts())


def test_choices_are_opened_and_filtered_each_for_its_reason(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Two are dropped before anybody is asked; the hasty one is worded once more. What is left is
    twins that keep their options and name the choice that they came from."""
    path = write_rows(tmp_path, choices(), "minerals.jsonl")
    origins = {
        fact.payload.question: fact.id
        for fact in workspace.store.knowledge.bank(
            workspace.import_bank(path, method="chinese_simpleqa").id
        ).facts()
    }
    converter = Converter()
    with serving(converter) as server:
        configure(workspace.folder, server.url)
        result = opened(workspace, path)
    found = dropped(result)
    assert found.pop(("can be open", AMONG)) == 1
    assert found.pop(("can be open", NAMES_OPTIONS)) == 1
    stubborn = {key: n for key, n in found.items() if key[0] == "criteria"}
    assert sum(stubborn.values()) == 1
    assert {key: n for key, n in found.items() if key not in stubborn} == {
        ended: 1 for ended in TAGS.values() if ended and ended[1]
    }
    twins = sorted(facts_of(workspace, result), key=lambda fact: fact.payload.question)
    assert [fact.payload.question for fact in twins] == [
        "In which year was the hasty mineral Pyrite first described?",
        "In which year was the plain mineral Halite first described?",
    ]
    halite: Twin = twins[1].payload
    assert halite.answer == "1801"
    assert halite.closed == Closed(
        question="The plain mineral Halite was first described in ( ).",
        options=("1701", "1801", "1901", "2001"),
        answer_key=1,
    )
    assert (halite.made, halite.answer_type) == ("converted", "date")
    assert halite.origin == origins[halite.closed.question]
    # of nine that a model saw two were asked for once more: that which did tell, and the hasty one
    assert converter.asked["open"] == 9 + 2 + 1  # and the unreadable reply once
    roles = workspace.store.knowledge.built_facts(twins)[1].roles
    assert {(role.role, role.model) for role in roles} == {
        ("wrote", "scripted/author"), ("checked", "scripted/judge"),
    }  # fmt: skip


def test_opened_twins_are_asked_in_all_three_forms(workspace: Workspace, tmp_path: Path) -> None:
    """From a set as it stands to the study: the forms are linked by the choice they came from."""
    rows = [choice("plain", name, at) for at, name in enumerate(NAMES)]
    path = write_rows(tmp_path, rows, "minerals.jsonl")
    with serving(Converter()) as server:
        configure(workspace.folder, server.url)
        result = opened(workspace, path)
        sets = workspace.import_bank(path, method="chinese_simpleqa", name="as it stands")
        (original,) = workspace.build_form(sets, posed="original")
        forms = [
            *workspace.build_form(result.bank, posed="shuffled"),
            *workspace.build_form(result.bank),
        ]
        workspace.run([original, *forms], models="sim/ann?ability=1")
        analysis = workspace.analysis("choices", original, *forms)
    (row,) = table_rows(analysis)
    assert row[1] == f"{len(NAMES)}"
    assert [cell[:5] for cell in row[2:5]] == ["100.0"] * 3


PAIRS = [
    {
        "question": f"In which year was the {tag} mineral {name} first described?",
        "answer": f"{1801 + at}",
        "primary_category": "Geology",
    }
    for at, (tag, name) in enumerate(
        zip(("plain", "echoing", "doubted", "poor"), NAMES[:4], strict=True)
    )
]


def test_options_are_generated_until_there_are_enough(workspace: Workspace, tmp_path: Path) -> None:
    """What is the answer, there already, right as well or of another kind is refused; the poor one
    has too few after its rounds, and is told with what was refused."""
    path = write_rows(tmp_path, PAIRS, "pairs.jsonl")
    converter = Converter()
    with serving(converter) as server:
        configure(workspace.folder, server.url)
        result = closed(workspace, path, seed=5)
    assert dropped(result) == {("options", "too few options"): 1}
    twins = {fact.payload.question: fact for fact in facts_of(workspace, result)}
    assert len(twins) == 3
    for row in PAIRS[:3]:
        twin: Twin = twins[row["question"]].payload
        assert set(twin.closed.options) == {row["answer"], "1901", "1902", "1903"}
        assert twin.closed.right == row["answer"] == twin.answer
        assert twin.closed.question == twin.question
        assert twin.made == "generated"
        assert twins[row["question"]].stratum.discipline == "Geology"
    # plain asks once, echoing and doubted twice, poor three times
    assert converter.asked["close"] == 1 + 2 + 2 + 3


def test_a_generated_twin_names_the_pair_and_the_refused_are_told(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = write_rows(tmp_path, [PAIRS[0], PAIRS[3]], "pairs.jsonl")
    bank = workspace.import_bank(path, method="chinese_simpleqa")
    pairs = {f.payload.question: f.id for f in workspace.store.knowledge.bank(bank.id).facts()}
    with serving(Converter()) as server:
        configure(workspace.folder, server.url)
        result = closed(workspace, path)
    (fact,) = facts_of(workspace, result)
    assert fact.payload.origin == pairs[fact.payload.question]
    (told,) = list_ended(
        workspace.store, workspace.find(f"build:{result.build.id.hex()}"), pending=False
    )
    assert "1 of 3 for In which year was the poor mineral" in told.found
    assert "(the answer)" in told.found
    assert "1666 (right)" in told.found


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n_options": 1}, "--n-options must be 2 to 10, got 1"),
        ({"rounds": -1}, "--rounds must be 0 or more, got"),
    ],
)
def test_parameters_of_twins_that_cannot_be(
    workspace: Workspace, tmp_path: Path, params: dict[str, Any], said: str
) -> None:
    path = write_rows(tmp_path, PAIRS, "pairs.jsonl")
    configure(workspace.folder, "http://127.0.0.1:9/v1")
    with pytest.raises(BadUsage, match=said):
        closed(workspace, path, **params)


def test_files_of_the_other_sort_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    """A choice is no pair whose answer is B, and a pair has no options; neither is a missing
    file."""
    sets = write_rows(tmp_path, [choice("plain", "Halite", 0)], "sets.jsonl")
    pairs = write_rows(tmp_path, PAIRS, "pairs.jsonl")
    with serving(Converter()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadInput, match="line 1 has options") as caught:
            opened(workspace, sets, from_choices=False)
        assert "--from-choices" in str(caught.value.hint)
        with pytest.raises(BadInput, match="does not contain questions with options"):
            opened(workspace, pairs)
        with pytest.raises(BadInput, match="does not contain short questions"):
            closed(workspace, sets)
        with pytest.raises(BadInput, match="expected a file of short questions"):
            closed(workspace, tmp_path / "none.jsonl")


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("question", "options", "reason"),
    [
        ("Which of the following is a noble gas?", ("neon", "iron"), AMONG),
        ("All of the following are metals EXCEPT", ("neon", "iron"), AMONG),
        ("Among these, the heaviest is", ("neon", "iron"), AMONG),
        ("Which planet is NOT a giant?", ("Mars", "Saturn"), AMONG),
        ("下列金属中熔点最低的是____", ("汞", "铁"), AMONG),
        ("以下哪项不属于哺乳动物？", ("鲸", "鲨"), AMONG),
        ("关于光合作用，说法错误的是", ("甲", "乙"), AMONG),
        ("不能溶于水的是", ("盐", "油"), AMONG),
        ("Which?", ("x", "y", "all of the above"), NAMES_OPTIONS),
        ("Which?", ("x", "None of these"), NAMES_OPTIONS),
        ("Which?", ("x", "y", "Both A and B"), NAMES_OPTIONS),
        ("哪个？", ("x", "y", "A和B"), NAMES_OPTIONS),
        ("哪个？", ("x", "以上都对"), NAMES_OPTIONS),
        ("哪个？", ("①②", "①③"), NAMES_OPTIONS),
        ("Is it?", ("True", "False"), YES_OR_NO),
        ("是吗？", ("正确", "错误"), YES_OR_NO),
        ("Who became president following Lincoln?", ("Johnson", "Grant"), ""),
        ("What is the least common multiple of 4 and 6?", ("12", "24"), ""),
        ("Which vitamins dissolve in fat?", ("A and D", "B and C"), ""),
        ("Which novel is by Remarque?", ("All Quiet on the Western Front", "Ulysses"), ""),
        ("不锈钢的发明者是谁？", ("布里尔利", "爱迪生"), ""),
        ("《不一样的天空》的导演是", ("甲", "乙"), ""),
        ("18岁以下的人称为", ("未成年人", "成年人"), ""),
    ],
)
def test_a_rule_drops_only_what_certainly_has_no_open_form(
    question: str, options: tuple[str, ...], reason: str
) -> None:
    assert why_not_open(Closed(question=question, options=options, answer_key=0)) == reason


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("", "empty"),
        ("Leonardo da Vinci.", "the answer"),
        ("Da Vinci", "the answer"),
        ("Leonardo", "part of the answer"),
        ("Leonardo da Vinci the painter", "part of the answer"),
        ("Raphael", "there already"),
        ("Michelangelo", ""),
    ],
)
def test_a_rule_refuses_options_that_are_the_answer_or_there_already(
    option: str, reason: str
) -> None:
    row = Draft(question="Who?", answer="Leonardo da Vinci", aliases=("Da Vinci",))
    assert why_no_option(option, row, ["Raphael"]) == reason


def test_numbers_are_options_unless_they_are_near_enough() -> None:
    """112 holds 12 and is another number; within the tolerance it is the answer."""
    row = Draft(question="How many?", answer="12", tolerance=1.0)
    assert why_no_option("112", row, ()) == ""
    assert why_no_option("13", row, ()) == "the answer"


def test_a_question_that_says_its_answer_is_told_from_one_that_does_not() -> None:
    assert is_told("In which year did the Treaty of Rome follow?", "Rome")
    assert is_told("Who was born in 1801?", "1801")
    assert not is_told("How many of the 7 wonders are left?", "7")
    assert not is_told("How much is 1801.5 less 0.5?", "1801")
    assert not is_told("Which metal is liquid?", "mercury")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompts_of_twins_are_as_they_were_read(language: str) -> None:
    shown = Closed(question="Gold has the symbol ( ).", options=("Au", "Ag"), answer_key=0)
    row = ChoiceRow(closed=shown, origin=bytes(32), language=language)
    pair = Draft(question="Which symbol has gold?", answer="Au", language=language)
    found = [
        open_prompt(row),
        open_prompt(row, "What is Au?"),
        close_prompt(pair, 3, [], []),
        close_prompt(pair, 1, ["Ag", "Fe"], ["gold"]),
    ]
    path = SNAPSHOTS / f"twins.{language}.txt"
    assert "\n=====\n".join(found) + "\n" == path.read_text(encoding="utf-8")
