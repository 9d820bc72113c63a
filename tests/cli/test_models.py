"""``models list``, ``check`` and ``price``, and leaderboards by the models' cards."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proofstone.api import create_workspace, open_workspace
from scripted_server import ScriptedServer, Seen, answer, error, models_list
from serving import serving
from small_bank import write_bank
from told import Proofstone

GONE = error(404, {"error": {"message": "The model does not exist", "code": "model_not_found"}})
CARDS = """
[models."scripted/thinker"]
card = { lab = "Acme", kind = "reasoning", openness = "closed", total_parameters_b = 400 }
price = { input = 1, output = 4, date = "2020-01-01", source = "https://acme.example" }
[models."scripted/plain"]
"""


@pytest.fixture(scope="module")
def server():
    """An endpoint that answers and lists two of its models."""
    with serving(answer("Answer: A")) as running:
        running.listing = lambda _seen: models_list("thinker", "qwen3-8b")
        yield running


@pytest.fixture(scope="module")
def asked_once(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which three models of the endpoint and a simulated one were run; one of them
    has its card from the file, one a carried one, and one none."""
    folder = tmp_path_factory.mktemp("asked")
    with create_workspace(folder / "work") as workspace:
        configure(folder / "work", server)
        forms = workspace.build_form(workspace.import_bank(write_bank(folder)), questions=4)
        models = [f"scripted/{name}" for name in ("thinker", "qwen3-8b", "plain")]
        workspace.run(forms, models=[*models, "sim/ann?ability=0.8"])
    return folder / "work"


