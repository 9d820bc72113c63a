"""Build review sections of pages, cards and terminal output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.page.section import MISSING, Cell, Column, Section, Table, shown_estimate
from proofstone.page.text import aligned
from proofstone.records.items import ItemSet
from proofstone.records.reviews import (
    CheckedJudge,
    CheckedQuestion,
    CheckedRate,
    ReviewFunnel,
    policy_words,
)
from proofstone.records.tables import Audience
from proofstone.results.fact_check import RATE_NAMES
from proofstone.review.agreement import AGREEMENT, COEFFICIENTS, agreed, check_judges
from proofstone.review.state import ReviewState, standing
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import counted, noted, paragraph, say, word

_LEFT_OUT = (
    "rows that judges rejected were not reviewed by people: judge accuracy on them is unknown"
)


def checked_judges_section(questions: Sequence[CheckedQuestion]) -> Section:
    """Build a section for each question that people also answer, including unanswered ones."""
    read = [one for one in questions if one.judges]
    return Section(
        name="judges-and-people",
        title=say("Agreement of judges and people"),
        finding=_finding(read),
        plain=_plain(read),
        cannot=say(
            "The judges' error rate on rejected statements is unknown: people only reviewed "
            "statements of the bank, which the judges accepted."
        ),
        how=say(
            "Labels of the same wording by judges and by people (majority of those with an "
            "opinion). Standard errors are clustered by source; coefficients have percentile "
            "intervals of 2,000 bootstrap resamples, agreement has a Wilson interval."
        )
        if read
        else "",
        tables=(_compared(questions), *(_judges(read) for _ in read[:1]), *map(_matrix, read)),
    )


def checked_judges_sentences(questions: Sequence[CheckedQuestion]) -> Iterator[str]:
    """Return one line per question for the card of a bank, on all judges together.

    One line if nothing was reviewed.
    """
    if not questions:
        return
    for one in questions:
        if one.judges:
            first = one.judges[0]
            who = first.judge or f"{len(one.judges) - 1} judges"
            yield f"{one.question}: {who} agree with people on {_agreed(first)}"
    unread = [one.question for one in questions if not one.judges]
    if unread:
        yield f"{', '.join(unread)}: not checked by people"


def checked_judges_lines(questions: Sequence[CheckedQuestion]) -> Iterator[str]:
    """Return the full comparison for a terminal.

    A line per question, a table of its judges, and the labels of disagreements.
    """
    for one in questions:
        told = f"{one.question}, compared with people's {one.task}"
        if not one.read:
            yield f"{told}   {counted(one.judged, 'statement')} judged, none reviewed by people"
            continue
        unsure = f", {one.unsure:,} of them without a label" if one.unsure else ""
        yield f"{told}   {one.judged:,} statements judged, {one.read:,} reviewed by people{unsure}"
        if one.judges:
            yield from aligned([("judge", "n", "agree %", "kappa", "AC1", "silent"),
                                *map(_row, one.judges)], left=(0,))  # fmt: skip
            yield from _differences(one)
    if any(one.against for one in questions):
        yield _LEFT_OUT


def _row(judge: CheckedJudge) -> tuple[str, ...]:
    found = judge.measures
    values = [shown_estimate(found[AGREEMENT]) if found else MISSING]
    values += [_coefficient(judge, name) for name in COEFFICIENTS]
    silent = f"{judge.silent:,}" if judge.silent else ""
    return (judge.judge or "all together", f"{judge.n:,}", *values, silent)


def _coefficient(judge: CheckedJudge, name: str) -> str:
    estimate = judge.measures.get(name)
    if estimate is None or estimate.value != estimate.value:
        return MISSING
    low, high = f"{estimate.low:.2f}", f"{estimate.high:.2f}"
    return f"{estimate.value:.2f} [{low}, {high}]"


def _differences(question: CheckedQuestion) -> Iterator[str]:
    """Return all differing pairs of labels: ``a, b: people true, judge false: 3``.

    Judges with the same pairs share a line.
    """
    by_pairs: dict[str, list[str]] = {}
    for judge in question.judges:
        pairs = [
            f"people {people}, judge {said}: {n:,}"
            for people, row in zip(question.labels, judge.counts, strict=True)
            for said, n in zip(question.labels, row, strict=True)
            if n and said != people
        ]
        by_pairs.setdefault("; ".join(pairs), []).append(judge.judge or "all together")
    yield from (f"  {', '.join(judges)}: {pairs}" for pairs, judges in by_pairs.items() if pairs)


def _agreed(judge: CheckedJudge) -> str:
    if not judge.measures:
        return "none: it gave no label"
    return (
        f"{judge.agreed:,} of {judge.n:,} statements, {shown_estimate(judge.measures[AGREEMENT])} %"
    )


def _finding(read: Sequence[CheckedQuestion]) -> str:
    told = [one for one in read if one.judges[0].measures]
    if not told:
        return say("No judged statement was reviewed by people: judge accuracy is unknown.")
    worst = min(told, key=lambda one: one.judges[0].measures[AGREEMENT].value)
    first = worst.judges[0]
    return say(
        "Lowest agreement of judges and people: {share}% of {statements} labeled by both, for "
        "{question}.",
        share=shown_estimate(first.measures[AGREEMENT]),
        statements=counted(first.n, "statement"),
        question=worst.question,
    )


def _plain(read: Sequence[CheckedQuestion]) -> str:
    """Name for each question the judge with the lowest agreement, if it is below the panel's."""
    parts = []
    for one in read:
        told = [judge for judge in one.judges if judge.measures]
        least = min(told, key=lambda judge: judge.measures[AGREEMENT].value, default=None)
        if least is not None and least.judge and least is not one.judges[0]:
            parts.append(
                say(
                    "For {question}, {judge} has the lowest agreement: {share}%.",
                    question=one.question,
                    judge=least.judge,
                    share=shown_estimate(least.measures[AGREEMENT]),
                )
            )
    return paragraph(*parts)


