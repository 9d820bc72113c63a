"""``doctor`` with its options: what was sent, models online, and a bundle for a report."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from proofstone.api import open_workspace
from proofstone.keep.doctor import without_quotes
from proofstone.session.egress import what_was_sent
from scripted_server import Act, Seen, answer, error
from scripted_web import web
from serving import configure, serving
from told import Proofstone


def test_a_workspace_that_sent_nothing_says_so(made: Path, proofstone: Proofstone) -> None:
    """Simulated respondents went nowhere."""
    told = proofstone("doctor", "--egress", "-w", made)
    assert (told.code, told.err) == (0, "")
    assert told.out == "nothing was ever sent from this workspace to another machine\n"
    assert proofstone("doctor", "--egress", "-w", made, "--json").json == []


def test_all_that_was_sent_is_listed(made: Path, proofstone: Proofstone) -> None:
    """Calls, attempts with retries, bytes of prompts, sources, dates; and nothing for a cached or
    simulated one."""
    busy = error(503, {"error": {"message": "overloaded"}}, Retry_After="0")
    script = lambda seen: busy if seen.number == 0 else answer("Answer: A")  # noqa: E731
    with serving(script) as server:
        configure(made, server.url)
        assert proofstone("run", "old-books", "-m", "scripted/one", "-w", made).code == 0
        assert proofstone("run", "old-books", "-m", "scripted/one", "-w", made).code == 0
        proofstone("models", "check", "scripted/one", "-w", made)
        prompts = [seen.json["messages"] for seen in list(server.seen)[:9]]
    told = proofstone("doctor", "--egress", "-w", made, "--json")
    (sent,) = told.json
    assert (sent["host"], sent["is_local"]) == ("this machine", True)
    assert sent["models"] == ["scripted/one"]
    assert (sent["calls"], sent["attempts"], sent["checks"], sent["not_sent"]) == (8, 9, 1, 0)
    compact = [json.dumps(p, separators=(",", ":"), ensure_ascii=False).encode() for p in prompts]
    assert sent["n_bytes"] == sum(map(len, compact))  # nine prompts, the busy one among them
    assert [source["title"] for source in sent["sources"]] == ["Almanac", "Herbal"]
    assert sum(source["n_items"] for source in sent["sources"]) >= 8
    assert 0 < sent["first_at"] <= sent["last_at"]
    shown = proofstone("doctor", "--egress", "-w", made).out.splitlines()
    assert shown[:4] == [
        "nothing was ever sent from this workspace to another machine",
        "this machine",
        "  models   scripted/one",
        f"  calls    8 in 9 attempts, {sent['n_bytes']:,} bytes of prompts",
    ]


def test_calls_that_never_arrived_are_counted_apart(made: Path, proofstone: Proofstone) -> None:
    with serving() as server:
        url = server.url
    configure(made, url)
    assert (
        proofstone("run", "old-books", "-m", "scripted/one", "--limit", "1", "-w", made).code == 5
    )
    with open_workspace(made) as workspace:
        (sent,) = what_was_sent(workspace.store)
    assert (sent.calls, sent.n_bytes, sent.not_sent, sent.sources) == (0, 0, 1, ())
    assert sent.last_at == 0.0


def test_sources_of_worked_examples_are_listed(made: Path, proofstone: Proofstone) -> None:
    with serving() as server:
        configure(made, server.url)
        with open_workspace(made) as workspace:
            (form,) = workspace.build_form("old-books", questions=1, seeds=[3])
            workspace.run(form, models="scripted/one", shots=2)
            (sent,) = what_was_sent(workspace.store)
    asked = {source.title: source.n_items for source in sent.sources}
    assert set(asked) == {"Almanac", "Herbal"}
    assert sum(asked.values()) in (1, 2)


def test_online_shows_each_step_and_exits_with_5(made: Path, proofstone: Proofstone) -> None:
    with serving(error(401, {"error": {"message": "Incorrect API key"}})) as server:
        configure(made, server.url)
        told = proofstone("doctor", "--online", "-w", made)
        place = server.url.removeprefix("http://").removesuffix("/v1")
        assert told.code == 5
        lines = told.out.splitlines()
        assert lines[0].startswith("scripted/...")
        assert lines[1:] == [
            "  ok      settings     [providers.scripted] of proofstone.toml, no key",
            f"  ok      policy       {place} is this machine",
            "  ok      proxy        none",
            "  ok      dns          127.0.0.1",
            f"  ok      connection   {place}",
            "  ok      certificate  none, the address is http",
            f"  ok      address      {server.url}",
            "  FAILED  key          bad_key: Incorrect API key",
            "                       no key is set: name its variable as api_key_env "
            "in [providers.scripted] of proofstone.toml",
            "  -       model",
        ]
    (listed,) = proofstone("doctor", "--egress", "-w", made, "--json").json
    assert listed["checks"] == 1  # it is recorded that something was asked


def test_a_search_is_looked_at_and_what_it_was_sent_is_listed(
    made: Path, proofstone: Proofstone
) -> None:
    """By name or with all others; what was looked at is no query of the workspace."""
    with serving(web) as server:
        (made / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        place = server.url.removeprefix("http://").removesuffix("/v1")
        told = proofstone("doctor", "--online", "-m", "searxng:bing", "-w", made)
        assert told.code == 0
        assert told.out.splitlines()[1:] == [
            "  ok      settings     its variables are set",
            f"  ok      policy       {place} is this machine",
            f"  ok      connection   {place}",
            "  ok      key          accepted",
            "  ok      model        searched, 1 hit",
        ]
        assert "searxng" in proofstone("doctor", "--online", "-w", made).out
        assert "query" not in proofstone("doctor", "--egress", "-w", made).out
        proofstone("search", "copper", "--source", "searxng", "-w", made)
        listed = proofstone("doctor", "--egress", "-w", made).out
    assert "  searched 1 query by searxng, 6 bytes\n" in listed


def test_a_search_that_refuses_its_key_says_so(made: Path, proofstone: Proofstone) -> None:
    with serving(error(403, {"error": "no"})) as server:
        (made / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        told = proofstone("doctor", "--online", "-m", "searxng", "-w", made)
    assert told.code == 5
    assert "  FAILED  key          bad_key: no" in told.out
    unset = proofstone("doctor", "--online", "-m", "brave", "-w", made)
    assert "  FAILED  settings     a search by brave needs BRAVE_SEARCH_API_KEY" in unset.out


def test_one_option_at_a_time(made: Path, proofstone: Proofstone) -> None:
    assert proofstone("doctor", "--online", "--egress", "-w", made).code == 2
    assert proofstone("doctor", "-m", "sim/a", "-w", made).code == 2


def test_a_bundle_holds_no_prompt_reply_or_source(made: Path, proofstone: Proofstone) -> None:
    """An endpoint's error that quotes the prompt is kept without the quotation."""

    def quoting(seen: Seen) -> Act:
        text = seen.json["messages"][-1]["content"]
        return error(400, {"error": {"message": f"cannot take {text} at all"}})

    rules = ("[egress]", 'hosts = ["local"]', '[egress.sources."Secret Manual"]', "hosts = []")
    with serving(quoting) as server:
        configure(made, server.url, 'headers = { X-Team = "sesame-open" }', *rules)
        proofstone("run", "old-books", "-m", "scripted/one", "--limit", "2", "-w", made)
    file = made / "bundle.zip"
    told = proofstone("doctor", "--bundle", file, "-w", made)
    assert (told.code, told.err) == (
        0, "it contains no keys, prompts or responses; check it before you send it\n"
    )  # fmt: skip
    with zipfile.ZipFile(file) as bundle:
        parts = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert [line.split()[0] for line in told.out.splitlines()[:-1]] == list(parts)
    assert list(parts) == [
        "ABOUT.txt", "versions.json", "findings.json", "settings.json", "environment.json",
        "workspace.json", "errors.json",
    ]  # fmt: skip
    whole = "".join(parts.values())
    for hidden in (
        "Leaf",
        "drawings",
        "sesame-open",
        "Secret Manual",
        "Herbal",
        str(Path.home()) + "/",
    ):
        assert hidden not in whole, hidden
    errors = json.loads(parts["errors.json"])
    assert len(errors) == 2
    assert errors[0]["kind"] == "bad_request"
    assert "[quoted]" in errors[0]["detail"]
    assert json.loads(parts["workspace.json"])["rows"]["fact"] == 48
    (settings,) = json.loads(parts["settings.json"])
    assert settings["providers"]["scripted"]["headers"] == {"X-Team": "***"}
    assert settings["egress"] == {"hosts": ["local"], "sources_with_rules": 1}
    again = proofstone("doctor", "--bundle", file, "-w", made)
    assert again.code == 3
    assert "cannot write" in again.err


