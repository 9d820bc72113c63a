"""What leaves is told, asked and refused: a host beyond this machine, reached through a proxy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace, open_workspace
from proofstone.errors import EgressRefused
from proofstone.ingest.ingest import ingest_paths
from proofstone.models.egress import EgressGate, EgressPolicy, SourceRule
from proofstone.models.names import Destination
from proofstone.models.retries import SystemClock
from proofstone.session.egress import Load, clear_loads, keep_local
from proofstone.session.permits import Leaving, Outgoing, Permits
from proofstone.session.terminal import describe
from proofstone.store.provenance import Origin
from scripted_proxy import ScriptedProxy
from scripted_server import ScriptedServer
from serving import running, serving
from small_bank import rows, write_lines
from told import Proofstone

MANUAL, HERBAL = "Manual 2024", "Herbal"


@pytest.fixture(scope="module")
def work_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A form of two sources, private and public, and one of the public source alone."""
    folder = tmp_path_factory.mktemp("egress")
    stated = [
        {**row, "source": MANUAL if row["book"] == "Almanac" else HERBAL,
         "license": "" if row["book"] == "Almanac" else "CC-BY-4.0"}
        for row in rows()
    ]  # fmt: skip
    with create_workspace(folder / "work") as workspace:
        for name, wanted in (("both", {MANUAL, HERBAL}), ("public", {HERBAL})):
            lines = [row for row in stated if row["source"] in wanted]
            bank = workspace.import_bank(write_lines(folder / f"{name}.jsonl", lines))
            workspace.build_form(bank, questions=6)
    return folder / "work"


