"""Calls that brought no reply: the summary says by what, and each can be looked at."""

from __future__ import annotations

import re
from pathlib import Path

from scripted_server import error
from serving import configure, serving
from told import Proofstone

ODD = error(400, {"error": {"message": "this one cannot be asked"}})


def test_a_run_says_by_what_its_calls_failed_and_names_one_of_them(
    made: Path, proofstone: Proofstone
) -> None:
    """The kinds of errors in the summary and in JSON; in show, the message, how often, and a call
    whose status and body are there to read."""
    with serving(ODD) as server:
        configure(made, server.url)
        said = proofstone("run", "old-books", "-m", "scripted/odd", "-w", made)
        told = proofstone("run", "old-books", "-m", "scripted/odd", "-w", made, "--json")
    assert said.code == told.code == 3
    assert "  0 of 8 scored, incomplete, 8 failed: bad_request" in said.out
    (result,) = told.json
    assert (result["failed"], result["errors"]) == (8, ["bad_request"])
    shown = proofstone("show", f"run:{result['run']}", "-w", made).out
    failed = re.search(r"(?m)^failed +8 by bad_request (.+)   look: (call:\S+)$", shown)
    assert failed is not None
    assert "this one cannot be asked" in failed[1]
    call = proofstone("show", failed[2], "-w", made).out
    assert re.search(r"(?m)^status +400$", call)
    assert '--- raw reply\n{"error": {"message": "this one cannot be asked"}}' in call
