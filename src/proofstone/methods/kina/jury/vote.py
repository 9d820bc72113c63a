"""Select questions of a field: each of three judges picks a number of them; two picks admit one.

Section E.6, consensus voting. A judge that breaks the rules is asked once more. After that its
field is undecided: nothing of it is scored.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec import structs

from proofstone.choices.outcomes import TEXT, list_of, object_of_all
from proofstone.judging.question import fence
from proofstone.judging.verdicts import decide
from proofstone.methods.kina.jury.ballots import LEFT, PICKED, Selection, Voted, field_of, report_on
from proofstone.methods.kina.jury.failures import Failed
from proofstone.methods.kina.jury.features import AXES, RULES, vote_of
from proofstone.methods.kina.jury.judgments import PROMPTS, Judgment, ask_checked
from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.ids import Draws
from proofstone.records.verdicts import PanelVerdict, RowVerdict
from proofstone.texts.languages import is_chinese

LEAST_REFUSED, MOST_REFUSED = 2, 4
NOT_SELECTED, UNDECIDED = "not selected", "field undecided"


def discriminations(rows: Sequence[Failed]) -> list[float | None]:
    """Return how well each question of a field separates strong from weak members, -1 to 1.

    It is the mean accuracy on the other questions of the members that are correct, less that of the
    others. None where all members are correct, or none is, or there is no other question.
    """
    right = np.array([[answer.state == "right" for answer in row.featured.answers] for row in rows])
    found: list[float | None] = []
    for place, own in enumerate(right):
        if len(rows) < 2 or own.all() or not own.any():
            found.append(None)
            continue
        rest = np.delete(right, place, axis=0).mean(axis=0)
        found.append(float(rest[own].mean() - rest[~own].mean()))
    return found


_SCHEMA = object_of_all(
    {
        "selected": list_of(
            object_of_all(dict.fromkeys(("id", "knowledge_point", "reason"), TEXT))
        ),
        "refused": list_of(object_of_all(dict.fromkeys(("id", "reason"), TEXT))),
    },
    title="selection",
)


def vote_step(judges: Mapping[str, str], picks: int) -> BatchStep:
    """Return the step in which each judge, by slot, picks ``picks`` questions of each field."""

    async def vote(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        every: list[Failed] = list(rows)
        fields: dict[str, list[int]] = {}
        for place, row in enumerate(every):
            fields.setdefault(field_of(row), []).append(place)
        votes = await asyncio.gather(
            *(
                _field_vote(name, [every[place] for place in places], judges, picks, context)
                for name, places in fields.items()
            )
        )
        made: dict[int, Voted] = {}
        for places, voted in zip(fields.values(), votes, strict=True):
            made |= dict(zip(places, voted, strict=True))
        return _with_report(made, tuple(judges.values()))

    return BatchStep(
        name="vote",
        version=1,
        takes=Failed,
        work=vote,
        config={"prompt": [PROMPTS.key("vote"), PROMPTS.key("again")], "picks": picks},
        asks=tuple(judges),
        draws=True,
    )


def _with_report(made: Mapping[int, Voted], judges: tuple[str, ...]) -> dict[int, Kept]:
    """Return the rows, the first admitted one with the report on all."""
    rows: dict[int, Kept] = dict(made)
    first = next((place for place in sorted(made) if made[place].is_admitted), None)
    if first is not None:
        report = report_on([made[place] for place in sorted(made)], judges)
        rows[first] = structs.replace(made[first], report=report)
    return rows


async def _field_vote(
    name: str,
    rows: Sequence[Failed],
    judges: Mapping[str, str],
    picks: int,
    context: StepContext,
) -> list[Voted]:
    separates = discriminations(rows)
    prompt = PROMPTS.key("vote")
    if len(rows) <= picks:
        return [
            Voted(failed=row, prompt=prompt, discrimination=each)
            for row, each in zip(rows, separates, strict=True)
        ]
    names = [f"Q{number}" for number in range(1, len(rows) + 1)]
    check = partial(_fault, rows=dict(zip(names, rows, strict=True)), picks=picks)
    judgments = await asyncio.gather(
        *(
            ask_checked(
                context.calls[slot], f"vote on {name}",
                _prompt(name, names, rows, separates, picks, context.draws(f"{name} {slot}")),
                Selection, _SCHEMA, language=rows[0].featured.candidate.language, check=check,
            )
            for slot in judges
        )
    )  # fmt: skip
    trouble = "; ".join(
        f"{judge}: {judgment.problem}"
        for judge, judgment in zip(judges.values(), judgments, strict=True)
        if judgment.problem
    )
    ids = {
        key: row.featured.candidate.fact().id.hex() for key, row in zip(names, rows, strict=True)
    }
    return [
        Voted(
            failed=row,
            prompt=prompt,
            discrimination=separates[place],
            verdict=None if trouble else _verdict(names[place], judges.values(), judgments),
            trouble=trouble,
            refused=() if trouble else _refusals(names[place], judgments),
            judgments=tuple(judgments) if place == 0 else (),
            names=ids if place == 0 else {},
        )
        for place, row in enumerate(rows)
    ]


def _verdict(
    name: str, judges: Iterable[str], judgments: Sequence[Judgment[Selection]]
) -> PanelVerdict:
    given = []
    for judge, judgment in zip(judges, judgments, strict=True):
        picked = {pick.id for pick in judgment.value.selected} if judgment.value else set()
        given.append(vote_of(judge, judgment, PICKED if name in picked else LEFT))
    return decide(given, RULES)


def _refusals(name: str, judgments: Sequence[Judgment[Selection]]) -> tuple[str, ...]:
    return tuple(
        each.reason
        for judgment in judgments
        if judgment.value is not None
        for each in judgment.value.refused
        if each.id == name
    )


def refusals_wanted(n_rows: int, picks: int) -> tuple[int, int]:
    """Return how many notable refusals a judge names: 2 to 4, fewer if fewer are left out."""
    left = n_rows - picks
    return min(LEAST_REFUSED, left), min(MOST_REFUSED, left)


def _fault(said: Selection, *, rows: Mapping[str, Failed], picks: int) -> str:
    """Return what is wrong with a selection, empty if nothing is."""
    chosen = [pick.id for pick in said.selected]
    refused = [each.id for each in said.refused]
    least, most = refusals_wanted(len(rows), picks)
    unknown = sorted({*chosen, *refused} - set(rows))
    repeated = [key for key, n in Counter([*chosen, *refused]).items() if n > 1]
    if unknown:
        return f"unknown id: {', '.join(unknown)}"
    if repeated:
        return f"named more than once: {', '.join(repeated)}"
    if len(chosen) != picks:
        return f"{len(chosen)} questions selected, expected exactly {picks}"
    if not least <= len(refused) <= most:
        return f"{len(refused)} questions refused, expected {least} to {most}"
    for points in (
        {pick.id: pick.knowledge_point for pick in said.selected},
        {key: rows[key].featured.knowledge_point for key in chosen},
    ):
        alike = _alike(points)
        if alike:
            return f"one knowledge point selected twice: {', '.join(alike)}"
    return ""


def _alike(points: Mapping[str, str]) -> list[str]:
    """Return the ids with the first knowledge point that two have, without case and spaces."""
    by_point: dict[str, list[str]] = {}
    for key, point in points.items():
        by_point.setdefault(" ".join(point.casefold().split()).rstrip("."), []).append(key)
    return next((keys for keys in by_point.values() if len(keys) > 1), [])


def _prompt(
    name: str,
    names: Sequence[str],
    rows: Sequence[Failed],
    separates: Sequence[float | None],
    picks: int,
    draws: Draws,
) -> str:
    """Return a judge's prompt; each judge sees the questions in another order."""
    language = rows[0].featured.candidate.language
    shown = [
        _summary(key, row, each) for key, row, each in zip(names, rows, separates, strict=True)
    ]
    least, most = refusals_wanted(len(rows), picks)
    return PROMPTS.render(
        "vote",
        language,
        field=name,
        n=picks,
        total=len(rows),
        least=least,
        most=most,
        summaries=fence(
            "概述" if is_chinese(language) else "summaries",
            "\n\n".join(draws.shuffled(shown)),
            language,
        ),
    )


