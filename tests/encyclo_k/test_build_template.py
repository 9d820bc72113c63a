"""Template files: what is read, and every way in which one is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofstone.errors import BadInput
from proofstone.methods.encyclo_k.fact_tables import placeholders, read_template

HEAD = 'title = "Rivers"\nlanguage = "en"\nkey = "river"\n'
POINT = """
[[points]]
name = "mouth"
column = "mouth"
title = "mouth of the {river}"
say = ["The {river} flows into {mouth}."]
"""


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_template(text, "rivers.toml")
    return str(caught.value)


def test_a_small_template_has_the_stated_defaults() -> None:
    template = read_template(HEAD + POINT, "rivers.toml")
    assert template.used() == ("river", "mouth")
    assert template.column("mouth").values == "text"
    assert template.points[0].error_type == "detail falsification"
    assert (template.license, template.book) == ("", "")


def test_used_columns_include_those_that_only_choose_replacements() -> None:
    point = POINT + 'like = "basin"\nnear = "length"\n[columns.length]\nvalues = "number"\n'
    assert read_template(HEAD + point, "x").used() == ("river", "length", "mouth", "basin")


def test_placeholders_come_once_each_and_doubled_braces_are_text() -> None:
    assert placeholders("{b} {a} {b} {{c}}") == ("b", "a")
    for bad in ("{}", "{a:>3}", "{a!r}", "{a.b}", "{a", "a}"):
        with pytest.raises(ValueError, match=r".+"):
            placeholders(bad)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = ", "Invalid value"),
        ('language = "en"\nkey = "river"', "missing required field `title`"),
        (HEAD + "licens = 1", "unknown field `licens`"),
        (HEAD, "expected at least one [[points]] entry"),
        (HEAD + POINT + 'error_type = "typo"', "Invalid enum value 'typo'"),
        (
            HEAD + POINT + "[columns.river]\nvalues = 'many'",
            "the key column must hold one text value per row",
        ),
        (HEAD + POINT + "[columns.mouth]\ndecimals = 12", "decimals is 12; expected 0 to 9"),
        (HEAD + POINT + "[columns.mouth]\ntolerance = -1", "a tolerance cannot be negative"),
        (HEAD + POINT + "[columns.mouth]\nseparator = ';'", 'separator needs values = "many"'),
        (HEAD + POINT + POINT, "duplicate name of an earlier point"),
        (HEAD + POINT + POINT, "the pattern occurs twice in the file"),
        (HEAD + POINT.replace('column = "mouth"', 'column = "river"'), "column is the key"),
        (HEAD + POINT + 'near = "length"', 'near needs values = "number" in [columns.length]'),
        (HEAD + POINT.replace("The {river}", "It"), "lacks {river}"),
        (HEAD + POINT.replace("{mouth}.", "the sea."), "lacks {mouth}"),
        (
            HEAD + POINT.replace("mouth of the {river}", "{mouth}"),
            "contains {mouth}; a title may contain only {river}",
        ),
        (HEAD + POINT.replace("{mouth}.", "{mouth.x}."), "write {column} with a column name only"),
        (
            HEAD
            + POINT.replace("{mouth}.", "{mouth}, past {cities}.")
            + "[columns.cities]\nvalues = 'many'",
            "contains {cities}, which has many values",
        ),
        (HEAD + POINT.replace('["The {river} flows into {mouth}."]', "[]"), "say holds no pattern"),
    ],
)
def test_a_wrong_template_is_refused_by_what_is_wrong(text: str, expected: str) -> None:
    assert expected in refusal(text)


def test_the_template_in_the_docs_is_one() -> None:
    docs = Path(__file__).parents[2] / "docs" / "how-to" / "import.md"
    (text,) = re.findall(r"```toml\n(.*?)```", docs.read_text(encoding="utf-8"), re.DOTALL)
    template = read_template(text, docs.name)
    assert template.used() == ("river", "length", "countries", "mouth")


def test_all_problems_of_a_file_are_told_at_once() -> None:
    bad = POINT.replace("The {river}", "It") + "[columns.mouth]\ndecimals = 12\ntolerance = -1"
    told = refusal(HEAD + bad)
    assert told.count("\n  rivers.toml, ") == 1 + 2
    assert "docs/how-to/import.md" in told
