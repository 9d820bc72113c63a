"""Plans: frozen before a run, named by it, and marked where they came late."""

from __future__ import annotations

import json
import time

import pytest
from msgspec import structs

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.records.runs import Assumed, Plan, PlanAsked, plan_id
from proofstone.results.plan import plan_lines
from proofstone.run.run_facts import n_begun, plan_in_force
from proofstone.stats.power import resolution_before

ANN, BOB = "sim/ann?ability=0.9", "sim/bob?ability=0.2"
PAIR = PlanAsked(comparisons=((ANN, BOB),), population="bank")


def lines(workspace: Workspace, form: str, **options: str) -> list[str]:
    return list(plan_lines(workspace.leaderboard(form, **options)))


def test_a_plan_says_what_it_can_find(workspace: Workspace, form: str) -> None:
    """The items of the form, and each of two comparisons at half of the 5%."""
    assumed = Assumed(accuracy=0.8, design_effect=2.0)
    asked = PlanAsked(comparisons=((ANN, BOB), (ANN, "sim/c")), samples=4, assumed=assumed)
    plan = workspace.plan(form, asked)
    wanted = resolution_before(12, assumed, samples=4, confidence=1 - 0.05 / 2)
    assert (plan.n_items, plan.resolves) == (12, wanted.difference)
    assert (plan.measure, plan.stopping[:4]) == ("accuracy", "once")
    assert plan.id == plan_id(plan)
    assert workspace.store.plans.every() == [plan]


def test_a_run_after_it_stands_under_the_plan(workspace: Workspace, form: str) -> None:
    """The leaderboard says what was planned, what came of it, and that all else is exploratory."""
    plan = workspace.plan(form, PAIR)
    workspace.run(form, models=[ANN, BOB])
    (mark,) = workspace.leaderboard(form).plans
    assert (mark.id, mark.n_runs, mark.n_after) == (plan.id.hex()[:8], 2, 0)
    head, outcome = lines(workspace, form, population="bank")
    assert head.startswith(f"planned {mark.made_at} {mark.id}: accuracy, 12 items, 1 sample")
    assert head.endswith("everything else here is exploratory")
    assert outcome.startswith(f"planned: {ANN} - {BOB}: ")
    swapped = PlanAsked(comparisons=((BOB, ANN),))
    assert n_begun(workspace.store, plan) == 0
    assert n_begun(workspace.store, workspace.plan(form, swapped)) == 2


def test_another_view_departs_from_the_plan(workspace: Workspace, form: str) -> None:
    """Another estimand, another average, fewer items than planned: each is said."""
    workspace.plan(form, structs.replace(PAIR, n_items=500))
    workspace.run(form, models=[ANN, BOB])
    said = "\n".join(lines(workspace, form, level="subfield"))
    assert "intervals generalize to the domain of this item bank, planned this item bank" in said
    assert "averaged by subfield, planned sample" in said
    assert "12 items, planned 500" in said


def test_a_plan_made_after_the_first_reply_is_marked(workspace: Workspace, form: str) -> None:
    """What was seen before is exploratory, whatever it is called later."""
    workspace.run(form, models=ANN)
    workspace.plan(form, PAIR)
    (head, *_rest) = lines(workspace, form)
    assert "made after the first response: everything here is exploratory" in head
    workspace.run(form, models=BOB)
    (head, *_rest) = lines(workspace, form)
    assert "1 run here without a plan made before" in head


def test_the_plan_before_a_run_holds_for_it(workspace: Workspace, form: str) -> None:
    """A second plan holds for runs begun after it; the first run keeps the first."""
    first = workspace.plan(form)
    workspace.run(form, models=ANN)
    second = workspace.plan(form, PAIR)
    workspace.run(form, models=BOB)
    held = [plan_in_force(workspace.store, key, run) for key, run in workspace.store.runs.every()]
    assert held == [(first, False), (second, False)]
    assert [mark.n_unplanned for mark in workspace.leaderboard(form).plans] == [1, 1]


