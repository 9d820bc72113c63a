"""``build --judge A,B,C`` and ``show BUILD --judges``, ``--verdicts``, as people type them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import panelists
from proofstone.api import Workspace, create_workspace
from proofstone.ingest.ingest import ingest_paths
from serving import HurriedClock, configure, serving
from told import Proofstone

BOOK = "\n\n".join(
    f"Pure {metal} conducts electric current well at room temperature because its electrons move "
    f"freely through the lattice of {metal}."
    for metal in ("copper", "silver", "gold")
)
A, B, C = "scripted/a", "scripted/b", "scripted/c"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        (tmp_path / "Metals.txt").write_text(BOOK, encoding="utf-8")
        ingest_paths(opened.store, [tmp_path / "Metals.txt"], clock=HurriedClock())
        yield opened


SHOWN = (
    "self-contained: standing   stands 3; unanimous 3 of 3\njudge       n  "
    "voted\nscripted/a  3      3\nscripted/b  3      3\nscripted/c  3      3\n\n"
    "support: support   supported 3; unanimous 1 of 3\njudge       n  "
    "voted  against  weighs\nscripted/a  3      3                2\n"
    "scripted/b  3      3                2\nscripted/c  3      3        2\n\n"
    "false: falsity   false 3; unanimous 3 of 3\njudge       n  voted\n"
    "scripted/a  3      3\nscripted/b  3      3\nscripted/c  3      3\n\n"
    "reason: reason   fits 3; unanimous 3 of 3\njudge       n  voted\n"
    "scripted/a  3      3\nscripted/b  3      3\nscripted/c  3      3\n"
)


def test_the_command_takes_a_panel_and_shows_what_it_said(
    workspace: Workspace, proofstone: Proofstone, tmp_path: Path
) -> None:
    """``--judge A,B`` and ``-m judge=A,B`` mean the same; dry run and egress know all judges."""
    at = ("-w", workspace.folder)
    build = ("build", "statements", "Metals", "--name", "m", "-m", "scripted/author")
    author = panelists(dissent="c")
    with serving(author) as server:
        configure(workspace.folder, server.url)
        judged = ("--judge", "scripted/a,scripted/b,scripted/c")
        dry = proofstone(*build, *judged, "--dry-run", "--pilot", 20, *at)
        assert "scripted/a, scripted/b, scripted/c" in dry.out
        made = proofstone(*build, "--judge", f"{A},{B}", "--judge", C, *at, "--json")
        assert made.code == 0
        by_role = proofstone(
            *build[:-2], "-m", "writer=scripted/author,perturber=scripted/author",
            "-m", f"judge={A},{B},{C}", *at, "--json",
        )  # fmt: skip
    assert by_role.json["build"] == made.json["build"]
    name = f"build:{made.json['build'][:8]}"
    assert proofstone("show", name, "--judges", *at).out == SHOWN
    told = proofstone("show", name, "--verdicts", "--step", "support", "-n", "1", *at)
    assert told.err == "more follow: -n 10\n"
    head, *judge_votes = told.out.splitlines()[:4]
    assert head.endswith("support: support: supported")
    assert judge_votes == [
        "  scripted/a: supported. seen", "  scripted/b: supported. seen",
        "  scripted/c: unsupported. not in it",
    ]  # fmt: skip
    (one,) = proofstone("show", name, "--verdicts", "-n", "1", "--json", *at).json
    assert one["verdict"]["rules"] == {"quorum": 3, "majority": "half", "tie": ""}
    assert proofstone("show", name, "--verdicts", "--judges", *at).code == 2
    assert "no step 'sing'" in proofstone("show", name, "--verdicts", "--step", "sing", *at).err
    two = proofstone(*build, "-m", f"writer={A},{B}", "--judge", C, *at)
    assert (two.code, "name the role of each" in two.err) == (2, True)
    roles = proofstone(*build[:-2], "-m", f"writer={A},{B}", "--judge", C, *at)
    assert "the writer is one model, not 2" in roles.err
