"""``report`` of runs whose triples were verified, from the endpoint to the page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from msgspec import structs
from spoken_world import N, reference_file, towns_file

from proofstone.api import open_workspace
from scripted_server import ScriptedServer
from told import Proofstone

JUDGED = ("--judge", "scripted/judge", "--reference", "known", "--sample", 0)


@pytest.fixture
def runs(proofstone: Proofstone, server: ScriptedServer) -> list[str]:
    """The verified runs of a model that talks and of one that knows nothing of one town."""
    models = "scripted/talker,scripted/quiet"
    made = proofstone("run", towns_file(Path.cwd()), "-m", models, "--json")
    proofstone("import", reference_file(Path.cwd()), "--as", "bank", "--method", "bequ")
    found = [f"run:{run['run']}" for run in made.json]
    scored = proofstone("grade", *found, *JUDGED)
    assert scored.code == 0, scored.err
    return found


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def test_the_page_answers_first_and_holds_every_verdict(
    proofstone: Proofstone, runs: list[str]
) -> None:
    """Of six towns twelve facts are known; one model said ten triples of each, the other of
    five."""
    told = proofstone("report", *runs, "-o", "page.html")
    assert (told.code, told.out) == (0, "page   page.html\n")
    text = read("page.html")
    answer = re.search(r'<p class="answer">(.*?)</p>', text)
    assert answer is not None
    assert html.unescape(answer[1]).startswith(
        f"Of 2 models on {N} entities, scripted/talker has the highest F1, 54.5 ["
    )
    assert "but its lead over scripted/quiet is not significant." in answer[1]
    blocks = dict(
        re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', text, re.DOTALL)
    )
    rows = json.loads(blocks["held-triples-1"])
    assert len(rows) == 10 * N + 10 * (N - 1) + 2 * 12 * N
    evidence = json.loads(blocks["held-evidence-1"])
    said = next(row for row in evidence if row[3].startswith("Town 0 is known for"))
    assert said[7].startswith("response:")
    shown = proofstone("show", said[7])
    assert shown.code == 0, shown.err
    assert '<h2 id="experiments">' in text
    assert "asked direct" not in text
    assert "Asked: direct." in text


def test_a_page_for_the_public_has_no_text_of_what_was_asked_or_said(
    proofstone: Proofstone, runs: list[str]
) -> None:
    """Neither names of entities, nor triples, nor passages, nor reasons; nothing lies beside it."""
    proofstone("report", *runs, "-o", "page.html", "--audience", "public", "--tables", "csv")
    text = read("page.html")
    for hidden in ("Town 0", "Town 5", "is known for", "fact3", "rumour", "value 0-"):
        assert hidden not in text
    assert "They are not shown to the public" in text
    assert "54.5 [" in text
    written = "".join(read(str(file)) for file in Path("page-tables").glob("*"))
    assert "Town 0" not in written
    assert "is known for" not in written
    assert not Path("page_files").exists()


def test_tables_and_figures_are_written_beside_it(proofstone: Proofstone, runs: list[str]) -> None:
    """The page's own and those in BeQu's columns."""
    made = proofstone(
        "report", *runs, "-o", "page.html", "--tables", "csv", "--figures", "json", "--json"
    )
    assert made.code == 0, made.err
    files = made.json["tables"]["files"]
    assert {"leaderboard-1.csv", "results.csv", "results_detailed.csv"} <= set(files)
    assert {"f1.vl.json", "precision-recall.vl.json"} <= set(made.json["figures"]["files"])
    leading = read("page-tables/leaderboard-1.csv").splitlines()
    assert leading[0].startswith("model,")
    assert leading[1].startswith("scripted/talker,")
    assert made.json["rows"] is None


def test_unverified_gives_the_page_of_what_was_said(
    proofstone: Proofstone, runs: list[str]
) -> None:
    told = proofstone("report", *runs, "-o", "page.html", "--unverified")
    assert told.code == 0, told.err
    assert "highest F1" not in read("page.html")


def test_options_of_scores_of_items_are_refused(proofstone: Proofstone, runs: list[str]) -> None:
    told = proofstone("report", *runs, "-o", "page.html", "--level", "field")
    assert told.code == 2
    assert "--level: not available for verified triples" in told.err
    assert not Path("page.html").exists()


def test_the_page_is_chinese_where_that_is_asked_for(
    proofstone: Proofstone, runs: list[str]
) -> None:
    told = proofstone("report", *runs, "-o", "page.html", "--ui-language", "zh")
    assert told.code == 0, told.err
    text = read("page.html")
    assert "的 F1 最高" in text
    assert "三元组及其判定" in text


def test_runs_that_were_not_verified_have_the_other_page(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    made = proofstone("run", towns_file(Path.cwd()), "-m", "scripted/talker", "--json")
    told = proofstone("report", f"run:{made.json[0]['run']}", "-o", "page.html")
    assert told.code == 0, told.err
    assert 'id="held"' not in read("page.html")


def test_the_folder_of_a_page_of_triples_is_described(runs: list[str]) -> None:
    """So few triples fit the page; with more it says what its folder holds."""
    with open_workspace(Path()) as workspace:
        written = workspace.report(*runs, path="page.html")
    assert (written.rows, written.folder_note) == (None, "")
    assert structs.replace(written, rows="page_files").folder_note == (
        "keep the folder page_files next to the page: it holds its entities and triples"
    )
