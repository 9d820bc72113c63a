"""``score RUN --judge J --reference BANK``: what stored runs said, verified in the workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from spoken_world import reference_file, towns_file

from proofstone.api import Workspace, open_workspace
from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.methods.bequ.records import VerifiedRuns
from proofstone.methods.bequ.verification.measures import Counted, measure_all
from proofstone.methods.bequ.verification.stored_verdicts import read_verified
from proofstone.results.request import CURRENT, View
from proofstone.run.forms import select_runs
from scripted_server import ScriptedServer
from told import Proofstone


def asked(proofstone: Proofstone, *models: str) -> list[str]:
    """The runs of models on the list of towns; their reference is the bank ``known``."""
    names = ",".join(f"scripted/{model}" for model in models)
    made = proofstone("run", towns_file(Path.cwd()), "-m", names, "--json")
    assert made.code == 0, made.err
    known = proofstone("import", reference_file(Path.cwd()), "--as", "bank", "--method", "bequ")
    assert known.code == 0, known.err
    return [f"run:{run['run'][:8]}" for run in made.json]


JUDGED = ("--judge", "scripted/judge", "--reference", "known")


def read(workspace: Workspace, *runs: str, view: View = CURRENT) -> VerifiedRuns:
    selection = select_runs(workspace.store, [workspace.find(run) for run in runs])
    return read_verified(workspace.store, find_method("bequ"), selection, view)


def measured(verified: VerifiedRuns, seed: int = 0) -> dict[str, Any]:
    """The measures of each model, as JSON has them."""
    counted = Counted()
    for each in verified.read():
        counted.add(each)
    found = measure_all(counted, verified.groups, seed=seed)
    return {
        each.group.model: json.loads(msgspec.json.encode([each.counts, each.estimates, each.more]))
        for each in found
    }


@pytest.mark.parametrize(
    "drawn", [(), ("--sample", 0), ("--sample", 7, "--sampling", "triples", "--seed", 3)]
)
def test_the_figures_are_those_of_the_exported_triples(
    proofstone: Proofstone, server: ScriptedServer, drawn: tuple[object, ...]
) -> None:
    """The same sample, the same verdicts and intervals, exactly; and nobody is asked again."""
    (run,) = asked(proofstone, "talker")
    made = proofstone("grade", run, *JUDGED, *drawn, "--json")
    assert made.code == 0, made.err
    requests = server.requests
    proofstone("export", run, "--what", "triples", "-o", "triples.jsonl")
    proofstone("export", "known", "-o", "reference.jsonl")
    of_file = proofstone(
        "grade", "triples.jsonl", "--reference", "reference.jsonl",
        "--judge", "scripted/judge", *drawn, "--json",
    )  # fmt: skip
    assert server.requests == requests
    (made_of_file,) = of_file.json["measured"]
    with open_workspace() as workspace:
        found = measured(read(workspace, run), seed=3 if 3 in drawn else 0)
    assert found["scripted/talker"] == [
        made_of_file[name] for name in ("counts", "estimates", "more")
    ]


def test_runs_are_verified_alike_and_each_triple_keeps_its_evidence(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """One recall sample for all; of a town that a model knows nothing of nothing is covered."""
    runs = asked(proofstone, "talker", "quiet")
    made = proofstone("grade", *runs, *JUDGED, "--sample", 0, "--json")
    assert made.code == 0, made.err
    talker, quiet = made.json["runs"]
    assert talker["counts"] == {
        "precision": {"contradiction": 12, "entailment": 36, "neutral": 12},
        "recall": {"entailment": 36, "neutral": 36},
    }
    assert (talker["n"], quiet["n"], quiet["waiting"]) == (60 + 72, 50 + 72, 0)
    assert quiet["counts"]["recall"] == {"entailment": 30, "neutral": 42}
    with open_workspace() as workspace:
        verified = read(workspace, *runs)
        found = list(verified.read())
    assert [group.model for group in verified.groups] == ["scripted/talker", "scripted/quiet"]
    assert [each.given for each in verified.elicited] == [6, 5]
    assert [each.abstained for each in verified.elicited] == [0, 1]
    assert [each.triples for each in verified.elicited] == [60, 50]
    assert verified.judges == "scripted/judge"
    assert verified.reference.startswith("known-")
    assert verified.sampling == "all triples"
    said = next(each for each in found if each.verdict.label == "entailment")
    name = verified.entities[said.entity].name
    assert (said.verdict.basis, said.verdict.reason) == ("judge", f"read: {said.predicate}")
    assert said.verdict.passage.text.startswith(f"{name} is known for fact")
    assert said.verdict.passage.title == name
    assert said.response.startswith("response:")
    known = next(each for each in found if each.direction == "recall")
    assert known.known.text.startswith(f"{known.subject} is known for {known.predicate}")
    nothing = [each for each in found if each.verdict.basis == "nothing elicited"]
    assert {verified.entities[each.entity].name for each in nothing} == {"Town 1"}
    assert len(nothing) == 12


def test_the_same_command_again_asks_nobody_and_another_sample_is_another_scoring(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """What was judged for one sample is not asked for another, and each is read by its scoring."""
    (run,) = asked(proofstone, "talker")
    proofstone("grade", run, *JUDGED, "--sample", 20)
    requests = server.requests
    again = proofstone("grade", run, *JUDGED, "--sample", 20, "--json")
    assert (again.code, server.requests) == (0, requests)
    larger = proofstone("grade", run, *JUDGED, "--sample", 30, "--json")
    assert server.requests <= requests + 20
    assert larger.json["runs"][0]["scoring"] != again.json["runs"][0]["scoring"]
    scorings = proofstone("grade", run, "--list", "--json").json["scorings"]
    labels = [each["judge"] for each in scorings]
    assert [label.partition(" sample=")[2].partition(" ")[0] for label in labels[1:]] == [
        "20", "30",
    ]  # fmt: skip
    assert all("recall=together" in label for label in labels[1:])
    with open_workspace() as workspace:
        assert "up to 30" in read(workspace, run).sampling
    proofstone("grade", run, *JUDGED, "--sample", 20)
    with open_workspace() as workspace:  # what was scored last is what is read
        assert "up to 20" in read(workspace, run).sampling


def test_one_more_scoring_of_one_run_blocks_no_other(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """What most runs were verified by is read; a run that was verified otherwise alone has none of
    it. A scoring that is named chooses its kind for all that have one of it."""
    runs = asked(proofstone, "talker", "quiet")
    third = proofstone(
        "run", towns_file(Path.cwd()), "-m", "scripted/quiet", "--range", "10-20", "--json"
    )
    runs.append(f"run:{third.json[0]['run'][:8]}")
    proofstone("grade", *runs[:2], *JUDGED, "--sample", 20)
    made = proofstone("grade", *runs[1:], *JUDGED, "--sample", 30, "--json")
    proofstone("grade", runs[0], *JUDGED, "--sample", 10)
    with open_workspace() as workspace, pytest.raises(BadUsage, match="different judges"):
        read(workspace, *runs)  # two kinds, each of two runs
    proofstone("grade", runs[2], *JUDGED, "--sample", 20)
    with open_workspace() as workspace:
        assert "up to 20" in read(workspace, *runs).sampling
        view = View(scorings=(made.json["runs"][0]["scoring"],))
        named = read(workspace, *runs, view=view)
        assert "up to 30" in named.sampling
        assert {named.groups[each.group].model for each in named.read()} == {"scripted/quiet"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "scripted/judge"), "--reference BANK"),
        (("--reference", "known"), "--judge PROVIDER/NAME"),
        (("--sample", "3"), "--sample: for triples that are verified against a --reference"),
        ((*JUDGED[:2], "--reference", "nowhere"), "no bank is named 'nowhere'"),
    ],
)
def test_what_is_missing_is_told_with_the_next_step(
    proofstone: Proofstone, server: ScriptedServer, arguments: tuple[str, ...], message: str
) -> None:
    (run,) = asked(proofstone, "talker")
    made = proofstone("grade", run, *arguments)
    assert (made.code, message in made.err) == (2, True), made.err


def test_without_a_judge_a_run_is_scored_as_ever(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    (run,) = asked(proofstone, "talker")
    made = proofstone("grade", run)
    assert (made.code, made.out) == (0, f"{run}   6 scored\n")


def test_a_reply_shows_its_triples_with_verdict_reason_and_passage(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """Those it says, then those of the reference that were looked for; of a run the counts."""
    (run,) = asked(proofstone, "talker")
    made = proofstone("grade", run, *JUDGED, "--sample", 0)
    scoring = made.out.partition("scoring:")[2][:8]
    assert made.out.splitlines()[1:] == [
        f"{run}   scripted/talker direct   scoring:{scoring}   132 verified",
        "  precision: contradiction 12, entailment 36, neutral 12",
        "  recall: entailment 36, neutral 36",
    ]
    shown = proofstone("show", f"response:{run[4:]}/{item_of('Town 3')}").out
    verified = shown[shown.index("--- verified in scoring:") :].splitlines()
    assert verified[1:4] == [
        "precision, contradiction: Town 3 | fact0 | value 3-100",
        "    scripted/judge: read: fact0",
        '    based on "Town 3 is known for fact0, which is value 3-0." (Town 3, web)',
    ]
    looked_for = verified.index("recall, neutral: Town 3 | fact10 | value 3-10")
    assert verified[looked_for + 1 : looked_for + 3] == [
        "    scripted/judge: seen: fact10",
        (
            '    from reference passage "Town 3 is known for fact10, which is '
            'value 3-10." (Town 3, web)'
        ),
    ]
    same = verified.index("recall, entailment: Town 3 | fact2 | value 3-2")
    assert verified[same + 1 : same + 3] == [
        "    by rule: in the same words",
        '    based on "Town 3 | fact2 | value 3-2"',
    ]
    described = proofstone("show", run).out
    assert (
        "precision: contradiction 12, entailment 36, neutral 12; recall: entailment 36" in described
    )


def item_of(name: str) -> str:
    """The first digits of an entity's item."""
    with open_workspace() as workspace:
        form = workspace.find("towns", "form")
        for page in workspace.store.items.pages(form.id):
            for stored in page:
                if stored.loaded.item.payload.name == name:
                    return stored.loaded.item.id.hex()[:8]
    raise AssertionError(name)


def test_verdicts_are_exported_in_the_columns_of_verify_triples(
    proofstone: Proofstone, server: ScriptedServer
) -> None:
    """A row each, with an id of its own, the reply, and the columns that people fill."""
    runs = asked(proofstone, "talker", "quiet")
    missing = proofstone("export", runs[0], "--what", "verdicts", "-o", "verdicts.jsonl")
    assert missing.code == 2
    assert f"proofstone grade {runs[0]} --judge PROVIDER/NAME --reference BANK" in missing.err
    proofstone("grade", *runs, *JUDGED, "--sample", 0)
    proofstone("export", runs[1], "--what", "verdicts", "-o", "verdicts.jsonl")
    lines = Path("verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len({row["id"] for row in rows}) == 50 + 72
    right = next(row for row in rows if row["verdict"] == "entailment")
    assert right["passage"].startswith(right["subject"])
    assert (right["people"], right["is_true"], right["model"]) == ("", "", "scripted/quiet")
    assert right["response"].startswith(f"response:{runs[1][4:]}/")
