"""What reviewers made of a bank's statements, as a section of a page."""

from __future__ import annotations

from proofstone.records import ReviewFunnel, policy_words
from proofstone.report.sections.section import Cell, Column, Section, Table
from proofstone.wording import counted, noted, say, word

__all__ = ["review_section"]

_STEPS = {
    "keep": noted("Kept as they are"),
    "fix": noted("To be fixed"),
    "drop": noted("To be dropped"),
    "open": noted("Open: one more reader is needed"),
}


def review_section(funnel: ReviewFunnel) -> Section:
    """How many statements people read and what they decided; how far they agree."""
    said = {"read": f"{funnel.read:,}", "all": counted(funnel.statements, "statement")}
    drop, fix = funnel.outcomes.get("drop", 0), funnel.outcomes.get("fix", 0)
    return Section(
        name="review-funnel",
        title=say("What reviewers made of the statements"),
        finding=say(
            "Of {all}, people read {read}; {drop:,} are to be dropped and {fix:,} fixed.",
            drop=drop, fix=fix, **said,
        ),
        plain=say(
            "{done:,} of these {n:,} are carried out.", done=funnel.carried_out, n=drop + fix
        ),
        cannot=say(
            "Reviewers looked at how statements are written, not at whether they are true. A "
            "fact-check sample shows that."
        ),
        how=say(
            "The newest decision of each reader counts; decided by this policy: {policy}.",
            policy=policy_words(funnel.policy),
        ),
        tables=(_funnel(funnel), *_agreement(funnel)),
    )  # fmt: skip


def _funnel(funnel: ReviewFunnel) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (say("Statements of the bank"), funnel.statements),
        (say("Read by people"), funnel.read),
        *((word(_STEPS[name]), n) for name, n in funnel.outcomes.items()),
        *(((say("Purged with their source"), funnel.purged),) if funnel.purged else ()),
    ]
    columns = (
        Column(key="step", name=say("Step")),
        Column(key="n", name=say("How many"), digits=0),
    )
    return Table(title=say("Review"), columns=columns, rows=tuple(rows), sorts=False)


def _agreement(funnel: ReviewFunnel) -> tuple[Table, ...]:
    """Nothing where no statement was read by two."""
    if not funnel.measures:
        return ()
    columns = (
        Column(key="measure", name=say("Measure")),
        Column(key="value", name=say("Agreement"), unit="points"),
    )
    return (
        Table(
            title=say("Inter-annotator agreement on {statements}",
                      statements=counted(funnel.shared, "statement")),
            columns=columns,
            rows=tuple((word(name), value) for name, value in funnel.measures.items()),
            sorts=False,
        ),
    )  # fmt: skip
