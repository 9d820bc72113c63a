"""``build statements`` whole: carried books, files, parameters, provenance, bad input."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.methods.encyclo_k.build import (
    BUILDERS,
    PARAMETERS,
    BuiltStatements,
    build_statements,
)
from proofstone.methods.encyclo_k.demo_tables import BUNDLED, Book
from proofstone.methods.encyclo_k.fact_tables import normalised
from proofstone.methods.encyclo_k.payloads import ERROR_TYPES, Statement
from proofstone.records.knowledge import FactBuilder, bank_id, fact_id, source_id

CSV = """\
planet,moons,colour
Mars,Phobos|Deimos,red
Jupiter,Io|Europa,banded
Saturn,Titan|Rhea,yellow
Venus,,white
"""
TOML = """
title = "Planets"
language = "en"
license = "CC0-1.0"
discipline = "Science"
key = "planet"

[columns.moons]
values = "many"
separator = "|"

[[points]]
name = "moon"
column = "moons"
title = "moons of {planet}"
say = ["{moons} circles {planet}.", "{planet} has a moon called {moons}."]

[[points]]
name = "colour"
column = "colour"
title = "colour of {planet}"
say = ["{planet} looks {colour}."]
"""


GOLDEN_TEXTS = ["Phobos circles Mars.", "Io circles Mars.", "Mars looks red.", "Mars looks white."]
GOLDEN_BANK = "717b9406d19ec9c1bbfcef7b06186314ad18b5507253261182d6bb35efd14c59"


@pytest.fixture
def planets(tmp_path: Path) -> Path:
    (tmp_path / "planets.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "planets.toml").write_text(TOML, encoding="utf-8")
    return tmp_path / "planets.csv"


@pytest.fixture(scope="module")
def bundled() -> BuiltStatements:
    for package in ("mendeleev", "countryinfo", "pycountry"):
        pytest.importorskip(package, reason="needs the extra [demo]")
    return build_statements(list(BUNDLED), {}, 1)


def statements(built: BuiltStatements) -> list[Statement]:
    return [fact.fact.payload for fact in built]


def test_the_builder_fits_the_port() -> None:
    builder: FactBuilder = BUILDERS["statements"][0]
    assert builder is build_statements
    assert BUILDERS["statements"][1] == PARAMETERS


def test_a_file_with_templates_beside_it_gives_true_and_false_statements(planets: Path) -> None:
    built = build_statements([str(planets)], {}, 1)
    (count,) = built.counts
    # Four colours and three planets with moons, each falsified once.
    assert (count.correct, count.perturbed, count.no_false_value) == (4 + 3, 7, 0)
    assert len(built) == 2 * 7
    assert count.book == "Planets"


def test_ids_sources_and_origins_hold(planets: Path) -> None:
    true: Any = None
    for built in build_statements([str(planets)], {}, 1):
        fact, source = built.fact, built.source
        assert source is not None
        assert fact.id == fact_id(fact)
        assert source.id == source_id(source) == fact.source
        assert (source.kind, source.title, source.origin) == ("table", "Planets", "planets.csv")
        assert built.roles == ()
        assert fact.stratum.book == "Planets"
        if fact.payload.correct:
            true = fact
            assert (fact.payload.reason, fact.payload.error_type) == ("", "")
            assert fact.payload.origin is None
        else:
            assert fact.payload.origin == true.id
            assert (fact.page, fact.payload.title) == (true.page, true.payload.title)
            assert fact.payload.reason.startswith("According to the table, the ")


def test_the_same_input_has_the_same_ids_on_every_machine(planets: Path) -> None:
    built = build_statements([str(planets)], {}, 7)
    texts = [one.text for one in statements(built)]
    assert texts[:4] == GOLDEN_TEXTS
    assert bank_id("encyclo_k", tuple(one.fact.id for one in built)).hex() == GOLDEN_BANK


def test_templates_may_be_named_and_jsonl_lists_are_read(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(
        '{"planet": "Mars", "moons": ["Phobos"], "colour": "red"}\n'
        '{"planet": "Saturn", "moons": ["Titan"], "colour": "yellow"}\n',
        encoding="utf-8",
    )
    (tmp_path / "other.toml").write_text("\ufeff" + TOML, encoding="utf-8")
    built = build_statements([str(file)], {"templates": str(tmp_path / "other.toml")}, 1)
    assert len(built) == 2 * 2 * 2


def test_a_table_that_proves_nothing_false_gives_true_statements_alone(planets: Path) -> None:
    planets.write_text("planet,moons,colour\nMars,Phobos,red\nVenus,Phobos,red\n", encoding="utf-8")
    (count,) = build_statements([str(planets)], {}, 1).counts
    assert (count.correct, count.perturbed, count.no_false_value) == (4, 0, 4)


def test_a_true_sentence_of_one_table_is_never_a_false_one_of_another(
    planets: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("planet,moons,colour\nMars,Titan|Io,banded\n", encoding="utf-8")
    params = {"templates": str(planets.with_suffix(".toml"))}
    for seed in range(5):
        built = build_statements([str(planets), str(other)], params, seed)
        true = {normalised(one.text) for one in statements(built) if one.correct}
        assert not true & {normalised(one.text) for one in statements(built) if not one.correct}


def test_shares_and_limits_are_kept(planets: Path) -> None:
    none = build_statements([str(planets)], {"perturbed": 0.0}, 1)
    assert all(one.correct for one in statements(none))
    few = build_statements([str(planets)], {"limit": 3, "perturbed": 1}, 1)
    assert few.counts[0].correct == 3
    assert set(few.facts) <= set(build_statements([str(planets)], {}, 1).facts)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"perturbed": 1.5}, "perturbed must be a share from 0 to 1, got 1.5"),
        ({"limit": -1}, "limit must be 0"),
        ({"speed": 1}, "unknown parameter of build statements: speed"),
        ({"templates": "nowhere.toml"}, "nowhere.toml not found"),
    ],
)
def test_wrong_parameters_are_refused(planets: Path, params: dict[str, Any], expected: str) -> None:
    with pytest.raises(BadUsage) as caught:
        build_statements([str(planets)], params, 1)
    assert expected in str(caught.value)


def test_unknown_inputs_and_no_inputs_are_refused() -> None:
    with pytest.raises(NotFound, match="file or bundled table"):
        build_statements(["elementz"], {}, 1)
    with pytest.raises(BadUsage, match="no tables to build from"):
        build_statements([], {}, 1)


def test_problems_of_a_file_come_with_their_lines(planets: Path) -> None:
    planets.write_text(CSV + "Mars,,red\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        build_statements([str(planets)], {}, 1)
    assert "line 6: duplicate label 'Mars', also on line 2" in str(caught.value)


def test_a_template_file_in_another_encoding_is_refused(planets: Path) -> None:
    planets.with_suffix(".toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(BadInput, match="byte 10 is not UTF-8"):
        build_statements([str(planets)], {}, 1)


def test_a_missing_package_is_told_with_what_to_install() -> None:
    def rows() -> list[Any]:
        raise ModuleNotFoundError("mendeleyev")

    with pytest.raises(NotFound) as caught:
        Book("elements.en", "mendeleyev", rows).read()
    assert str(caught.value).endswith("pip install 'proofstone[demo]'")
    assert Book("elements.en", "mendeleyev", rows).origin == "mendeleyev"


# ------------------------------------------------------------ carried books


def test_carried_books_are_large_enough_for_a_demo_in_both_languages(
    bundled: BuiltStatements,
) -> None:
    assert Counter(count.language for count in bundled.counts) == {"en": 6, "zh": 3}
    for count in bundled.counts:
        assert count.correct >= 150
        assert count.perturbed >= 0.99 * count.correct


def test_carried_statements_are_whole_and_none_stands_twice(bundled: BuiltStatements) -> None:
    texts = [normalised(one.text) for one in statements(bundled)]
    assert len(set(texts)) == len(texts)
    assert len({built.fact.id for built in bundled}) == len(bundled)
    ids = {built.fact.id for built in bundled if built.fact.payload.correct}
    for built in bundled:
        one = built.fact.payload
        end = "。" if built.fact.language == "zh" else "."
        assert one.text.endswith(end)
        assert not set("{}") & set(one.text + one.title + one.reason)
        assert "None" not in one.text + one.title + one.reason
        if not one.correct:
            assert one.origin in ids
            assert one.error_type in ERROR_TYPES
            assert one.reason.endswith(end)


def test_carried_facts_are_those_of_the_packages(bundled: BuiltStatements) -> None:
    """A few known facts, in whichever wording was drawn."""
    facts = [built.fact for built in bundled if built.fact.payload.correct]
    true = {(fact.page, fact.payload.title): fact.payload.text for fact in facts}
    assert "Fe" in true["iron", "chemical symbol of iron"]
    assert "79" in true["gold", "atomic number of gold"]
    assert "[Ar] 3d5 4s1" in true["chromium", "ground-state electron configuration of chromium"]
    assert "1669" in true["phosphorus", "year of the discovery of phosphorus"]
    assert "Nairobi" in true["Kenya", "capital of Kenya"]
    assert "CHE" in true["Switzerland", "ISO 3166-1 alpha-3 code of Switzerland"]
    assert "392" in true["日本", "日本的 ISO 3166-1 数字代码"]
    assert "Au" in true["金", "元素金的元素符号"]


def test_one_language_of_the_carried_books_may_be_asked_for(bundled: BuiltStatements) -> None:
    chinese = build_statements(list(BUNDLED), {"languages": "zh"}, 1)
    assert {built.fact.language for built in chinese} == {"zh"}
    with pytest.raises(BadUsage, match="no tables to build from"):
        build_statements(["countries"], {"languages": "fr"}, 1)


def test_another_seed_words_the_same_facts_otherwise(bundled: BuiltStatements) -> None:
    other = build_statements(["countries"], {}, 2)
    again = build_statements(["countries"], {}, 2)
    assert other == again
    same = {built.fact.payload.text for built in bundled} & {
        built.fact.payload.text for built in other
    }
    assert 0 < len(same) < len(other)
    sources = {built.source for built in bundled}
    assert {built.source for built in other} <= sources