def _compared(questions: Sequence[CheckedQuestion]) -> Table:
    rows = tuple(
        (one.step, one.question, one.task, one.judged, one.read, one.unsure, one.against)
        for one in questions
    )
    columns = (
        Column(key="step", name=say("Step")),
        Column(key="question", name=say("Asked")),
        Column(key="task", name=say("People were asked")),
        Column(key="judged", name=say("Judged"), digits=0,
               help=say("Statements of the bank with the wording that judges saw.")),
        Column(key="read", name=say("Read by people"), digits=0),
        Column(key="unsure", name=say("Without a label"), digits=0,
               help=say("People had no opinion, or were tied.")),
        Column(key="against", name=say("Kept out"), digits=0,
               help=say("Verdicts that rejected a statement: people reviewed none of these.")),
    )  # fmt: skip
    return Table(title=say("Statements labeled by both"), columns=columns, rows=rows, sorts=False)


def _judges(read: Sequence[CheckedQuestion]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.question, judge.judge or say("all together"), judge.n, judge.silent,
            *(judge.measures.get(name) for name in (AGREEMENT, *COEFFICIENTS)),
        )
        for one in read
        for judge in one.judges
    ]  # fmt: skip
    columns = (
        Column(key="question", name=say("Asked")),
        Column(key="judge", name=say("Judge")),
        Column(key="n", name=say("Statements"), digits=0),
        Column(key="silent", name=say("No vote"), digits=0),
        Column(key="agreement", name=say("Agreement"), unit="points"),
        *(Column(key=name, name=word(name)) for name in COEFFICIENTS),
    )
    return Table(
        title=say("Agreement of each judge with people"),
        columns=columns,
        rows=tuple(rows),
        note=say(
            "A bank holds statements that its judges accepted, so nearly all labels are equal. "
            "Kappa is then low or undefined despite high agreement; AC1 is less affected."
        ),
        sorts=False,
    )


def _matrix(question: CheckedQuestion) -> Table:
    """Return people's labels by each judge's, without labels that people never gave."""
    rows: list[tuple[Cell, ...]] = [
        (judge.judge or say("all together"), people, *row)
        for judge in question.judges
        for people, row in zip(question.labels, judge.counts, strict=True)
        if any(row)
    ]
    columns = (
        Column(key="judge", name=say("Judge")),
        Column(key="people", name=say("people")),
        *(
            Column(key=f"judge_{label}", name=say("judge: {label}", label=label), digits=0)
            for label in question.labels
        ),
    )
    return Table(
        title=say(
            "{question}: people's labels (rows) and the judge's (columns)",
            question=question.question,
        ),
        columns=columns,
        rows=tuple(rows),
        sorts=False,
    )


