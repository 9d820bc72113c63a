"""Describe a set of questions: by discipline next to the published counts, and its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from proofstone.choices.options import labels
from proofstone.methods.kina.payloads import Question, Statement, question_of
from proofstone.methods.kina.questions import kina_taxonomy
from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import noted, say, word

_KINDS = {"combination": noted("combination"), "standard": noted("standard")}


_Placed = tuple[Stratum, Question]


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return the tables of a form's questions, as they are asked."""
    asked = [(item.item.stratum, question_of(item)) for item in items]
    return [_disciplines(asked), _lengths(asked, tokens), _positions(asked)]


def fact_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return the tables of a bank's questions, or of its statements."""
    listed = list(facts)
    asked = [(fact.stratum, fact.payload) for fact in listed if isinstance(fact.payload, Question)]
    tables = [_disciplines(asked), _lengths(asked, tokens), _positions(asked)] if asked else []
    statements = [fact for fact in listed if isinstance(fact.payload, Statement)]
    return [*tables, _truths(statements)] if statements else tables


def _disciplines(asked: Sequence[_Placed]) -> Tabulation:
    """Figure 2 and Tables 8 and 9: questions and subfields by discipline, next to the paper's."""
    rows: list[tuple[Cell, ...]] = []
    known = kina_taxonomy().below()
    published = sum(node.counts["items"] for node in known)
    for node in known:
        here = [stratum for stratum, _ in asked if stratum.discipline == node.name]
        rows.append(_row(node.name, here, len(asked), node.counts["items"], published))
    names = {node.name for node in known}
    others = [stratum for stratum, _ in asked if stratum.discipline not in names]
    if others:
        rows.append(_row(say("elsewhere"), others, len(asked), None, published))
    rows.append(
        _row(say("all"), [stratum for stratum, _ in asked], len(asked), published, published)
    )
    return Tabulation(
        title=say("Questions by discipline"),
        columns=(
            Column(key="discipline", name=say("discipline")),
            Column(key="subfields", name=say("subfields")),
            Column(key="n", name="n"),
            Column(key="share", name="%", digits=1),
            Column(key="published", name=say("published n")),
            Column(key="published_share", name=say("published %"), digits=1),
        ),
        rows=tuple(rows),
    )


def _row(
    name: str, strata: Sequence[Stratum], total: int, published: int | None, whole: int
) -> tuple[Cell, ...]:
    subfields = {(each.field, each.subfield) for each in strata if each.subfield}
    share = 100.0 * len(strata) / total if total else None
    theirs = None if published is None else 100.0 * published / whole
    return (name, len(subfields), len(strata), share, published, theirs)


def _lengths(asked: Sequence[_Placed], tokens: TokenCounter) -> Tabulation:
    """Section 4.2: mean lengths of stems (with statements) and of explanations, by kind."""
    rows: list[tuple[Cell, ...]] = []
    for kind, name in _KINDS.items():
        held = [question for _, question in asked if question.kind == kind]
        rows.append((
            word(name),
            len(held),
            _mean(held, lambda each: tokens("\n".join([each.stem, *each.statements]))),
            _mean(held, lambda each: sum(tokens(note.explanation) for note in each.notes)),
            _mean(held, lambda each: len(each.statements)),
        ))  # fmt: skip
    return Tabulation(
        title=say("Lengths"),
        columns=(
            Column(key="kind", name=say("kind of question")),
            Column(key="n", name="n"),
            Column(key="stem", name=say("mean tokens of the stem")),
            Column(key="explanations", name=say("mean tokens of all explanations")),
            Column(key="statements", name=say("mean number of statements")),
        ),
        rows=tuple(rows),
        notes=(say("a stem is counted with its statements, by {name}", name=tokens.name),),
    )


def _mean(held: Sequence[Question], count: Callable[[Question], int]) -> float | None:
    return sum(map(count, held)) / len(held) if held else None


def _positions(asked: Sequence[_Placed]) -> Tabulation:
    places = Counter(question.answer_key for _, question in asked)
    sizes = [len(question.options) for _, question in asked]
    rows = tuple(
        (letter, places[place], 100.0 * places[place] / len(asked))
        for place, letter in enumerate(labels(max(sizes, default=0)))
    )
    return Tabulation(
        title=say("Correct options by letter"),
        columns=(
            Column(key="letter", name=say("letter")),
            Column(key="n", name="n"),
            Column(key="share", name="%", digits=1),
        ),
        rows=rows,
    )


def _truths(facts: Sequence[Fact]) -> Tabulation:
    """Return true and false statements by discipline."""
    counts: Counter[tuple[str, bool]] = Counter(
        (fact.stratum.discipline, fact.payload.correct) for fact in facts
    )
    names = sorted({name for name, _ in counts})
    return Tabulation(
        title=say("Statements by discipline"),
        columns=(
            Column(key="discipline", name=say("discipline")),
            Column(key="true", name=say("true")),
            Column(key="false", name=say("false")),
        ),
        rows=tuple(
            (name or say("not stated"), counts[name, True], counts[name, False]) for name in names
        ),
    )