@pytest.mark.parametrize(
    ("text", "more"),
    [("[providers\n", []), ("[wrong]\n", ["workspace.json", "errors.json"])],
)
def test_a_bundle_can_be_made_where_the_settings_are_broken(
    made: Path, proofstone: Proofstone, text: str, more: list[str]
) -> None:
    (made / "proofstone.toml").write_text(text, encoding="utf-8")
    told = proofstone("doctor", "--bundle", made / "b.zip", "-w", made, "--json")
    assert told.code == 0
    assert list(told.json["parts"]) == ["ABOUT.txt", "versions.json", "findings.json", *more]
    with zipfile.ZipFile(made / "b.zip") as bundle:
        assert "proofstone.toml" in bundle.read("findings.json").decode()


def test_quotations_are_cut_out() -> None:
    prompt = "Which leaf shows nine drawings? 哪一页有九幅画，请选出所有正确的选项。"
    said = "refused: Which leaf shows nine drawings? because of leaf"
    assert without_quotes(said, prompt) == "refused: [quoted]because of leaf"
    assert without_quotes("short", prompt) == "short"
    escaped = prompt.encode("unicode_escape").decode()[-40:]
    assert without_quotes(f"bad {escaped}", prompt) == "bad [quoted]"
    assert without_quotes(said) == said
