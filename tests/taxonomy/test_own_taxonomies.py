"""A taxonomy of one's own: read from a table or TOML, refused with every problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadInput, NotFound
from proofstone.files.write import write_rows
from proofstone.ingest.taxonomy import (
    bundled_names,
    bundled_taxonomy,
    find_taxonomy,
    locate,
    read_taxonomy,
    taxonomy_rows,
)
from proofstone.records.knowledge import Stratum

GOOD = """discipline,field,subfield,items,also
Crafts,,,,Trades
Crafts,Smithing,Forging,3,
Crafts,Smithing,Casting,4,Founding; Foundry work
Crafts,Weaving,,2,
"""


def table(folder: Path, text: str, name: str = "own.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(BadInput) as refused:
        read_taxonomy(path)
    return [str(problem) for problem in refused.value.problems]


def test_levels_without_a_row_are_implied_and_counts_add_up(tmp_path: Path) -> None:
    taxonomy = read_taxonomy(table(tmp_path, GOOD))
    assert [node.path for node in taxonomy.nodes] == [
        ("Crafts",),
        ("Crafts", "Smithing"),
        ("Crafts", "Smithing", "Forging"),
        ("Crafts", "Smithing", "Casting"),
        ("Crafts", "Weaving"),
    ]
    assert [node.counts["items"] for node in taxonomy.nodes] == [3 + 4 + 2, 3 + 4, 3, 4, 2]


def test_every_problem_is_told_with_its_place(tmp_path: Path) -> None:
    text = """discipline,field,subfield,items,fields,also,colour
Crafts,,,10,3,,red
Crafts,Smithing,,three,,,
,Weaving,,,,,
Crafts,,Felting,,,,
Crafts,Pottery,,2,,,
Crafts,Pottery,,2,,,
Crafts,POTTERY ,,4,,,
"""
    assert problems(table(tmp_path, text)) == [
        "line 2, column colour: expected one of discipline, field, subfield, book, statements, "
        "questions, items, sources, fields, subfields, books, also",
        'line 3, field items: expected a whole number of 0 or more, got "three"',
        "line 4, field discipline: is empty, but field Weaving is below it",
        "line 5, field field: is empty, but subfield Felting is below it",
        "line 7: duplicate of line 6: Crafts / Pottery",
        "line 8: POTTERY and its sibling Pottery have ambiguous names",
    ]


def test_counts_that_do_not_add_up_are_told(tmp_path: Path) -> None:
    text = "discipline,field,items,fields\nCrafts,,9,1\nCrafts,Smithing,3,\nCrafts,Weaving,4,\n"
    assert problems(table(tmp_path, text)) == ["line 2: states 1 fields, and 2 are listed"]
    text = text.replace("9,1", "9,2")
    assert problems(table(tmp_path, text)) == [
        f"line 2: states 9 items, and those of its fields are {3 + 4}"
    ]


def test_toml_has_a_title_and_a_table_a_node(tmp_path: Path) -> None:
    text = """title = "Our crafts"
notes = ["Made in the workshop."]
[[nodes]]
discipline = "Crafts"
fields = 5
[[nodes]]
discipline = "Crafts"
field = "Smithing"
items = 3
"""
    taxonomy = read_taxonomy(table(tmp_path, text, "own.toml"))
    assert (taxonomy.name, taxonomy.title) == ("own", "Our crafts")
    assert not taxonomy.is_whole(("Crafts",))  # one of five fields is listed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = 3\nnodes = 4\n", ["key nodes: expected [[nodes]], one table per node",
                                    "the table: has no node: a discipline is needed"]),
        ("name = 'x'\n[[nodes]]\nfield = 'F'\n",
         ["key name: is none of title, source, notes, nodes",
          "node 1, field discipline: is empty, but field F is below it"]),
    ],
)  # fmt: skip
def test_toml_that_is_no_taxonomy_is_refused(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    told = problems(table(tmp_path, text, "own.toml"))
    assert [each for each in told if each in expected]


def test_a_carried_one_is_read_back_from_what_is_written_of_it(tmp_path: Path) -> None:
    for name in bundled_names():
        bundled = bundled_taxonomy(name)
        write_rows(tmp_path / f"{name}.csv", taxonomy_rows(bundled))
        assert read_taxonomy(tmp_path / f"{name}.csv").nodes == bundled.nodes


def test_a_name_that_is_neither_carried_nor_a_file_is_not_found() -> None:
    with pytest.raises(NotFound, match="taxonomy kino not found") as refused:
        find_taxonomy("kino")
    assert "encyclo-k, kina" in refused.value.hint


def test_names_are_found_whatever_their_case_and_by_their_other_names(tmp_path: Path) -> None:
    taxonomy = read_taxonomy(table(tmp_path, GOOD))
    found = locate(taxonomy, Stratum("trades", "SMITHING", "foundry  work", "The anvil"))
    assert found.stratum == Stratum("Crafts", "Smithing", "Casting", "The anvil")
    assert found.path == ("Crafts", "Smithing", "Casting")


def test_a_name_in_one_place_only_brings_the_levels_above_it() -> None:
    kina = bundled_taxonomy("kina")
    found = locate(kina, Stratum(subfield="Cryptography"))
    assert found.stratum == Stratum("Science", "Mathematics", "Cryptography")
    assert locate(kina, Stratum(book="A book")).problem == ""
    lost = locate(kina, Stratum(subfield="Astrology"))
    assert lost.problem == "subfield Astrology is not in kina, and no discipline is given"


def test_where_all_is_listed_another_name_is_a_problem() -> None:
    kina = bundled_taxonomy("kina")
    assert locate(kina, Stratum("Science", "Mathematic")).problem == (
        "Mathematic is no field under Science; near it: Mathematics"
    )
    assert locate(kina, Stratum("Lore")).problem.startswith("Lore is no discipline of kina; there")


def test_where_not_all_is_listed_any_name_is_taken() -> None:
    """The text of Encyclo-K names three of eighteen fields of Engineering."""
    encyclo_k = bundled_taxonomy("encyclo-k")
    found = locate(encyclo_k, Stratum("engineering", "Civil Engineering", "Bridges"))
    assert (found.problem, found.path) == ("", ("Engineering",))
    assert found.stratum == Stratum("Engineering", "Civil Engineering", "Bridges")
    assert locate(encyclo_k, Stratum("History", "History", "Local")).problem.startswith(
        "Local is no subfield under History / History"
    )
