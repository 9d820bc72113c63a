"""A provider moves an alias: the run, its row and its replies say so, and the cache stays apart."""

from __future__ import annotations

import re
from pathlib import Path

from proofstone.api import Workspace
from proofstone.cli import main
from proofstone.records.ids import short
from scripted_server import Act, Seen, answer, error
from serving import configure, serving

QUESTIONS = 12
NO = error(400, {"error": {"message": "not this one"}})


class Alias:
    """An endpoint whose model is another from time to time; it refuses while ``open`` is spent."""

    def __init__(self, model: str, answers: int = 10**6) -> None:
        self.model = model
        self.left = answers

    def __call__(self, _seen: Seen) -> Act:
        self.left -= 1
        return answer("Answer: A", model=self.model) if self.left >= 0 else NO


def reported(result: object) -> list[tuple[str, int]]:
    return [(share.model, share.responses) for share in result.reported]  # type: ignore[attr-defined]


def test_a_run_resumed_behind_a_moved_alias_is_reported(
    workspace: Workspace, form: str, capsys: object
) -> None:
    """What is committed stays, the rest is asked of the new model; three places say so."""
    alias = Alias("m-2025-01", answers=5)
    with serving(alias) as server:
        configure(workspace.folder, server.url)
        (part,) = workspace.run(form, models="scripted/m", max_connections=1)
        assert reported(part) == [("m-2025-01", 5)]
        alias.model, alias.left = "m-2025-09", 10**6
        (whole,) = workspace.resume(part.planned.run, max_connections=1)
        assert server.requests == QUESTIONS + (QUESTIONS - 5)
    assert whole.complete
    assert reported(whole) == [("m-2025-01", 5), ("m-2025-09", 7)]
    (row,) = workspace.leaderboard(form).standings[0].ranked
    (advice,) = [one for one in row.warnings if "answered by" in one.what]
    assert advice.what == "answered by 2 served models (m-2025-01 5, m-2025-09 7)"
    assert "--replicate" in advice.try_next


def test_the_cache_is_not_shared_between_served_models(workspace: Workspace, form: str) -> None:
    """A second run asks each question twice. Behind a moved alias the first stored reply serves,
    as nothing is known yet; then a fresh one names the new model, and no other stored one does.
    Its requests have the same hashes: none is made for the version."""
    alias = Alias("m-2025-01")
    with serving(alias) as server:
        configure(workspace.folder, server.url)
        workspace.run(form, models="scripted/m", max_connections=1)
        assert server.requests == QUESTIONS
        alias.model = "m-2025-09"
        (twice,) = workspace.run(form, models="scripted/m", samples=2, max_connections=1)
        assert server.requests == QUESTIONS + 2 * QUESTIONS - 1
    assert reported(twice) == [("m-2025-01", 1), ("m-2025-09", 2 * QUESTIONS - 1)]
    with workspace.store.database.reading() as connection:
        hashes = connection.exec_driver_sql("SELECT count(DISTINCT request_hash) FROM call")
        assert hashes.scalar_one() == 2 * QUESTIONS


def test_the_cache_serves_while_the_alias_stands(workspace: Workspace, form: str) -> None:
    with serving(Alias("m-2025-01")) as server:
        configure(workspace.folder, server.url)
        workspace.run(form, models="scripted/m")
        (twice,) = workspace.run(form, models="scripted/m", samples=2)
        assert server.requests == 2 * QUESTIONS
    assert reported(twice) == [("m-2025-01", 2 * QUESTIONS)]


def test_asked_for_the_cache_serves_across_served_models(workspace: Workspace, form: str) -> None:
    alias = Alias("m-2025-01")
    with serving(alias) as server:
        configure(workspace.folder, server.url)
        workspace.run(form, models="scripted/m")
        alias.model = "m-2025-09"
        (twice,) = workspace.run(form, models="scripted/m", samples=2, cache="any")
        assert server.requests == 2 * QUESTIONS
    assert reported(twice) == [("m-2025-01", QUESTIONS), ("m-2025-09", QUESTIONS)]


def command(*arguments: object) -> int:
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as left:
        return int(left.code or 0)
    raise AssertionError("a command ends the process")


def test_the_commands_say_who_answered(
    workspace: Workspace, form: str, capsys: object, tmp_path: Path
) -> None:
    """The summary of a run and ``show RUN`` say the same line; ``--json`` has the numbers."""
    alias = Alias("m-2025-01", answers=5)
    with serving(alias) as server:
        configure(workspace.folder, server.url)
        (part,) = workspace.run(form, models="scripted/m", max_connections=1)
        alias.model, alias.left = "m-2025-09", 10**6
        run = f"run:{short(part.planned.run.id)}"
        workspace.close()
        assert command("run", "--resume", run, "-w", workspace.folder, "--cache", "any") == 0
    said = capsys.readouterr()  # type: ignore[attr-defined]
    minute = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    times = f"{minute}(?: to {minute})?"
    line = (
        rf"{run} was answered by 2 models: m-2025-01 \(5 responses, {times} UTC\), "
        rf"m-2025-09 \(7 responses, {times} UTC\)\n"
    )
    assert re.search("^note: " + line, said.err, re.MULTILINE)
    assert command("show", run, "-w", workspace.folder, "-n", "1") == 0
    assert re.search("^" + line, capsys.readouterr().out, re.MULTILINE)  # type: ignore[attr-defined]


def test_a_change_of_the_serving_alone_is_said_too(workspace: Workspace, form: str) -> None:
    """Same model, other system fingerprints: in the run's summary, not as a warning on its row."""
    from proofstone.run.run_facts import reported_note  # noqa: PLC0415

    def act(seen: Seen) -> Act:
        body = answer("Answer: A").body.replace(b"fp_scripted", b"fp_%d" % (seen.number % 2))
        return Act(body)

    with serving(act) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/m", max_connections=1)
    assert reported_note(result.reported) == (
        "answered by scripted-1 with 2 system fingerprints: fp_0, fp_1"
    )
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert not [one for one in row.warnings if "answered by" in one.what]


def test_a_simulated_respondent_is_what_its_name_says(workspace: Workspace, form: str) -> None:
    (result,) = workspace.run(form, models="sim/ann")
    assert result.reported == ()
