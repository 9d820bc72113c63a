"""Tables 1 and 2 of small banks and forms, each cell worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from proofstone.methods.encyclo_k.method import METHOD
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    Statement,
)
from proofstone.methods.encyclo_k.questions import render
from proofstone.page.text import tabulation_text
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Cell


class Words:
    """Counts words, so that a test's numbers can be seen."""

    name = "words"

    def __call__(self, text: str) -> int:
        return len(text.split())


def fact(n_words: int, discipline: str = "Science", correct: bool = True, **more: str) -> Fact:
    levels = {name: more.pop(name) for name in ("field", "subfield", "book") if name in more}
    payload = Statement(text=" ".join(["word"] * n_words), correct=correct)
    payload = msgspec.structs.replace(payload, error_type=more.pop("error_type", ""))
    return Fact(
        id=bytes(32),
        kind="encyclo_k.statement",
        payload=payload,
        language=more.pop("language", "en"),
        stratum=Stratum(discipline=discipline, **levels),
    )


def cells(table_rows: list[dict[str, Cell]], discipline: str) -> dict[str, Cell]:
    (row,) = [row for row in table_rows if row["discipline"] == discipline]
    return row


def test_table_1_counts_each_discipline_and_all() -> None:
    """Three of Science (two fields, two subfields), one of Law without levels, in two languages."""
    facts = [
        fact(4, field="Physics", subfield="Optics"),
        fact(6, correct=False, field="Physics", subfield="Optics", error_type="scope change"),
        fact(11, field="Chemistry", subfield="Optics", language="zh"),
        fact(9, "Law", language=""),
    ]
    table, errors = METHOD.fact_statistics(iter(facts), Words())
    rows = table.records()
    assert [row["discipline"] for row in rows] == ["Science", "Law", "Overall"]
    assert cells(rows, "Science") == {
        "discipline": "Science",
        "statements": 3,
        "statements_en": 2,
        "statements_zh": 1,
        "statements_und": 0,
        "correct": 2,
        "incorrect": 1,
        "tokens_max": 11,
        "tokens_min": 4,
        "tokens_mean": (4 + 6 + 11) / 3,
        "fields": 2,
        "subfields": 2,  # one name in two fields
    }
    overall = cells(rows, "Overall")
    assert (overall["statements"], overall["statements_und"]) == (3 + 1, 1)
    assert overall["tokens_mean"] == (4 + 6 + 11 + 9) / 4
    assert (overall["fields"], overall["subfields"]) == (2, 2)
    assert errors.records()[0]["scope_change"] == 1


def test_falsified_statements_are_counted_by_type_and_the_silent_ones_apart() -> None:
    kinds = ["causal inversion", "causal inversion", "logical paradox", ""]
    facts = [fact(3, correct=False, error_type=kind) for kind in kinds]
    _, errors = METHOD.fact_statistics(facts, Words())
    counted = errors.records()[-1]
    assert counted["incorrect"] == 4
    assert (counted["causal_inversion"], counted["logical_paradox"]) == (2, 1)
    assert counted["not_stated"] == 1


def test_a_bank_of_true_statements_has_no_table_of_errors() -> None:
    assert len(METHOD.fact_statistics([fact(3)], Words())) == 1


def test_no_rows_give_no_largest() -> None:
    """The empty case: numbers of 0, and no value where there is nothing to compare."""
    (row,) = METHOD.fact_statistics([], Words())[0].records()
    assert (row["statements"], row["tokens_max"], row["tokens_mean"]) == (0, None, None)


def composed(n_facts: int, options: tuple[tuple[int, ...], ...]) -> LoadedItem:
    payload = ComposedQuestion(
        asks_correct=True, template=0, wording=0, options=options, answer_key=0
    )
    facts = tuple(fact(5) for _ in range(n_facts))
    return loaded("encyclo_k.composed", payload, facts)


