"""What was asked: the item sets of our own runs, or the files of other people's results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.report.manifest import HandRecorded, Manifest
from proofstone.report.page_data import FormShown, PageData
from proofstone.wording import counted, joined, listed, say, say_of, word

__all__ = ["file_sentences", "item_sentences"]

_MOST_NAMED = 8
_LONGEST = 40


def item_sentences(data: PageData, manifest: Manifest) -> Iterator[str]:
    """The item sets, how they were made, who had a hand in them, and what was left out."""
    yield _sets(data)
    yield from _composition(data.forms, manifest)
    yield _hands(manifest.hands)
    if data.board.n_retired:
        yield say(
            "{items} that people retired are left out.",
            items=counted(data.board.n_retired, "item"),
        )


def file_sentences(data: PageData) -> Iterator[str]:
    """The files, what they hold, and what their columns were taken for."""
    yield say(
        "The scores are results that others made, read from {files}.",
        files=counted(len(data.files), "file"),
    )
    for file in data.files[:_MOST_NAMED]:
        yield say(
            "{name} ({kind}) holds {holds}.", name=file.name, kind=file.kind, holds=file.holds
        )
        if file.columns:
            yield say("Its columns were taken as: {columns}.", columns=file.columns)
    more = len(data.files) - _MOST_NAMED
    if more > 0:
        yield say("The others are named with the results ({files}).", files=counted(more, "file"))


def _sets(data: PageData) -> str:
    n = counted(sum(form.n_items for form in data.forms), "item")
    named = [say("{name} (id {id})", name=form.name, id=form.id[:16]) for form in data.forms]
    if len(named) == 1:
        return say("{items} were asked, those of {form}.", items=n, form=named[0])
    return say(
        "{items} were asked, those of {forms}: {names}.",
        items=n,
        forms=counted(len(named), "form"),
        names=joined(named),
    )


def _composition(forms: Sequence[FormShown], manifest: Manifest) -> Iterator[str]:
    """How forms were drawn: a sentence for each way of making them."""
    made: dict[tuple[tuple[str, str], ...], list[FormShown]] = {}
    for form in forms:
        if form.seed is not None:
            made.setdefault(form.recipe, []).append(form)
    banks = joined(
        [
            say("{name} ({facts})", name=bank.name, facts=counted(bank.n_facts, "fact"))
            for bank in manifest.banks
        ]
    )
    for recipe, drawn in made.items():
        names = "" if len(made) == 1 else joined([form.name for form in drawn])
        yield _drawn(names, manifest.method, banks, drawn)
        told = [f"{name} {_short(value)}" for name, value in recipe]
        yield say("Parameters: {recipe}.", recipe=listed(told))
    imported = [form.name for form in forms if form.seed is None]
    if imported:
        yield say("{names}: made elsewhere and imported.", names=joined(imported))


def _short(value: str) -> str:
    """A parameter's value; a list of ids is no text for a paper."""
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _drawn(names: str, method: str, banks: str, forms: Sequence[FormShown]) -> str:
    seeds = joined([str(form.seed) for form in forms])
    told = {"names": names, "method": method.partition(":")[0], "banks": banks, "seeds": seeds}
    if names:
        return say_of(
            len(forms),
            "{names}: composed after {method} from the bank {banks}, with the seed {seeds}.",
            "{names}: composed after {method} from the bank {banks}, with the seeds {seeds}.",
            **told,
        )
    return say_of(
        len(forms),
        "They were composed after {method} from the bank {banks}, with the seed {seeds}.",
        "They were composed after {method} from the bank {banks}, with the seeds {seeds}.",
        **told,
    )


def _hands(hands: Sequence[HandRecorded]) -> str:
    if not hands:
        return say("No model is recorded as having had a hand in the items.")
    told = [
        say(
            "{model} {role} {items}",
            model=hand.model,
            role=word(hand.role),
            items=counted(hand.n_items, "item"),
        )
        for hand in hands[:_MOST_NAMED]
    ]
    more = len(hands) - len(told)
    told += [counted(more, "other")] if more else []
    return say("Models that had a hand in the items: {hands}.", hands=listed(told))
