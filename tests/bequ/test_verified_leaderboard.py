"""``leaderboard`` of runs whose triples were verified, from the endpoint to the terminal."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from spoken_world import N, reference_file, towns_file

from scripted_server import ScriptedServer
from told import Proofstone

JUDGED = ("--judge", "scripted/judge", "--reference", "known", "--sample", 0)


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 cells."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def asked(proofstone: Proofstone, server: ScriptedServer) -> list[str]:
    """The runs of a model that talks and of one that knows nothing of a town."""
    models = "scripted/talker,scripted/quiet"
    made = proofstone("run", towns_file(Path.cwd()), "-m", models, "--json")
    known = proofstone("import", reference_file(Path.cwd()), "--as", "bank", "--method", "bequ")
    assert (made.code, known.code) == (0, 0), made.err + known.err
    return [f"run:{run['run']}" for run in made.json]


@pytest.fixture
def runs(proofstone: Proofstone, asked: list[str]) -> list[str]:
    """The same, verified."""
    made = proofstone("grade", *asked, *JUDGED)
    assert made.code == 0, made.err
    return asked


_BOARD = """\
triples 2 models over 6 entities; in the sample 50 to 60 triples of each, 72 of the reference
asked direct
sample all triples
judge scripted/judge
reference known-

rank model F1 P R
1-2 a scripted/talker 54.5 [] 60.0 [] 50.0 []
1-2 a scripted/quiet 49.2 [] 60.0 [] 41.7 []

model contradicted abstained per entity unparsed no ref.
scripted/talker 20.0 [] 0.0 [] 10.0 0.0 0.0
scripted/quiet 20.0 [] 16.7 [] 8.3 0.0 0.0
Rows that share a letter do not differ significantly (adjusted for all pairs).

95% confidence intervals: bootstrap over entities, jointly for both directions and all models. Rank
 ranges are simultaneous for all models.
contradicted, unparsed, no ref.: percent of the sampled triples; abstained: percent of entities; per
 entity: elicited triples.
