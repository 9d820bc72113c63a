"""Falsified statements: false by the table, in a true one's words, on any table."""

from __future__ import annotations

import math
import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofstone.methods.encyclo_k.fact_tables import (
    FactTable,
    Perturbed,
    Perturber,
    Stated,
    agrees_with,
    is_false_against,
    normalised,
    read_table,
    read_template,
    true_statements,
    true_texts,
)
from proofstone.records.ids import Draws
from proofstone.records.tables import Row

TEMPLATE = """
title = "Things"
language = "en"
key = "name"

[columns.size]
values = "number"
decimals = 1
tolerance_percent = 10

[columns.links]
values = "many"

[columns.rank]
values = "number"

[[points]]
name = "colour"
column = "colour"
title = "colour of {name}"
like = "kind"
near = "rank"
swap_key = true
say = ["<{name}> has colour <{colour}>.", "Of colour <{colour}> is <{name}>."]

[[points]]
name = "size"
column = "size"
title = "size of {name}"
like = "kind"
swap_key = true
say = ["<{name}> has size <{size}>."]

[[points]]
name = "link"
column = "links"
title = "links of {name}"
say = ["<{name}> has links <{links}>, being a <{kind}>."]
"""
WORDS = st.sampled_from(["red", "Red", "ｒｅｄ", "blue", "green", "", None])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from("abcdefgh"),
            "colour": WORDS,
            "kind": st.sampled_from(["k1", "k2", None]),
            "rank": st.one_of(st.none(), st.integers(-5, 5)),
            "size": st.one_of(st.none(), st.floats(-30, 30)),
            "links": st.lists(st.sampled_from(["p", "P", "q", "r"]), max_size=3),
        }
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: str(row["name"]),
)


def table_of(rows: list[dict[str, Any]], template: str = TEMPLATE) -> FactTable:
    placed = [Row(f"row {number}", row) for number, row in enumerate(rows)]
    return read_table(read_template(template, "things.toml"), placed, "things")


def perturbed(table: FactTable, seed: int) -> list[tuple[Stated, Perturbed | None]]:
    perturber = Perturber(table, frozenset(true_texts(table)))
    return [
        (true, perturber.perturb(true, Draws(seed, true.entity.number, true.point.name)))
        for true in true_statements(table, seed)
    ]


def thing(name: str, size: float | None) -> dict[str, Any]:
    """A row with a name and a size."""
    row: dict[str, Any] = {"name": name, "colour": "red", "kind": "k1", "rank": None, "links": []}
    return row | {"size": size}


def contradicted(rows: list[dict[str, Any]], text: str) -> bool:
    """A second judge, from the words alone: whether the named row has no such value."""
    swapped = re.fullmatch(r"Of colour <(.*)> is <(.*)>\.", text)
    if swapped:
        column, value, name = "colour", swapped[1], swapped[2]
    else:
        found = re.match(r"<(.*?)> has (\w+) <(.*?)>", text)
        assert found is not None
        name, column, value = found.groups()
    (cell,) = [row[column] for row in rows if row["name"] == name]
    if column == "size":
        if cell is None:
            return False
        apart, allowed = abs(float(value) - cell), max(abs(cell) * 0.1, 0.05)
        return apart > allowed and not math.isclose(apart, allowed)
    cells = cell if isinstance(cell, list) else [cell or ""]
    return any(cells) and normalised(value) not in {normalised(one) for one in cells}


@given(ROWS, st.integers(0, 3))
@example(rows=[thing("a", size=None), thing("b", size=0.25)], seed=0)  # 0.2: rounding to the border
@settings(max_examples=150, deadline=None)
def test_true_statements_agree_and_falsified_ones_contradict_any_table(
    rows: list[dict[str, Any]], seed: int
) -> None:
    table = table_of(rows)
    all_true = frozenset(true_texts(table))
    made: set[str] = set()
    for true, false in perturbed(table, seed):
        assert agrees_with(table, true.claim)
        assert not is_false_against(table, true.claim)
        assert normalised(true.text) in all_true
        assert not contradicted(rows, true.text)
        if false is None:
            continue
        assert is_false_against(table, false.claim)
        assert not agrees_with(table, false.claim)
        assert contradicted(rows, false.text)
        assert normalised(false.text) not in all_true | made
        made.add(normalised(false.text))


