"""Verifying stored runs that is cut off, short of money, or of a run that is not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asked_entities import asked_entity
from spoken_world import N, predicate_of, reference_file, speaking, towns_file, truthful

from killing import kill_after, seen_at
from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage, BudgetReached, EgressRefused, NotFound
from proofstone.method import find_method
from proofstone.methods.bequ.records import VerifySettings
from proofstone.methods.bequ.verification.stored_verdicts import read_verified
from proofstone.records.runs import Run, VerifiedRun
from proofstone.run.forms import select_runs
from proofstone.run.score import how_to_verify
from proofstone.session.permits import Leaving
from scripted_server import Act, Seen, child_server, error
from serving import configure, serving

ALL = VerifySettings(sample=0)
SCRIPT = Path(__file__).with_name("verify_until_killed.py")


def said(folder: Path, url: str, model: str = "scripted/talker", n: int = N, *more: str) -> Run:
    """A run of a model on the towns, whole or not."""
    configure(folder, url, *more)
    with create_workspace(folder) as workspace:
        form = workspace.import_form(towns_file(folder, n), method="bequ")
        (result,) = workspace.run(form, models=model)
    return result.planned.run


def verified(workspace: Workspace, *runs: Run, settings: VerifySettings = ALL) -> list[VerifiedRun]:
    known = reference_file(workspace.folder)
    return list(
        workspace.verify_runs(runs, judge="scripted/judge", reference=known, settings=settings)
    )


def labels(workspace: Workspace, run: Run) -> list[tuple[str, str, str, str]]:
    """Each verified triple in words with its verdict."""
    selection = select_runs(workspace.store, [workspace.find(run)])
    found = read_verified(workspace.store, find_method("bequ"), selection)
    return sorted(
        (each.direction, each.predicate, each.object, each.verdict.label) for each in found.read()
    )


class _CutOff(Exception):
    pass


def test_one_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    """What was stored stays in the same scoring, which counts nowhere until it is whole."""
    with serving(speaking()) as server:
        run = said(tmp_path, server.url)
        with create_workspace(tmp_path) as workspace:

            def stop(_done: int, _of: int) -> None:
                raise _CutOff

            with pytest.raises(_CutOff):
                workspace.verify_runs(
                    [run], judge="scripted/judge", reference=reference_file(tmp_path),
                    settings=ALL, watch=stop,
                )  # fmt: skip
            with pytest.raises(NotFound, match="no triples of these runs are verified yet"):
                labels(workspace, run)
            key, _run = workspace.store.runs.run(run.id)
            left = [each.id for each in workspace.store.scores.begun(key)]
            (made,) = verified(workspace, run)
            assert (made.n, made.waiting) == (N * (10 + 12), 0)
            assert [each.id for each in workspace.store.scores.begun(key)] == left
            assert len(labels(workspace, run)) == N * (10 + 12)
            assert workspace.store.scores.current(key) is not None


def test_a_kill_loses_no_verdict_and_asks_little_again(tmp_path: Path) -> None:
    """kill -9 while it is at work; the same command finishes, and each question has one verdict."""
    towns = 20
    with serving(speaking(n=towns)) as server:
        run = said(tmp_path, server.url, n=towns)
    texts = tmp_path / "texts.jsonl"
    rows = [{"entity": f"Town {n}", "text": f"Town {n} is a town."} for n in range(towns)]
    texts.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    response = json.dumps({"reason": "r", "rests_on": "passage 1", "label": "entailment"})
    with child_server("--response", response) as url:
        configure(tmp_path, url)
        kill_after(150, url, [SCRIPT, tmp_path, f"run:{run.id.hex()}", texts])
        seen_at(url, answer=10**6)
        with create_workspace(tmp_path) as workspace:
            (made,) = workspace.verify_runs(
                [run], judge="scripted/judge", reference=texts, settings=ALL
            )
        bodies = seen_at(url)["bodies"]
    assert made.counts == {"precision": {"entailment": towns * 10}}
    assert len(bodies) == towns * 10


def test_a_budget_that_is_reached_keeps_what_was_judged(tmp_path: Path) -> None:
    with serving(speaking()) as server:
        run = said(tmp_path, server.url)
        with create_workspace(tmp_path) as workspace:
            with pytest.raises(BudgetReached):
                workspace.verify_runs(
                    [run], judge="scripted/judge", reference=reference_file(tmp_path),
                    settings=ALL, budget="5ktok",
                )  # fmt: skip
            asked = server.requests
            (made,) = verified(workspace, run)
            assert (made.n, made.waiting) == (N * (10 + 12), 0)
    assert asked > N
    assert server.requests == N + N * (10 + 6)  # each entity and each question once


def test_what_no_judge_was_heard_on_waits_for_the_next_time(tmp_path: Path) -> None:
    """A failure is no verdict: the scoring is not whole, and is read once it is."""
    deaf = [True]

    def judge(text: str) -> dict[str, str] | None:
        is_deaf = deaf[0] and predicate_of(text).startswith("rumour")
        return None if is_deaf else truthful(text)

    with serving(speaking(judge)) as server:
        run = said(tmp_path, server.url)
        with create_workspace(tmp_path) as workspace:
            (made,) = verified(workspace, run)
            assert made.waiting == 12
            assert made.n == N * (10 + 12) - 12
            deaf[0] = False
            (made,) = verified(workspace, run)
            assert made.waiting == 0
            assert "neutral" in {label for *_said, label in labels(workspace, run)}


def test_what_was_not_asked_is_not_missed(tmp_path: Path) -> None:
    """Of entities without a reply nothing is counted as not covered; once they have one, another
    sample is drawn, and a scoring of its own takes it."""
    failing, speaks = [True], speaking()

    def script(seen: Seen) -> Act:
        is_failing = failing[0] and asked_entity(seen) == "Town 5"
        return error(400, {"error": {"message": "not this one"}}) if is_failing else speaks(seen)

    with serving(script) as server:
        run = said(tmp_path, server.url)
        with create_workspace(tmp_path) as workspace:
            (made,) = verified(workspace, run)
            assert (made.n, made.waiting) == (5 * (10 + 12), 0)
            assert made.counts["recall"] == {"entailment": 5 * 6, "neutral": 5 * 6}
            failing[0] = False
            workspace.run(workspace.find(run), models="scripted/talker")
            (again,) = verified(workspace, run)
            assert again.n == 6 * (10 + 12)
            assert again.scoring != made.scoring
            assert len(labels(workspace, run)) == 6 * (10 + 12)


def test_runs_that_were_verified_otherwise_do_not_stand_together(tmp_path: Path) -> None:
    """Each by itself is read; together only what all of them have."""
    with serving(speaking()) as server:
        first = said(tmp_path, server.url)
        second = said(tmp_path, server.url, "scripted/quiet")
        with create_workspace(tmp_path) as workspace:
            verified(workspace, first, settings=VerifySettings(sample=10))
            verified(workspace, second, settings=VerifySettings(sample=20))
            selection = select_runs(
                workspace.store, [workspace.find(first), workspace.find(second)]
            )
            with pytest.raises(BadUsage, match=r"different samples.*sample=10.*sample=20"):
                read_verified(workspace.store, find_method("bequ"), selection)
            verified(workspace, first, settings=VerifySettings(sample=20))
            found = read_verified(workspace.store, find_method("bequ"), selection)
            assert "up to 20" in found.sampling
            assert {each.group for each in found.read()} == {0, 1}


def test_where_a_reference_would_go_is_told_before_anything_leaves(tmp_path: Path) -> None:
    """Passages of a private reference go to the judge: by its name, beside that of the list."""
    with serving(speaking()) as server:
        run = said(tmp_path, server.url)
    far = ["", "[providers.far]", 'base_url = "https://judge.example/v1"']
    configure(tmp_path, "http://127.0.0.1:9/v1", *far)
    told: list[Leaving] = []

    def refuse(leaving: Leaving) -> str:
        told.append(leaving)
        return ""

    with create_workspace(tmp_path) as workspace:
        workspace.ask_egress = refuse
        with pytest.raises(EgressRefused, match=r"judge\.example"):
            workspace.verify_runs(
                [run], judge="far/judge", reference=reference_file(tmp_path), settings=ALL
            )
    (leaving,) = told
    assert [origin.title for origin in leaving.outgoing.origins] == ["known.jsonl", "towns"]
    assert leaving.outgoing.requests == N * (10 + 12)
    assert leaving.outgoing.characters > 500 * leaving.outgoing.requests


def test_runs_of_other_methods_hold_nothing_to_verify() -> None:
    with pytest.raises(BadUsage, match="runs of encyclo_k hold no triples to verify"):
        how_to_verify(find_method("encyclo_k"))
