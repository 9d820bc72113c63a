"""Short questions answered by people in sheets: two, a third, a comparison, and what is decided."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec import structs

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadInput, BadUsage
from proofstone.files.write import write_rows
from proofstone.files.xlsx import read_grids
from proofstone.review.request import SheetsAsked
from proofstone.review.sheets import GivenOut
from proofstone.wording.messages import speaking
from review.filled import Fill, fill, rows_of
from small_bank import write_lines

WIKI, OTHER = "https://en.wikipedia.org/wiki/{}", "https://example.com/{}"
FIT, ANSWER, FIRST, SECOND, WHY = (
    "Is the question fit?", "Your answer", "First page (URL)", "Second page (URL)",
    "Reason or remark",
)  # fmt: skip
RIVERS = {"Vienna": "Danube", "Paris": "Seine", "London": "Thames", "Rome": "Tiber",
          "Cairo": "Nile", "Prague": "Vltava"}  # fmt: skip


def question(city: str) -> str:
    return f"Which river runs through {city}?"


@pytest.fixture(scope="module")
def rivers_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rivers")
    rows = [
        {"question": question(city), "answer": river, "category": "Rivers",
         "aliases": ["Moldau"] if city == "Prague" else [], "urls": ["https://secret.org/x"]}
        for city, river in RIVERS.items()
    ]  # fmt: skip
    with create_workspace(folder / "work") as workspace:
        workspace.import_bank(write_lines(folder / "rivers.jsonl", rows), method="chinese_simpleqa")
    return folder / "work"


@pytest.fixture
def workspace(rivers_once: Path, tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(Path(shutil.copytree(rivers_once, tmp_path / "work"))) as opened:
        yield opened


def give(workspace: Workspace, file: Path, *people: str, undecided: bool = False) -> GivenOut:
    return workspace.give_out_sheets(
        "rivers", SheetsAsked(people=people, undecided=undecided), file
    )


def answering(**otherwise: str) -> Fill:
    """The right answer to every question with two pages, but for the cities named."""

    def row(_number: int, cells: Mapping[str, str]) -> Mapping[str, str]:
        city = cells["Question"].removesuffix("?").rpartition(" ")[2]
        said = otherwise.get(city, RIVERS[city])
        if said == "unfit":
            return {FIT: "it is not fit", WHY: "which one?"}
        pages = {FIRST: WIKI.format(said.replace(" ", "_")), SECOND: OTHER.format(city)}
        return {FIT: "it is fit", ANSWER: said, **pages}

    return row


def take(workspace: Workspace, file: Path, how: Fill, tab: int = 1) -> None:
    workspace.import_reviews([fill(file, how, tab=tab)])


def both(workspace: Workspace, folder: Path, anna: Fill, ben: Fill) -> None:
    """What Anna and Ben answer by themselves, taken in."""
    give(workspace, folder / "s.xlsx", "Anna", "Ben")
    take(workspace, folder / "s-anna.xlsx", anna)
    take(workspace, folder / "s-ben.xlsx", ben)


def states(workspace: Workspace) -> dict[str, int]:
    return {state: n for state, n in workspace.review_standing("rivers").states.items() if n}


def test_who_answers_sees_the_question_alone(workspace: Workspace, tmp_path: Path) -> None:
    given = give(workspace, tmp_path / "s.xlsx", "Anna", "Ben", "Chen")
    assert [one.n_rows for one in given.sheets] == [4, 4, 4]  # 6 questions x 2 people / 3
    about, sheet = read_grids(tmp_path / "s-anna.xlsx")
    assert about.rows[1] == ["For Anna: 4 questions, round 1."]
    assert sheet.name == "Questions"
    assert sheet.rows[0] == [
        "proofstone key", "No.", "Question", FIT, ANSWER, FIRST, SECOND, "More pages (URLs)", WHY,
    ]  # fmt: skip
    shown = json.dumps([grid.rows for grid in (about, sheet)])
    assert not any(hidden in shown for hidden in ("secret", *RIVERS.values()))


def test_two_who_found_the_models_answer_keep_it(workspace: Workspace, tmp_path: Path) -> None:
    both(workspace, tmp_path, answering(), answering(Prague="moldau."))
    assert states(workspace) == {"kept": 6}
    assert workspace.review_decisions("rivers").outcomes == {
        "keep": 6, "fix": 0, "drop": 0, "open": 0,
    }  # fmt: skip


def test_a_question_goes_its_whole_way_and_what_is_discarded_is_retired(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Vienna differs, Rome is not fit, Cairo differs from the model, London is told longer."""
    anna = answering(Vienna="Wien", Rome="unfit", Cairo="Blue Nile", London="River Thames")
    ben = answering(Cairo="Blue Nile", London="river thames")
    both(workspace, tmp_path, anna, ben)
    assert states(workspace) == {
        "waits for a third person": 1, "waits for a comparison": 2, "not compliant": 1, "kept": 2,
    }  # fmt: skip
    give(workspace, tmp_path / "t.xlsx", "Chen", undecided=True)
    third = rows_of(tmp_path / "t.xlsx", 1)
    assert third[1][2:4] == [
        question("Vienna"),
        f"Danube\n{WIKI.format('Danube')}\n{OTHER.format('Vienna')}\n\n"
        f"Wien\n{WIKI.format('Wien')}\n{OTHER.format('Vienna')}",
    ]
    fill(tmp_path / "t.xlsx", lambda _n, _row: {FIT: "it is fit", ANSWER: "Danube"}, tab=1)

    def compare(_number: int, cells: Mapping[str, str]) -> Mapping[str, str]:
        is_same = cells["What people found"].lower() == "river thames"
        said = "the same answer" if is_same else "another answer"
        return {"Is it the same answer?": said}

    same = rows_of(tmp_path / "t.xlsx", 2)
    assert sorted(row[2:5] for row in same[1:]) == [
        [question("Cairo"), "Blue Nile", "Nile"],
        [question("London"), "River Thames", "Thames"],
    ]
    take(workspace, tmp_path / "t.xlsx", compare, tab=2)
    assert states(workspace) == {"not compliant": 1, "differs from the model": 1, "kept": 4}
    decided = workspace.review_decisions("rivers")
    workspace.keep_decision("rivers", decided, by="Chief")
    assert sorted((row.text, row.decision, row.why) for row in decided.work) == [
        (question("Cairo"), "exclude",
         "differs from the model: people: Blue Nile; the model: Nile"),
        (question("Rome"), "exclude", "not compliant: which one?"),
    ]  # fmt: skip
    write_rows(tmp_path / "w.csv", [structs.asdict(row) for row in decided.work])
    workspace.apply_flagged_items(tmp_path / "w.csv", by="Chief")
    assert workspace.review_standing("rivers").carried_out == 2
    last = workspace.last_decision("rivers")
    assert last is not None
    assert (last.stands, last.n_new, last.made.outcomes["drop"]) == (True, 0, 2)


