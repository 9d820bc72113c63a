"""The experiments as presets: what each asks, and that nothing is asked twice by two of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import create_workspace
from proofstone.cli import main
from proofstone.methods.bequ.ask import PROMPT_METHODS, ranges
from proofstone.methods.bequ.method import METHOD
from scripted_server import Act, Seen, answer
from serving import configure, serving

ROWS = [{"name": "Ada Lovelace"}, {"name": "Flying Trams", "nonexistent": "absurd"}]


class Speaker:
    """Knows nothing of anything; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, seen: Seen) -> Act:
        self.asked.append(seen.json)
        return answer("[]")


@pytest.fixture
def proofstone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command on a workspace with a list of two and gives what it prints as JSON."""
    create_workspace(tmp_path / "work").close()
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main([*arguments, "-w", str(tmp_path / "work"), "--json"])
        out, err = capsys.readouterr()
        assert out, err
        return json.loads(out)

    return run


def test_there_is_one_for_each_experiment_and_each_names_its_study() -> None:
    names = ["random", "effort", "domains", "prompts", "ranges", "popularity"]
    assert list(METHOD.presets) == names
    assert [preset.analysis for preset in METHOD.presets.values()] == names
    values = {name: preset.values("run") for name, preset in METHOD.presets.items()}
    assert values["prompts"]["prompt_method"] == list(PROMPT_METHODS)
    asked = [
        prompt_method.partition("@")[2] or "50-100"
        for prompt_method in values["ranges"]["prompt_method"]
    ]
    assert asked == list(ranges())


def test_a_preset_asks_the_whole_grid_and_what_two_share_is_asked_once(
    tmp_path: Path, proofstone: Callable[..., Any]
) -> None:
    """Eight sets, then six ranges beside the default that is there already, then three efforts;
    the ranking's own configuration is medium effort, and asks nothing more. Temperature 0 is sent
    with each."""
    speaker = Speaker()
    target = str(tmp_path / "list.jsonl")
    with serving(speaker) as server:
        configure(tmp_path / "work", server.url)

        def asked(preset: str, *more: str) -> tuple[list[dict[str, Any]], int]:
            before = len(speaker.asked)
            found = proofstone(
                "run", target, "-m", "scripted/m", "--preset", preset, "--yes", "--quiet", *more
            )
            return found, len(speaker.asked) - before

        prompts, n_prompts = asked("prompts")
        ranged, n_ranged = asked("ranges")
        tried, n_tried = asked("effort")
        ranking, n_ranking = asked("random")
        own, n_own = asked("effort", "--reasoning-effort", "low")
        chosen, n_chosen = asked("prompts", "--prompt-method", "wikidata")
    assert [each["prompt_method"] for each in prompts] == list(PROMPT_METHODS)
    assert n_prompts == len(ROWS) * len(PROMPT_METHODS)  # two steps end where no predicate is named
    assert (len(ranged), n_ranged) == (7, len(ROWS) * 6)
    assert (len(tried), n_tried) == (3, len(ROWS) * 3)
    assert ranged[0]["run"] == prompts[0]["run"]
    assert ranking[0]["run"] == tried[1]["run"]
    assert own[0]["run"] == tried[0]["run"]
    assert [each["prompt_method"] for each in chosen] == ["wikidata"]
    assert (n_ranking, n_own, n_chosen) == (0, 0, 0)
    efforts = [each.get("reasoning_effort") for each in speaker.asked]
    assert [efforts.count(word) for word in ("low", "medium", "high")] == [len(ROWS)] * 3
    assert {each["temperature"] for each in speaker.asked} == {0.0}


def test_a_run_file_holds_several_efforts_and_means_the_same_runs(
    tmp_path: Path, proofstone: Callable[..., Any]
) -> None:
    target = str(tmp_path / "list.jsonl")
    saved = tmp_path / "run.toml"
    with serving(Speaker()) as server:
        configure(tmp_path / "work", server.url)
        asked = ("--yes", "--quiet")
        typed = proofstone(
            "run", target, "-m", "scripted/m", "--reasoning-effort", "low,high", *asked,
            "--save", str(saved),
        )  # fmt: skip
        again = proofstone("run", str(saved), *asked)
        one = proofstone("run", str(saved), "--reasoning-effort", "high", *asked)
    assert 'reasoning_effort = ["low", "high"]' in saved.read_text(encoding="utf-8")
    assert [each["run"] for each in again] == [each["run"] for each in typed]
    assert [each["run"] for each in one] == [typed[1]["run"]]


def test_the_ranking_s_share_is_drawn_as_its_preset_says(
    tmp_path: Path, proofstone: Callable[..., Any]
) -> None:
    """200 by seed 42, unless something else is typed."""
    rows = [{"name": f"Town {n}"} for n in range(210)]
    path = tmp_path / "towns.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bank = proofstone("import", str(path), "--as", "bank", "--method", "bequ")
    name = f"bank:{bank['bank']}"
    (drawn,) = proofstone("build", "form", name, "--preset", "random")
    (typed,) = proofstone("build", "form", name, "--preset", "random", "--seed", "1")
    assert (drawn["items"], drawn["seed"], typed["seed"]) == (200, 42, 1)
