"""Files of short questions: read as they stand, refused whole with every problem."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.method import METHOD
from proofstone.methods.chinese_simpleqa.payloads import asked_of
from proofstone.methods.chinese_simpleqa.questions import recognises
from proofstone.records.items import Item, LoadedItem
from proofstone.records.tables import Row

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "chinese_simpleqa.jsonl.gz"


def rows(*values: dict[str, Any]) -> list[Row]:
    return [Row(f"line {number}", each) for number, each in enumerate(values, start=1)]


def read(*values: dict[str, Any]) -> list[Item]:
    return list(METHOD.read_items(rows(*values)))


def problems_of(*values: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as refused:
        read(*values)
    return [f"{problem.where}: {problem.what}" for problem in refused.value.problems]


def test_all_problems_of_a_file_are_told_together() -> None:
    whole = {"question": "Q1?", "answer": "a", "primary_category": "P", "secondary_category": "S"}
    assert problems_of(
        whole,
        {**whole, "question": "Q2?", "answer": ""},
        {**whole, "question": "Q3?", "answer": "c", "secondary_category": ""},
        {**whole, "answer": "d"},
        {**whole, "question": "Q5?", "answer": "e", "aliases": ["a"], "answer_type": "colour"},
        {**whole, "question": " ", "answer": ".", "tolerance": -1},
    ) == [
        "line 2, field answer: is missing or empty; expected an answer",
        (
            "line 5, field answer_type: expected one of date, number, person, "
            'place, organisation, other, got "colour"'
        ),
        "line 6, field question: contains only white space",
        'line 6, field answer: "." has only punctuation',
        "line 6, field tolerance: expected a number of 0 or more, got -1",
        ("line 3, field secondary_category: is empty, but other questions of the file have one"),
        "line 4, field question: repeats the question of line 1",
    ]


def test_an_alias_that_is_another_questions_answer_is_refused() -> None:
    """Unless that question takes this one's answer too: then the two are the same everywhere."""
    one = {"question": "Which river?", "answer": "Danube", "aliases": ["Rhine", "Donau"]}
    other = {"question": "Which other river?", "answer": "Rhine"}
    assert problems_of(one, other) == [
        (
            'line 1, field aliases: "Rhine" is the answer of line 2, which does '
            'not accept "Danube": remove it here, or add that alias there'
        )
    ]
    assert len(read(one, {**other, "aliases": "Danube"})) == 2


def test_what_a_row_may_say_is_read() -> None:
    (item,) = read(
        {
            "id": 7,
            "question": "In which year?",
            "answer": 1969,
            "aliases": '["AD 1969", "1969.", "year 1969"]',
            "category": "Space",
            "answer_type": "Date",
            "tolerance": "0.5",
            "urls": ["https://example.org/a", ""],
            "language": "en",
        }
    )
    asked = asked_of(LoadedItem(item, ()))
    assert (asked.answer, asked.aliases) == ("1969", ("AD 1969", "year 1969"))
    assert (asked.answer_type, asked.tolerance, asked.urls) == (
        "date", 0.5, ("https://example.org/a",),
    )  # fmt: skip
    assert (item.stratum.discipline, item.stratum.field, item.language) == ("Space", "", "en")


def test_what_is_written_is_read_again_as_the_same() -> None:
    """An item and a fact of the same row, through their rows."""
    row = {
        "question": "水的化学式是什么？", "answer": "H2O", "aliases": ["H₂O"], "tolerance": 0,
        "primary_category": "自然科学", "secondary_category": "化学",
    }  # fmt: skip
    (item,) = read(row)
    assert read(METHOD.write_item(LoadedItem(item, ()))) == [item]
    (built,) = METHOD.read_facts(rows(row))
    assert list(METHOD.read_facts(rows(METHOD.write_fact(built, {})))) == [built]
    assert built.fact.language == item.language == "zh"


def test_a_form_of_a_bank_asks_what_the_file_asked() -> None:
    """The same questions in an order of the seed; fewer are a part of them."""
    built = METHOD.read_facts(rows(*({"question": f"Q{n}?", "answer": f"a{n}"} for n in range(9))))
    facts = {entry.fact.id: entry.fact for entry in built}

    class Bank:
        id, name = b"", "nine"

        def facts(self) -> list[Any]:
            return list(facts.values())

    form = list(METHOD.compose(Bank(), METHOD.recipe({}), seed=4))
    texts = [asked_of(LoadedItem(item, (facts[item.facts[0]],))).question for item in form]
    assert sorted(texts) == [f"Q{n}?" for n in range(9)]
    assert list(METHOD.compose(Bank(), METHOD.recipe({"questions": 3}), seed=4)) == form[:3]
    with pytest.raises(BadInput, match="expected at least 10 questions; nine has 9"):
        list(METHOD.compose(Bank(), METHOD.recipe({"questions": 10}), seed=4))


def test_which_files_are_taken_for_short_questions() -> None:
    assert recognises(["question", "answer", "urls"])
    assert recognises(["problem", "answer", "metadata"])
    assert not recognises(["question", "options", "answer"])
    assert not recognises(["question", "A", "B", "answer"])
    assert not recognises(["text", "correct"])


def test_csv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Ann, the elder", "aliases": '["Ann I"]'}
    lines, table = tmp_path / "q.jsonl", tmp_path / "q.csv"
    lines.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    assert read_checked(lines, METHOD.read_items) == read_checked(table, METHOD.read_items)


@pytest.mark.skipif(not REAL.exists(), reason="the real questions lie outside the project")
def test_the_real_questions_are_read_as_they_stand() -> None:
    """3,000 rows, the counts of the paper's table by category, 99 secondary ones."""
    items = read_checked(REAL, METHOD.read_items)
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        answers = [json.loads(line)["answer"] for line in file]
    assert [asked_of(LoadedItem(item, ())).answer for item in items] == answers
    assert Counter(item.stratum.discipline for item in items) == {
        "中华文化": 326, "人文与社会科学": 609, "工程、技术与应用科学": 481,
        "生活、艺术与文化": 601, "社会": 453, "自然与自然科学": 530,
    }  # fmt: skip
    assert len({item.stratum.field for item in items}) == 99
    assert {item.language for item in items} == {"zh"}
    assert len({replace(item, id=b"").payload.question for item in items}) == 3000