def test_nobody_is_given_a_question_that_they_have_a_part_in(
    workspace: Workspace, tmp_path: Path
) -> None:
    both(workspace, tmp_path, answering(Vienna="Wien"), answering())
    with pytest.raises(BadUsage, match="they reviewed all of the"):
        give(workspace, tmp_path / "t.xlsx", "Anna", "Ben", undecided=True)


def test_all_problems_are_told_at_their_cells_and_nothing_is_taken_in(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path / "s.xlsx", "Anna")
    good = {FIT: "it is fit", ANSWER: "x", FIRST: WIKI.format(1), SECOND: OTHER.format(1)}
    rows: list[Mapping[str, str]] = [
        {**good, ANSWER: ""},
        {**good, SECOND: "javascript:alert(1)"},
        {**good, SECOND: "http://EN.wikipedia.org/wiki/1#top"},
        {FIT: "it is not fit"},
        {FIT: "it is not fit", WHY: "no", ANSWER: "x"},
        {FIT: "", FIRST: WIKI.format(1)},
    ]
    fill(tmp_path / "s.xlsx", lambda number, _row: rows[number])
    with pytest.raises(BadInput) as raised:
        workspace.import_reviews([tmp_path / "s.xlsx"])
    assert [(problem.where, problem.what) for problem in raised.value.problems] == [
        ("s.xlsx, Questions!E2", "'it is fit' needs your answer"),
        ("s.xlsx, Questions!G3", "expected https:// or http://, got 'javascript:alert(1)'"),
        ("s.xlsx, Questions!F4",
         "expected 2 different pages or more, got 1; several addresses of one page count once"),
        ("s.xlsx, Questions!I5", "'it is not fit' needs a reason"),
        (
            "s.xlsx, Questions!E6",
            "an answer or a page is given, but the decision is 'it is not fit'",
        ),
        ("s.xlsx, Questions!D7", "there is no decision, but Questions!F7 is filled in"),
    ]  # fmt: skip
    assert states(workspace) == {"waits for a first answer": 6}


