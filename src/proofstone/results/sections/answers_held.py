"""Which answer responses hold along their reasoning, and how often a correct one is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proofstone.errors import BadUsage
from proofstone.page.section import Cell, Column, Figure, Mark, Table
from proofstone.records.runs import OUTCOMES, Estimate, values_kind
from proofstone.results.answer_paths import (
    HOLDINGS,
    LEAST_REPLY,
    TENTHS,
    AnswerPath,
    Holding,
    Sampled,
)
from proofstone.results.sections.parts import Analysis, Part, left_out, make_analysis, mark_of
from proofstone.wording.messages import noted, say, say_of, word

_MOST_DRAWN = 4  # models; each has up to two panels


_SERIES: Mapping[Holding, str] = {
    "right": noted("correct answer"),
    "another": noted("another answer"),
    "none": noted("no answer"),
}


@dataclass(frozen=True)
class _Answers:
    """The correct, or the wrong, answers of a model: unit and path of each."""

    part: Part
    model: str
    is_right: bool
    answers: Sequence[tuple[int, AnswerPath]]

    @cached_property
    def observed(self) -> Sequence[tuple[int, AnswerPath]]:
        """Return those with observable reasoning."""
        return [each for each in self.answers if each[1].seen == "observed"]

    def count(self, seen: str) -> int:
        """Return how many are observed, hidden or short."""
        return sum(path.seen == seen for _unit, path in self.answers)

    @property
    def n_held(self) -> int:
        """Return how many observed ones ever held the correct answer."""
        return sum("right" in path.held for _unit, path in self.observed)

    def ever(self, holding: Holding) -> Estimate | None:
        """Return the share of observed ones that ever held this."""
        return self._share([holding in path.held for _unit, path in self.observed])

    def at(self, tenth: int, holding: Holding) -> Estimate | None:
        """Return the share of observed ones that hold this at the end of a tenth (from 0)."""
        return self._share([path.tenths[tenth] == holding for _unit, path in self.observed])

    def _share(self, hits: Sequence[bool]) -> Estimate | None:
        return self.part.response_mean([unit for unit, _path in self.observed], hits)


def analyze_answers_held(parts: Sequence[Part]) -> Analysis:
    """Count wrong answers whose reasoning held the correct one before, and draw the answers' path.

    Correct and wrong final answers are apart. Hidden reasoning is counted as such. Raises BadUsage
    if no complete run answered a question with options.
    """
    (part,) = parts
    models = [pair for label in part.complete if (pair := _answers(part, label)) is not None]
    if not models:
        raise BadUsage(
            "no complete run here answered questions with options in its own words",
            hint="proofstone status lists what is not complete",
        )
    groups = [group for pair in models for group in pair if group.observed]
    n_observed = sum(len(wrong.observed) for _right, wrong in models)
    n_held = sum(wrong.n_held for _right, wrong in models)
    n_hidden = sum(group.count("hidden") for pair in models for group in pair)
    return make_analysis(
        "reasoning",
        say("The answer along the reasoning"),
        _finding(n_held, n_observed),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="wrong", name=say("wrong answers"), digits=0),
            Column(key="wrong_observed", name=say("observed"), digits=0,
                   help=say("answers whose reasoning can be read")),
            Column(key="left", name=say("held the correct answer"), unit="points",
                   help=say("share of wrong answers whose reasoning held the correct one")),
            Column(key="right", name=say("correct answers"), digits=0),
            Column(key="right_observed", name=say("observed"), digits=0),
            Column(key="changed", name=say("held another answer"), unit="points",
                   help=say("share of correct answers whose reasoning held another one")),
            Column(key="hidden", name=say("hidden"), digits=0,
                   help=say("reasoning tokens were counted, but no text was returned")),
            Column(key="short", name=say("no reasoning"), digits=0),
        ),
        rows=[_row(right, wrong) for right, wrong in models],
        axes=("percent of the reasoning", "share"),
        marks=[
            mark_of(f"{group.model}, {_final(group)}: {_SERIES[holding]}", at, estimate)
            for group in groups
            for at, holding, estimate in _path(group)
        ],
        notes=(*_notes(n_hidden), *left_out(parts, [right.model for right, _wrong in models])),
        more=[_path_table(groups)] if groups else (),
        figures=_figures(groups),
    )  # fmt: skip


def _answers(part: Part, label: str) -> tuple[_Answers, _Answers] | None:
    """Return a model's right and its wrong answers; None if it has no answer with a path."""
    place = part.complete[label]
    paths: Mapping[Sampled, AnswerPath] = part.paths[place] if place < len(part.paths) else {}
    table = part.table
    if values_kind(table.respondents[place].scale):  # shares over parts of an item
        return None
    own = (table.respondent == place) & (table.outcome == OUTCOMES.index("answered"))
    right: list[tuple[int, AnswerPath]] = []
    wrong: list[tuple[int, AnswerPath]] = []
    for row in np.flatnonzero(own).tolist():
        unit, value = int(table.unit[row]), float(table.value[row])
        path = paths.get(Sampled(table.items[unit], int(table.sample[row])))
        if path is not None and value in (0.0, 1.0):
            (right if value == 1.0 else wrong).append((unit, path))
    if not right and not wrong:
        return None
    return _Answers(part, label, True, right), _Answers(part, label, False, wrong)