# Reviewers' decisions on a bank's statements, as a section of a page.

_STEPS = {
    "keep": noted("Kept as they are"),
    "fix": noted("To be fixed"),
    "drop": noted("To be dropped"),
    "open": noted("Open: one more reviewer is needed"),
}


def review_section(funnel: ReviewFunnel) -> Section:
    """Return the number of reviewed statements, the decisions, and inter-annotator agreement."""
    said = {"read": f"{funnel.read:,}", "all": counted(funnel.statements, "statement")}
    drop, fix = funnel.outcomes.get("drop", 0), funnel.outcomes.get("fix", 0)
    return Section(
        name="review-funnel",
        title=say("Review of statements"),
        finding=say(
            "Reviewers read {read} of {all}: {drop:,} to drop, {fix:,} to fix.",
            drop=drop, fix=fix, **said,
        ),
        plain=say(
            "{done:,} of these {n:,} are applied.", done=funnel.carried_out, n=drop + fix
        ),
        cannot=say(
            "Reviewers checked how statements are written, not whether they are true. A "
            "fact-check sample measures truth."
        ),
        how=say(
            "The newest decision of each reviewer counts. Policy: {policy}.",
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
    """Return inter-annotator agreement; empty without statements with two reviews."""
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


def review_funnel(store: Store, bank: Found) -> ReviewFunnel | None:
    """Return the decisions on a bank's statements; None without format reviews."""
    state = ReviewState.of(store, bank)
    if not _is_reviewed(state):
        return None
    now = standing(state)
    if not now.n_read:
        return None
    shared = next((one for one in agreed(state) if one.task == "format"), None)
    return ReviewFunnel(
        bank=bank.name, statements=now.n, read=now.n_read, people=now.n_people,
        outcomes=now.outcomes, carried_out=now.carried_out, purged=now.purged, policy=now.policy,
        shared=shared.n_shared if shared else 0, measures=shared.measures if shared else {},
    )  # fmt: skip


def _is_reviewed(state: ReviewState) -> bool:
    """Return True if a bank's facts have reviews, and its method supports them."""
    reviewed = state.method.reviewing is not None
    return reviewed and state.store.reviews.are_of_bank(state.found.id)


def review_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """Return the card's lines on the review of a bank: decisions, and error rates of a fact check.

    Empty without reviews, or if the method does not support them.
    """
    state = ReviewState.of(store, found)
    if not _is_reviewed(state):
        return []
    now = standing(state)
    lines = []
    if now.n_read:
        decided = ", ".join(f"{n:,} {outcome}" for outcome, n in now.outcomes.items() if n)
        by = f"{now.n_people} {'person' if now.n_people == 1 else 'people'}"
        told = (
            f"{now.n_read:,} of {now.n:,} reviewed by {by}: {decided} ({policy_words(now.policy)})"
        )
        lines.append(("review", told))
    lines += [("checked", _rate_sentence(one)) for one in now.rates]
    return lines


def _rate_sentence(checked: CheckedRate) -> str:
    """Return ``true statements that are false: 2 of 100, 2.0 [0.6, 7.0] %``."""
    told = f"{RATE_NAMES[checked.name]}: {checked.wrong:,} of {checked.rate.n:,}"
    unsure = f"; {checked.unsure:,} undecided" if checked.unsure else ""
    return f"{told}, {shown_estimate(checked.rate)} %{unsure}"


def bank_sections(
    store: Store, item_sets: Sequence[ItemSet], _audience: Audience
) -> Iterator[Section]:
    """Return the sections on reviews of item sets' banks: judges and people, then decisions."""
    named = dict.fromkeys(item_set.bank for item_set in item_sets if item_set.bank is not None)
    banks = [store.lookup.find(f"bank:{bank.hex()}") for bank in named]
    checked = (check_judges(store, bank) for bank in banks)
    yield from (checked_judges_section(questions) for questions in checked if questions)
    reviewed = (review_funnel(store, bank) for bank in banks)
    yield from (review_section(funnel) for funnel in reviewed if funnel is not None)
