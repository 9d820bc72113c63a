"""Entities and verdicts of a page: few stand in it, many lie in a folder beside it."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.methods.bequ.records import EntityFacts, Verified
from proofstone.methods.bequ.report.held import (
    EVIDENCE_A_PIECE,
    VERDICTS,
    Held,
    folder_beside,
    hold,
    web_address,
    wikidata_address,
)
from proofstone.records.verdicts import Passage
from report.made_up_triples import HOSTILE, Skill, runs_of

SKILLS = (Skill(model="one"), Skill(model="two", right=(0.2, 0.2)))
EACH, N = 4, 60


def rows_of(held: Held, page: Path, kind: str) -> list[Any]:
    """All rows of a kind, from the page or from the files beside it."""
    within = {piece.name: piece.json for piece in held.pieces}
    found: list[Any] = []
    for name in held.names[kind]:
        text = within.get(name)
        if text is None:
            script = (folder_beside(page) / f"{name}.js").read_text(encoding="utf-8")
            head = f'proofstoneHeld("{held.stamp}","{name}",'
            assert script.startswith(head)
            assert script.endswith(");\n")
            text = script[len(head) : -len(");\n")]
        assert "<" not in text
        found += json.loads(text)
    return found


@pytest.mark.parametrize("most_in_page", [10_000_000, 10_000])
def test_every_triple_is_held_with_its_evidence(tmp_path: Path, most_in_page: int) -> None:
    """Of two models four triples of either direction of each of 60 entities."""
    page = tmp_path / "report.html"
    runs = runs_of(SKILLS, n=N, each=EACH)
    held = hold(runs, page, most_in_page=most_in_page)
    verified = list(runs.read())
    assert held.triples == held.all_triples == len(verified) == 2 * 2 * EACH * N
    triples, evidence = rows_of(held, page, "triples"), rows_of(held, page, "evidence")
    assert [row[4:7] for row in triples] == [[v.subject, v.predicate, v.object] for v in verified]
    assert [VERDICTS[row[2]] for row in triples] == [v.verdict.label for v in verified]
    assert [row[3] for row in evidence] == [v.verdict.passage.text for v in verified]
    assert [row[7] for row in evidence] == [v.response for v in verified]
    assert [row[9] for row in evidence] == [v.known.text for v in verified]
    assert len(held.names["evidence"]) == -(-len(verified) // EVIDENCE_A_PIECE)
    assert folder_beside(page).exists() == (most_in_page == 10_000) == held.is_beside


def test_an_entity_has_the_verdicts_of_its_triples_by_model(tmp_path: Path) -> None:
    held = hold(runs_of(SKILLS, n=N, each=EACH), tmp_path / "report.html")
    entities = rows_of(held, tmp_path, "entities")
    assert len(entities) == held.entities == N + 10
    name, domain, tier, is_nonexistent, address, wikidata, counts, _fiction = entities[0]
    assert (name, domain, tier, is_nonexistent) == ("Entity 0", "person", "well known", 0)
    assert (address, wikidata) == (
        "https://en.wikipedia.org/wiki/Entity_0", "https://www.wikidata.org/wiki/Q1",
    )  # fmt: skip
    assert [sum(own[1:]) for own in counts] == [2 * EACH, 2 * EACH]
    assert entities[-1][3:] == [1, "", "", [], ""]  # a fictional one, of which nothing was checked


def test_an_entity_that_does_not_exist_says_of_what_kind_it_is(tmp_path: Path) -> None:
    facts = [EntityFacts("Atlantis", is_nonexistent=True, fiction="plausible"), EntityFacts("Ur")]
    held = hold(runs_of(SKILLS, n=1, each=1, entities=facts), tmp_path / "report.html")
    assert [each.fiction for each in held.first_entities] == ["plausible", ""]


def test_a_smaller_page_takes_the_folder_away(tmp_path: Path) -> None:
    """What lay beside a larger page of that name would be of no page."""
    page = tmp_path / "report.html"
    runs = runs_of(SKILLS, n=N, each=EACH)
    hold(runs, page, most_in_page=0)
    (folder_beside(page) / "mine.txt").write_text("kept", encoding="utf-8")
    hold(runs, page)
    assert [file.name for file in folder_beside(page).iterdir()] == ["mine.txt"]


def test_files_of_others_are_not_written_over(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    folder_beside(page).mkdir()
    (folder_beside(page) / "triples-1.js").write_text("theirs", encoding="utf-8")
    with pytest.raises(BadUsage, match="not as they were written here"):
        hold(runs_of(SKILLS, n=N, each=EACH), page, most_in_page=0)
    assert (folder_beside(page) / "triples-1.js").read_text(encoding="utf-8") == "theirs"


def test_of_a_sample_too_large_those_drawn_first_are_held(tmp_path: Path) -> None:
    """At most 400 triples of two models: the first 100 of each in either direction, of 240."""
    runs = runs_of(SKILLS, n=N, each=EACH)
    held = hold(runs, tmp_path / "report.html", most=400)
    assert (held.triples, held.all_triples) == (4 * 100, 4 * EACH * N)
    first = [each.response for each in runs.read() if each.drawn <= 400 // 4]
    assert [row[7] for row in rows_of(held, tmp_path, "evidence")] == first


def test_where_all_were_taken_no_more_are_held_either(tmp_path: Path) -> None:
    """None of them has a number in a draw then: the first of each model and direction are held."""
    runs = runs_of(SKILLS, n=N, each=EACH)
    every = [structs.replace(each, drawn=0) for each in runs.read()]
    held = hold(replace(runs, read=lambda: iter(every)), tmp_path / "report.html", most=400)
    assert (held.triples, held.all_triples) == (4 * 100, 4 * EACH * N)


def test_pieces_are_written_one_at_a_time(tmp_path: Path) -> None:
    """4,000 triples with passages of 5,000 characters, 20 MB of text, in less than 12 MB."""
    (one, *_rest) = runs_of(SKILLS[:1]).read()

    def read() -> Iterator[Verified]:
        for drawn in range(1, 4_001):
            passage = Passage(f"{drawn:05}" * 1_000)
            yield structs.replace(
                one, drawn=drawn, verdict=structs.replace(one.verdict, passage=passage)
            )

    runs = replace(runs_of(SKILLS[:1]), read=read)
    tracemalloc.start()
    held = hold(runs, tmp_path / "report.html")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held.is_beside
    assert most < 12e6


def test_hostile_texts_are_made_visible_before_they_are_written(tmp_path: Path) -> None:
    facts = (EntityFacts(HOSTILE, identity="Q1'onclick=", page="javascript:alert(1)"),)
    held = hold(runs_of(SKILLS, n=1, each=2, entities=facts), tmp_path / "report.html")
    shown = msgspec.json.encode([held.verdicts, held.first_entities]).decode()
    written = "".join(piece.json for piece in held.pieces)
    for text in (shown, written):
        assert "\u202e" not in text
        assert "\u27e8U+202E\u27e9" in text
        assert "javascript:" not in text
    assert "</script" not in written
    assert held.first_entities[0].identity == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://en.wikipedia.org/wiki/Ada_Lovelace", True),
        ("http://example.org/a?b=c&d#e", True),
        ("https://zh.wikipedia.org/wiki/柏林", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://a b", False),
        ('https://a"onmouseover="x', False),
        ("https://a\u202eb", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_links_lead_to_the_web_or_nowhere(text: str, kept: bool) -> None:
    assert web_address(text) == (text if kept else "")


def test_only_a_q_number_has_an_address() -> None:
    assert wikidata_address("Q42") == "https://www.wikidata.org/wiki/Q42"
    assert [wikidata_address(text) for text in ("", "Q", "Q0", "42", "Q42/x", "Q4\n")] == [""] * 6


def test_names_of_any_script_are_held_as_they_are(tmp_path: Path) -> None:
    names = ("مكة", "北京", "יְרוּשָׁלַיִם")
    facts = tuple(EntityFacts(name) for name in names)
    held = hold(runs_of(SKILLS, n=3, each=1, entities=facts), tmp_path / "report.html")
    assert [each.name for each in held.first_entities] == list(names)
