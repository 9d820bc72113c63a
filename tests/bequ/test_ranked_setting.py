"""A leaderboard of verified entity runs ranks one setting a model; every number has its share of
unparsed verdicts."""

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


def scored(proofstone: Proofstone) -> list[str]:
    """Two models in several settings and efforts, all of them verified."""
    run = ("run", "towns.jsonl", "-m", "scripted/talker,scripted/quiet", "--quiet", "--yes")
    proofstone(*run, "--prompt-set", ",".join(SETTINGS))
    proofstone(*run, "--preset", "effort")
    proofstone("import", "known.jsonl", "--as", "reference", "--name", "known")
    judged = ("--judge", "scripted/judge", "--reference", "known", "--sample", 0, "--yes")
    made = proofstone("score", "towns", *judged)
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
    random = proofstone("report", "towns", "--study", "random", "--json").json
    assert len(random["rows"]) == 2


def test_every_place_that_shows_a_number_shows_what_was_not_parsed(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    lines = scored(proofstone)
    share = f"{100 * SHARE_UNPARSED:.1f}%"
    assert (
        f"  warning: {share} of the recall verdicts are unparsed and count against the model"
        in (lines)
    )
    for study in ("random", "prompts", "effort", "domains", "popularity"):
        found = proofstone("report", "towns", "--study", study, "--json").json
        assert any("Unparsed verdicts of scripted/quiet" in note for note in found["notes"]), study
        names = json.dumps(found["columns"])
        assert "unparsed" in names, study
    made = proofstone(
        "run", "towns.jsonl", "-m", "scripted/quiet", "--preset", "random", "--judge",
        "scripted/judge", "--reference", "known", "--quiet", "--yes",
    )  # fmt: skip
    assert "Unparsed verdicts of scripted/quiet" in made.out
    assert "unparsed" in made.out.partition("Models by F1")[2] or "unparsed" in made.out
