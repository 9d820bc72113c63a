"""Panels in a build: who votes, what a tie, a silence and a failure come to, and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import Panelists, panelists
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.build.funnel import JudgedRow, list_verdicts, read_accounts
from proofstone.errors import BadUsage
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.ids import short
from proofstone.records.verdicts import PanelVerdict
from proofstone.results.report import bank_sections
from serving import HurriedClock, configure, serving

METALS = ("copper", "silver", "gold")
ODD = 2  # all but gold, on which judges are always of one mind
BOOK = "\n\n".join(
    f"Pure {metal} conducts electric current well at room temperature because its electrons move "
    f"freely through the lattice of {metal}."
    for metal in METALS
)
A, B, C = "scripted/a", "scripted/b", "scripted/c"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        (tmp_path / "Metals.txt").write_text(BOOK, encoding="utf-8")
        ingest_paths(opened.store, [tmp_path / "Metals.txt"], clock=opened.clock)
        yield opened


def built(
    workspace: Workspace, judges: list[str], author: Panelists, **params: object
) -> BuildResult:
    with serving(author) as server:
        configure(workspace.folder, server.url)
        return asked(workspace, judges, **params)


def asked(workspace: Workspace, judges: list[str], **params: object) -> BuildResult:
    return workspace.build_in_steps(
        "statements", ["Metals"], name="metals", models="scripted/author", judge=judges, **params
    )  # type: ignore[arg-type]


def support(result: BuildResult) -> dict[str, int]:
    step = next(step for step in result.funnel.steps if step.name == "support")
    return {reason: n for reason, n in step.dropped.items() if n}


def verdicts(workspace: Workspace, result: BuildResult, step: str = "support") -> list[JudgedRow]:
    found = workspace.find(f"build:{short(result.build.id)}")
    return list_verdicts(workspace.store, found, step=step)


def test_a_majority_of_judges_decides_and_each_vote_is_kept(workspace: Workspace) -> None:
    """One of three dissents: the rows stay, and its reason can be read."""
    result = built(workspace, [C, A, B], panelists(dissent="c"))
    assert result.complete
    assert support(result) == {}
    assert result.build.models["judge 1"] == A
    judged = verdicts(workspace, result)
    assert len(judged) == len(METALS)
    for each in judged[:ODD]:
        judge_votes = {b.judge: (b.label, b.reason) for b in each.verdict.judge_votes}
        assert judge_votes == {
            A: ("supported", "seen"), B: ("supported", "seen"), C: ("unsupported", "not in it"),
        }  # fmt: skip
        assert (each.question, each.verdict.label) == ("support", "supported")
    key, build = workspace.store.builds.build(result.build.id)
    accounts = {each.question: each for each in read_accounts(workspace.store, key, build)}
    assert list(accounts) == ["standing", "support", "falsity", "reason"]
    assert accounts["support"].unanimous == len(METALS) - ODD
    assert accounts["falsity"].unanimous == len(METALS)
    weights = {j.judge: (j.against_panel, j.otherwise) for j in accounts["support"].judges}
    # Without a or b the other two are tied, and nothing is decided; without c it is as it was.
    assert weights == {A: (0, ODD), B: (0, ODD), C: (ODD, 0)}


def test_the_order_in_which_judges_are_named_makes_no_other_build(workspace: Workspace) -> None:
    author = panelists()
    first = built(workspace, [A, B], author)
    asked = author.asked.total()
    again = built(workspace, [B, A], author)
    assert (again.build.id, author.asked.total()) == (first.build.id, asked)


def test_a_tie_keeps_nothing_unless_it_is_to(workspace: Workspace) -> None:
    tied = built(workspace, [A, B], panelists(dissent="b"))
    assert support(tied) == {"judges tied": ODD}
    kept = built(workspace, [A, B], panelists(dissent="b"), tie="keep")
    assert support(kept) == {}
    assert sum(each.verdict.by_rule for each in verdicts(workspace, kept)) == ODD


def test_a_judge_without_a_label_is_no_vote_and_the_quorum_says_whether_the_rest_suffice(
    workspace: Workspace,
) -> None:
    short_of = built(workspace, [A, B, C], panelists(silent="c"))
    assert support(short_of) == {"not judged": ODD}
    enough = built(workspace, [A, B, C], panelists(silent="c"), quorum=2)
    assert support(enough) == {}
    states = [each.verdict.judge_votes[2].state for each in verdicts(workspace, enough)]
    assert states == ["unparsed", "unparsed", "voted"]


def test_a_failed_judge_holds_the_row_up_unless_a_quorum_decides_without_it(
    workspace: Workspace,
) -> None:
    """It is never a vote; once it answers, the rows that waited for it go on."""
    author = panelists(dead="c")
    with serving(author) as server:
        configure(workspace.folder, server.url)
        waiting = asked(workspace, [A, B, C])
        enough = asked(workspace, [A, B, C], quorum=2)
        author.dissent = frozenset({"b"})
        # Of two who disagree and one who failed, that one would decide: it is waited for.
        torn = asked(workspace, [A, B, C], quorum=2, tie="keep", orders=2)
        author.dead = author.dissent = frozenset()
        again = asked(workspace, [A, B, C])
    assert (waiting.funnel.pending, torn.funnel.pending) == (ODD, ODD)
    assert (waiting.complete, enough.complete, again.complete) == (False, True, True)
    judge_votes = [each.verdict.judge_votes[2] for each in verdicts(workspace, enough)]
    assert [b.state for b in judge_votes] == ["failed", "failed", "voted"]


def test_every_judge_is_recorded_on_facts(workspace: Workspace) -> None:
    result = built(workspace, [A, B], panelists())
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    for fact in workspace.store.knowledge.built_facts(facts):
        assert {r.model for r in fact.roles if r.role == "checked"} == {A, B}


def test_votes_and_orders_are_of_each_judge(workspace: Workspace) -> None:
    """Two judges, three votes, two orders: twelve replies a statement, one ballot a judge."""
    result = built(workspace, [A, B], panelists(), votes=3, orders=2)
    assert result.complete
    for each in verdicts(workspace, result):
        heard = [[(h.vote, h.order) for h in b.heard] for b in each.verdict.judge_votes]
        assert heard == [[(vote, order) for vote in range(3) for order in range(2)]] * 2


def test_one_judge_is_a_panel_of_one(workspace: Workspace) -> None:
    """Its seat is the role, its steps have no reason for ties, and its verdicts are kept too."""
    result = built(workspace, [A], panelists(dissent="a"))
    assert result.build.models["judge"] == A
    assert all("judges tied" not in step.reasons for step in result.build.steps)
    (first, *_others) = verdicts(workspace, result)
    assert isinstance(first.verdict, PanelVerdict)
    assert [b.judge for b in first.verdict.judge_votes] == [A]


@pytest.mark.parametrize(
    ("judges", "params", "said"),
    [
        ([A, B], {"quorum": 3}, "a quorum of 3 is not possible with 2 judges"),
        ([A], {"quorum": 2}, "a quorum of 2 is not possible with 1 judge"),
        ([A, A], {}, "scripted/a would judge twice"),
        ([A], {"orders": 0}, "--orders must be 1 or more, got 0"),
    ],
)
def test_panels_that_cannot_be_are_refused(
    workspace: Workspace, judges: list[str], params: dict[str, object], said: str
) -> None:
    with pytest.raises(BadUsage, match=said):
        built(workspace, judges, panelists(), **params)


def test_the_page_of_a_bank_says_what_its_judges_did(workspace: Workspace) -> None:
    """A line a question and judge beside the funnel; of a dissenter what it was against."""
    result = built(workspace, [A, B, C], panelists(dissent="c"))
    (form,) = workspace.build_form(result.bank, setting="statements")
    section, against_people = bank_sections(workspace.store, [form])
    assert against_people.finding.startswith("No judged statement was reviewed by people")
    _funnel, judges = section.tables
    assert [row for row in judges.rows if row[1] == "support"] == [
        ("support", "support", A, len(METALS), 0, 0, ODD),
        ("support", "support", B, len(METALS), 0, 0, ODD),
        ("support", "support", C, len(METALS), 0, ODD, 0),
    ]
    assert len(judges.rows) == 4 * 3
