"""Taxonomies from the command line: listed, shown, written, kept to, and counted over a bank."""

from __future__ import annotations

from pathlib import Path

from told import Proofstone

OWN = "discipline,field,items\nLore,Old books,30\nLore,New books,10\n"


def test_carried_ones_are_listed_and_shown_without_a_workspace(proofstone: Proofstone) -> None:
    listed = proofstone("list", "taxonomy", "--json").json
    assert [each["name"] for each in listed] == ["encyclo-k", "kina"]
    told = proofstone("show", "taxonomy:encyclo-k")
    assert told.out.splitlines()[5:8] == [
        "                             statements  questions  fields  subfields",
        "Science                          10,606      1,242       8         14",
        "Engineering                       7,486        881      18         23",
    ]


def test_one_s_own_is_checked_and_counted_over_a_bank(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    """The small bank has 2 x 12 true and as many falsified statements, all under Old books."""
    own = tmp_path / "own.csv"
    own.write_text(OWN, encoding="utf-8")
    told = proofstone("check", "old-books", "--taxonomy", own, "-w", made)
    assert told.code == 0, told.err
    assert told.out.splitlines()[1:] == [
        "             sources  statements   share  its items   share",
        "Lore               2          48  100.0%         40  100.0%",
        "  Old books        2          48  100.0%         30   75.0%",
        "without a statement: 1 of 2 fields",
    ]
    elsewhere = proofstone("check", "old-books", "--taxonomy", "kina", "-w", made)
    assert "! 48 statements are elsewhere: Lore is no discipline of kina" in elsewhere.out


def test_a_carried_one_is_written_to_be_changed(proofstone: Proofstone, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    assert proofstone("export", "taxonomy:kina", "-o", file).out == f"{file}   343 rows\n"
    told = proofstone("show", f"taxonomy:{file}", "--json")
    assert len(told.json["nodes"]) == 12 + 70 + 261


def test_ingest_takes_only_places_that_the_taxonomy_has(
    proofstone: Proofstone, empty: Path, tmp_path: Path
) -> None:
    for name in ("tides", "codes"):
        (tmp_path / f"{name}.txt").write_text(f"A text about {name}.\n" * 5, encoding="utf-8")
    meta = tmp_path / "meta.csv"
    rows = "file,discipline,field,subfield\ntides.txt,,,tidal charts\ncodes.txt,,,cryptography\n"
    meta.write_text(rows, encoding="utf-8")
    asked = ("--meta", meta, "--taxonomy", "kina", "-w", empty)
    refused = proofstone("ingest", tmp_path / "tides.txt", tmp_path / "codes.txt", *asked)
    assert refused.code == 2
    assert "tides.txt: subfield tidal charts is not in kina" in refused.err
    meta.write_text(rows.replace("tidal charts", "underwater acoustics"), encoding="utf-8")
    told = proofstone("ingest", tmp_path / "tides.txt", tmp_path / "codes.txt", *asked)
    assert told.code == 0, told.err
    shown = proofstone("show", "tides", "-w", empty, "--json").json
    assert ["stratum", "Science / Oceanography / Underwater Acoustics"] in shown["lines"]


def test_a_taxonomy_is_a_check_of_its_own(proofstone: Proofstone, made: Path) -> None:
    told = proofstone("check", "old-books", "--taxonomy", "kina", "--drop-to", "0.6", "-w", made)
    assert (told.code, "a separate check" in told.err) == (2, True)
    lost = proofstone("check", "old-books", "--taxonomy", "none.csv", "-w", made)
    assert (lost.code, "taxonomy none.csv not found" in lost.err) == (2, True)
