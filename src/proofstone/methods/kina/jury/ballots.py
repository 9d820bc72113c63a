"""What judges said of questions in the vote, and what their votes add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.methods.kina.jury.failures import Failed
from proofstone.methods.kina.jury.features import AXES, LEVELS
from proofstone.methods.kina.jury.judgments import Judgment
from proofstone.methods.kina.jury.report import DIFFICULTIES, Agreement, FieldCount, JuryReport
from proofstone.records.verdicts import PanelVerdict
from proofstone.stats.agreement import cohen_kappa, krippendorff_alpha

PICKED, LEFT = "picked", "not picked"


class Pick(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that a judge picked."""

    id: str
    knowledge_point: str
    reason: str


class Refusal(Struct, frozen=True, forbid_unknown_fields=True):
    """A strong question that a judge left out."""

    id: str
    reason: str


class Selection(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's selection within a field."""

    selected: tuple[Pick, ...]
    refused: tuple[Refusal, ...]


class Voted(Struct, frozen=True, kw_only=True):
    """A question after the vote on its field.

    ``verdict`` is the judges' on this question, None without a vote: the field has no more
    questions than are picked. ``trouble`` says why the field is undecided. ``refused`` are the
    reasons of judges that named it among the notable refusals. ``judgments`` are those of all
    judges, on the first question of a field; the ids in them are those of ``names``, whole ids by
    name. The first admitted question has the ``report``.
    """

    failed: Failed
    prompt: str
    discrimination: float | None
    verdict: PanelVerdict | None = None
    trouble: str = ""
    refused: tuple[str, ...] = ()
    judgments: tuple[Judgment[Selection], ...] = ()
    names: dict[str, str] = {}
    report: JuryReport | None = None

    @property
    def is_admitted(self) -> bool:
        """Return True if two judges picked it, or if its field needed no vote."""
        return not self.trouble and (self.verdict is None or self.verdict.label == PICKED)


def field_of(row: Failed) -> str:
    """Return the field of a question, or its discipline without one."""
    stratum = row.featured.candidate.stratum
    return stratum.field or stratum.discipline


# The report on all votes.


def report_on(rows: Sequence[Voted], judges: Sequence[str]) -> JuryReport:
    """Return the report on these rows."""
    fields: dict[str, list[Voted]] = {}
    for row in rows:
        fields.setdefault(field_of(row.failed), []).append(row)
    errors = Counter(kind for row in rows for kind in row.failed.types.values())
    dominant = Counter(row.failed.dominant for row in rows)
    return JuryReport(
        fields=tuple(_counted(name, of) for name, of in sorted(fields.items())),
        errors=dict(errors.most_common()),
        dominant=sum(n for name, n in dominant.items() if name not in ("", "varied")),
        varied=dominant["varied"],
        agreement=tuple(_agreements(rows, judges)),
    )


def _counted(name: str, rows: Sequence[Voted]) -> FieldCount:
    first = rows[0]
    result = "undecided" if first.trouble else "no vote" if first.verdict is None else "vote"
    levels = Counter(row.failed.difficulty for row in rows)
    return FieldCount(
        field=name,
        judged=len(rows),
        admitted=sum(row.is_admitted for row in rows),
        result=result,
        difficulty={level: levels[level] for level in DIFFICULTIES if levels[level]},
    )


def _agreements(rows: Sequence[Voted], judges: Sequence[str]) -> list[Agreement]:
    found = [
        _agreement(
            shown,
            [
                [getattr(judgment.value, axis, "") for judgment in row.failed.featured.features]
                for row in rows
            ],
            LEVELS,
            judges,
        )
        for axis, shown in AXES.items()
    ]
    picks = [
        [vote.label for vote in row.verdict.judge_votes] for row in rows if row.verdict is not None
    ]
    if picks:
        found.append(_agreement("selection", picks, (LEFT, PICKED), judges))
    return found


def _agreement(
    matter: str, given: Sequence[Sequence[str]], labels: Sequence[str], judges: Sequence[str]
) -> Agreement:
    codes = {label: code for code, label in enumerate(labels)}
    ratings: NDArray[np.int64] = np.array(
        [[codes.get(label, -1) for label in row] for row in given], dtype=np.int64
    )
    alpha = krippendorff_alpha(ratings, "ordinal" if len(labels) > 2 else "nominal")
    kappas = {
        f"{judges[one]} / {judges[other]}": _number(
            cohen_kappa(ratings[:, one], ratings[:, other], n_categories=len(labels)).value
        )
        for one in range(len(judges))
        for other in range(one + 1, len(judges))
    }
    return Agreement(
        matter=matter,
        n=int(((ratings >= 0).sum(axis=1) > 1).sum()),
        alpha=_number(alpha.value),
        low=_number(alpha.low),
        high=_number(alpha.high),
        kappas=kappas,
    )


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