"""


def test_models_are_ranked_by_f1(proofstone: Proofstone, runs: list[str]) -> None:
    """Of twelve facts of each town the talker says six, of ten triples six are right; the other one
    says nothing of a town, so that it knows five sixths of as much."""
    shown = proofstone("leaderboard", *runs)
    assert (shown.code, shown.err) == (0, "")
    text = re.sub(r"\[[^]]*\]", "[]", re.sub(r"known-\w+", "known-", shown.out))
    assert re.sub(r" +", " ", text) == _BOARD


def test_the_same_as_json_with_all_breakdowns_or_those_that_are_asked_for(
    proofstone: Proofstone, runs: list[str]
) -> None:
    board = proofstone("leaderboard", *runs, "--json").json
    first, second = board["rows"]
    assert first["group"]["model"] == "scripted/talker"
    values = {name: each["value"] for name, each in first["measured"]["estimates"].items()}
    assert values["precision"] == pytest.approx(6 / 10)
    assert values["recall"] == pytest.approx(6 / 12)
    assert second["measured"]["estimates"]["recall"]["value"] == pytest.approx(5 * 6 / (6 * 12))
    assert second["abstention"]["value"] == pytest.approx(1 / N)
    assert {part["by"] for part in board["parts"]} == {"domain", "popularity", "source", "family"}
    some = proofstone("leaderboard", *runs, "--json", "--by", "source").json
    assert {part["by"] for part in some["parts"]} == {"source"}


def test_by_source_and_popularity(proofstone: Proofstone, runs: list[str]) -> None:
    shown = proofstone("leaderboard", *runs, "--by", "popularity,source")
    heads = [line.split()[0] for line in shown.out.splitlines() if " n P " in line]
    assert heads == ["popularity", "source"]
    wrong = proofstone("leaderboard", *runs, "--by", "position")
    assert wrong.code == 2
    assert "expected one of: domain, popularity, source, family" in wrong.err


def test_what_is_not_verified_is_ranked_by_how_much_it_says(
    proofstone: Proofstone, asked: list[str], server: ScriptedServer
) -> None:
    """With the command that verifies; so are verified runs with --unverified."""
    before = proofstone("leaderboard", *asked)
    assert before.code == 0
    named = " ".join(run[: len("run:") + 8] for run in asked)
    assert f"proofstone grade {named} --judge PROVIDER/NAME --reference BANK" in before.err
    assert "6 questions" in before.out
    proofstone("grade", *asked, *JUDGED)
    after = proofstone("leaderboard", *asked, "--unverified")
    assert (after.code, after.err) == (0, "")
    assert after.out == before.out


def test_one_run_that_is_not_verified_stands_below(
    proofstone: Proofstone, asked: list[str]
) -> None:
    proofstone("grade", asked[0], *JUDGED)
    shown = proofstone("leaderboard", *asked)
    assert "not ranked:\nscripted/quiet  no triple of it is verified" in shown.out


def test_options_of_items_are_not_of_triples(proofstone: Proofstone, runs: list[str]) -> None:
    refused = proofstone("leaderboard", *runs, "--population", "bank", "--level", "field")
    assert refused.code == 2
    assert "--level, --population: not available for verified triples" in refused.err


def test_models_are_left_out_by_their_cards(proofstone: Proofstone, runs: list[str]) -> None:
    config = Path("proofstone.toml")
    card = '\n[models."scripted/talker".card]\nopenness = "open weights"\nlab = "Acme"\n'
    config.write_text(config.read_text(encoding="utf-8") + card, encoding="utf-8")
    shown = proofstone("leaderboard", *runs, "--where", "openness=open", "--columns", "lab")
    assert shown.code == 0, shown.err
    assert "only openness=open; left out 1 model: scripted/quiet (openness unknown)" in shown.out
    assert "scripted/talker  Acme" in shown.out


def test_what_people_say_of_verdicts_corrects_the_figures(
    proofstone: Proofstone, runs: list[str]
) -> None:
    """The table of verdicts comes back with a column filled: people agree with all of them."""
    written = proofstone("report", *runs, "-o", "report.html", "--tables", "csv")
    assert written.code == 0, written.err
    with Path("report-tables/results_detailed.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labelled = [
        {
            "id": row["id"],
            "direction": row["direction"],
            "people": row["verdict"],
            "is_true": "true",
        }
        for row in rows
        if row["model"] == "scripted/talker" and row["basis"] == "judge"
    ]
    text = "".join(json.dumps(row) + "\n" for row in labelled)
    Path("people.jsonl").write_text(text, encoding="utf-8")
    shown = proofstone("leaderboard", *runs, "--human-labels", "people.jsonl", "--json").json
    people = {row["group"]["model"]: row["people"] for row in shown["rows"]}
    assert people["scripted/quiet"] is None
    assert people["scripted/talker"]["estimates"]["agreement"]["value"] == 1.0
    text = proofstone("leaderboard", *runs, "--human-labels", "people.jsonl").out
    assert "scripted/talker, with human labels (precision 60, recall 36): P" in text
    unverified = proofstone("leaderboard", *runs, "--human-labels", "people.jsonl", "--unverified")
    assert unverified.code == 2


def test_tables_in_the_columns_of_the_paper(proofstone: Proofstone, runs: list[str]) -> None:
    """Counts add up over popularity, and every verdict has its row and its reply."""
    proofstone("report", *runs, "-o", "report.html", "--tables", "csv")

    def table(name: str) -> list[dict[str, str]]:
        with Path("report-tables", name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    results = table("results.csv")
    assert [list(row.values())[:2] for row in results] == [
        ["scripted/talker", "Precision (RAG)"], ["scripted/talker", "Recall"],
        ["scripted/quiet", "Precision (RAG)"], ["scripted/quiet", "Recall"],
    ]  # fmt: skip
    assert [row["Total #Triples"] for row in results] == ["60", "72", "50", "72"]
    by = table("results_by_popularity.csv")
    assert sum(int(row["Entailment"]) for row in by) == sum(
        int(row["Entailment"]) for row in results
    )
    assert len(table("combined_results.csv")) == 2 + 2
    detailed = table("results_detailed.csv")
    assert len(detailed) == 60 + 72 + 50 + 72
    assert all(row["response"].startswith("response:") for row in detailed)


def test_two_verified_runs_are_compared_in_f1_precision_and_recall(
    proofstone: Proofstone, asked: list[str]
) -> None:
    """The quiet one says nothing of one town in six: as precise, and 8.3 points less is covered."""
    before = proofstone("compare", *asked, "--json").json
    assert before["triples"] is None
    proofstone("grade", asked[0], *JUDGED)
    half = proofstone("compare", *asked).out
    assert "verified  not compared: B: not verified in both directions" in half
    proofstone("grade", *asked, *JUDGED)
    found = proofstone("compare", *asked, "--json").json["triples"]
    rates = {each["name"]: each for each in found["rates"]}
    f1 = [2 * 0.6 * recall / (0.6 + recall) for recall in (0.5, 5 / 12)]
    assert rates["F1"]["estimate"]["value"] == pytest.approx(f1[1] - f1[0])
    assert rates["recall"]["estimate"]["value"] == pytest.approx(-1 / 12)
    assert rates["precision"]["estimate"]["value"] == pytest.approx(0.0)
    assert rates["recall"]["estimate"]["low"] < -1 / 12 < rates["recall"]["estimate"]["high"]
    level = rates["precision"]["estimate"]
    assert level["low"] < 0 < level["high"]
    assert level["made_by"] == "all entities equal"
    assert found["entities"] == N
    shown = proofstone("compare", *asked).out
    unparsed = "0.0% of precision, 0.0% of recall"
    assert f"unparsed A {unparsed}; B {unparsed}" in " ".join(shown.split())
    assert "\nverified  by scripted/judge against known-" in shown
    assert re.search(r"^recall    A 50\.0 .*, B 41\.7 .*; B - A -8\.3 \[", shown, re.MULTILINE)


def test_runs_that_were_verified_in_other_samples_are_not_compared(
    proofstone: Proofstone, asked: list[str]
) -> None:
    proofstone("grade", asked[0], *JUDGED)
    proofstone("grade", asked[1], *JUDGED[:-1], 20)
    shown = proofstone("compare", *asked)
    assert shown.code == 0
    text = re.sub(r"\s+", " ", shown.out)
    assert "verified not compared: these runs were verified by different judges" in text


def test_runs_that_other_judges_verified_are_not_compared(
    proofstone: Proofstone, asked: list[str]
) -> None:
    """In the workspace the verified rates are refused and only what no judge gave is compared; the
    exported verdicts are refused as files of scores."""
    proofstone("grade", asked[0], *JUDGED)
    proofstone("grade", asked[1], "--judge", "scripted/other", *JUDGED[2:])
    told = proofstone("compare", *asked, "--json").json
    assert "different judges" in told["triples"]["cannot"]
    assert told["triples"]["rates"] == []
    assert told["measure"] == "given"
    text = proofstone("compare", asked[0], asked[1], "--gate", "--max-drop", 2).out
    assert "measure   given" in text
    for name, run in zip("ab", asked, strict=True):
        proofstone("export", run, "-o", f"{name}.csv", "--what", "verdicts")
    for command in (["compare", "a.csv", "b.csv"],
                    ["compare", "b.csv", "a.csv", "--gate", "--max-drop", 2]):  # fmt: skip
        assert proofstone(*command).code == 2
