"""Statements that are probably wrong: by the questions that hold them, by answers to them alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proofstone.records.scores import Documents, Respondent, ScoreTable
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.items import flagged_items
from proofstone.wording.messages import speaking
from report.made_up import ACCURACY, table_of
from report.test_sections import evidence_of, section

N_MODELS, N_ITEMS, N_STATEMENTS = 10, 120, 40
WRONG = 7


def held() -> list[list[int]]:
    """Three statements an item, by turns of different lengths, so that they overlap."""
    return [
        sorted({item % N_STATEMENTS, (item * 3 + 1) % N_STATEMENTS, (item * 7 + 2) % N_STATEMENTS})
        for item in range(N_ITEMS)
    ]


def scores(rng: np.random.Generator, units: list[list[int]]) -> list[tuple]:  # type: ignore[type-arg]
    """Models of rising skill; where a unit holds the wrong statement, all guess."""
    return [
        (unit, who, 0, "answered", float(rng.random() < (0.1 if WRONG in keys else 0.3 + who / 15)))
        for who in range(N_MODELS)
        for unit, keys in enumerate(units)
    ]


def table(units: list[list[int]], seed: int) -> ScoreTable:
    rng = np.random.default_rng(seed)
    edges = [(unit, key) for unit, keys in enumerate(units) for key in keys]
    made = table_of(
        [Respondent(f"m{who}", "") for who in range(N_MODELS)],
        scores(rng, units),
        n_units=len(units),
        keys=edges,
    )
    return replace(made, key_names={key: f"fact:{key:04d}" for key in range(N_STATEMENTS)})


def composed() -> Evidence:
    return evidence_of(table(held(), 1))


def test_the_wrong_statement_is_named_with_its_evidence() -> None:
    found = section(composed(), "statements")
    assert found.finding.startswith("Of 40 statements that items share, 1 is probably wrong, and ")
    assert found.plain.startswith("Look at fact:0007 first: questions that hold it go wrong")
    first = found.tables[0].rows[0]
    n = sum(WRONG in keys for keys in held())
    assert (first[0], first[2], first[6], first[7]) == ("fact:0007", n, 0, None)
    assert "no advantage for strong models" in str(first[1])
    assert isinstance(first[4], float)
    assert first[4] < -0.2


def test_answers_to_statements_alone_stand_beside() -> None:
    """Each statement was also asked twice; the wrong one is right in a tenth."""
    alone = Sheet(table([[key] for key in range(N_STATEMENTS)] * 2, 2), ACCURACY.counts)
    found = section(replace(composed(), statements=alone), "statements")
    first = found.tables[0].rows[0]
    assert (first[0], first[6]) == ("fact:0007", 2)
    assert isinstance(first[7], float)
    assert first[7] < 0.3
    assert found.how.endswith("are judged in the same way.")


def test_it_stands_in_the_work_list_with_what_to_type() -> None:
    rows = [row for row in flagged_items(composed()) if row.kind == "statement"]
    first = rows[0]
    assert (first.target, first.action, first.decision) == ("fact:0007", "edit", "")
    assert first.edit == 'proofstone correct edit fact:0007 --reason "..."'
    assert "compared with the rest; correlation with the rest" in first.evidence
    with speaking("zh"):
        said = next(row for row in flagged_items(composed()) if row.kind == "statement")
    assert said.reason.startswith("含该条目的题目得分较低")


def test_flagged_statements_name_their_documents_and_pages() -> None:
    """On the page and in the work list; without documents there is no such column, and a statement
    of no document has an empty cell."""
    plain = composed()
    assert plain.sheet is not None
    assert "document" not in [c.key for c in section(plain, "statements").tables[0].columns]
    documents = Documents(
        unit=np.array([0], dtype=np.int32), document=np.array([1], dtype=np.int32), pages=("",),
        names=("Alloys", "Metals"), keys={"fact:0007": ((1, "3"), (0, ""), (1, "ix"))},
    )  # fmt: skip
    evidence = evidence_of(replace(plain.sheet.table, documents=documents))
    table = section(evidence, "statements").tables[0]
    place = [column.key for column in table.columns].index("document")
    cells = {row[0]: row[place] for row in table.rows}
    assert cells.pop("fact:0007") == "Metals (pages 3, ix), Alloys"
    assert set(cells.values()) == {None}
    listed = {
        row.target: row.document for row in flagged_items(evidence) if row.kind == "statement"
    }
    assert listed.pop("fact:0007") == "Metals (pages 3, ix), Alloys"
    assert set(listed.values()) == {""}


def test_keys_that_part_the_items_are_no_statements() -> None:
    """A book of three items each is a cluster, and so are keys without names."""
    books = evidence_of(table([[item // 3] for item in range(N_ITEMS)], 1))
    assert "statements" not in [each.name for each in make_sections(books)]
    assert books.sheet is not None
    nameless = replace(composed().sheet.table, key_names={})  # type: ignore[union-attr]
    assert "statements" not in [each.name for each in make_sections(evidence_of(nameless))]


def test_few_models_accuse_no_statement() -> None:
    """Three rank each other, and call nothing wrong."""
    whole = composed().sheet
    assert whole is not None
    few = whole.table.respondent < 3
    made = replace(
        whole.table,
        respondents=whole.table.respondents[:3],
        expected=whole.table.expected[:3],
        **{
            name: getattr(whole.table, name)[few]
            for name in ("unit", "respondent", "sample", "outcome", "value", "answer")
        },
    )
    found = section(evidence_of(made), "statements")
    assert "3 models are too few to tell a wrong statement from a hard one" in found.cannot
    assert "probably" not in found.plain


def test_keys_of_a_file_are_called_by_their_column() -> None:
    """Nothing says that a file's keys are statements: neither a title, a sentence nor a row."""
    ours = composed().sheet
    assert ours is not None
    names = tuple(f"q{n}" for n in range(N_ITEMS))
    made = replace(ours.table, item_names=names, key_columns=("facts", "books"))
    evidence = evidence_of(made)
    found = section(evidence, "keys")
    assert found.title == "Which keys in facts, books are probably wrong"
    assert found.finding.startswith("Of 40 keys in facts, books that items share, 1 is probably")
    assert found.how.startswith(
        "Each key in facts, books is judged over all items that contain it."
    )
    assert (found.tables[0].columns[0].key, found.tables[0].columns[0].name) == (
        "key",
        "facts, books",
    )
    assert "statement" not in repr(found)
    assert {row.kind for row in flagged_items(evidence)} <= {"item", "key"}
    with speaking("zh"):
        spoken = section(evidence, "keys")
    assert spoken.finding.startswith("题目共有的 facts、books 中的 40 个键中，1 项很可能有误")
    assert "陈述" not in repr(spoken)
