"""A leaderboard of entity runs ranks one setting a model; every number has its share of unparsed
verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asked_entities import asked_entity
from asked_world import files, speaking

from scripted_server import Act, ScriptedServer, Seen, answer
from serving import configure, serving
from told import Proofstone

SETTINGS = ("direct", "wikidata", "schema-org")
SHARE_UNPARSED = 10 / 12  # of recall: the judge says nothing that can be read; two are word by word


@pytest.fixture
def server(tmp_path: Path, proofstone: Proofstone) -> Iterator[ScriptedServer]:
    """The judge's replies on reference triples hold no label."""
    files(tmp_path)
    say = speaking()

    def act(seen: Seen) -> Act:
        is_recall = "reference fact" in seen.json["messages"][-1]["content"]
        return answer("Hm.") if is_recall and not asked_entity(seen) else say(seen)

    with serving(act) as found:
        configure(tmp_path, found.url)
        yield found


def asked(proofstone: Proofstone) -> None:
    """Two models in several settings and efforts."""
    run = ("run", "towns.jsonl", "-m", "scripted/talker,scripted/quiet", "--quiet", "--yes")
    proofstone(*run, "--prompt-method", ",".join(SETTINGS))
    proofstone(*run, "--preset", "effort")


def scored(proofstone: Proofstone) -> list[str]:
    """The same, all of them verified."""
    asked(proofstone)
    proofstone("import", "known.jsonl", "--as", "reference", "--name", "known")
    judged = ("--judge", "scripted/judge", "--reference", "known", "--sample", 0, "--yes")
    made = proofstone("grade", "towns", *judged)
    assert made.code == 0, made.err
    return made.out.splitlines()


def test_one_setting_a_model_is_ranked_and_the_others_are_experiments(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """Of six settings of two models two rows are ranked, those of the preset: the direct prompt
    with medium effort. The rest is shown below, without a rank."""
    scored(proofstone)
    board: dict[str, Any] = proofstone("leaderboard", "towns", "--json").json
    rows = board["rows"]
    assert len(rows) == 2 * (len(SETTINGS) + 3)
    ranked = [row for row in rows if row["rank"] is not None]
    assert sorted(row["group"]["model"] for row in ranked) == ["scripted/quiet", "scripted/talker"]
    assert all("medium" in row["group"]["setting"] for row in ranked)
    assert [row["experiment"] for row in rows] == [row["rank"] is None for row in rows]
    text = proofstone("leaderboard", "towns").out
    table, _, below = text.partition("experiments with other settings, not ranked")
    assert table.count("medium") >= 2
    assert "wikidata" not in table
    assert below.count("scripted/talker") >= len(SETTINGS) + 2
    random = proofstone("report", "towns", "--analysis", "random", "--json").json
    assert len(random["tables"][0]["rows"]) == 2


def test_before_scoring_one_setting_a_model_is_ranked_too(
    proofstone: Proofstone, server: ScriptedServer, tmp_path: Path
) -> None:
    """The same setting as in the verified ranking, on the terminal, as JSON and on the page; the
    experiments have no rank, are compared with nothing and are in no part of the opening."""
    asked(proofstone)
    board: dict[str, Any] = proofstone("leaderboard", "towns", "--json").json
    ranked, others = board["standings"]
    assert [(s["experiment"], len(s["ranked"])) for s in (ranked, others)] == [
        (False, 2),
        (True, 2 * (len(SETTINGS) + 2)),
    ]
    assert {row["settings"] for row in ranked["ranked"]} == {"reasoning_effort=medium"}
    assert all(row["rank"] is not None for row in ranked["ranked"])
    assert [row["rank"] for row in others["ranked"]] == [None] * len(others["ranked"])
    assert not others["compared"]
    text = proofstone("leaderboard", "towns").out
    assert text.count("rank ") == 1
    table, _, below = text.partition(
        "experiments with other settings, not ranked: one setting of each model is ranked.\n"
    )
    assert "wikidata" not in table
    assert below.count("scripted/talker") == len(SETTINGS) + 2
    assert " 1-2 " in table
    assert " 1-" not in below
    page = proofstone("report", "towns", "-o", "page.html")
    assert page.code == 0, page.err
    shown = (tmp_path / "page.html").read_text("utf-8")
    assert "2 models \u00b7 4 items" in shown
    assert "have the same score (100.0%)." in shown
    assert "experiments with other settings: 10 models, not ranked." in shown
    assert "<h3>experiments with other settings</h3>" in shown
    assert "Not ranked: one setting of each model is ranked." in shown
    assert "12 configurations are ranked" not in shown
    assert "10 configurations of experiments with other settings are not ranked." in shown
    scored(proofstone)
    shown_again = proofstone("leaderboard", "towns", "--unverified").out
    assert shown_again.partition("\n\n")[0] == text.partition("\n\n")[0]


def test_every_place_that_shows_a_number_shows_what_was_not_parsed(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    lines = scored(proofstone)
    share = f"{100 * SHARE_UNPARSED:.1f}%"
    assert (
        f"  warning: {share} of the recall verdicts are unparsed and count against the model"
        in (lines)
    )
    for analysis in ("random", "prompts", "effort", "domains", "popularity"):
        found = proofstone("report", "towns", "--analysis", analysis, "--json").json
        assert any("Unparsed verdicts of scripted/quiet" in note for note in found["notes"]), (
            analysis
        )
        names = json.dumps(found["tables"])
        assert "unparsed" in names, analysis
    made = proofstone(
        "run", "towns.jsonl", "-m", "scripted/quiet", "--preset", "random", "--judge",
        "scripted/judge", "--reference", "known", "--quiet", "--yes",
    )  # fmt: skip
    assert "Unparsed verdicts of scripted/quiet" in made.out
    assert "unparsed" in made.out.partition("Models by F1")[2] or "unparsed" in made.out
