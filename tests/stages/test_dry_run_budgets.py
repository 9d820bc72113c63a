"""A dry run within a budget, and what its pilot may send."""

from __future__ import annotations

import pytest

from proofstone.api import Workspace
from proofstone.errors import EgressRefused
from serving import configure, serving
from stages.test_dry_runs import COST, PLAIN, PRICE, SAMPLES, varied


@pytest.mark.parametrize(
    ("budget", "verdict"), [("1USD", "covers"), ("0.055USD", "does not cover")]
)
def test_a_budget_is_held_against_what_is_left(
    workspace: Workspace, form: str, budget: str, verdict: str
) -> None:
    """Of 100 questions left at 0.0008 USD one needs its worst case put aside at the end."""
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(
            form, models="scripted/one", samples=SAMPLES, max_tokens=20, budget=budget
        )
    assert found.reach is not None
    assert found.reach.verdict == verdict
    share = min(1.0, (float(budget.removesuffix("USD")) - found.call_usd) / (100 * COST))
    assert (found.reach.low, found.reach.high) == pytest.approx((share, share))


def test_a_budget_within_the_range_may_do(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        configure(workspace.folder, server.url)
        likely = workspace.dry_run(
            form, models="scripted/one", samples=SAMPLES
        ).total.amounts.tokens
        assert likely is not None
        assert likely.likely is not None
        amount = round(likely.likely)
        found = workspace.dry_run(
            form, models="scripted/one", samples=SAMPLES, budget=f"{amount}tok"
        )
    assert found.reach is not None
    assert (found.reach.verdict, found.reach.high) == ("may cover", 1.0)
    assert found.reach.low == pytest.approx((amount - found.call_tokens) / likely.high)


def test_the_pilot_itself_is_under_the_budget(workspace: Workspace, form: str) -> None:
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(
            form, models="scripted/one", samples=SAMPLES, max_tokens=20, budget="0.009USD"
        )
        assert server.requests == found.total.asked < 20
    (part,) = found.parts
    assert part.over_budget
    assert "the budget of 0.009 USD is reached" in part.stopped
    assert found.spent.cost_usd <= 0.009
    assert part.is_known  # what was asked says enough


def test_time_goes_by_the_connections(workspace: Workspace, form: str) -> None:
    """100 questions of 0.02 s or more take 2 s or more one by one, a quarter of it four at once;
    the times are those of one pilot."""
    with serving(PLAIN.later(0.02)) as server:
        configure(workspace.folder, server.url)
        workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        single, four = (
            workspace.dry_run(form, models="scripted/one", samples=SAMPLES, max_connections=n)
            for n in (1, 4)
        )
        assert server.requests == 20
    by_one, by_four = single.total.amounts.seconds, four.total.amounts.seconds
    assert by_one is not None
    assert by_four is not None
    assert by_one.likely is not None
    assert by_four.likely == pytest.approx(by_one.likely / 4)
    assert by_one.likely >= 100 * 0.02


def test_a_pilot_asks_nothing_that_may_not_leave(workspace: Workspace, form: str) -> None:
    """Its requests are told and asked like any: of what it drew, not of the whole run."""
    told: list[tuple[int, int]] = []

    def ask(leaving: object) -> str:
        outgoing = leaving.outgoing  # type: ignore[attr-defined]
        told.append((outgoing.items, outgoing.requests))
        return ""

    workspace.ask_egress = ask
    text = '[providers.far]\nbase_url = "http://models.test:9/v1"\n'
    (workspace.folder / "proofstone.toml").write_text(text, encoding="utf-8")
    with pytest.raises(EgressRefused, match="no permission to send"):
        workspace.dry_run(form, models="far/one", pilot=5)
    assert told == [(5, 5)]
    workspace.dry_run(form, models="far/one", pilot=0)
    assert told == [(5, 5)]