def loaded(kind: str, payload: object, facts: tuple[Fact, ...]) -> LoadedItem:
    item = Item(kind=kind, payload=payload, language="en", stratum=Stratum("Science"))
    return LoadedItem(item, facts)


def form() -> Iterator[LoadedItem]:
    yield composed(3, ((0, 1), (1, 2)))
    yield composed(4, ((0, 1, 2), (1, 3), (2, 3)))


def test_table_2_counts_statements_options_and_the_sizes_of_all_options() -> None:
    """Two questions: 3 and 4 statements, 2 and 3 options, options of 2, 2, 3, 2, 2 statements."""
    (table,) = METHOD.item_statistics(form(), Words())
    row = table.records()[-1]
    assert row["discipline"] == "Overall"
    assert (row["statements_max"], row["statements_min"], row["statements_mean"]) == (4, 3, 7 / 2)
    assert (row["options_max"], row["options_min"], row["options_mean"]) == (3, 2, 5 / 2)
    assert (row["combinations_max"], row["combinations_min"]) == (3, 2)
    assert row["combinations_mean"] == (2 + 2 + 3 + 2 + 2) / 5


def test_a_questions_tokens_are_those_of_all_that_it_shows() -> None:
    (table,) = METHOD.item_statistics(form(), Words())
    sizes = [len(render(item).split()) for item in form()]
    row = table.records()[-1]
    assert (row["tokens_max"], row["tokens_min"]) == (max(sizes), min(sizes))
    assert row["tokens_mean"] == sum(sizes) / 2


def test_an_imported_question_has_options_and_no_statements() -> None:
    """What is not known of it is None, and shown as a dash."""
    payload = ChoiceQuestion(question="Which?", options=("one", "two", "three"), answer_key=0)
    (table,) = METHOD.item_statistics([loaded("encyclo_k.choice", payload, ())], Words())
    row = table.records()[-1]
    assert (row["options_max"], row["statements_max"], row["combinations_mean"]) == (3, None, None)
    assert tabulation_text(table).splitlines()[-5].split()[-3:] == ["–", "–", "–"]


def test_a_single_statement_has_neither_options_nor_combinations() -> None:
    (table,) = METHOD.item_statistics(
        [loaded("encyclo_k.single", SingleStatement(), (fact(5),))], Words()
    )
    row = table.records()[-1]
    assert (row["statements_max"], row["options_max"]) == (1, None)


def test_the_table_reads_as_the_papers() -> None:
    """Compared whole: groups above their columns, numbers to the right, notes below."""
    facts = [
        fact(1234, field="Physics", subfield="Optics"),
        fact(8, correct=False, error_type="scope change"),
        fact(9, "Law", language="zh"),
    ]
    text = "\n\n".join(map(tabulation_text, METHOD.fact_statistics(facts, Words())))
    assert text == EXPECTED.strip("\n")


EXPECTED = (
    "\nStatements (the paper's Table 1)\n\n            statements     of "
    "them             tokens              coverage\ndiscipline  total  en  "
    "zh  correct  incorrect    max  min     avg  fields  subfields\n"
    "Science         2   2   0        1          1  1,234    8  "
    "621.00       1          1\nLaw             1   0   1        1          "
    "0      9    9    9.00       0          0\nOverall         3   2   "
    "1        2          1  1,234    8  417.00       1          1\n\nTokens "
    "of each statement's text by words.\n\nFalse statements by error "
    "type\n\n                 concept       causal     detail         "
    "temporal     logical  scope\ndiscipline  all  substitution  inversion  "
    "falsification  dislocation  paradox  change\nScience       "
    "1             0          0              0            0        0       "
    "1\nLaw           0             0          0              0            "
    "0        0       0\nOverall       1             0          "
    "0              0            0        0       1\n"
)


@pytest.mark.parametrize("n", [1, 1000, 1001])
def test_counts_do_not_depend_on_pages(n: int) -> None:
    (table,) = METHOD.fact_statistics((fact(2) for _ in range(n)), Words())
    assert table.records()[-1]["statements"] == n