def test_a_plan_of_a_bank_holds_for_its_forms(workspace: Workspace, form: str) -> None:
    """Of forms made later too, and its size is that of the forms there are."""
    plan = workspace.plan("old-books", PAIR)
    assert (plan.kind, plan.n_items) == ("bank", 12)
    fresh = workspace.build_form("old-books", questions=8, seeds=[3])
    workspace.run(fresh, models=ANN)
    assert "planned" in lines(workspace, f"form:{fresh[0].id.hex()}")[0]


def test_without_a_plan_nothing_is_said(workspace: Workspace, form: str) -> None:
    workspace.run(form, models=ANN)
    assert workspace.leaderboard(form).plans == ()
    assert lines(workspace, form) == []


def test_a_comparison_with_nobody_is_said_to_be_missing(workspace: Workspace, form: str) -> None:
    workspace.plan(form, PAIR)
    workspace.run(form, models=ANN)
    assert lines(workspace, form)[-1].endswith("no run of sim/bob?ability=0.2")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (PlanAsked(measure="luck"), "there is no measure 'luck'"),
        (PlanAsked(comparisons=(("a", "a"),)), "cannot be compared"),
        (PlanAsked(n_items=0), "--items"),
        (PlanAsked(samples=0), "--samples"),
        (PlanAsked(assumed=Assumed(accuracy=1.5)), "--accuracy"),
        (PlanAsked(assumed=Assumed(design_effect=0.5)), "--design-effect"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    workspace: Workspace, form: str, asked: PlanAsked, said: str
) -> None:
    """And nothing is stored."""
    with pytest.raises(BadUsage, match=said):
        workspace.plan(form, asked)
    assert workspace.store.plans.every() == []


def test_a_bank_without_forms_needs_a_number(workspace: Workspace, tmp_path) -> None:
    """Then the plan comes before the form."""
    with create_workspace(tmp_path / "other") as other:
        workspace.export("old-books", tmp_path / "bank.jsonl")
        bank = other.import_bank(tmp_path / "bank.jsonl")
        with pytest.raises(BadUsage, match="has no items yet"):
            other.plan(bank)
        assert other.plan(bank, PlanAsked(n_items=500)).n_items == 500


def test_one_item_finds_nothing(workspace: Workspace, form: str) -> None:
    """Too few to tell is stored as such, and shown."""
    assert workspace.plan(form, PlanAsked(n_items=1)).resolves is None


def test_a_key_in_a_plan_is_scrubbed(
    workspace: Workspace, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan travels with the workspace, so no secret of the configuration may stand in it."""
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-7341")
    workspace.__dict__.pop("config", None)
    plan = workspace.plan(form, PlanAsked(exclusions=("what sk-planted-7341 cannot read",)))
    assert "planted" not in plan.exclusions[0]


def test_a_plan_is_a_row_of_a_file(workspace: Workspace, form: str, tmp_path) -> None:
    """Whole, with its ids in digits."""
    plan = workspace.plan(form, PAIR)
    file = tmp_path / "plan.jsonl"
    assert workspace.export(f"plan:{plan.id.hex()}", file) == 1
    row = json.loads(file.read_text(encoding="utf-8"))
    assert (row["id"], row["comparisons"]) == (plan.id.hex(), [[ANN, BOB]])


def test_every_field_enters_the_id() -> None:
    """A plan with another stopping rule, or another time, is another plan."""
    plan = Plan(
        kind="form", target=bytes(32), measure="m", population="bank", n_items=1, stopping="s",
        at=time.time(),
    )  # fmt: skip
    others = [
        structs.replace(plan, stopping="t"),
        structs.replace(plan, at=plan.at + 1),
        structs.replace(plan, exclusions=("x",)),
    ]
    assert len({plan_id(each) for each in [plan, *others]}) == 4
