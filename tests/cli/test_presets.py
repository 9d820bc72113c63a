"""``presets`` and ``--preset``: what is published, and what a command then does."""

from __future__ import annotations

from pathlib import Path

from proofstone.method import find_method
from told import Proofstone


def test_presets_are_listed_and_shown(proofstone: Proofstone) -> None:
    """Each choice stands once, under what is as published, left open or different; the last with
    its reason."""
    assert "as-published" in proofstone("list", "presets").out
    preset = find_method("encyclo_k").presets["as-published"]
    told = proofstone("show", "preset", "encyclo_k/as-published")
    assert told.code == 0
    published, rest = told.out.split("\nLeft open by the paper\n")
    opened, ours = rest.split("\nDifferent from the paper\n")
    under = {"published": published, "open": opened, "ours": ours}
    for choice in preset.choices:
        assert f"\n  {choice.what}" in under[choice.status]
        assert f"\n    why    {choice.why}\n" in told.out if choice.why else True
    shown = proofstone("show", "preset", "encyclo_k", "--json").json
    assert len(shown["choices"]) == len(preset.choices)
    listed = proofstone("list", "presets", "--json").json
    assert {"method": "encyclo_k", "preset": "as-published", "title": preset.title} in listed


def test_an_unknown_preset_names_those_there_are(proofstone: Proofstone, made: Path) -> None:
    for command in (
        ("show", "preset", "encyclo_k/fast"),
        ("build", "form", "old-books", "--preset", "fast", "-w", made),
        ("run", "old-books", "-m", "sim/x", "--preset", "fast", "-w", made),
    ):
        told = proofstone(*command)
        assert told.code == 2
        assert "as-published" in told.err


def test_a_form_takes_the_published_choices_and_options_override_them(
    proofstone: Proofstone, made: Path
) -> None:
    """Siblings meet as in the paper's figure; --questions and --options go before the preset."""
    told = proofstone(
        "build", "form", "old-books", "--preset", "as-published", "--questions", 6,
        "--options", "5", "-w", made, "--json",
    )  # fmt: skip
    (form,) = told.json
    recipe = form["recipe"]
    assert (recipe["siblings"], recipe["options"], form["items"]) == (True, [5, 5], 6)
    assert (recipe["statements"], recipe["combination"]) == ([8, 10], [2, 4])


def test_a_run_takes_them_too(proofstone: Proofstone, made: Path) -> None:
    """Asked as in appendix A.3, temperature 0 and room for thinking, but for what was typed."""
    told = proofstone(
        "run", "old-books", "-m", "sim/new?ability=0.5", "--preset", "as-published",
        "--temperature", 0.5, "-w", made, "--json",
    )  # fmt: skip
    (run,) = told.json
    assert run["prompt_method"] == "as-published"
    shown = proofstone("show", f"run:{run['run']}", "-w", made, "--json").json
    assert "32768" in str(shown)
    assert "0.5" in str(shown)
