"""``report --analysis errors``: draw wrong responses, have them labeled, and sum the labels up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.files.tables import read_checked
from proofstone.files.write import write_rows
from proofstone.method import ErrorLabels, Method, find_method
from proofstone.models.ask import Asker
from proofstone.results.request import ErrorsAsked
from proofstone.results.sections.judged_errors import Key, analyze_errors, read_people
from proofstone.results.sections.parts import Analysis, part_of
from proofstone.results.wrong_responses import (
    Drawn,
    LabeledResponse,
    WrongResponse,
    draw_wrong,
    judge_question,
    label_responses,
    labeled_rows,
    sheet_rows,
)
from proofstone.run.dry_run import forecast_of_questions
from proofstone.run.forecast import JudgingForecast
from proofstone.run.forms import Selection
from proofstone.run.judges import JudgeSpec, judge_spec
from proofstone.run.score import with_judges
from proofstone.session.askers import with_askers
from proofstone.session.session import Session


class ErrorsFound(Struct, frozen=True, kw_only=True):
    """The analysis, and the rows of a sheet: with the judge's labels, or to be labeled."""

    analysis: Analysis | None
    drawn: int
    rows: tuple[dict[str, object], ...]


class _Sample(Struct, frozen=True):
    """What was drawn, with the labels of its method and the confidence of intervals."""

    drawn: Drawn
    labels: ErrorLabels
    confidence: float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.labels.labels)


def analyze_wrong(session: Session, selection: Selection, asked: ErrorsAsked) -> ErrorsFound:
    """Return the analysis of the judges' labels; without a judge only the sheet to label.

    The same command again asks nothing twice: the judges' responses come from the cache. Raises
    BadUsage for a method without labels and without wrong responses, BadInput for a wrong sheet,
    and what stopped a judge.
    """
    sample = _draw(session, selection, asked)
    people = _people(sample, asked)
    spec = judge_spec(asked.judge)
    if spec is None:
        if people:
            raise BadUsage("--human-labels are compared with a judge", hint="add --judge")
        rows = tuple(sheet_rows(sample.drawn.responses))
        return ErrorsFound(analysis=None, drawn=len(rows), rows=rows)
    labeled = _labeled(session, sample, spec, asked)
    analysis = analyze_errors(
        sample.drawn, labeled, sample.names, judge=", ".join(spec.models), people=people,
        confidence=sample.confidence, seed=asked.draw_seed,
    )  # fmt: skip
    return ErrorsFound(analysis=analysis, drawn=len(labeled), rows=tuple(labeled_rows(labeled)))


def foresee_wrong(session: Session, selection: Selection, asked: ErrorsAsked) -> JudgingForecast:
    """Estimate what the judges' labels take. Makes no API calls; stores nothing."""
    sample = _draw(session, selection, asked)
    spec = judge_spec(asked.judge)
    if spec is None:
        raise BadUsage("no judge is given, so there is nothing to estimate",
                       hint="--judge PROVIDER/NAME")  # fmt: skip
    questions = [judge_question(wrong, sample.labels) for wrong in sample.drawn.responses]

    async def forecast(askers: Mapping[str, Asker]) -> JudgingForecast:
        return forecast_of_questions(questions, len(questions), spec, list(askers.values()))

    return with_askers(session, spec.models, forecast)


def write_sheet(found: ErrorsFound, path: Path) -> int:
    """Write the rows of what was found; return their number. Raises as ``write_rows``."""
    return write_rows(path, found.rows)


def _draw(session: Session, selection: Selection, asked: ErrorsAsked) -> _Sample:
    method = find_method(selection.method)
    labels = _labels(method)
    part = part_of(session.store, method, selection)
    drawn = draw_wrong(session.store, method, selection, part, n=asked.wrong, seed=asked.draw_seed)
    if not drawn.responses:
        raise BadUsage(
            "no complete run here has a wrong response to a question with options",
            hint="proofstone status lists what is not complete",
        )
    return _Sample(drawn, labels, part.confidence)


def _labels(method: Method) -> ErrorLabels:
    if method.error_labels is None:
        raise BadUsage(f"{method.title} has no labels for wrong responses")
    return method.error_labels


def _people(sample: _Sample, asked: ErrorsAsked) -> Mapping[Key, str]:
    if asked.human_labels is None:
        return {}
    return read_checked(
        asked.human_labels, lambda rows: read_people(rows, sample.names, sample.drawn)
    )


def _labeled(
    session: Session, sample: _Sample, spec: JudgeSpec, asked: ErrorsAsked
) -> Sequence[LabeledResponse]:
    responses = sample.drawn.responses
    names = list(dict.fromkeys(wrong.model for wrong in responses))
    return with_judges(
        session, spec, lambda judge: label_responses(responses, sample.labels, judge),
        names=names, n=len(responses), about=_mean_length(responses),
        budget=asked.budget or None,
    )  # fmt: skip


def _mean_length(responses: Sequence[WrongResponse]) -> int:
    texts = [
        (each.question, *each.options, each.response, each.reasoning, *each.passages,
         *each.evidence)
        for each in responses
    ]  # fmt: skip
    return sum(len(text) for of in texts for text in of) // max(len(responses), 1)
