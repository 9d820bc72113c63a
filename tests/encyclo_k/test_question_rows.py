"""Question files: options in each of their shapes, answers that can mean one option only."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked, read_rows
from proofstone.files.write import write_rows
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    Statement,
)
from proofstone.methods.encyclo_k.questions import read_items, render, write_item
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Row

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def rows_of(*values: dict[str, Any]) -> list[Row]:
    return [Row(f"line {number}", value) for number, value in enumerate(values, start=1)]


def problems_of(*values: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_items(rows_of(*values))
    return [str(problem) for problem in caught.value.problems]


def answer_key_of(options: list[Any], **answer: Any) -> int:
    (item,) = read_items(rows_of({"question": "Which?", "options": options} | answer))
    return int(item.payload.answer_key)


FRUIT = ["apple", "pear", "plum"]


def test_a_row_becomes_an_item_with_its_place_in_the_taxonomy() -> None:
    (item,) = read_items(
        rows_of(
            {
                "question_id": 7,
                "question": "Which is red?",
                "options": FRUIT,
                "answer": "A",
                "discipline": "Life",
                "field": "Plants",
                "subject": "Fruit",
                "book": "Trees",
            }
        )
    )
    assert item.kind == "encyclo_k.choice"
    assert item.payload == ChoiceQuestion(
        question="Which is red?", options=tuple(FRUIT), answer_key=0
    )
    assert item.stratum == Stratum("Life", "Plants", "Fruit", "Trees")
    assert (item.language, item.number, item.facts, item.corrects) == ("en", 0, (), None)
    assert item.id == item_id(item)


@pytest.mark.parametrize(
    "options",
    [
        {"options": FRUIT},
        {"choices": FRUIT},
        {"options": '["apple", "pear", "plum"]'},
        {"options": {"B": "pear", "A": "apple", "C": "plum"}},
        {"A": "apple", "B": "pear", "C": "plum", "D": None, "E": ""},
    ],
)
def test_options_are_read_in_each_of_their_shapes(options: dict[str, Any]) -> None:
    (item,) = read_items(rows_of({"question": "Which?", "answer": "plum"} | options))
    assert item.payload.options == ("apple", "pear", "plum")
    assert item.payload.answer_key == 2


def test_numbers_among_options_are_their_texts() -> None:
    (item,) = read_items(rows_of({"question": "2 + 2?", "options": [3, 4.5, "4"], "answer": "C"}))
    assert item.payload.options == ("3", "4.5", "4")


@pytest.mark.parametrize(
    ("answer", "answer_key"),
    [
        ({"answer": "B"}, 1),
        ({"gold": " b "}, 1),
        ({"answer": 2}, 2),
        ({"answer": "2"}, 2),
        ({"answer": "the  plum"}, 2),
        ({"answer_letter": "c"}, 2),
        ({"answer_index": 0}, 0),
        ({"answer_index": "1", "answer_letter": "B", "answer": "pear"}, 1),
    ],
)
def test_an_answer_is_a_letter_a_place_from_0_or_a_text(
    answer: dict[str, Any], answer_key: int
) -> None:
    assert answer_key_of(["apple", "pear", "the plum"], **answer) == answer_key


def test_an_answer_with_two_meanings_needs_one_said_exactly() -> None:
    letters = ["B", "A", "C"]
    question = {"question": "Which letter?", "options": letters, "answer": "A"}
    assert problems_of(question) == [
        'line 1, field answer: "A" can mean option A or B; set answer_letter'
    ]
    assert answer_key_of(letters, answer="A", answer_letter="B") == 1
    assert answer_key_of(letters, answer="A", answer_index=0) == 0
    assert answer_key_of(letters, answer="C") == 2
    assert problems_of({"question": "1 + 1?", "options": ["1", "2", "3"], "answer": "2"}) == [
        'line 1, field answer: "2" can mean option B or C; set answer_letter'
    ]
    assert answer_key_of([0, 1, 2], answer=1) == 1


def test_every_problem_of_every_row_is_named_at_once() -> None:
    pair = {"question": "Which?", "options": ["x", "y"]}
    assert problems_of(
        {},
        {"question": " ", "options": ["x"], "answer": "A"},
        {"question": 4, "options": [f"o{n}" for n in range(27)], "answer": "A"},
        {"question": "a", "options": ["x", " x "], "answer": "A"},
        {"question": "b", "options": ["x", " ", None, True, ["y"]], "answer": "A"},
        {"question": "c", "options": "x, y", "answer": "A"},
        {"question": "d", "options": 5, "answer": "A"},
        {"question": "e", "options": {"A": "x", "C": "y"}, "answer": "A"},
        {"question": "f", "A": "x", "C": "y", "answer": "A"},
        pair,
        pair | {"answer": "C"},
        pair | {"answer": True},
        pair | {"answer": 2},
        pair | {"answer": "x", "answer_letter": "B"},
        pair | {"answer_letter": "AB"},
        pair | {"answer_index": 2},
        pair | {"answer_index": 0, "answer_letter": "B"},
        pair | {"answer": "A", "answer_index": -1},
        pair | {"answer": "A", "language": "?", "number": "x", "corrects": "y"},
    ) == [
        "line 1, field question: is missing or empty",
        "line 1, field options: expected 2 to 26 options, got 0",
        "line 2, field question: contains only white space",
        "line 2, field options: expected 2 to 26 options, got 1",
        "line 3, field question: expected text, got 4",
        "line 3, field options: expected 2 to 26 options, got 27",
        "line 4, field options: two options are identical",
        "line 5, field options: option 2 is empty or not a text",
        "line 5, field options: option 3 is empty or not a text",
        "line 5, field options: option 4 is empty or not a text",
        "line 5, field options: option 5 is empty or not a text",
        "line 6, field options: expected a list of texts, the JSON text of one, "
        "or columns A, B, C, ...",
        "line 7, field options: expected a list of texts, the JSON text of one, "
        "or columns A, B, C, ...",
        'line 8, field options: expected letters from A without a gap, got "A, C"',
        'line 9, field options: expected letters from A without a gap, got "A, C"',
        "line 10, field answer: is missing; expected a letter, index from 0 or option text",
        'line 11, field answer: expected a letter, index from 0 or option text, got "C"',
        "line 12, field answer: expected a letter, index from 0 or option text, got true",
        "line 13, field answer: expected a letter, index from 0 or option text, got 2",
        'line 14, field answer: expected option B of answer_index or answer_letter, got "x"',
        "line 15, field answer_letter: is not one of the 2 options",
        "line 16, field answer_index: is not one of the 2 options",
        "line 17, field answer_letter: differs from answer_index",
        "line 18, field answer_index: expected a whole number of 0 or more, got -1",
        'line 19, field number: expected a whole number of 0 or more, got "x"',
        'line 19, field corrects: expected 64 hexadecimal digits, got "y"',
        'line 19, field language: expected a language code such as en or zh, got "?"',
    ]


def test_ids_and_questions_stand_once() -> None:
    question = {"question": "Which?", "options": ["x", "y"], "answer": "A"}
    assert problems_of(
        question | {"id": "q"},
        question | {"id": "q", "question": "Which  one?"},
        question | {"options": ["y", "x"]},
        question | {"options": ["y", "z"]},
    ) == [
        'line 2, field id: "q" is already the id of line 1',
        "line 3, field question: repeats the question of line 1 with the same options",
    ]


def test_a_missing_language_is_guessed_from_all_rows_without_one() -> None:
    options = {"options": ["x", "y"], "answer": "A"}
    items = read_items(
        rows_of(
            options | {"question": "下列哪一项是细胞的组成部分？"},
            options | {"question": "E = mc^2?"},
            options | {"question": "Lequel ?", "language": "fr"},
            options | {"question": "Which?", "language": "und"},
        )
    )
    assert [item.language for item in items] == ["zh", "zh", "fr", ""]


def test_an_item_does_not_depend_on_its_place_in_the_file() -> None:
    one = {"question": "One?", "options": ["x", "y"], "answer": "A"}
    two = {"question": "Two?", "options": ["x", "y"], "answer": "B"}
    assert read_items(rows_of(one, two))[1].id == read_items(rows_of(two))[0].id


TEXT = st.text(
    st.sampled_from("AB01 xy") | st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    max_size=6,
).filter(str.strip)


@st.composite
def questions(draw: st.DrawFn) -> Item:
    options = draw(
        st.lists(TEXT, min_size=2, max_size=5, unique_by=lambda text: tuple(text.split()))
    )
    return Item(
        kind="encyclo_k.choice",
        payload=ChoiceQuestion(
            question=draw(TEXT),
            options=tuple(options),
            answer_key=draw(st.integers(0, len(options) - 1)),
        ),
        language=draw(st.sampled_from(["", "en", "zh"])),
        stratum=Stratum(*draw(st.tuples(TEXT, TEXT, TEXT, TEXT))),
        number=draw(st.integers(0, 3)),
        corrects=draw(st.none() | st.binary(min_size=32, max_size=32)),
    )


@settings(deadline=None, max_examples=60)
@given(questions(), st.sampled_from(["x.jsonl", "x.csv", "x.parquet"]))
def test_a_question_that_was_written_reads_back_with_the_same_id(item: Item, name: str) -> None:
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_rows(path, [write_item(LoadedItem(item, ()))])
        (came,) = read_checked(path, read_items)
    assert came.id == item_id(item)


TRUTHS = {"Water is wet.": True, "Fire is\ncold.": False, "Ice is hot.": False}


def composed(language: str) -> LoadedItem:
    facts = tuple(
        Fact(id=bytes([n]) * 32, kind="encyclo_k.statement", payload=Statement(text=t, correct=c))
        for n, (t, c) in enumerate(TRUTHS.items())
    )
    payload = ComposedQuestion(
        asks_correct=False, template=1, wording=2, options=((0, 1), (1, 2), (2,)), answer_key=1
    )
    item = Item(
        kind="encyclo_k.composed",
        payload=payload,
        facts=tuple(fact.id for fact in facts),
        language=language,
        stratum=Stratum(subfield="Matter"),
        number=5,
    )
    return LoadedItem(item, facts)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_a_composed_question_comes_back_showing_the_same(
    language: str, name: str, tmp_path: Path
) -> None:
    loaded = composed(language)
    write_rows(tmp_path / name, [write_item(loaded)])
    (item,) = read_checked(tmp_path / name, read_items)
    assert render(LoadedItem(item, ())) == render(loaded)
    assert item.payload.answer_key == loaded.item.payload.answer_key
    assert (item.stratum, item.number) == (Stratum(subfield="Matter"), 5)


def test_the_row_of_a_composed_question_says_what_it_was_composed_of() -> None:
    row = write_item(composed("en"))
    assert row["options"] == ["i, ii", "ii, iii", "iii"]
    assert (row["answer"], row["answer_index"]) == ("B", 1)
    assert (row["asked"], row["template"], row["wording"]) == ("incorrect", 1, 2)
    assert row["statements"] == list(TRUTHS)
    assert row["statements_correct"] == list(TRUTHS.values())
    assert row["statement_ids"] == ["00" * 32, "01" * 32, "02" * 32]


def test_903_real_rows_of_another_benchmark_are_read_or_named() -> None:
    """The file has replies of twelve models and no question texts: every row is told so. With a
    text, and one row a question, all are read but one whose question has a single option."""
    path = SHARED / "mcq-responses-mmlu-pro.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside this repository")
    rows = list(read_rows(path))
    with pytest.raises(BadInput) as caught:
        read_items(rows)
    missing = [p for p in caught.value.problems if p.what == "is missing or empty"]
    assert len(missing) == len(rows) == 903
    first = {row.values["question_id"]: row for row in reversed(rows)}
    whole = [Row(r.place, r.values | {"question": f"Question {q}"}) for q, r in first.items()]
    with pytest.raises(BadInput) as caught:
        read_items(whole)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 559, field options: expected 2 to 26 options, got 1"
    ]
    usable = [row for row in whole if row.place != "line 559"]
    for row, item in zip(usable, read_items(usable), strict=True):
        assert "ABCDEFGHIJ"[item.payload.answer_key] == row.values["gold"]
        assert item.stratum.subfield == row.values["category"]


def single(language: str, *, correct: bool) -> LoadedItem:
    """A form's single statement: the first or the second of the composed question's."""
    fact = composed(language).facts[0 if correct else 1]
    assert fact.payload.correct is correct
    payload = SingleStatement()
    item = Item(kind="encyclo_k.single", payload=payload, facts=(fact.id,), language=language)
    return LoadedItem(item, (fact,))


def test_a_single_statement_is_written_as_a_statement_with_its_truth() -> None:
    loaded = single("en", correct=False)
    (fact,) = loaded.facts
    row = write_item(loaded)
    assert {name: row[name] for name in ("statement", "answer", "reason", "statement_id")} == {
        "statement": fact.payload.text, "answer": "false", "reason": fact.payload.reason,
        "statement_id": fact.id.hex(),
    }  # fmt: skip
    assert not {"question", "options", "answer_index"} & row.keys()
    assert write_item(single("en", correct=True))["answer"] == "true"


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_a_single_statement_comes_back_as_a_question_between_two_verdicts(
    language: str, name: str, correct: bool, tmp_path: Path
) -> None:
    """What it rests on is not known in another workspace, so it asks the same with options."""
    loaded = single(language, correct=correct)
    write_rows(tmp_path / name, [write_item(loaded)])
    (item,) = read_checked(tmp_path / name, read_items)
    assert item.payload.question == render(loaded, "statement")
    words = {"en": ("True", "False"), "zh": ("正确", "错误")}[language]
    assert (item.payload.options, item.payload.answer_key) == (words, 0 if correct else 1)


def test_a_statement_without_a_verdict_is_named() -> None:
    rows = [Row("line 1", {"statement": "Ice floats."}),
            Row("line 2", {"statement": "Iron floats.", "answer": "B"})]  # fmt: skip
    with pytest.raises(BadInput) as caught:
        read_items(rows)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 1, field answer: is missing; expected true or false",
        'line 2, field answer: expected true or false (correct, incorrect, 1, 0), got "B"',
    ]