def _summary(name: str, row: Failed, separates: float | None) -> str:
    featured = row.featured
    n, right = len(featured.answers), sum(each.state == "right" for each in featured.answers)
    errors = Counter(row.types.values()).most_common()
    lines = [
        f"{name}",
        f"knowledge point: {featured.knowledge_point}",
        f"type: {featured.question_type or 'undecided'}; topics: {', '.join(featured.topics)}",
        "; ".join(
            f"{shown}: {featured.levels.get(axis, 'undecided')}" for axis, shown in AXES.items()
        ),
        f"difficulty: {row.difficulty}, {right} of {n} models correct; "
        f"discrimination: {'not defined' if separates is None else f'{separates:+.2f}'}",
        f"most common wrong answer: {row.dominant or 'none'}; "
        f"errors: {', '.join(f'{kind} {count}' for kind, count in errors) or 'undecided'}",
    ]
    return "\n".join([*lines, f"failures: {row.summary}"] if row.summary else lines)


def admission_step() -> Step:
    """Return the step that drops what fewer than two judges picked, and undecided fields."""

    def admit(row: Voted, context: StepContext) -> Kept:
        if row.trouble:
            return Drop(UNDECIDED, f"{field_of(row.failed)}: {row.trouble}")
        if row.verdict is not None:
            context.verdicts.append(RowVerdict(question="selection", verdict=row.verdict))
        if row.is_admitted:
            return row
        n = row.verdict.votes().get(PICKED, 0) if row.verdict else 0
        refused = f"; notable refusal: {' | '.join(row.refused)}" if row.refused else ""
        return Drop(NOT_SELECTED, f"{field_of(row.failed)}: {n} of 3 judges{refused}")

    return Step(
        name="admission",
        version=1,
        takes=Voted,
        work=admit,
        reasons=(NOT_SELECTED, UNDECIDED),
    )
