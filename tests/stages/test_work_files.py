"""Work lists are never written over what a person decided in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadUsage
from proofstone.files.tables import read_rows
from proofstone.session.written_files import write_flagged_items_file


def row(target: str, decision: str = "") -> dict[str, str]:
    return {"target": target, "action": "exclude", "decision": decision}


def test_what_a_person_decided_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "work.csv"
    assert write_flagged_items_file(path, [row("fact:1", "exclude"), row("fact:2")]) == 2
    assert write_flagged_items_file(path, [row("fact:1", "exclude"), row("fact:2")]) == 2
    path.write_text(path.read_text(encoding="utf-8").replace("exclude,exclude", "exclude,keep"))
    before = path.read_bytes()
    with pytest.raises(BadUsage, match="holds 1 decisions that would be lost"):
        write_flagged_items_file(path, [row("fact:1", "exclude"), row("fact:2")])
    assert path.read_bytes() == before


def test_what_is_no_longer_listed_was_carried_out(tmp_path: Path) -> None:
    path = tmp_path / "work.csv"
    write_flagged_items_file(path, [row("fact:1", "exclude")])
    assert write_flagged_items_file(path, [row("fact:2")]) == 1
    assert [each.values["target"] for each in read_rows(path)] == ["fact:2"]
