"""``import FILE --as reference``: what is known of entities, in the forms that there are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proofstone.cli import main
from proofstone.errors import BadInput
from proofstone.methods.bequ.method import METHOD
from proofstone.records.tables import Row

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bequ"
WHOLE = {
    "entity": "Ulm",
    "wikidata_id": "Q3012",
    "snippet": "Ulm is a city.",
    "triples_wiki": [["country", "Germany"], ["", ""]],
    "triples_web": [["river", "Danube", "A page"], ["tower", "minster", "A page"]],
}
OWN = {"entity": "Bern", "predicate": "river", "object": "Aare", "passage": "Bern: Aare."}


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def said(*rows: dict[str, Any]) -> list[tuple[str, ...]]:
    built = METHOD.read_facts(Row(f"line {n}", dict(row)) for n, row in enumerate(rows, 1))
    facts = [each.fact.payload for each in built]
    names = ("entity", "wikidata", "predicate", "object", "passage", "source", "title")
    return [tuple(getattr(each, name) for name in names) for each in facts]


def test_all_that_is_known_of_an_entity_may_stand_in_one_row() -> None:
    """An entry is a fact, with the kind of its source and the title of its page; the text is one
    too. An entry with neither word is nothing."""
    assert said(WHOLE, OWN) == [
        ("Ulm", "Q3012", "", "", "Ulm is a city.", "", ""),
        ("Ulm", "Q3012", "country", "Germany", "", "wiki", ""),
        ("Ulm", "Q3012", "river", "Danube", "", "web", "A page"),
        ("Ulm", "Q3012", "tower", "minster", "", "web", "A page"),
        ("Bern", "", "river", "Aare", "Bern: Aare.", "", ""),
    ]


def test_an_article_with_one_triple_is_kept_with_it() -> None:
    row = {"subject_name": "Ulm", "predicate": "river", "object": ["Danube", "Iller"]}
    assert said({**row, "article": "Ulm is on both."}) == [
        ("Ulm", "", "river", "Danube; Iller", "Ulm is on both.", "", "")
    ]


def test_what_names_its_entities_otherwise_is_a_reference_where_it_is_said_to_be() -> None:
    assert said({"title": "Ulm", "text": "On the Danube."}, {"subject": "Ulm", "predicate": "x",
                                                             "object": 1.5}) == [
        ("Ulm", "", "", "", "On the Danube.", "", ""), ("Ulm", "", "x", "1.5", "", "", ""),
    ]  # fmt: skip
    assert not METHOD.recognises_facts(["title", "text", "correct"])  # type: ignore[attr-defined]


def test_every_problem_is_told_and_so_are_two_entities_of_one_name() -> None:
    rows = [
        WHOLE,
        {**WHOLE, "entity": "ulm"},
        {"entity": "Bern", "triples": [["river"]]},
        {"text": "x"},
    ]
    with pytest.raises(BadInput) as refused:
        said(*rows)
    assert [str(problem) for problem in refused.value.problems] == [
        (
            'line 2, field entity: two entities are named "ulm" (the other: line 1); '
            "add a column wikidata_id to distinguish them"
        ),
        "line 3, field triples: entry 1: expected [predicate, object], got a list",
        "line 4, field entity: is missing or empty",
    ]  # fmt: skip


def test_it_is_imported_exported_and_verified_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export is a reference again, the same one; a list of names is refused as one."""
    monkeypatch.chdir(tmp_path)
    told(capsys, "init", ".")
    Path("known.jsonl").write_text(f"{json.dumps(WHOLE)}\n", encoding="utf-8")
    code, out, err = told(capsys, "import", "known.jsonl", "--as", "reference")
    assert code == 0, err
    name = out.split()[1]
    assert out == f"reference   {name}   3 triples, 1 text\n"
    note, show, following = err.splitlines()
    assert note == "note: 1 of 4 listed triples left out: 1 empty"
    assert show == f"Next: proofstone show {name}"
    assert following == f"Fill in: proofstone grade RUN --judge PROVIDER/NAME --reference {name}"
    told(capsys, "export", name, "-o", "again.jsonl")
    assert told(capsys, "import", "again.jsonl", "--as", "reference")[1] == out
    Path("t.csv").write_text("subject,predicate,object\nUlm,river,Danube\n", encoding="utf-8")
    code, out, _err = told(
        capsys, "grade", "t.csv", "--reference", "again.jsonl", "--dry-run", "--json"
    )
    assert (code, json.loads(out)["told"]["reference_triples"]) == (0, 3)
    Path("names.csv").write_text("name,description\nUlm,city\n", encoding="utf-8")
    code, _out, err = told(capsys, "import", "names.csv", "--as", "reference")
    assert code == 2
    assert "is not a reference knowledge base: its columns are name, description" in err


@pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data/bequ")
def test_the_published_reference_is_imported_as_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """200 entities with a snippet each; of 18,082 entries 5 are empty and 24 come again."""
    told(capsys, "init", tmp_path)
    file = REAL / "reference_triples_random200.jsonl.gz"
    code, out, err = told(capsys, "import", file, "--as", "reference", "-w", tmp_path, "--json")
    assert code == 0, err
    bank = json.loads(out)
    assert bank["rows"] == 200 + 2_877 + 15_205 - 5 - 24
    counts = {name: bank[name] for name in ("listed", "triples", "texts", "repeated", "empty")}
    assert counts == {
        "listed": 18_082, "triples": 18_053, "texts": 200, "repeated": 24, "empty": 5,
    }  # fmt: skip
    _code, out, err = told(capsys, "import", file, "--as", "reference", "-w", tmp_path)
    assert "   18,053 triples, 200 texts\n" in out
    assert "note: 29 of 18,082 listed triples left out: 24 repeated, 5 empty" in err
    again = tmp_path / "again.jsonl"
    assert told(capsys, "export", bank["reference"], "-o", again, "-w", tmp_path)[0] == 0
    rows = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
    kinds = Counter(row.get("source", "") for row in rows)
    assert kinds == {"": 200, "wiki": 2_877 - 6, "web": 15_205 - 5 - 18}
    assert len({row["entity"] for row in rows}) == 200
