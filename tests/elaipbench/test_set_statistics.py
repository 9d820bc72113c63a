"""The tables of a question set, against counts by hand."""

from __future__ import annotations

from msgspec import structs

from proofstone.methods.elaipbench.payloads import PaperQuestion
from proofstone.methods.elaipbench.statistics import fact_statistics
from proofstone.models.tokens import load_cl100k
from proofstone.records.knowledge import Fact, Stratum


def fact(document: bytes, key: tuple[int, ...], difficulty: str, year: int | None = 2020) -> Fact:
    return Fact(
        kind="elaipbench.question",
        payload=PaperQuestion(
            question="Which?", options=("one", "two", "three", "four"), answer_key=key,
            question_type="multiple" if len(key) > 1 else "single", evidence=(),
            difficulty=difficulty, year=year,
        ),
        stratum=Stratum(discipline="Statistics"),
        source=document,
    )  # fmt: skip


FACTS = [
    fact(b"first", (0,), "easy"), fact(b"first", (0, 2), "hard"), fact(b"first", (1, 2), "hard"),
    fact(b"second", (2,), "moderate", 2021), fact(b"second", (0, 1, 2), "", 2021),
]  # fmt: skip


def test_questions_are_counted_by_type_difficulty_and_field() -> None:
    questions, *_others = fact_statistics(FACTS, load_cl100k())
    counts = {str(row[0]): row[1] for row in questions.rows}
    assert counts == {
        "all questions": 5, "single answer": 2, "multiple answers": 3, "easy": 1, "moderate": 1,
        "hard": 2, "Statistics": 5,
    }  # fmt: skip
    length = load_cl100k()("Which?\none\ntwo\nthree\nfour")
    assert all(row[2:] == (length, length, length) for row in questions.rows)


def test_documents_are_counted_by_year_with_questions_and_the_hard_ones() -> None:
    _questions, documents, *_others = fact_statistics(FACTS, load_cl100k())
    assert documents.rows == (
        ("all", None, 2, 1.0, 1.5, 50.0),
        ("Statistics", 2020, 1, 1.0, 2.0, 100.0),
        ("Statistics", 2021, 1, 1.0, 1.0, 0.0),
    )


def test_correct_options_are_counted_by_letter() -> None:
    _questions, _documents, options, _words = fact_statistics(FACTS, load_cl100k())
    assert [row[:2] for row in options.rows] == [("A", 3), ("B", 2), ("C", 4), ("D", 0)]
    assert sum(float(str(row[2])) for row in options.rows) == 100.0


def test_an_empty_set_has_empty_tables() -> None:
    questions, documents, options, words = fact_statistics([], load_cl100k())
    assert questions.rows[0][1] == 0
    assert documents.rows == (("all", None, 0, None, None, None),)
    assert options.rows == ()
    assert words.rows == ()


def test_words_are_counted_once_a_question_and_general_ones_left_out() -> None:
    asked = ["Which estimator is robust? The robust estimator?", "What is an estimator of 2020?"]
    facts = [
        structs.replace(each, payload=structs.replace(each.payload, question=text))
        for each, text in zip(FACTS, asked, strict=False)
    ]
    words = fact_statistics(facts, load_cl100k())[-1]
    assert words.rows == (("estimator", 2, "\u2588" * 30), ("robust", 1, "\u2588" * 15))
