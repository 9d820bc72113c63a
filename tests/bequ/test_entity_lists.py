"""Lists of entities: what their rows may say, which rows are one entity, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked
from proofstone.methods.bequ.entities import DOMAINS, Entity, plain_name
from proofstone.methods.bequ.method import METHOD
from proofstone.records.ids import canonical_json
from proofstone.records.items import Item, LoadedItem
from proofstone.records.tables import Row

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bequ" / "entities"


def read(*rows: dict[str, Any]) -> list[Item]:
    return list(METHOD.read_items(Row(f"line {n}", dict(row)) for n, row in enumerate(rows, 1)))


def entities(*rows: dict[str, Any]) -> list[Entity]:
    return [item.payload for item in read(*rows)]


def problems(*rows: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(*rows)
    return [f"{problem.where}: {problem.what}" for problem in caught.value.problems]


def test_a_row_says_all_there_is_to_say() -> None:
    (item,) = read(
        {
            "title": "Ada Lovelace",
            "description": "English mathematician",
            "redirects": ["Ada Byron", "Countess of Lovelace"],
            "domain": "Person",
            "popularity_bucket": "66-100%",
            "wikibase_item": "https://www.wikidata.org/wiki/Q7259",
            "url": "https://en.wikipedia.org/wiki/Ada_Lovelace",
            "length": "51073",
            "wikidata_statements": 120,
            "page_views": 4000,
            "language": "en",
        }
    )
    assert item.payload == Entity(
        name="Ada Lovelace",
        description="English mathematician",
        aliases=("Ada Byron", "Countess of Lovelace"),
        wikidata="Q7259",
        wikipedia="https://en.wikipedia.org/wiki/Ada_Lovelace",
        length=51073,
        statements=120,
        popularity=4000,
    )
    assert (item.stratum.discipline, item.stratum.field) == ("person", "66-100%")


def test_what_is_written_is_read_as_the_same_entity() -> None:
    items = read(
        {"name": "أم كلثوم", "aliases": ["Umm Kulthum"], "domain": "person", "qid": "Q150899"},
        {"name": "鲁迅", "tier": "0-33%", "length": 9},
        {"name": "Gulf of Nowhere", "nonexistent": True},
    )
    rows = [METHOD.write_item(LoadedItem(item, ())) for item in items]
    assert [item.id for item in read(*rows)] == [item.id for item in items]


def test_the_name_of_a_group_is_a_tier_where_it_ends_in_percent_else_a_domain() -> None:
    items = read(
        {"name": "A", "group": "work_of_art"},
        {"name": "B", "group": "organization"},
        {"name": "C", "group": "0-33%"},
    )
    places = [(item.stratum.discipline, item.stratum.field) for item in items]
    assert places == [("work of art", ""), ("organisation", ""), ("", "0-33%")]


def test_of_what_does_not_exist_no_ids_are_taken() -> None:
    """In a published list they belong to other entities."""
    (entity,) = entities(
        {"name": "Valdora Strait", "nonexistent": "true", "wikibase_item": "Q122510615"}
    )
    assert entity == Entity(name="Valdora Strait", is_nonexistent=True)


def test_a_fictional_entity_may_be_plausible_or_absurd() -> None:
    """Where nobody says which, its id is what it always was, and a row says the same again."""
    rows: list[dict[str, Any]] = [
        {"name": "Valdora Strait", "nonexistent": "plausible"},
        {"name": "Flying Trams", "nonexistent": "Absurd", "qid": "Q1"},
        {"name": "Gulf of Nowhere", "nonexistent": True},
        {"name": "Rome", "nonexistent": "false"},
    ]
    items = read(*rows)
    kinds = [(item.payload.is_nonexistent, item.payload.fiction) for item in items]
    assert kinds == [(True, "plausible"), (True, "absurd"), (True, UNSET), (False, UNSET)]
    assert b'fiction"' not in canonical_json(items[2].payload)
    written = [METHOD.write_item(LoadedItem(item, ())) for item in items]
    assert [row.get("nonexistent") for row in written] == ["plausible", "absurd", True, None]
    assert [item.id for item in read(*written)] == [item.id for item in items]
    assert problems({"name": "Rome", "nonexistent": "perhaps"})[0].startswith(
        "line 1, field nonexistent"
    )
    twice = [
        {"name": "Mars Bay", "nonexistent": True},
        {"name": "mars bay", "nonexistent": "absurd"},
    ]
    (one,) = entities(*twice)
    assert one.fiction == "absurd"


def test_rows_that_mean_one_entity_become_one_in_the_place_of_the_first() -> None:
    """By number, by name in other letters, and by a redirect, also from the other side."""
    found = entities(
        {"name": "Myanmar", "wikidata": "Q836"},
        {"name": "Ada Byron"},
        {"name": "Burma", "wikidata": "Q836", "statements": 90},
        {"name": "Ada Lovelace", "redirects": ["ada_byron"], "wikidata": "Q7259"},
        {"name": "ＭＹＡＮＭＡＲ", "domain": "location"},
    )
    assert [entity.name for entity in found] == ["Myanmar", "Ada Byron"]
    assert found[0].aliases == ("Burma",)
    assert (found[0].wikidata, found[0].statements) == ("Q836", 90)
    assert (found[1].aliases, found[1].wikidata) == (("Ada Lovelace",), "Q7259")


def test_two_entities_with_one_name_are_told_and_a_description_sets_them_apart() -> None:
    planet = {"name": "Mercury", "wikidata": "Q308"}
    metal = {"name": "mercury", "wikidata": "Q925"}
    assert problems(planet, metal) == [
        (
            'line 2, field name: "mercury" is Q925 here and Q308 in line 1: the '
            "name is ambiguous for a model; add a description to each, or a name "
            "such as NAME (what it is)"
        )
    ]
    described = [{**planet, "description": "planet"}, {**metal, "description": "metal"}]
    assert len(read(*described)) == 2


def test_an_alias_of_two_entities_joins_neither() -> None:
    found = entities(
        {"name": "Georgia (country)", "aliases": "Georgia", "wikidata": "Q230"},
        {"name": "Georgia", "wikidata": "Q1428"},
    )
    assert len(found) == 2


def test_an_alias_that_two_are_named_joins_neither() -> None:
    found = entities(
        {"name": "Mercury", "description": "planet"},
        {"name": "Mercury", "description": "metal"},
        {"name": "Quicksilver", "aliases": "Mercury"},
    )
    assert len(found) == 3


def test_what_a_later_row_of_an_entity_says_is_kept() -> None:
    (entity,) = entities(
        {"name": "Ada Byron", "wikidata": "Q7259"},
        {"name": "Ada Lovelace", "wikidata": "Q7259", "description": "mathematician", "length": 9},
    )
    assert (entity.name, entity.description, entity.length) == ("Ada Byron", "mathematician", 9)


def test_every_problem_of_a_list_is_told_with_its_place() -> None:
    assert problems(
        {"name": "  "},
        {"name": "A\u202eB"},
        {"name": "\u200f"},
        {"name": "C", "wikidata": "7259"},
        {"name": "D", "length": "long", "nonexistent": "maybe"},
        {"name": "E", "domain": "person"},
        {"name": "e", "domain": "plant"},
    ) == [
        "line 1, field name: contains only white space",
        "line 2, field name: holds U+202E, which is not allowed in a name",
        'line 3, field name: "\u200f" has no visible characters',
        'line 4, field wikidata: expected a Wikidata number such as Q42, got "7259"',
        'line 5, field nonexistent: expected true or false (correct, incorrect, 1, 0), got "maybe"',
        'line 5, field length: expected a whole number of 0 or more, got "long"',
        ('line 7, field domain: is "plant" here and "person" in line 6, for the same entity'),
    ]


def test_rows_of_one_entity_that_contradict_each_other_are_told() -> None:
    twice = {"name": "A", "wikidata": "Q1"}
    assert problems({**twice, "domain": "person"}, {**twice, "domain": "event"}) == [
        ('line 2, field domain: is "event" here and "person" in line 1, for the same entity')
    ]
    assert problems({"name": "A"}, {"name": "a", "nonexistent": True}) == [
        ("line 2, field nonexistent: is non-existent in one row, but not in another (line 1)")
    ]


@pytest.mark.parametrize(
    ("columns", "is_list"),
    [
        (["title", "length"], True),
        (["entity"], True),
        (["title", "text", "correct"], False),
        (["question", "answer", "label"], False),
        (["subject", "predicate", "object", "name"], False),
        (["name", "accuracy"], False),
        (["length"], False),
    ],
)
def test_a_list_is_known_by_its_columns(columns: list[str], is_list: bool) -> None:
    assert METHOD.recognises(columns) is is_list


def test_names_are_compared_without_regard_to_case_width_and_marks() -> None:
    assert plain_name("Straße_des  17. Juni\u200e") == plain_name("STRASSE des 17. JUNI")


def test_groups_of_a_json_file_are_read_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    groups = {"person": [{"title": "A"}, {"title": "B"}], "plant": [{"title": "C"}], "none": []}
    path.write_text(json.dumps(groups, indent=2), encoding="utf-8")
    items = read_checked(path, METHOD.read_items)
    assert [(i.payload.name, i.stratum.discipline) for i in items] == [
        ("A", "person"), ("B", "person"), ("C", "plant"),
    ]  # fmt: skip


@pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data/bequ/entities")
def test_the_published_lists_are_read_as_they_stand() -> None:
    def of(name: str) -> list[Item]:
        return list(read_checked(REAL / name, METHOD.read_items))

    assert len(of("random_200.json")) == 200
    assert len(of("non_existent_10.json")) == 10
    domains = [item.stratum.discipline for item in of("by_domain_1000.json")]
    assert {name: domains.count(name) for name in domains} == dict.fromkeys(DOMAINS, 100)
    tiers = [item.stratum.field for item in of("popularity_600.json")]
    assert {t: tiers.count(t) for t in tiers} == {"66-100%": 200, "33-66%": 200, "0-33%": 200}
