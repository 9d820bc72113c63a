"""Which card stands for each respondent of a leaderboard, and which respondents are left out.

The newest card that was kept of a model is in force, so that editing a file rewrites no history;
where the runs saw another one, a note says in what. A model of which no card was kept has the one
of today's configuration, where that is given, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from msgspec import Struct, structs

from proofstone.engines.models import ModelConfig, card_of, parse_model_name
from proofstone.engines.store import Store
from proofstone.errors import BadUsage, NotFound
from proofstone.records import Card, CardSnapshot, Run, ScoreTable
from proofstone.report import LeftOut
from proofstone.report.card_values import Condition, card_value, matches
from proofstone.stages.summarise import Selection

__all__ = ["CardBook", "carded", "narrowed", "open_book"]


class CardBook(Struct, frozen=True, kw_only=True):
    """The card in force of each model that has one; what a reader should know of the cards, and
    which models are retired, each as a sentence."""

    cards: Mapping[str, Card] = {}
    notes: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()


def open_book(store: Store, selection: Selection, config: ModelConfig | None = None) -> CardBook:
    """The cards of the selection's models; those without one take it from ``config``."""
    models = sorted({run.respondent for _key, run in selection.runs if not run.simulated})
    kept = store.models.cards(models)
    cards = {name: snapshot.card for name, snapshot in kept.items()}
    notes = list(_changes(store, selection.runs, kept))
    if config is not None:
        today = {name: _today(name, config) for name in models}
        borrowed = [n for n in models if n not in cards and not today[n].is_empty]
        cards |= {name: today[name] for name in borrowed}
        if borrowed:
            notes.append(
                f"card of today, for none was kept with the runs: {', '.join(borrowed)} "
                "(proofstone models check NAME keeps it)"
            )
        notes += [
            f"{name}: its card is another one today ({difference}); the one kept with the runs is "
            "used until it is run or checked again"
            for name in models
            if name in kept and (difference := _difference(cards[name], today[name]))
        ]
    retired = tuple(_retired(store, models))
    return CardBook(cards=cards, notes=tuple(notes), retired=retired)


def narrowed(
    selection: Selection, book: CardBook, conditions: Sequence[Condition]
) -> tuple[Selection, tuple[LeftOut, ...]]:
    """The runs whose model's card meets ``conditions``, and who is left out and why.

    Raises NotFound where nobody is left.
    """
    if not conditions:
        return selection, ()
    kept = [
        (key, run)
        for key, run in selection.runs
        if matches(book.cards.get(run.respondent), conditions)
    ]
    names = dict.fromkeys(run.respondent for _key, run in selection.runs)
    stay = {run.respondent for _key, run in kept}
    left_out = tuple(
        LeftOut(name=name, why=_why(book.cards.get(name), conditions))
        for name in names
        if name not in stay
    )
    if not kept:
        said = "; ".join(f"{entry.name} ({entry.why})" for entry in left_out)
        raise NotFound(
            f"no model here meets --where: {said}",
            hint='write a card where one is missing: [models."provider/name".card], '
            "as docs/models.md shows",
        )
    return structs.replace(selection, runs=tuple(kept)), left_out


def carded(table: ScoreTable, book: CardBook) -> ScoreTable:
    """The table with each respondent's card."""
    respondents = tuple(replace(who, card=book.cards.get(who.name)) for who in table.respondents)
    return replace(table, respondents=respondents)


def _today(name: str, config: ModelConfig) -> Card:
    try:
        return card_of(parse_model_name(name), config)
    except BadUsage:  # a respondent of another kind, such as people or an imported file
        return Card()


def _changes(
    store: Store, runs: Sequence[tuple[int, Run]], kept: Mapping[str, CardSnapshot]
) -> Iterable[str]:
    """A note for each model of which some run saw another card than the one in force."""
    seen = store.models.cards_of_runs([key for key, _run in runs])
    told: dict[str, None] = {}
    for key, run in runs:
        before, now = seen.get(key), kept.get(run.respondent)
        if before is None or now is None or before.recorded_at == now.recorded_at:
            continue
        difference = _difference(before.card, now.card)
        if difference:
            day = _day(now.recorded_at)
            told[f"{run.respondent}: its card changed after its runs ({difference}; {day})"] = None
    return told


def _difference(before: Card, now: Card) -> str:
    """``kind chat -> hybrid``: the facts in which two cards differ, where the newer one has any."""
    if now.is_empty:
        return ""
    old, new = structs.asdict(before), structs.asdict(now)
    return ", ".join(
        f"{name} {_said(old[name])} -> {_said(new[name])}" for name in new if old[name] != new[name]
    )


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value) or "unknown"
    return "unknown" if value in ("", None) else str(value)


def _why(card: Card | None, conditions: Sequence[Condition]) -> str:
    failed = [c.field for c in conditions if not matches(card, [c])]
    shown = {"language": "languages"}
    return ", ".join(f"{name} {card_value(card, shown.get(name, name))}" for name in failed)


def _retired(store: Store, models: Sequence[str]) -> Iterable[str]:
    checks = store.models.last_checks()
    for name in models:
        check = checks.get(name)
        if check is not None and check.state == "retired":
            yield (
                f"{name} is retired: {check.endpoint} no longer served it on "
                f"{_day(check.checked_at)}; its results stay"
            )


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
