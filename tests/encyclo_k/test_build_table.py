"""Fact tables: how cells are read, what is refused, and what a table proves of a claim."""

from __future__ import annotations

from typing import Any

import pytest

from proofstone.errors import BadInput
from proofstone.methods.encyclo_k.fact_tables import (
    Claim,
    Column,
    FactTable,
    agrees_with,
    is_false_against,
    read_table,
    read_template,
    written,
)
from proofstone.records.tables import Row

TEMPLATE = """
title = "Rivers"
language = "en"
key = "river"

[columns.length]
values = "number"
tolerance = 50

[columns.depth]
values = "number"
decimals = 1

[columns.countries]
values = "many"
separator = ";"

[[points]]
name = "mouth"
column = "mouth"
title = "mouth of the {river}"
say = ["The {river} flows into {mouth}."]
"""
NILE = {
    "river": "Nile",
    "mouth": "the Mediterranean",
    "length": "6650",
    "depth": 8.04,
    "countries": "Egypt; Sudan",
}


def table_of(*rows: dict[str, Any], extra: str = "") -> FactTable:
    placed = [Row(f"line {number}", row) for number, row in enumerate(rows, 2)]
    return read_table(read_template(TEMPLATE + extra, "rivers.toml"), placed, "rivers.csv")


def refusal(*rows: dict[str, Any], extra: str = "") -> str:
    with pytest.raises(BadInput) as caught:
        table_of(*rows, extra=extra)
    return str(caught.value)


def test_cells_are_text_numbers_or_several_values() -> None:
    cells = table_of(NILE).entities[0].cells
    assert cells["length"] == (6650.0,)
    assert cells["countries"] == ("Egypt", "Sudan")
    assert cells["mouth"] == ("the Mediterranean",)


def test_a_list_in_a_cell_holds_several_values_none_twice() -> None:
    row = {**NILE, "countries": ["Egypt", "egypt ", None, "", "Sudan"]}
    assert len(table_of(row).entities[0].cells["countries"]) == 2


def test_empty_cells_are_missing() -> None:
    row = {**NILE, "mouth": " ", "length": "", "countries": None}
    assert set(table_of(row, {**NILE, "river": "Other"}).entities[0].cells) == {"river", "depth"}


def test_every_problem_of_a_table_is_told_with_its_place() -> None:
    told = refusal(
        NILE,
        {**NILE, "river": "NILE "},
        {**NILE, "river": ""},
        {**NILE, "river": "Rhine", "length": "long", "mouth": ["a"]},
        {**NILE, "river": "Po", "length": True},
        {**NILE, "river": "Don", "length": "inf"},
    )
    assert "line 3: duplicate label 'NILE', also on line 2" in told
    assert "line 4: the key column 'river' is empty" in told
    assert "line 5, field length: expected a number, got 'long'" in told
    assert "line 5, field mouth: expected one value, got several" in told
    assert "line 6, field length: expected a number, got True" in told
    assert "line 7, field length: expected a number, got 'inf'" in told


def test_a_table_without_rows_or_columns_is_refused() -> None:
    assert "the table has no rows" in refusal()
    told = refusal({"river": "Nile", "sea": "x"})
    assert "a column 'mouth' that no row has (columns: river, sea)" in told


def test_left_out_cells_count_as_missing_and_left_out_keys_as_no_row() -> None:
    extra = '[columns.mouth]\nleave_out = ["nile"]\n[columns.river]\nleave_out = ["Po"]\n'
    table = table_of(NILE, {**NILE, "river": "Po"}, {**NILE, "river": "Don"}, extra=extra)
    assert [entity.label for entity in table.entities] == ["Nile", "Don"]
    assert [entity.number for entity in table.entities] == [0, 2]
    assert "mouth" not in table.entities[0].cells


def test_a_left_out_label_that_no_row_has_is_told() -> None:
    extra = '[columns.mouth]\nleave_out = ["Nille"]\n'
    assert "[columns.mouth] leave_out: no row has the label 'Nille'" in refusal(NILE, extra=extra)


def test_the_digest_is_of_the_rows_as_they_came() -> None:
    assert table_of(NILE).digest == table_of(dict(reversed(NILE.items()))).digest
    assert table_of(NILE).digest != table_of({**NILE, "unused": 1}).digest


@pytest.mark.parametrize(
    ("stated", "true", "false"),
    [
        ((("mouth", "the  MEDITERRANEAN"),), True, False),
        ((("mouth", "the Black Sea"),), False, True),
        ((("countries", "Sudan"),), True, False),
        ((("countries", "Ｅgypt"),), True, False),  # full-width, as Chinese text may have it
        ((("countries", "Chad"),), False, True),
        ((("length", 6650.0 + 50),), True, False),
        ((("length", 6650.0 + 51),), False, True),
        ((("depth", 8.0),), True, False),  # 8.04 as written with one decimal
        ((("depth", 8.2),), False, True),
        ((("mouth", "the Mediterranean"), ("countries", "Chad")), False, True),
        ((), True, False),
    ],
)
def test_a_claim_agrees_or_is_false(
    stated: tuple[tuple[str, str | float], ...], true: bool, false: bool
) -> None:
    table = table_of(NILE)
    assert agrees_with(table, Claim("nile", stated)) is true
    assert is_false_against(table, Claim("nile", stated)) is false


def test_a_missing_cell_or_row_proves_nothing() -> None:
    table = table_of({**NILE, "mouth": None}, {**NILE, "river": "Po"})
    for claim in (Claim("Nile", (("mouth", "x"),)), Claim("Rhine", (("mouth", "x"),))):
        assert not agrees_with(table, claim)
        assert not is_false_against(table, claim)


def test_numbers_are_written_with_decimals_grouping_and_unit() -> None:
    assert written(Column(values="number", grouped=True, unit=" km"), 1234567.6) == "1,234,568 km"
    assert written(Column(values="number", decimals=2), 1234.5) == "1234.50"
    assert written(Column(values="number", decimals=1), -0.04) == "0.0"
    assert written(Column(unit=" bar"), "3 to 4") == "3 to 4 bar"
