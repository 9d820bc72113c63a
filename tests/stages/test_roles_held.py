"""From the roles that facts and item sets bring to the marks of a leaderboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.records.knowledge import Role
from small_bank import rows, write_lines

ANN, BOB = "sim/ann?ability=0.8", "sim/bob"


@pytest.fixture
def workspace(tmp_path: Path):
    with create_workspace(tmp_path / "work") as opened:
        yield opened


def test_roles_of_facts_mark_the_items_that_rest_on_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Every falsified statement is ann's; each item that has one is touched, and no other."""
    marked = [row if row["correct"] else {**row, "perturbed_by": ANN} for row in rows()]
    bank = workspace.import_bank(write_lines(tmp_path / "bank.jsonl", marked))
    (form,) = workspace.build_form(bank, questions=12)
    workspace.run(form, models=[ANN, BOB])
    items = [s.loaded for page in workspace.store.items.pages(form.id) for s in page]
    touched = [item for item in items if any(not f.payload.correct for f in item.facts)]
    ann, bob = sorted(workspace.leaderboard(form).standings[0].ranked, key=lambda row: row.name)
    assert bob.self_evaluation is None
    assert ann.self_evaluation is not None
    assert [(r.role, r.model, r.is_itself, r.n_items) for r in ann.self_evaluation.roles] == [
        ("perturbed", ANN, True, len(touched))
    ]
    assert ann.self_evaluation.untouched.n == len(items) - len(touched)


def test_roles_of_a_set_touch_all_its_items(workspace: Workspace, tmp_path: Path) -> None:
    """A file of questions that bob wrote: nothing is left of it for bob."""
    questions = [
        {"question": f"What is {n} + 1?", "options": ["0", str(n + 1)], "answer": "B"}
        for n in range(5, 9)
    ]
    form = workspace.import_form(write_lines(tmp_path / "sums.jsonl", questions))
    workspace.store.roles.add_to_set(form.id, [Role("wrote", BOB), Role("filtered", "gpt-4o")])
    workspace.store.roles.add_to_set(form.id, [Role("wrote", BOB)])
    workspace.run(form, models=[ANN, BOB])
    ann, bob = sorted(workspace.leaderboard(form).standings[0].ranked, key=lambda row: row.name)
    assert ann.self_evaluation is None
    assert bob.self_evaluation is not None
    assert (bob.self_evaluation.n_self_evaluated, bob.self_evaluation.untouched.n) == (4, 0)
    assert workspace.store.roles.of_set(form.id) == (Role("filtered", "gpt-4o"), Role("wrote", BOB))


def test_a_card_says_who_is_kin(workspace: Workspace) -> None:
    """Of a name that says nothing; bundled cards, and names without a provider, count too."""
    config = (
        '[models."acme/large"]\nbase_url = "http://127.0.0.1:1/v1"\ncard = {family = "Qwen3"}\n'
    )
    (workspace.folder / "proofstone.toml").write_text(config, encoding="utf-8")
    assert workspace.family_of("acme/large") == workspace.family_of("qwen2.5-7b") == "qwen"
    assert workspace.family_of("gpt-4.1") == workspace.family_of("openai/gpt-4o") == "gpt"
    assert workspace.family_of("sim/ann?ability=1") == "sim/ann"
