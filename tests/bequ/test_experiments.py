"""The six experiments from lists to tables, offline: asked by a preset, verified in one command,
and every figure of a table known beforehand."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from asked_world import EFFORTS, PROMPTS, RANGES, N, files, speaking

from proofstone.api import open_workspace
from proofstone.cli import main
from scripted_server import ScriptedServer
from serving import configure, serving
from table_texts import rows
from told import Proofstone, Told


@pytest.fixture
def proofstone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Proofstone:
    """Runs a command in a folder that is a workspace with a reference."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Told:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        assert isinstance(left.value.code, int)
        return Told(left.value.code, *capsys.readouterr())

    run("init", ".")
    _towns, _nowhere, known = files(tmp_path)
    assert run("import", known, "--as", "bank", "--method", "bequ").code == 0
    return run


@pytest.fixture
def server(tmp_path: Path, proofstone: Proofstone) -> Iterator[ScriptedServer]:
    with serving(speaking()) as server:
        configure(tmp_path, server.url)
        yield server


def asked(proofstone: Proofstone, preset: str, *targets: str, models: str = "talker") -> None:
    names = ",".join(f"scripted/{name}" for name in models.split(","))
    made = proofstone("run", *targets, "-m", names, "--preset", preset, "--quiet", "--yes")
    assert made.code == 0, made.err


def verified(proofstone: Proofstone, *targets: str) -> None:
    made = proofstone(
        "grade", *targets, "--judge", "scripted/judge", "--reference", "known", "--sample", 0,
        "--quiet",
    )  # fmt: skip
    assert made.code == 0, made.err


def analysis(proofstone: Proofstone, name: str, *targets: str) -> dict[str, Any]:
    """What the command gives as JSON, its tables as their cells are printed."""
    made = proofstone("report", *targets, "--analysis", name, "--json")
    assert made.code == 0, made.err
    with open_workspace(Path()) as workspace:
        found = workspace.analysis(name, *targets)
    assert len(made.json["tables"][0]["rows"]) == len(found.tables[0].rows)
    return {
        "rows": rows(found),
        "more": [{"rows": rows(found, place)} for place in range(1, len(found.tables))],
        "points": [{"x": mark["column"]} for mark in made.json["data"]["marks"]],
        "notes": made.json["notes"],
    }


def f1(said: tuple[int, int]) -> float:
    """Of so many right and wrong triples of a town, of which twelve are known."""
    right, wrong = said
    precision, recall = right / (right + wrong), right / 12
    return 2 * precision * recall / (precision + recall)


def shown(share: float) -> str:
    return f"{100 * share:.1f} ["


def check_sweep(
    found: Mapping[str, Any], wanted: Mapping[str, tuple[int, int]], usual: str
) -> None:
    """Each value with F1, precision, recall, and how far F1 lies above that of the usual one."""
    rows = found["rows"]
    assert [row[1] for row in rows] == list(wanted)
    for row, said in zip(rows, wanted.values(), strict=True):
        right, wrong = said
        assert row[3].startswith(shown(f1(said)))
        assert row[4].startswith(shown(right / (right + wrong)))
        assert row[5].startswith(shown(right / 12))
        assert row[6].startswith(shown(0.0))  # unparsed
        assert row[7] == f"{right + wrong:.1f}"
        less = f1(said) - f1(wanted[usual])
        assert row[-1] == "—" if row[1] == usual else row[-1].startswith(shown(less + 0.0))
    assert [point["x"] for point in found["points"]] == list(wanted)


