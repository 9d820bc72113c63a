"""Labels of wrong responses by judges: shares by model, and agreement with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields
from proofstone.page.section import Cell, Column, Table
from proofstone.records.runs import Estimate
from proofstone.records.tables import Row
from proofstone.results.sections.parts import Analysis, make_analysis, mark_of
from proofstone.results.wrong_responses import Drawn, LabeledResponse
from proofstone.stats.agreement import agreement, cohen_kappa
from proofstone.stats.ranks import share_estimate
from proofstone.wording.messages import counted, listed, say, word

Key = tuple[str, str, int]


def analyze_errors(
    drawn: Drawn,
    labeled: Sequence[LabeledResponse],
    labels: Sequence[str],
    *,
    judge: str,
    people: Mapping[Key, str],
    confidence: float,
    seed: int,
) -> Analysis:
    """Return the shares of labels by model, and the agreement of the judge with ``people``.

    A share counts the responses to which the label was offered and that have a label. Responses
    that the judge left without a label are counted apart.
    """
    rows = [
        _row(model, [each for each in labeled if each.wrong.model == model], drawn, labels,
             confidence)
        for model in drawn.n_wrong
    ]  # fmt: skip
    more = [*_by_asked(labeled, labels, confidence), *_people(labeled, people, labels, confidence)]
    return make_analysis(
        "errors",
        say("Why responses were wrong, by a judge"),
        _finding(labeled, judge),
        columns=(Column(key="model", name=say("model")), *_count_columns(), *_columns(labels)),
        rows=rows,
        axes=("label", "share"),
        marks=[
            mark_of(model, label, share)
            for model in drawn.n_wrong
            for label in labels
            if (share := _share(_of(labeled, model), label, confidence)) is not None
        ],
        notes=tuple(_notes(drawn, labeled, judge, seed)),
        more=more,
    )


def _of(labeled: Sequence[LabeledResponse], model: str) -> list[LabeledResponse]:
    return [each for each in labeled if each.wrong.model == model]


def _count_columns() -> tuple[Column, ...]:
    return (
        Column(key="wrong", name=say("wrong"), digits=0),
        Column(key="drawn", name=say("drawn"), digits=0),
        Column(key="labeled", name=say("labeled"), digits=0),
        Column(key="unparsed", name=say("judge unparsed"), digits=0,
               help=say("the judge's response had no label")),
        Column(key="hidden", name=say("not observable"), digits=0,
               help=say("hidden or no reasoning: labels that need it are not offered")),
    )  # fmt: skip


def _columns(labels: Sequence[str]) -> tuple[Column, ...]:
    return tuple(
        Column(key=name.replace(" ", "_").replace("-", "_"), name=word(name), unit="points",
               help=say("share of labeled responses that could get this label"))
        for name in labels
    )  # fmt: skip


def _row(
    name: str,
    own: Sequence[LabeledResponse],
    drawn: Drawn,
    labels: Sequence[str],
    confidence: float,
) -> tuple[Cell, ...]:
    return (name, drawn.n_wrong[name], *_counts(own), *_shares(own, labels, confidence))


def _counts(own: Sequence[LabeledResponse]) -> tuple[int, int, int, int]:
    states = [each.state for each in own]
    hidden = sum(each.wrong.path.seen != "observed" for each in own)
    return len(own), states.count("labeled"), states.count("unparsed"), hidden


def _shares(
    own: Sequence[LabeledResponse], labels: Sequence[str], confidence: float
) -> tuple[Estimate | None, ...]:
    return tuple(_share(own, label, confidence) for label in labels)


def _share(own: Sequence[LabeledResponse], label: str, confidence: float) -> Estimate | None:
    """The share of a label among labeled responses that could get it; None without any."""
    could = [each for each in own if each.state == "labeled" and label in each.offered]
    if not could:
        return None
    hits = sum(each.label == label for each in could)
    return share_estimate(hits / len(could), len(could), confidence)


def _by_asked(
    labeled: Sequence[LabeledResponse], labels: Sequence[str], confidence: float
) -> Iterator[Table]:
    """Yield the same by prompting method, if there are several."""
    groups = list(dict.fromkeys(each.wrong.asked for each in labeled))
    if len(groups) < 2:
        return
    yield Table(
        title=say("Labels by prompting method"),
        columns=(
            Column(key="asked", name=say("prompting method")),
            *_count_columns()[1:],
            *_columns(labels),
        ),
        rows=tuple(
            (group, *_counts(own), *_shares(own, labels, confidence))
            for group in groups
            for own in [[each for each in labeled if each.wrong.asked == group]]
        ),
    )


def _finding(labeled: Sequence[LabeledResponse], judge: str) -> str:
    known = [each for each in labeled if each.state == "labeled"]
    if not known:
        return say("{judge} labeled none of {n}.", judge=judge,
                   n=counted(len(labeled), "wrong response"))  # fmt: skip
    counts = {label: sum(each.label == label for each in known) for each in known
              for label in (each.label,)}  # fmt: skip
    order = sorted(counts, key=lambda label: (-counts[label], label))
    told = [say("{label} {n}", label=word(label), n=counts[label]) for label in order]
    return say(
        "{judge} labeled {n}: {labels}.", judge=judge,
        n=counted(len(known), "wrong response"), labels=listed(told),
    )  # fmt: skip


def _notes(
    drawn: Drawn, labeled: Sequence[LabeledResponse], judge: str, seed: int
) -> Iterator[str]:
    yield say(
        "Up to the drawn number of wrong or unparsed responses of each model, by seed {seed}; a "
        "label is the opinion of {judge}.",
        seed=seed, judge=judge,
    )  # fmt: skip
    left = [each for each in labeled if each.label == "harmful verification"]
    observed = sum("right" in each.wrong.path.held for each in left)
    if left:
        yield say(
            "The reasoning of {observed} of {n} labeled harmful verification held the correct "
            "answer before, as read by rule.",
            n=counted(len(left), "response"), observed=observed,
        )  # fmt: skip
    failed = sum(each.state == "failed" for each in labeled)
    if failed:
        yield say("{n} could not be judged.", n=counted(failed, "response"))


def _people(
    labeled: Sequence[LabeledResponse],
    people: Mapping[Key, str],
    labels: Sequence[str],
    confidence: float,
) -> Iterator[Table]:
    """Yield the agreement with people's labels on the same responses, and a table of both."""
    pairs = [
        (labels.index(people[each.wrong.key]), labels.index(each.label))
        for each in labeled
        if each.state == "labeled" and each.wrong.key in people
    ]
    if not pairs:
        return
    both = np.array(pairs, dtype=np.int64)
    found = (
        agreement(both, "observed agreement", n_categories=len(labels), confidence=confidence),
        cohen_kappa(both[:, 0], both[:, 1], n_categories=len(labels), confidence=confidence),
    )
    names = (say("observed agreement"), say("Cohen's kappa"))
    yield Table(
        title=say("Agreement of judge and people"),
        columns=(
            Column(key="measure", name=say("measure")),
            Column(key="value", name=say("x 100"), unit="points"),
            Column(key="n", name="n", digits=0),
        ),
        rows=tuple((name, each, len(pairs)) for name, each in zip(names, found, strict=True)),
    )
    yield Table(
        title=say("Labels of people and of the judge"),
        columns=(
            Column(key="people", name=say("people")),
            Column(key="judge", name=say("judge")),
            Column(key="n", name="n", digits=0),
        ),
        rows=tuple(
            (word(labels[first]), word(labels[second]), pairs.count((first, second)))
            for first, second in sorted(set(pairs))
        ),
    )


def read_people(rows: Iterable[Row], labels: Sequence[str], drawn: Drawn) -> dict[Key, str]:
    """Return people's labels by response; rows without a label are left out.

    Raises BadInput with all problems: unknown labels, responses that were not drawn, and two labels
    of one response.
    """
    known = {wrong.key for wrong in drawn.responses}
    problems: list[Problem] = []
    found: dict[Key, str] = {}
    for row in rows:
        fields = Fields(row, problems)
        label = fields.text("label").strip()
        if not label:
            continue
        key = (fields.key("run"), fields.key("item"), fields.number("sample") or 0)
        if label not in labels:
            fields.wrong("label", f"expected one of: {', '.join(labels)}; came {label!r}")
        elif key not in known:
            fields.wrong("item", "this response was not drawn: use the same targets, -n and --seed")
        elif found.get(key, label) != label:
            fields.wrong("label", f"another row labels the same response {found[key]!r}")
        else:
            found[key] = label
    if problems:
        raise BadInput("cannot read the labels", problems)
    return found
