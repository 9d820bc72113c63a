"""Sections on items: the work list, the check of dimension, the model of items and skills."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proofstone.records.scores import Documents, Respondent
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.items import flagged_items, work_rows
from report.made_up import right_of, table_of
from report.test_sections import evidence_of, nine, section, three


def names(evidence: Evidence) -> list[str]:
    return [each.name for each in make_sections(evidence)]


def test_the_work_list_says_what_to_type() -> None:
    """Item 0, whose key is wrong: the five strong replied B, which `rule` takes as correct."""
    evidence = nine(answers=True)
    assert evidence.sheet is not None
    table = evidence.sheet.table
    runs = [
        replace(who, runs=(bytes([who_at]) * 16,)) for who_at, who in enumerate(table.respondents)
    ]
    sheet = replace(evidence.sheet, table=replace(table, respondents=tuple(runs)))
    first = flagged_items(replace(evidence, sheet=sheet))[0]
    assert (first.place, first.target, first.distractor) == (1, "item:0000", "B")
    assert first.flags == ("weak-beat-strong", "strong-distractor")
    assert first.show == "proofstone show item:0000"
    assert first.edit == 'proofstone correct edit item:0000 --reason "..."'
    assert first.exclude == 'proofstone correct exclude item:0000 --reason "..."'
    responses = ",".join(f"{f'0{who}' * 4}/0000/0" for who in range(4, 9))
    assert first.rule == f'proofstone correct override {responses} correct --reason "..."'
    assert (first.action, first.responses, first.decision) == ("correct", responses, "")


def test_items_of_a_file_have_no_commands() -> None:
    """They stand in no workspace; a missing number is an empty cell."""
    evidence = nine()
    assert evidence.sheet is not None
    named = replace(evidence.sheet.table, item_names=tuple(f"q{unit}" for unit in range(30)))
    rows = flagged_items(replace(evidence, sheet=replace(evidence.sheet, table=named)))
    first = next(iter(work_rows(rows)))
    assert (first["target"], first["show"], first["rule"]) == ("q0", "", "")
    assert first["distractor_share"] is None
    assert first["flags"] == "weak-beat-strong"


def test_flagged_items_name_their_documents_and_pages() -> None:
    """Item 0 rests on two documents, on two pages of the second; without documents there is no such
    column, and an item without one has an empty cell."""
    evidence = nine(answers=True)
    assert evidence.sheet is not None
    plain = section(evidence, "items").tables[0]
    assert "document" not in [column.key for column in plain.columns]
    documents = Documents(
        unit=np.array([0, 0, 0], dtype=np.int32),
        document=np.array([1, 0, 0], dtype=np.int32),
        pages=("", "3", "ix"),
        names=("Alloys", "Metals"),
    )
    sheet = replace(evidence.sheet, table=replace(evidence.sheet.table, documents=documents))
    worst = section(replace(evidence, sheet=sheet), "items").tables[0]
    place = [column.key for column in worst.columns].index("document")
    cells = {row[0]: row[place] for row in worst.rows}
    assert cells.pop("item:0000") == "Metals, Alloys (pages 3, ix)"
    assert set(cells.values()) <= {None}


def test_few_models_make_no_work_list() -> None:
    """Two cannot rank each other; three accuse nobody."""
    table = table_of([Respondent(name, "") for name in "ab"], right_of(9, 4, 0) + right_of(9, 5, 1),
                     n_units=9)  # fmt: skip
    assert flagged_items(evidence_of(table)) == ()
    assert flagged_items(three()) == ()


def profiled(swap: bool) -> Evidence:
    """Two models on 80 items: 30 of 40 right each in law and art; where ``swap``, one has all of
    law and half of art, and the other the other way round."""
    rights = ((40, 20), (20, 40)) if swap else ((30, 30), (30, 30))
    rows = [
        (item, who, 0, "answered", float(item // 2 < rights[who][item % 2]))
        for who in range(2)
        for item in range(80)
    ]
    groups = ["art" if item % 2 else "law" for item in range(80)]
    return evidence_of(
        table_of([Respondent(name, "") for name in "ab"], rows, n_units=80, discipline=groups)  # type: ignore[arg-type]
    )


def test_groups_that_rank_models_differently_are_named() -> None:
    """Each of the two is 25 points above its level in one group and 25 below in the other."""
    found = section(profiled(swap=True), "interaction")
    assert found.finding.startswith(
        "The model × group interaction is significant by discipline. By discipline, models deviate "
        "from their own level by 25.0 points"
    )
    row = found.tables[0].rows[0]
    assert row[:4] == ("discipline", 2, 80, pytest.approx(0.25))


def test_groups_that_rank_models_alike_leave_the_rest_open() -> None:
    """Both have the same scores everywhere."""
    found = section(profiled(swap=False), "interaction")
    assert found.finding == "No significant model × group interaction by discipline."
    assert found.cannot == (
        "The test does not show that all groups measure the same construct; small interactions may "
        "go undetected."
    )


def test_groups_of_few_items_are_not_checked() -> None:
    """Nine items in two groups are fewer than five each."""
    table = table_of([Respondent(name, "") for name in "ab"], right_of(9, 4, 0) + right_of(9, 5, 1),
                     n_units=9, discipline=["law"] * 4 + ["art"] * 5)  # fmt: skip
    assert "interaction" not in names(evidence_of(table))


def many(n_models: int, n_items: int = 40) -> Evidence:
    """Models and items of evenly spaced skills and difficulties; noise by a fixed seed."""
    rng = np.random.default_rng(1)
    skill, hard = np.linspace(-2, 2, n_models), np.linspace(-1, 1, n_items)
    rows = [
        (item, who, 0, "answered", float(rng.random() < 1 / (1 + np.exp(hard[item] - skill[who]))))
        for who in range(n_models)
        for item in range(n_items)
    ]
    respondents = [Respondent(f"m{who}", "") for who in range(n_models)]
    return evidence_of(table_of(respondents, rows, n_units=n_items))  # type: ignore[arg-type]


def test_the_item_model_ranks_skills_and_lists_items() -> None:
    """Skills fall as the ranking does; with 24 models the priors speak."""
    found = section(many(24), "item-model")
    skills, items = found.tables
    values = [row[2] for row in skills.rows]
    assert np.corrcoef(np.arange(24), values)[0, 1] < -0.95  # type: ignore[arg-type]
    assert len(items.rows) == 20
    assert items.note == "20 of 40 items."
    assert "with 24 models (fewer than 50)" in found.cannot


def test_the_item_model_needs_twenty_models_and_items() -> None:
    """Else there is nothing to fit."""
    assert "item-model" not in names(many(19))
    assert "item-model" not in names(many(24, n_items=19))
    assert section(many(52, n_items=20), "item-model").cannot == ""


def test_the_item_model_states_kr_20_and_its_own_reliability_only_with_fifty_models() -> None:
    few, many_models = (section(many(n), "item-model").finding for n in (24, 52))
    assert few.startswith("KR-20 is 0.92 [0.86, 0.96], n = 24 models. 80% of the items")
    assert "two-parameter" not in few
    assert "Reliability under the two-parameter model: 0.9" in many_models


def test_equal_models_are_not_said_to_differ_in_skill() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (item, who, 0, "answered", float(rng.random() < 0.5))
        for who in range(20)
        for item in range(60)
    ]
    respondents = [Respondent(f"m{who}", "") for who in range(20)]
    evidence = evidence_of(table_of(respondents, rows, n_units=60))  # type: ignore[arg-type]
    finding = section(evidence, "item-model").finding
    assert "The interval includes 0, so these items do not show" in finding
    assert "difficulty" not in finding