def test_a_third_with_an_answer_of_their_own_needs_pages(
    workspace: Workspace, tmp_path: Path
) -> None:
    both(workspace, tmp_path, answering(Vienna="Wien"), answering())
    give(workspace, tmp_path / "t.xlsx", "Chen", undecided=True)
    with pytest.raises(BadInput) as raised:
        take(workspace, tmp_path / "t.xlsx", lambda _n, _r: {FIT: "it is fit", ANSWER: "Inn"})
    assert [problem.what for problem in raised.value.problems] == [
        "'Inn' is not one of the collected answers, so it needs two pages as evidence"
    ]


def test_rows_by_one_person_for_two_parts_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    both(workspace, tmp_path, answering(Vienna="Wien"), answering())
    rows = tmp_path / "rows.jsonl"
    assert workspace.export_reviews("rivers", rows) == 12
    lines = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    (wien,) = [line for line in lines if line.get("answer") == "Wien"]
    assert wien["urls"] == [WIKI.format("Wien"), OTHER.format("Vienna")]
    third = {"target": wien["target"], "task": "third", "verdict": "answered", "answer": "Wien"}
    write_lines(rows, [*lines, {**third, "reviewer": "Anna"}, {**third, "reviewer": "Chen"}])
    with pytest.raises(BadInput) as raised:
        workspace.import_reviews([rows])
    assert [problem.what for problem in raised.value.problems] == [
        "this person has seen others' answers to the question, and cannot answer it",
        "this person already worked on the question: a different third person must decide",
    ]
    write_lines(rows, [*lines, {**third, "reviewer": "Chen"}])
    taken = workspace.import_reviews([rows])
    assert (taken.new, taken.already) == (1, 12)


def test_ones_own_list_of_sources_is_kept_with_the_decision(
    workspace: Workspace, tmp_path: Path
) -> None:
    both(workspace, tmp_path, answering(), answering())
    own = tmp_path / "ours.txt"
    own.write_text("-*\nwiki.example.org\n", encoding="utf-8")
    policy = workspace.review_policy("rivers", own)
    decided = workspace.review_decisions("rivers", policy)
    assert decided.outcomes == {"keep": 0, "fix": 0, "drop": 6, "open": 0}
    workspace.keep_decision("rivers", decided, by="Chief")
    assert workspace.review_policy("rivers") == policy
    assert states(workspace) == {"no authoritative source": 6}


def test_a_list_of_sources_is_for_questions_and_must_be_readable(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "bad.txt").write_text("https://a.org/x\n", encoding="utf-8")
    with pytest.raises(BadInput, match="authoritative sources cannot be read"):
        workspace.review_policy("rivers", tmp_path / "bad.txt")
    with pytest.raises(BadInput, match="is not a list of sites"):
        workspace.review_policy("rivers", tmp_path / "none.txt")


def test_questions_leave_no_choice_of_who_reads_how_much(
    workspace: Workspace, tmp_path: Path
) -> None:
    wanted = SheetsAsked(people=("Anna",), overlap=0.5, fact_check=3)
    with pytest.raises(BadUsage, match="--fact-check, --shared: questions are answered by two"):
        workspace.give_out_sheets("rivers", wanted, tmp_path / "s.xlsx")


def test_a_chinese_sheet_comes_back(workspace: Workspace, tmp_path: Path) -> None:
    with speaking("zh"):
        give(workspace, tmp_path / "s.xlsx", "安娜")
    heads = rows_of(tmp_path / "s.xlsx")[0]
    assert heads[2:] == [
        "题目", "题目是否合格？", "您的答案", "第一个网页（网址）", "第二个网页（网址）",
        "更多网页（网址）", "理由或备注",
    ]  # fmt: skip
    row = {"题目是否合格？": "不合格", "理由或备注": "答案会变化"}
    take(workspace, tmp_path / "s.xlsx", lambda _n, _r: row)
    assert states(workspace) == {"not compliant": 6}
