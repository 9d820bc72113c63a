"""Lists of entities and references are kinds of their own to ``list``."""

from __future__ import annotations

import json
import re
from pathlib import Path

from told import Proofstone

KNOWN = {"entity": "Ulm", "predicate": "country", "object": "Germany", "passage": "Ulm, Germany."}


def test_lists_and_references_are_listed_by_their_kinds(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """Each by itself, entities among forms and references among banks too, by ids that other
    commands take."""
    names = tmp_path / "places.csv"
    names.write_text("name\nUlm\nAtlantis Nova\n", encoding="utf-8")
    known = tmp_path / "known.jsonl"
    known.write_text(json.dumps(KNOWN) + "\n", encoding="utf-8")
    work = tmp_path / "work"
    proofstone("init", work)
    assert proofstone("list", "entities", "-w", work).out == ""
    proofstone("import", names, "--as", "entities", "-w", work)
    proofstone("import", known, "--as", "reference", "-w", work)
    told = {
        kind: re.sub("[0-9a-f]{4,8}", "#", proofstone("list", kind, "-w", work).out)
        for kind in ("entities", "form", "reference")
    }
    assert told == {
        "entities": "places-#  form:#  2 entities\n",
        "form": "places-#  form:#  2 entities\n",
        "reference": "known-#  bank:#  1 fact\n",
    }
    (listed,) = proofstone("list", "reference", "-w", work, "--json").json
    assert proofstone("show", f"bank:{listed['id']}", "-w", work).out.startswith("known\nbank ")