@pytest.fixture
def asked(asked_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(asked_once, tmp_path / "work")


def configure(folder: Path, server: ScriptedServer, more: str = CARDS) -> None:
    text = f'[providers.scripted]\nbase_url = "{server.url}"\n{more}'
    (folder / "proofstone.toml").write_text(text, encoding="utf-8")


def undated(text: str) -> str:
    """Today's date as DAY, or yesterday's: a day may end while a test runs."""
    days = (datetime.now(UTC), datetime.now(UTC) - timedelta(days=1))
    for day in days:
        text = text.replace(day.strftime("%Y-%m-%d"), "DAY")
    return text


def days_since_2020() -> int:
    return (datetime.now(UTC).date() - datetime(2020, 1, 1, tzinfo=UTC).date()).days


def test_the_list_shows_cards_of_configured_and_once_run_models(
    asked: Path, proofstone: Proofstone
) -> None:
    said = proofstone("models", "list", "-w", asked)
    lines = {line.split()[0]: line for line in said.out.splitlines()}
    assert "Acme, reasoning, closed, 400B" in lines["scripted/thinker"]
    assert "Alibaba Qwen3, hybrid, open weights, 8.2B dense" in lines["scripted/qwen3-8b"]
    assert lines["scripted/plain"].split()[1] == "unknown"
    assert not any(name.startswith("sim/") for name in lines)
    found = {m["name"]: m for m in proofstone("models", "list", "-w", asked, "--json").json}
    assert found["scripted/thinker"]["card"]["total_parameters_b"] == 400
    assert found["scripted/thinker"]["price"]["output"] == 4


def test_check_without_names_asks_all_and_reports_all(asked: Path, proofstone: Proofstone) -> None:
    """Also past one whose key is missing; which makes 5."""
    with (asked / "proofstone.toml").open("a", encoding="utf-8") as file:
        file.write('[models."nokey/x"]\nbase_url = "http://127.0.0.1:9"\napi_key_env = "NO_KEY"\n')
    said = proofstone("models", "check", "-w", asked)
    assert said.code == 5
    rows = {line.split()[1]: line.split()[0] for line in said.out.splitlines()[:4]}
    assert rows == {
        "nokey/x": "FAILED",
        "scripted/plain": "ok",
        "scripted/qwen3-8b": "ok",
        "scripted/thinker": "ok",
    }
    assert "nokey/x: export NO_KEY=..." in said.out
    checks = {c["name"]: c for c in proofstone("models", "check", "-w", asked, "--json").json}
    assert checks["scripted/thinker"]["listed"] == "listed"
    assert checks["scripted/plain"]["listed"] == "not listed"


def test_check_of_names_asks_those(asked: Path, proofstone: Proofstone) -> None:
    said = proofstone("models", "check", "scripted/thinker,sim/ann", "-w", asked)
    assert (said.code, len(said.out.splitlines())) == (0, 2)
    assert proofstone("models", "check", "nothing", "-w", asked).code == 2


def test_check_where_there_is_no_model_says_so(empty: Path, proofstone: Proofstone) -> None:
    said = proofstone("models", "check", "-w", empty)
    assert said.code == 2
    assert "no model is configured here and none was run yet" in said.err


def test_a_retired_model_keeps_its_results_and_is_marked(
    asked: Path, proofstone: Proofstone
) -> None:
    """Its endpoint lists it no more and knows it no more."""

    def gone_is_plain(seen: Seen) -> object:
        return GONE if seen.json["model"] == "plain" else answer("Answer: A")

    with serving(gone_is_plain) as changed:  # type: ignore[arg-type]
        changed.listing = lambda _seen: models_list("thinker", "qwen3-8b")
        configure(asked, changed)
        said = proofstone("models", "check", "-w", asked)
        url = changed.url
    assert said.code == 5
    assert "UNAVAILABLE  scripted/plain     not listed" in said.out
    listed = proofstone("models", "list", "-w", asked)
    assert "scripted/plain  unavailable (DAY)" in undated(listed.out)
    board = proofstone("leaderboard", "old-books", "-w", asked)
    sentence = f"scripted/plain is unavailable: {url} no longer served it on DAY; its results stay"
    assert sentence in undated(board.out).splitlines()
    assert any(line.split()[1:2] == ["scripted/plain"] for line in board.out.splitlines())


def test_prices_with_their_age_and_the_lines_that_are_missing(
    asked: Path, proofstone: Proofstone
) -> None:
    before = days_since_2020()
    said = proofstone("models", "price", "-w", asked)
    age = before if f" {before} days" in said.out else days_since_2020()
    line = 'price = { input = ..., output = ..., date = "DAY", source = "https://..." }'
    assert undated(said.out) == (
        "name              input  cached  output  reasoning  date        source\n"
        "scripted/thinker    1.0     1.0     4.0        4.0  2020-01-01  https://acme.example\n"
        f"! scripted/thinker: {age} days old; see https://acme.example\n"
        f"no price is known for 2 models; add to {asked / 'proofstone.toml'} with figures:\n"
        "\n"
        '[models."scripted/plain"]   # exists on line 7: add below it\n'
        f"{line}\n"
        "\n"
        '[models."scripted/qwen3-8b"]\n'
        f"{line}\n"
    )
    rows = proofstone("models", "price", "sim/ann", "-w", asked, "--json").json
    assert rows[0]["free"] == "simulated"


def test_the_leaderboard_is_grouped_and_shows_facts(asked: Path, proofstone: Proofstone) -> None:
    said = proofstone(
        "leaderboard", "old-books", "--group-by", "kind", "--columns", "lab", "-w", asked
    )
    shown = [line.split(" (")[0] for line in said.out.splitlines() if line.startswith("kind: ")]
    assert shown == ["kind: hybrid", "kind: reasoning", "kind: unknown", "kind: unknown"]
    board = proofstone("leaderboard", "old-books", "--group-by", "kind", "-w", asked, "--json").json
    assert board["group_by"] == "kind"
    assert [group["name"] for group in board["standings"][0]["groups"]] == [
        "hybrid", "reasoning", "unknown",
    ]  # fmt: skip


def test_the_leaderboard_is_filtered_and_says_whom_it_left_out(
    asked: Path, proofstone: Proofstone
) -> None:
    said = proofstone("leaderboard", "old-books", "--where", "openness=open", "-w", asked)
    assert (
        "only openness=open; left out 3 models: scripted/thinker (openness closed), "
        "scripted/plain (openness unknown), sim/ann?ability=0.8 (openness unknown)"
    ) in said.out.splitlines()
    assert "scripted/thinker" not in said.out.splitlines()[2]
    nobody = proofstone("leaderboard", "old-books", "--where", "kind=base", "-w", asked)
    assert nobody.code == 2
    assert "no model here meets --where: scripted/thinker (kind reasoning)" in nobody.err


def test_editing_a_card_rewrites_no_history(
    asked: Path, server: ScriptedServer, proofstone: Proofstone
) -> None:
    """The card kept with the runs stands until the model is checked or run again; then a note
    says what the runs saw."""
    changed = CARDS.replace('"reasoning"', '"hybrid"')
    configure(asked, server, changed)
    command = ("leaderboard", "old-books", "--where", "kind=reasoning", "-w", asked)
    before = proofstone(*command)
    assert (
        "scripted/thinker: its card is another one today (kind reasoning -> hybrid); the one kept "
        "with the runs is used until it is run or checked again"
    ) in before.out.splitlines()
    assert proofstone("models", "check", "scripted/thinker", "-w", asked).code == 0
    assert proofstone(*command).code == 2
    after = proofstone("leaderboard", "old-books", "--where", "kind=hybrid", "-w", asked)
    note = "scripted/thinker: its card changed after its runs (kind reasoning -> hybrid; DAY)"
    assert note in undated(after.out).splitlines()


def test_a_card_written_after_the_runs_is_borrowed_and_said(
    asked: Path, server: ScriptedServer, proofstone: Proofstone
) -> None:
    configure(asked, server, CARDS + 'card.kind = "base"\n')
    said = proofstone("leaderboard", "old-books", "--where", "kind=base", "-w", asked)
    assert (
        "card of today, for none was kept with the runs: scripted/plain "
        "(proofstone models check NAME keeps it)"
    ) in said.out.splitlines()


def test_the_page_groups_filters_and_shows_as_the_terminal(
    asked: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    page = tmp_path / "page.html"
    options = ("--group-by", "kind", "--where", "openness=open,openness=closed", "--columns", "lab")
    assert proofstone("report", "old-books", "-o", page, *options, "-w", asked).code == 0
    text = page.read_text(encoding="utf-8")
    assert 'colspan="99"><span class="stays">kind: hybrid (1 configuration)</span></th>' in text
    assert '<th scope="col">lab</th>' in text
    assert "<td>Alibaba</td>" in text
    assert "left out 2 models: scripted/plain (openness unknown)" in text
    assert text.count('<tr class="part">') == 2


def test_the_card_stands_with_the_run_in_python(asked: Path) -> None:
    """As of the run: what the store kept when it was asked."""
    with open_workspace(asked) as workspace:
        keys = {run.respondent: key for key, run in workspace.store.runs.every()}
        seen = workspace.store.models.cards_of_runs(list(keys.values()))
    assert seen[keys["scripted/thinker"]].card.kind == "reasoning"
    assert seen[keys["scripted/thinker"]].price is not None
    assert seen[keys["scripted/qwen3-8b"]].card.family == "Qwen3"
    assert keys["scripted/plain"] not in seen