def _row(right: _Answers, wrong: _Answers) -> tuple[Cell, ...]:
    return (
        right.model,
        len(wrong.answers), len(wrong.observed), wrong.ever("right"),
        len(right.answers), len(right.observed), right.ever("another"),
        right.count("hidden") + wrong.count("hidden"),
        right.count("short") + wrong.count("short"),
    )  # fmt: skip


def _final(group: _Answers) -> str:
    return noted("correct in the end") if group.is_right else noted("wrong in the end")


def _path(group: _Answers) -> Iterator[tuple[float, Holding, Estimate]]:
    for holding in HOLDINGS:
        for tenth in range(TENTHS):
            estimate = group.at(tenth, holding)
            if estimate is not None:
                yield 100.0 * (tenth + 1) / TENTHS, holding, estimate


def _path_table(groups: Sequence[_Answers]) -> Table:
    return Table(
        title=say("Answers held at each tenth of the reasoning"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="final", name=say("final answer")),
            Column(key="read", name=say("reasoning read (%)"), digits=0),
            Column(key="n", name="n", digits=0),
            *(Column(key=key, name=word(name), unit="points") for key, name in _SERIES.items()),
        ),
        rows=tuple(
            (
                group.model,
                word(_final(group)),
                100 * (tenth + 1) // TENTHS,
                len(group.observed),
                *(group.at(tenth, holding) for holding in HOLDINGS),
            )
            for group in groups
            for tenth in range(TENTHS)
        ),
        sorts=False,
    )


def _figures(groups: Sequence[_Answers]) -> Iterator[Figure]:
    """Yield one figure, a panel for the right and the wrong answers of each of the first models."""
    models = list(dict.fromkeys(group.model for group in groups))
    shown = models[:_MOST_DRAWN]
    if not shown:
        return
    cut = say("the first {n} of {all} models", n=len(shown), all=len(models))
    told = say("share of answers with observable reasoning, at the end of each tenth of the text")
    yield Figure(
        name="reasoning",
        kind="curves",
        title=say("The answer along the reasoning"),
        subtitle=told if len(shown) == len(models) else say("; ").join((told, cut)),
        marks=tuple(
            Mark(row=word(_SERIES[holding]), column=_panel(group), x=at, value=share.value,
                 n=len(group.observed))
            for group in groups if group.model in shown
            for at, holding, share in _path(group)
        ),
        x_axis=say("reasoning read (%)"),
        x_unit="number",
        value_axis=say("share of answers (%)"),
        table=2,
    )  # fmt: skip


def _panel(group: _Answers) -> str:
    n = f"{len(group.observed):,}"
    return f"{group.model}, {word(_final(group))} (n = {n})"


def _finding(n_held: int, n_observed: int) -> str:
    if not n_observed:
        return say("No wrong answer here has reasoning that can be read.")
    return say_of(
        n_observed,
        "The reasoning held the correct answer in {k} of {n} wrong answer whose reasoning can be "
        "read.",
        "The reasoning held the correct answer in {k} of {n} wrong answers whose reasoning can be "
        "read.",
        k=f"{n_held:,}",
        n=f"{n_observed:,}",
    )


def _notes(n_hidden: int) -> Iterator[str]:
    yield say(
        "The answer held is read from the text by rules. Reasoning is the text that the endpoint "
        "returned as such. Without any, it is the response text, if that has {least} characters or "
        "more. Each question counts once in a share.",
        least=LEAST_REPLY,
    )
    yield say("Refused, truncated and unparsed responses are left out.")
    if n_hidden:
        yield say_of(
            n_hidden,
            "The reasoning of {n} answer is hidden, so what it held is not observable.",
            "The reasoning of {n} answers is hidden, so what they held is not observable.",
            n=f"{n_hidden:,}",
        )
