"""What a run says when it ends: which run it was, and by what its calls failed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    assert '--- raw response\n{"error": {"message": "this one cannot be asked"}}' in call


def test_runs_of_one_model_and_way_are_told_apart(made: Path, proofstone: Proofstone) -> None:
    """By few-shot examples, thinking and replicate, in the summary and the list."""
    command = ("run", "old-books", "-m", "sim/ann", "--shots", 1, "--replicate", "two", "-w", made)
    said = proofstone(*command, "--thinking", "on,off")
    labels = [f"sim/ann direct 1-shot thinking={word} replicate=two" for word in ("on", "off")]
    for text in (said.out, proofstone("list", "run", "-w", made).out):
        assert all(text.count(f"{label}  ") == 1 for label in labels), text


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--temperature", "99"), "99.0 is not in the range 0<=x<=2"),
        (("--set", "top_p=99"), "top_p takes a number from 0 to 1, got 99"),
        (("--set", "temperature=99"), "temperature takes a number from 0 to 2, got 99"),
    ],
)
def test_a_setting_that_no_provider_takes_is_refused(
    made: Path, proofstone: Proofstone, flags: tuple[str, ...], says: str
) -> None:
    said = proofstone("run", "old-books", "-m", "sim/ann", *flags, "-w", made)
    assert said.code == 2
    assert says in said.err
