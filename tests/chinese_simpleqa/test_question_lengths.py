"""What a set of short questions is made of: counts and lengths by category."""

from __future__ import annotations

from msgspec import structs

from proofstone.methods.chinese_simpleqa.payloads import Pair, fact_statistics
from proofstone.records.knowledge import Fact, Stratum, fact_id


class Words:
    """Counts words for tokens."""

    name = "words"

    def __call__(self, text: str) -> int:
        return len(text.split())


def pair(question: str, answer: str, topic: str, part: str) -> Fact:
    fact = Fact(
        kind="chinese_simpleqa.pair", payload=Pair(question=question, answer=answer),
        language="en", stratum=Stratum(discipline=topic, field=part),
    )  # fmt: skip
    return structs.replace(fact, id=fact_id(fact))


def test_counts_and_lengths_in_tokens_and_characters_by_category() -> None:
    """Two questions of A, of 4 words each, and one of B."""
    facts = [
        pair("Who is it ?", "Ann", "A", "x"),
        pair("In which year is", "the year 1", "A", "y"),
        pair("What", "", "B", "z"),
    ]
    tables = fact_statistics(facts, Words())
    assert [table.title for table in tables] == [
        "Questions by category", "Questions by secondary category", "Questions by answer type",
    ]  # fmt: skip
    rows = {row["name"]: row for row in tables[0].records()}
    assert list(rows) == ["all", "A", "B"]
    a = rows["A"]
    assert (a["n"], a["question_longest"], a["question_shortest"]) == (2, 4, 4)
    assert a["question_characters_longest"] == len("In which year is")
    assert a["question_characters_mean"] == (len("Who is it ?") + len("In which year is")) / 2
    assert (a["answer_longest"], a["answer_characters_longest"]) == (3, len("the year 1"))
    assert rows["all"]["n"] == 3
    assert [row["name"] for row in tables[1].records()] == ["all", "A / x", "A / y", "B / z"]
