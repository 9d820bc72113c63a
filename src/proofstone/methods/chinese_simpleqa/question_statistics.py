"""What a set of questions is made of: how many, and how long, by category."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proofstone.methods.chinese_simpleqa.payloads import ShortAnswer, asked_of, short_of
from proofstone.ports import TokenCounter
from proofstone.records import Cell, Column, Fact, LoadedItem, Stratum, Tabulation
from proofstone.wording import noted, say, word

__all__ = ["fact_statistics", "item_statistics"]

_LENGTHS = (("longest", noted("max")), ("shortest", noted("min")), ("mean", noted("mean")))
_Rows = Sequence[tuple[Stratum, ShortAnswer]]


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Questions by primary and secondary category and by type of answer: their number, and the
    lengths of questions and answers in tokens and in characters."""
    return _tables([(item.item.stratum, asked_of(item)) for item in items], tokens)


def fact_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
    """The same of the facts of a bank."""
    return _tables([(fact.stratum, short_of(fact)) for fact in facts], tokens)


def _tables(rows: _Rows, tokens: TokenCounter) -> list[Tabulation]:
    kinds: list[tuple[str, str, Callable[[Stratum, ShortAnswer], str]]] = [
        (say("Questions by category"), say("category"), lambda place, _: place.discipline),
        (
            say("Questions by secondary category"),
            say("secondary category"),
            lambda place, _: " / ".join(filter(None, (place.discipline, place.field))),
        ),
        (say("Questions by type of answer"), say("answer"), lambda _, asked: asked.answer_type),
    ]
    return [_table(rows, tokens, title, head, kind) for title, head, kind in kinds]


def _table(
    rows: _Rows,
    tokens: TokenCounter,
    title: str,
    head: str,
    kind: Callable[[Stratum, ShortAnswer], str],
) -> Tabulation:
    groups: dict[str, list[ShortAnswer]] = {}
    for place, asked in rows:
        groups.setdefault(kind(place, asked) or say("not stated"), []).append(asked)
    lines = [(name, *_row(groups[name], tokens)) for name in sorted(groups)]
    if len(groups) != 1:
        lines.insert(0, (say("all"), *_row([asked for _place, asked in rows], tokens)))
    return Tabulation(
        title=title,
        columns=(Column(key="name", name=head), *_columns()),
        rows=tuple(lines),
        notes=(say("lengths in tokens, counted by {name}, and in characters", name=tokens.name),),
    )


def _columns() -> tuple[Column, ...]:
    parts = (
        ("question", say("question, tokens")),
        ("question_characters", say("characters")),
        ("answer", say("answer, tokens")),
        ("answer_characters", say("characters")),
    )
    lengths = [
        Column(key=f"{part}_{key}", group=group, name=word(name))
        for part, group in parts
        for key, name in _LENGTHS
    ]
    return (Column(key="n", name="n"), *lengths)


def _row(asked: Sequence[ShortAnswer], tokens: TokenCounter) -> tuple[Cell, ...]:
    counters: tuple[Callable[[str], int], ...] = (tokens, len)
    texts = ([each.question for each in asked], [each.answer for each in asked])
    lengths = [[count(text) for text in each] for each in texts for count in counters]
    return (len(asked), *(cell for counts in lengths for cell in _lengths(counts)))


def _lengths(counts: Sequence[int]) -> tuple[Cell, ...]:
    """The longest, the shortest and the mean; none of nothing."""
    if not counts:
        return (None, None, None)
    return (max(counts), min(counts), sum(counts) / len(counts))