@given(ROWS, st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_the_same_seed_gives_the_same_statements(rows: list[dict[str, Any]], seed: int) -> None:
    assert perturbed(table_of(rows), seed) == perturbed(table_of(rows), seed)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_where_a_false_value_exists_one_is_found(rows: list[dict[str, Any]]) -> None:
    """Small tables are searched whole: None only where every value is true of the row."""
    table = table_of(rows)
    for true, false in perturbed(table, 0):
        if false is not None or true.point.name != "link":
            continue
        everyone = {normalised(link) for row in rows for link in row["links"]}
        own = {normalised(str(link)) for link in true.entity.cells["links"]}
        assert everyone <= own


def one(template: str, rows: list[dict[str, Any]], name: str) -> Perturbed:
    (false,) = [
        false for true, false in perturbed(table_of(rows, template), 1) if true.entity.label == name
    ]
    assert false is not None
    return false


def test_a_row_that_is_not_placed_still_lends_its_value() -> None:
    template = HEAD + (
        '[columns.at]\nvalues = "number"\n[[points]]\nname = "c"\ncolumn = "c"\n'
        'title = "c of {name}"\nnear = "at"\nsay = ["{name} is {c}"]\n'
    )
    rows: list[dict[str, Any]] = [
        {"name": "a", "c": "one", "at": 1},
        {"name": "b", "c": "two", "at": None},
    ]
    assert one(template, rows, "a").text == "A is two"
    assert one(template, rows, "b").text == "B is one"


HEAD = 'title = "T"\nlanguage = "en"\nkey = "name"\n'


def test_a_row_of_the_same_group_lends_its_value_first() -> None:
    template = (
        HEAD + '[[points]]\nname = "c"\ncolumn = "c"\ntitle = "c of {name}"\n'
        'like = "k"\nsay = ["{name} is {c}"]\n'
    )
    rows = [{"name": f"n{i}", "c": f"c{i}", "k": "far"} for i in range(50)]
    rows += [{"name": "a", "c": "ca", "k": "near"}, {"name": "b", "c": "cb", "k": "near"}]
    assert one(template, rows, "a").text == "A is cb"


def test_a_number_is_replaced_by_one_near_in_rank_beyond_the_tolerance() -> None:
    template = (
        HEAD + '[columns.c]\nvalues = "number"\ntolerance = 3\n'
        '[[points]]\nname = "c"\ncolumn = "c"\ntitle = "c of {name}"\nsay = ["{name} is {c}"]\n'
    )
    rows = [{"name": f"n{i}", "c": i} for i in range(100)]
    for seed_row in (0, 50, 99):
        value = one(template, rows, f"n{seed_row}").claim.stated[0][1]
        assert isinstance(value, float)
        assert 3 < abs(value - seed_row) <= 3 + 6


def test_a_value_that_is_never_to_be_said_is_neither_stated_nor_put_in() -> None:
    template = (
        HEAD + '[columns.c]\nnever = ["X"]\n'
        '[[points]]\nname = "c"\ncolumn = "c"\ntitle = "c of {name}"\nsay = ["{name} is {c}"]\n'
    )
    rows = [{"name": "a", "c": "one"}, {"name": "b", "c": "x"}, {"name": "d", "c": "two"}]
    pairs = perturbed(table_of(rows, template), 1)
    assert [true.text for true, _ in pairs] == ["A is one", "D is two"]
    assert [false and false.text for _, false in pairs] == ["A is two", "D is one"]


def test_reasons_name_the_row_that_the_false_sentence_is_about() -> None:
    template = HEAD + (
        '[[points]]\nname = "c"\ncolumn = "c"\ntitle = "colour of {name}"\nswap_key = true\n'
        'say = ["{name} is {c}"]\n'
    )
    rows = [{"name": "ash", "c": "grey"}, {"name": "oak", "c": "brown"}]
    reasons = set()
    kinds = set()
    for seed in range(8):
        for _, false in perturbed(table_of(rows, template), seed):
            assert false is not None
            reasons.add(false.reason)
            kinds.add(false.error_type)
    assert reasons == {
        "According to the table, the colour of ash is grey, not brown.",
        "According to the table, the colour of oak is brown, not grey.",
    }
    assert kinds == {"detail falsification", "concept substitution"}


def test_reasons_in_chinese_and_of_several_values() -> None:
    point = (
        '[columns.c]\nvalues = "many"\n[[points]]\nname = "c"\ncolumn = "c"\n'
        'title = "{name}的颜色"\nsay = ["{name}有{c}"]\n'
    )
    rows = [{"name": "旗", "c": ["红", "白"]}, {"name": "花", "c": ["蓝"]}]
    chinese = one(HEAD.replace("en", "zh-Hans") + point, rows, "旗")
    assert chinese.reason == "据表，旗的颜色有红、白，其中没有蓝。"
    english = one(HEAD + point.replace("{name}的颜色", "colours of {name}"), rows, "旗")
    assert english.reason == (
        "According to the table, the colours of 旗 are: 红, 白; 蓝 is not among them."
    )
    single = HEAD.replace("en", "zh") + point + "only_single = true\n"
    assert one(single, rows, "花").reason == "据表，花的颜色是蓝，不是红。"
