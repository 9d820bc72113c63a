"""How far to trust a report: every ground is named, and absent evidence is said to be absent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from proofstone.records.reviews import Upkeep
from proofstone.records.runs import Spent
from proofstone.records.scores import Corrections, HeldRole, Judged, Respondent
from proofstone.results.board import PlanMark
from proofstone.results.sections.evidence import Evidence
from proofstone.results.trust import DataQualityLine, data_quality_lines
from report.made_up import mixed, right_of, table_of
from report.test_opening_of_page import PRICED, close
from report.test_sections import accuracies, evidence_of

OURS = Upkeep()


def lines(evidence: Evidence) -> Mapping[str, DataQualityLine]:
    return {line.name: line for line in data_quality_lines(evidence)}


def said(evidence: Evidence) -> Mapping[str, str]:
    return {name: line.says for name, line in lines(evidence).items()}


def of_files() -> Evidence:
    """Two models of a file that tells scores alone."""
    table = table_of(
        [Respondent("a", ""), Respondent("b", "")],
        right_of(20, 9, 0) + right_of(10, 9, 1),
        n_units=20,
        expected=[20, 10],
    )
    names = tuple(f"q{n}" for n in range(20))
    return evidence_of(replace(table, item_names=names, tells_outcomes=False))


def test_of_a_file_all_that_it_does_not_tell_is_absent() -> None:
    """Only how many scores there are is known: 30 of 2 x 20."""
    found = lines(of_files())
    assert [name for name, line in found.items() if line.known] == ["complete"]
    assert found["complete"].says == "30 of 40 scores (75.0%)."
    for name, line in found.items():
        assert name == "complete" or line.says
        assert line.share is None


def test_of_our_own_runs_without_evidence() -> None:
    """What is absent is told apart from what is known to be nothing."""
    told = said(evidence_of(close(*PRICED), upkeep=OURS))
    assert told == {
        "checked": "No review of these items is recorded.",
        "faults": "No sample was checked, and no item was excluded or corrected.",
        "judge": "No judge: answers are parsed and scored by fixed rules.",
        "overrides": "None of 120 responses.",
        "roles": "No model's role in these items is recorded.",
        "complete": "3 of 3 configurations complete; 120 of 120 responses received (100.0%).",
        "truncated": "1 of 120 responses, 0.8% [0.0, 4.8]. Highest rate: poor (2.5%).",
        "unparsed": "2 of 120 responses, 1.7% [0.2, 6.1]. Highest rate: poor (5.0%).",
        "cost": "4.4200 USD: endpoints reported the usage of every call.",
        "clusters": "Shared sources of items are not recorded. "
        "Intervals treat items as independent and may be too narrow.",
        "plan": "No plan, so all comparisons are exploratory.",
    }


def test_what_people_did_is_counted() -> None:
    """Rulings, retirements and corrections: a bound on the errors, since nobody drew a sample."""
    table = replace(
        close(*PRICED),
        corrections=(
            Corrections(raised=2, lowered=1),
            Corrections(upheld=1),
            Corrections(invalidated=1),
        ),
    )
    evidence = evidence_of(table, upkeep=Upkeep(n_overridden=4, n_corrected=3))
    evidence = replace(evidence, board=structs.replace(evidence.board, n_excluded=2))
    told = said(evidence)
    assert told["checked"].endswith("Reviewers saw 4 items when they overrode responses.")
    assert told["faults"].startswith(
        "Of 42 items, 2 excluded and 3 corrected. The error rate is unknown"
    )
    assert told["overrides"] == "5 of 121 responses: 2 raised, 1 lowered, 1 upheld, 1 invalidated."
    ignore_corrections = replace(
        evidence, board=structs.replace(evidence.board, ignore_corrections=True)
    )
    assert said(ignore_corrections)["overrides"].startswith("Not applied")


def test_the_judges_agreement_has_its_interval() -> None:
    """Right on 9 of 12 records that both labelled; a judge without labels is not known."""
    judged = Judged(
        labels=("correct", "wrong"),
        people=np.array([0, 0, 1, 1] * 3 + [-1]),
        judge=np.array([0, 1, 1, 1] * 3 + [0]),
        item=np.arange(13),
        model=np.full(13, -1),
        models=(),
        values=None,
    )
    line = lines(replace(of_files(), judged=judged))["judge"]
    assert line.known
    assert line.share is not None
    assert (line.share.value, line.share.n) == (9 / 12, 12)
    assert line.says.startswith("They agree on 75.0% [")
    unseen = lines(evidence_of(close(*PRICED), upkeep=Upkeep(judges=("lab/judge",))))["judge"]
    assert (unseen.known, unseen.says) == (
        False,
        "Judged by lab/judge; no human labels for comparison.",
    )


def test_models_with_a_role_are_named_whether_they_compete_or_not() -> None:
    """One wrote the first ten items."""
    held = HeldRole("wrote", "lab/author", np.arange(10, dtype=np.int32))
    table = replace(close(*PRICED), roles=(held,))
    assert said(evidence_of(table, upkeep=OURS))["roles"] == (
        "lab/author helped to make the items; neither these nor models of their families "
        "are ranked."
    )
    author = replace(PRICED[0], roles_held=((0, True),))
    self_evaluation = replace(table, respondents=(author, *PRICED[1:]))
    assert said(evidence_of(self_evaluation, upkeep=OURS))["roles"].startswith(
        "Models ranked on items that they or their family helped to make: dear (wrote 10)."
    )


def test_estimated_costs_and_unpriced_calls_are_told() -> None:
    """One dollar of four, and three calls without a price."""
    spent = Spent(calls=40, cost_usd=4.0, estimated_usd=1.0, estimated_calls=5, unpriced=3)
    table = close(replace(PRICED[0], spent=spent), Respondent("b", ""), Respondent("c", ""))
    assert said(evidence_of(table, upkeep=OURS))["cost"] == (
        "4.0000 USD, of which 1.0000 USD (25.0%) is estimated: endpoints did not report usage. "
        "3 calls without a price are not included."
    )
    free = close(Respondent("a", ""), Respondent("b", ""), Respondent("c", ""))
    assert said(evidence_of(free, upkeep=OURS))["cost"].startswith("No paid calls")
    unpriced = close(replace(PRICED[0], spent=Spent(calls=2, unpriced=2)), *free.respondents[1:])
    assert lines(evidence_of(unpriced, upkeep=OURS))["cost"].known is False


def test_incomplete_runs_and_failed_calls_are_told_of_real_respondents_alone() -> None:
    """In mixed() one of three real ones lacks ten of 40 responses; one call brought none. Two
    hundred facts are none: 20 keys."""
    told = said(evidence_of(mixed(), upkeep=OURS))
    assert told["complete"] == (
        "2 of 3 configurations complete; 110 of 120 responses received (91.7%). 1 call failed."
    )
    assert told["clusters"].startswith("40 items come from 20 sources or facts. Standard errors")
    bank = evidence_of(mixed(), upkeep=OURS, population="bank")
    assert said(bank)["clusters"].endswith("generalize to this item bank only.")


@pytest.mark.parametrize(("after", "before"), [(0, 3), (1, 2), (3, 0)])
def test_runs_under_a_plan_are_counted(after: int, before: int) -> None:
    """Those whose plan was made after their first reply are not; one run has none."""
    mark = PlanMark(
        id="1", made_at="", measure="accuracy", population="", level="", confidence=0.95,
        comparisons=(), exclusions=(), n_items=40, samples=1, stopping="", resolves=None,
        n_runs=3, n_after=after, n_unplanned=1,
    )  # fmt: skip
    evidence = evidence_of(close(*PRICED), upkeep=OURS)
    planned = replace(evidence, board=structs.replace(evidence.board, plans=(mark,)))
    assert said(planned)["plan"].startswith(f"{before} of 4 runs have a plan made before")


def test_accuracies_alone_and_empty_tables_are_answered() -> None:
    """Nothing is known of the first, and there is nothing to trust in the second."""
    assert not [line for line in data_quality_lines(accuracies([20, 20])) if line.known]
    assert data_quality_lines(evidence_of(table_of([], [], n_units=0))) == ()


@pytest.mark.parametrize(("n_keys", "bounded"), [(3, False), (9, False), (10, True), (40, True)])
def test_too_few_groups_give_no_interval(n_keys: int, bounded: bool) -> None:
    """Items in equal groups: as many effective groups as keys. The number itself stays."""
    who = [Respondent("a", ""), Respondent("b", "")]
    table = table_of(
        who,
        right_of(360, 100, 0) + right_of(360, 90, 1),
        n_units=360,
        keys=[(item, item % n_keys) for item in range(360)],
    )
    found = lines(evidence_of(table, upkeep=OURS))["truncated"]
    if bounded:
        assert found.says.startswith("0 of 720 responses, 0.0% [0.0, ")
    else:
        assert found.says == (
            f"0 of 720 responses, 0.0% (no interval: {n_keys} independent groups, at least 10 are "
            "needed)."
        )
