"""Corrected statements and questions: new versions that name the old, checked as files are."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from proofstone.errors import BadInput
from proofstone.method import find_method
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, SingleStatement
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.tables import Row

METHOD = find_method("encyclo_k")
EDITING = METHOD.editing

ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "Gold melts at 1,064 degrees.", "correct": True, "book": "Metals",
     "source": "A book of metals", "written_by": ["lab/writer"], "page": 7},
    {"id": "f", "text": "Gold melts at 164 degrees.", "correct": False, "origin": "a",
     "error_type": "detail falsification", "book": "Metals", "perturbed_by": ["lab/liar"]},
    {"id": "b", "text": "Lead is soft.", "correct": True, "book": "Metals"},
    {"id": "c", "text": "Iron floats on water.", "correct": False, "book": "Metals"},
]  # fmt: skip


@pytest.fixture
def built() -> dict[str, BuiltFact]:
    made = METHOD.read_facts([Row(f"line {n}", row) for n, row in enumerate(ROWS)])
    return {row["id"]: fact for row, fact in zip(ROWS, made, strict=True)}


def composed(facts: list[Fact], options: list[tuple[int, ...]], answer_key: int) -> LoadedItem:
    payload = ComposedQuestion(
        asks_correct=True, template=0, wording=0, options=tuple(options), answer_key=answer_key
    )
    item = Item(
        kind="encyclo_k.composed", payload=payload, facts=tuple(f.id for f in facts),
        language="en", number=3,
    )  # fmt: skip
    return LoadedItem(with_id(item), tuple(facts))


def with_id(item: Item) -> Item:
    return structs.replace(item, id=item_id(item))


def choice() -> LoadedItem:
    payload = ChoiceQuestion(question="2 + 2?", options=("3", "4", "5"), answer_key=0)
    return LoadedItem(with_id(Item(kind="encyclo_k.choice", payload=payload, language="en")), ())


# ---------------------------------------------------------------- statements


def test_a_corrected_statement_keeps_its_source_page_and_roles(built: dict[str, BuiltFact]) -> None:
    (new,) = EDITING.revise_fact(built["a"], {"text": "Gold melts at 1,064 C."}, [])
    assert new.fact.payload.text == "Gold melts at 1,064 C."
    assert new.fact.corrects == built["a"].fact.id
    assert new.fact.id != built["a"].fact.id
    assert (new.source, new.roles) == (built["a"].source, built["a"].roles)
    assert (new.fact.page, new.fact.stratum) == (built["a"].fact.page, built["a"].fact.stratum)


def test_falsified_statements_follow_the_one_they_came_from(built: dict[str, BuiltFact]) -> None:
    facts = [b.fact for b in built.values()]
    naming = EDITING.naming(built["a"].fact, facts)
    assert naming == [built["f"].fact]
    new, false = EDITING.revise_fact(built["a"], {"text": "Gold melts."}, [built["f"]])
    assert false.fact.payload.origin == new.fact.id
    assert false.fact.corrects == built["f"].fact.id
    assert false.fact.payload.text == built["f"].fact.payload.text
    assert false.roles == built["f"].roles


def test_new_versions_stay_with_the_very_source_that_is_stored(
    built: dict[str, BuiltFact],
) -> None:
    """A source with a place in the taxonomy, which no column of a row tells."""
    stored = structs.replace(
        built["a"].source, id=b"s" * 32, content=b"c" * 32, stratum=Stratum("Science")
    )
    of_it = {
        key: structs.replace(
            built[key], source=stored, fact=structs.replace(built[key].fact, source=stored.id)
        )
        for key in "af"
    }
    new, false = EDITING.revise_fact(
        of_it["a"], {"text": "Gold melts at 1,065 degrees."}, [of_it["f"]]
    )
    assert [each.source for each in (new, false)] == [stored, stored]
    assert [each.fact.source for each in (new, false)] == [stored.id, stored.id]
    assert false.fact.payload.origin == new.fact.id == fact_id(structs.replace(new.fact, id=b""))
    moved, _false = EDITING.revise_fact(of_it["a"], {"source": "Another book"}, [of_it["f"]])
    assert moved.source is not None
    assert moved.source.title == "Another book"


def test_a_field_is_taken_away_by_none(built: dict[str, BuiltFact]) -> None:
    (new,) = EDITING.revise_fact(built["a"], {"page": None}, [])
    assert new.fact.page == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"colour": "red", "id": "x"}, ["colour: cannot be changed", "id: cannot be changed"]),
        ({"correct": "maybe"}, ["correct"]),
        ({"text": " "}, ["text"]),
        ({"correct": True, "error_type": "x"}, ["error_type"]),
    ],
)
def test_new_values_are_checked_as_a_file_is(
    built: dict[str, BuiltFact], changes: dict[str, Any], told: list[str]
) -> None:
    with pytest.raises(BadInput) as refused:
        EDITING.revise_fact(built["a"], changes, [])
    assert all(word in str(refused.value) for word in told)


def test_a_statement_that_others_came_from_cannot_become_false(
    built: dict[str, BuiltFact],
) -> None:
    with pytest.raises(BadInput, match="is itself a false statement"):
        EDITING.revise_fact(built["a"], {"correct": False}, [built["f"]])


def test_fields_are_those_of_files_without_ids(built: dict[str, BuiltFact]) -> None:
    assert EDITING.fact_fields(built["f"]) == {
        "text": "Gold melts at 164 degrees.",
        "correct": False,
        "origin": built["a"].fact.id.hex(),
        "error_type": "detail falsification",
        "language": "en",
        "book": "Metals",
        "perturbed_by": ["lab/liar"],
    }


# ---------------------------------------------------------------- questions


def test_the_right_option_follows_from_the_statements(built: dict[str, BuiltFact]) -> None:
    """Right were gold and lead (0, 1); lead turns out false: right is gold alone, option B."""
    facts = [built["a"].fact, built["b"].fact, built["c"].fact]
    item = composed(facts, [(0, 1), (0,), (1, 2)], 0)
    (lead,) = EDITING.revise_fact(built["b"], {"correct": False}, [])
    new = EDITING.rest_anew(item, {built["b"].fact.id: lead.fact})
    assert (new.payload.answer_key, new.payload.options) == (1, ((0, 1), (0,), (1, 2)))
    assert new.facts == (facts[0].id, lead.fact.id, facts[2].id)
    assert (new.corrects, new.number) == (item.item.id, 3)
    assert new.id == item_id(new)


def test_where_no_option_is_right_the_former_right_one_becomes_it(
    built: dict[str, BuiltFact],
) -> None:
    """Iron turns out true: all three are, and option A, which was right, says so now."""
    facts = [built["a"].fact, built["b"].fact, built["c"].fact]
    item = composed(facts, [(0, 1), (0,), (1, 2)], 0)
    (iron,) = EDITING.revise_fact(built["c"], {"correct": True}, [])
    new = EDITING.rest_anew(item, {built["c"].fact.id: iron.fact})
    assert (new.payload.answer_key, new.payload.options) == (0, ((0, 1, 2), (0,), (1, 2)))


def test_a_question_that_nothing_answers_is_refused(built: dict[str, BuiltFact]) -> None:
    item = composed([built["a"].fact, built["c"].fact], [(0,), (1,)], 0)
    (answer_key,) = EDITING.revise_fact(built["a"], {"correct": False}, [])
    with pytest.raises(BadInput, match=r"no statement of item .* is correct"):
        EDITING.rest_anew(item, {built["a"].fact.id: answer_key.fact})


def test_a_composed_question_can_be_put_in_another_way(built: dict[str, BuiltFact]) -> None:
    """Asked for the incorrect one of three: iron, option C."""
    facts = [built["a"].fact, built["b"].fact, built["c"].fact]
    item = composed(facts, [(0, 1), (0,), (2,)], 0)
    new = EDITING.revise_item(item, {"asked": "incorrect", "template": 1, "field": "Physics"})
    assert (new.payload.asks_correct, new.payload.template, new.payload.answer_key) == (False, 1, 2)
    assert (new.facts, new.stratum.field) == (item.item.facts, "Physics")
    with pytest.raises(BadInput) as refused:
        EDITING.revise_item(item, {"asked": "both", "wording": 900})
    assert "asked: expected correct or incorrect" in str(refused.value)
    assert "expected a whole number from 0 to" in str(refused.value)
    with pytest.raises(BadInput, match="question: cannot be changed"):
        EDITING.revise_item(item, {"question": "What?"})


def test_a_question_made_elsewhere_is_corrected_as_its_file_is() -> None:
    item = choice()
    new = EDITING.revise_item(item, {"answer": "B"})
    assert (new.payload.answer_key, new.corrects) == (1, item.item.id)
    moved = EDITING.revise_item(item, {"options": ["2", "3", "4"], "answer": "C"})
    assert (moved.payload.options, moved.payload.answer_key) == (("2", "3", "4"), 2)
    text = EDITING.revise_item(item, {"question": "What is 2 + 1?"})
    assert (text.payload.question, text.payload.answer_key) == ("What is 2 + 1?", 0)
    with pytest.raises(BadInput, match="answer"):
        EDITING.revise_item(item, {"answer": "Q"})


def test_a_single_statement_rests_anew_and_keeps_nothing_of_its_own(
    built: dict[str, BuiltFact],
) -> None:
    fact = built["b"].fact
    item = with_id(Item(kind="encyclo_k.single", payload=SingleStatement(), facts=(fact.id,)))
    (lead,) = EDITING.revise_fact(built["b"], {"text": "Lead is a metal."}, [])
    new = EDITING.rest_anew(LoadedItem(item, (fact,)), {fact.id: lead.fact})
    assert (new.facts, new.corrects) == ((lead.fact.id,), item.id)
    assert set(EDITING.item_fields(LoadedItem(item, (fact,)))) <= {
        "discipline", "field", "subfield", "book"
    }  # fmt: skip