@pytest.fixture
def work(work_once: Path, tmp_path: Path) -> Path:
    import shutil  # noqa: PLC0415

    return shutil.copytree(work_once, tmp_path / "work")


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ScriptedServer, str]]:
    """A server that stands at a host which is not this machine, and its base address."""
    with serving() as server, running(ScriptedProxy()) as proxy:
        for name in ("NO_PROXY", "no_proxy", "http_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        yield server, f"http://models.test:{server.port}/v1"


def write_settings(folder: Path, url: str, *lines: str) -> None:
    text = "\n".join(["[providers.far]", f'base_url = "{url}"', *lines])
    (folder / "proofstone.toml").write_text(text + "\n", encoding="utf-8")


def test_a_new_host_without_a_terminal_is_refused_with_the_line_to_add(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    server, url = beyond
    write_settings(work, url)
    told = proofstone("run", "both", "-m", "far/one", "-w", work)
    host = f"models.test:{server.port}"
    assert (told.code, told.out, server.requests) == (2, "", 0)
    head, *origins = told.err.splitlines()[:3]
    assert head.startswith(f"to {host} (far/one): 6 requests with 6 questions, about ")
    assert head.endswith(" characters, from")
    assert [line.split() for line in origins] == [
        ["Herbal", "3", "of", "6", "questions", "CC-BY-4.0"],
        ["Manual", "2024", "3", "of", "6", "questions", "no", "license", "stated"],
    ]
    assert f"no permission to send 'Herbal', 'Manual 2024' to {host}; nothing was sent" in told.err
    assert f'add [egress] hosts = ["{host}"] to proofstone.toml' in told.err
    with open_workspace(work) as workspace:
        assert workspace.store.runs.every() == []


def test_yes_permits_it_and_is_remembered_for_these_sources(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    """A source that has not gone there yet is asked about again."""
    server, url = beyond
    write_settings(work, url)
    assert proofstone("run", "public", "-m", "far/one", "-w", work, "--yes").code == 0
    assert server.requests == 6
    again = proofstone("run", "public", "-m", "far/one", "--replicate", "b", "-w", work)
    assert (again.code, server.requests) == (0, 12)
    other = proofstone("run", "both", "-m", "far/one", "-w", work)
    assert (other.code, server.requests) == (2, 12)
    assert "no permission to send 'Manual 2024' to" in other.err
    lines = (work / ".proofstone" / "permitted.jsonl").read_text(encoding="utf-8").splitlines()
    (line,) = map(json.loads, lines)
    assert (line["titles"], line["by"]) == ([HERBAL], "--yes")


def test_a_host_of_the_policy_needs_no_word_and_is_told_all_the_same(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    server, url = beyond
    write_settings(work, url, "[egress]", 'hosts = ["models.test"]')
    told = proofstone("run", "both", "-m", "far/one", "-w", work)
    assert (told.code, server.requests) == (0, 6)
    assert "6 requests with 6 questions" in told.err
    done = proofstone("run", "both", "-m", "far/one", "-w", work)
    assert (done.code, server.requests) == (0, 6)
    assert "requests with" not in done.err  # nothing is left to send
    quiet = proofstone("run", "both", "-m", "far/one", "--replicate", "b", "-q", "-w", work)
    assert (quiet.code, quiet.err) == (0, "")


def test_a_source_that_may_not_go_there_is_refused_before_the_run(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    """Its form is refused whole, by source and host; --yes does not outweigh it; others go on."""
    server, url = beyond
    rule = (f'[egress.sources."{MANUAL}"]', 'hosts = ["local"]')
    write_settings(work, url, "[egress]", 'hosts = ["models.test"]', *rule)
    told = proofstone("run", "both", "-m", "far/one", "-w", work, "--yes")
    assert (told.code, server.requests) == (2, 0)
    assert told.err.splitlines()[0] == (
        f"error[PS-212]: 'Manual 2024' may not be sent to models.test:{server.port}: "
        f'[egress.sources."Manual 2024"] of {work / "proofstone.toml"} does not list it'
    )
    assert "use a model at another host, or leave this source out" in told.err
    assert proofstone("run", "public", "-m", "far/one", "-w", work).code == 0


def test_worked_examples_from_a_kept_source_are_refused_too(
    work: Path, beyond: tuple[ScriptedServer, str]
) -> None:
    """A form of one source is asked with examples from its bank, which holds another."""
    server, url = beyond
    write_settings(work, url, "[egress]", 'hosts = ["*"]', "[egress.sources.Herbal]", "hosts = []")
    with open_workspace(work) as workspace:
        bank = workspace.store.lookup.find("bank:" + _bank(workspace, "both"))
        (form,) = workspace.build_form(bank, questions=2, seeds=[7])
        with pytest.raises(EgressRefused, match="'Herbal' may not be sent to"):
            workspace.run(form, models="far/one", shots=2)
    assert server.requests == 0


def _bank(workspace: Workspace, name: str) -> str:
    return next(row.id.hex() for row in workspace.store.lookup.every("bank") if row.name == name)


def test_a_book_may_be_named_where_there_is_no_source(
    made: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    server, url = beyond
    rule = ('[egress.sources."Alma*"]', 'hosts = ["local"]')
    write_settings(made, url, "[egress]", 'hosts = ["*"]', *rule)
    told = proofstone("run", "old-books", "-m", "far/one", "-w", made)
    assert (told.code, server.requests) == (2, 0)
    assert "'Almanac' may not be sent to" in told.err


def test_a_local_model_is_asked_whatever_the_policy(work: Path, proofstone: Proofstone) -> None:
    with serving() as server:
        write_settings(work, server.url, "[egress]", "hosts = []")
        told = proofstone("run", "both", "-m", "far/one", "-m", "sim/a", "-w", work)
    assert (told.code, server.requests) == (0, 6)
    assert "requests with" not in told.err


def test_a_program_is_refused_unless_it_answers_for_a_person(
    work: Path, beyond: tuple[ScriptedServer, str]
) -> None:
    server, url = beyond
    write_settings(work, url)
    told: list[Leaving] = []

    def ask(leaving: Leaving) -> str:
        told.append(leaving)
        return "asked"

    with open_workspace(work) as workspace:
        with pytest.raises(EgressRefused, match="no permission to send"):
            workspace.run("public", models="far/one")
        workspace.ask_egress = ask
        (result,) = workspace.run("public", models="far/one")
    assert (result.complete, server.requests) == (True, 6)
    (leaving,) = told
    assert (leaving.state, leaving.outgoing.requests) == ("new", 6)
    with_prompts = [len(m["content"]) for seen in server.seen for m in seen.json["messages"]]
    assert leaving.outgoing.characters == sum(with_prompts)  # six of six were rendered


def test_models_check_tells_that_nothing_of_the_workspace_goes(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    server, url = beyond
    write_settings(work, url)
    told = proofstone("models", "check", "far/one", "-w", work)
    assert told.code == 0
    assert f"to models.test:{server.port} (far/one): a short test, nothing of this workspace" in (
        told.err
    )
    write_settings(work, url, "[egress]", 'hosts = ["local"]')
    asked = server.requests
    refused = proofstone("models", "check", "far/one", "-w", work)
    assert (refused.code, server.requests) == (5, asked)
    assert "nothing may be sent to models.test" in refused.out

    with serving() as near:
        write_settings(work, near.url)
        told = proofstone("models", "check", "far/one", "-w", work)
    assert (told.code, "a short test" in told.err) == (0, False)


def test_what_a_pilot_sends_is_told_without_what_was_answered_before(
    work: Path, beyond: tuple[ScriptedServer, str], proofstone: Proofstone
) -> None:
    """A second pilot draws the questions of the first again, and more."""
    server, url = beyond
    write_settings(work, url, "[egress]", 'hosts = ["models.test"]')
    pilot = ("run", "both", "-m", "far/one", "-w", work, "--dry-run", "--pilot")
    sent = []
    for n, new in ((2, 2), (5, 3)):
        told = proofstone(*pilot, n)
        (head,) = [line for line in told.err.splitlines() if line.startswith("to models.test")]
        sent.append(server.requests)
        found = re.search(r": (\d) requests with (\d) questions, about ([\d,]+) char", head)
        assert found is not None, head
        assert (int(found[1]), int(found[2])) == (new, new)
        bodies = [m["content"] for seen in list(server.seen)[-new:] for m in seen.json["messages"]]
        characters = int(found[3].replace(",", ""))
        assert characters == pytest.approx(sum(map(len, bodies)), rel=0.2)
    assert sent == [2, 5]


def test_a_build_whose_source_nobody_has_allowed_is_refused(
    work: Path, beyond: tuple[ScriptedServer, str], tmp_path: Path
) -> None:
    """All models of its steps are named, and nothing is asked."""
    server, url = beyond
    write_settings(work, url)
    (tmp_path / "site.txt").write_text("Prime the pump before it is started.\n", encoding="utf-8")
    told: list[Leaving] = []

    def refuse(leaving: Leaving) -> str:
        told.append(leaving)
        return ""

    with open_workspace(work) as workspace:
        ingest_paths(workspace.store, [tmp_path / "site.txt"], clock=workspace.clock)
        workspace.ask_egress = refuse
        models = {"author": "far/author", "panel": ["far/a", "far/b", "far/c", "far/d"]}
        with pytest.raises(EgressRefused, match="no permission to send 'site' to"):
            workspace.build_in_steps(
                "short-qa", ["site"], name="own", judge="far/judge", models=models
            )
    assert server.requests == 0
    assert {"far/author", "far/a", "far/judge"} <= set(told[0].models)


def clear(gate: EgressGate, origins: list[Origin], permits: Path) -> None:
    load = Load(("far/one",), {b"set": Outgoing(items=1, requests=1, origins=tuple(origins))})
    loads = {Destination("models.test", 443): load}
    clear_loads(loads, gate, permits=Permits(permits), ask=None, clock=SystemClock())


def test_a_source_known_by_two_names_is_asked_about_for_each(tmp_path: Path) -> None:
    """A rule lets it go by its title; nobody has said so of the book."""
    rule = SourceRule(MANUAL, ("models.test",))
    gate = EgressGate([EgressPolicy("p.toml", None, (rule,))])
    clear(gate, [Origin(MANUAL, "", 1, (MANUAL,))], tmp_path)
    with pytest.raises(EgressRefused, match="no permission to send 'Manual 2024' to"):
        clear(gate, [Origin(MANUAL, "", 1, (MANUAL, "Almanac"))], tmp_path)


@pytest.mark.parametrize(
    ("n", "named"), [(5, "'S4', 'S5' to models"), (7, "'S5' and 2 more sources")]
)
def test_a_refusal_names_five_sources(tmp_path: Path, n: int, named: str) -> None:
    origins = [Origin(f"S{at}", "", 1, (f"S{at}",)) for at in range(1, n + 1)]
    with pytest.raises(EgressRefused, match=f"'S1', .*{named}"):
        clear(EgressGate(), origins, tmp_path)


@pytest.mark.parametrize(
    ("before", "after"), [(None, ""), ("a = 1\n", "a = 1\n\n"), ("a = 1\n\n", "a = 1\n\n")]
)
def test_a_workspace_is_kept_local_once(tmp_path: Path, before: str | None, after: str) -> None:
    file = tmp_path / "proofstone.toml"
    if before is not None:
        file.write_text(before, encoding="utf-8")
    assert [keep_local(tmp_path), keep_local(tmp_path)] == [True, False]
    assert file.read_text(encoding="utf-8") == f'{after}[egress]\nhosts = ["local"]\n'


def test_what_is_told_of_many_sources() -> None:
    origins = tuple(Origin(f"Source {n}", "MIT", n) for n in range(1, 11))
    out = Outgoing(items=1000, requests=3000, characters=4_500_000, origins=origins)
    leaving = Leaving(
        to="api.openai.com", models=("openai/a", "openai/b"), state="new", outgoing=out
    )
    assert (
        describe(leaving)
        == """\
to api.openai.com (openai/a, openai/b): 3,000 requests with 1,000 questions, about 4,500,000 \
characters, from
  Source 1  1 of 1,000 questions  MIT
  Source 2  2 of 1,000 questions  MIT
  Source 3  3 of 1,000 questions  MIT
  Source 4  4 of 1,000 questions  MIT
  Source 5  5 of 1,000 questions  MIT
  Source 6  6 of 1,000 questions  MIT
  Source 7  7 of 1,000 questions  MIT
  Source 8  8 of 1,000 questions  MIT
  and 2 more sources"""
    )