def test_prompts_ranges_and_efforts_on_one_list(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """What the usual way said is asked once for all of them; its hash is the same in each table."""
    asked(proofstone, "prompts", "towns.jsonl")
    n_prompts = server.requests
    asked(proofstone, "ranges", "towns")
    asked(proofstone, "effort", "towns")
    assert n_prompts == N * (len(PROMPTS) + 1)
    assert server.requests == n_prompts + N * (len(RANGES) - 1 + len(EFFORTS))
    verified(proofstone, "towns")
    requests = server.requests
    prompts = analysis(proofstone, "prompts", "towns")
    check_sweep(prompts, PROMPTS, "direct")
    ranges = analysis(proofstone, "ranges", "towns")
    check_sweep(ranges, RANGES, "50-100")
    effort = analysis(proofstone, "effort", "towns")
    rows = effort["rows"]
    assert [row[1] for row in rows] == [*EFFORTS, "not set"]
    for row, said in zip(rows, [*EFFORTS.values(), PROMPTS["direct"]], strict=True):
        assert row[3].startswith(shown(f1(said)))
    assert prompts["rows"][0][2] == ranges["rows"][0][2] == rows[3][2] != rows[0][2]
    recall = {row[1]: row[3] for row in prompts["more"][0]["rows"]}
    assert recall["schema-org"].startswith(shown(3 / 12 - 6 / 12))
    assert not any(
        "missing" in note for each in (prompts, ranges, effort) for note in each["notes"]
    )
    assert server.requests == requests


def test_random_domains_and_popularity_with_what_does_not_exist(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """Two models on the towns and on two names of nothing; the talker makes four triples up."""
    lists = ("towns.jsonl", "nowhere.jsonl")
    asked(proofstone, "domains", *lists, models="talker,quiet")
    both = ("towns", "nowhere")
    refused = proofstone("report", *both, "--analysis", "random")
    assert refused.code == 2
    assert "no triples of these runs are verified yet" in refused.err
    assert "--reference" in refused.err
    verified(proofstone, *both)
    talker, quiet = f1((6, 2)), f1((2, 0))

    random = analysis(proofstone, "random", "towns")
    assert [row[0] for row in random["rows"]] == [
        f"scripted/{m} direct" for m in ("talker", "quiet")
    ]
    assert random["rows"][0][3].startswith(shown(talker))
    assert random["rows"][0][7].startswith(shown(2 / 8))
    assert random["rows"][1][-1].startswith(shown(quiet - talker))

    with_nonexistent = analysis(proofstone, "random", *both)
    assert with_nonexistent["rows"][0][3].startswith(shown(talker))  # what is made up counts apart

    domains = analysis(proofstone, "domains", *both)
    assert [row[1] for row in domains["rows"]] == ["event", "location"] * 2
    assert {row[3] for row in domains["rows"]} == {str(N // 2)}
    assert domains["rows"][0][4].startswith(shown(talker))
    nonexistent = [(row[0].split("/")[1], *row[1:4], row[5]) for row in domains["more"][0]["rows"]]
    assert nonexistent == [
        ("talker direct", "all", "2", "2", "4"),
        ("talker direct", "plausible", "1", "1", "3"),
        ("talker direct", "absurd", "1", "1", "1"),
        ("quiet direct", "all", "2", "0", "0"),
        ("quiet direct", "plausible", "1", "0", "0"),
        ("quiet direct", "absurd", "1", "0", "0"),
    ]

    for option, message in (
        (("--population", "bank"), "generalizes to similar entities, not to an item bank"),
        (("--base-models", "a=b"), "takes no --base-models"),
    ):
        made = proofstone("report", "towns", "--analysis", "random", *option)
        assert (made.code, message in made.err) == (2, True), made.err

    popularity = analysis(proofstone, "popularity", "towns")
    assert [row[1] for row in popularity["rows"][:3]] == ["0-33%", "33-66%", "66-100%"]
    trend = popularity["more"][0]["rows"][0]
    assert trend[1].startswith(shown(0.0))  # each third says the same share rightly


def test_what_is_missing_of_a_grid_is_named_with_the_commands(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """Three of eight sets asked and one of these not verified; then the command that stands there
    asks the rest, and nothing twice."""
    run = ("run", "towns.jsonl", "-m", "scripted/talker", "--quiet", "--yes")
    proofstone(*run, "--prompt-method", "direct,wikidata")
    verified(proofstone, "towns")
    proofstone(*run, "--prompt-method", "schema-org", "--limit", 2)
    notes = analysis(proofstone, "prompts", "towns")["notes"]
    assert any(
        (
            "Not run for scripted/talker: repeated-2, repeated-3, wikidata-open, "
            "schema-org-open and two-step."
        )
        in note
        for note in notes
    )
    told = next(note for note in notes if "To run only what is missing" in note)
    command = told.partition("proofstone ")[2].split()
    assert command[0] == "run"
    assert any("schema-org has 2 of 4 responses" in note for note in notes)
    assert any("Not fully verified" in note for note in notes)
    before = server.requests
    made = proofstone(*command, "--quiet", "--yes")
    assert made.code == 0, made.err
    assert server.requests == before + N * (len(PROMPTS) - 2 + 1) - 2
    told = next(note for note in notes if "Not fully verified" in note)
    command = told.partition("proofstone ")[2].split()
    assert command[2:] == [
        "--judge", "scripted/judge", "--reference", command[5], "--sample", "0"
    ]  # fmt: skip
    assert proofstone(*command, "--quiet").code == 0
    rows = analysis(proofstone, "prompts", "towns")["rows"]
    assert [row[1] for row in rows] == ["direct", "wikidata", "schema-org"]


def test_a_study_as_a_person_calls_it_draws_its_figure(
    proofstone: Proofstone, server: ScriptedServer, tmp_path: Path
) -> None:
    run = ("run", "towns.jsonl", "-m", "scripted/talker", "--quiet", "--yes")
    proofstone(*run, "--prompt-method", "direct,schema-org")
    verified(proofstone, "towns")
    made = proofstone(
        "report", "towns", "--analysis", "prompts", "-o", "marks.csv", "--figures", "svg",
        "--figures-to", "drawn",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert made.out.startswith("Prompt templates\nWithin a model, F1 differs by up to")
    assert "\nscripted/talker  schema-org  " in made.out
    with (tmp_path / "marks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["prompts"] for row in rows] == ["direct", "schema-org"]
    assert (
        (tmp_path / "drawn" / "f1-by-prompts.svg").read_text(encoding="utf-8").count("schema-org")
    )


def test_one_command_asks_verifies_and_shows(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """The sample is that of the preset; the same command again asks nobody; what a command cannot
    do at once it says."""
    ask = ("run", "towns.jsonl", "-m", "scripted/talker,scripted/quiet", "--preset", "random")
    judged = ("--judge", "scripted/judge", "--reference", "known", "--yes")
    made = proofstone(*ask, *judged, "--quiet")
    assert made.code == 0, made.err
    assert "by scripted/judge, against known-" in made.out
    assert "up to 500 per direction, seed 42" in made.out
    assert "\nRandom entities\nscripted/talker direct has the highest F1, 60.0 [" in made.out
    requests = server.requests
    again = proofstone(*ask, *judged, "--json")
    assert (again.code, server.requests) == (0, requests)
    talker, quiet = again.json
    assert talker["verified"]["counts"]["precision"] == {
        "contradiction": 2 * N, "entailment": 6 * N,
    }  # fmt: skip
    assert quiet["verified"]["counts"]["recall"] == {"entailment": 2 * N, "neutral": 10 * N}
    told = proofstone(*ask)
    assert "Fill in: proofstone grade towns-" in told.err
    assert "--recall together --sample 500 --seed 42\nNext: proofstone report towns-" in told.err
    refused = proofstone(*ask, "--reference", "known")
    assert refused.code == 2
    assert "--reference needs --judge" in refused.err


def test_one_budget_holds_for_asking_and_judging(
    proofstone: Proofstone, server: ScriptedServer, tmp_path: Path
) -> None:
    """What asking took is gone for the judges, and what is told as spent is both. They stop where
    another of their calls is not covered, what was done is kept, and the command ends with 4; with
    a further budget it goes on."""
    price = 'price = {{ input = {0}, output = {0}, date = "2026-11-01", source = "https://e.x" }}'
    models = [(name, price.format(usd)) for name, usd in (("talker", 10.0), ("judge", 1000.0))]
    more = "".join(f'[models."scripted/{name}"]\n{line}\n' for name, line in models)
    configure(tmp_path, server.url, more)
    command = (
        "run", "towns.jsonl", "-m", "scripted/talker", "--preset", "random", "--yes",
        "--judge", "scripted/judge", "--reference", "known",
    )  # fmt: skip
    made = proofstone(*command, "--budget", "5USD")
    assert made.code == 4, made.err
    spent = proofstone("status", "--json").json["spent"]
    assert set(spent) == {"ask", "judge"}
    in_all = spent["ask"]["cost_usd"] + spent["judge"]["cost_usd"]
    assert spent["ask"]["cost_usd"] > 0.001
    assert in_all <= 5
    told = re.search(r"the budget of 5 USD is reached: (\S+) USD spent", made.err)
    assert told is not None, made.err
    assert float(told[1]) == pytest.approx(in_all, abs=0.0001)
    done = proofstone(*command, "--budget", "500USD", "--quiet")
    assert done.code == 0, done.err
    assert proofstone("status", "--json").json["spent"]["ask"] == spent["ask"]
