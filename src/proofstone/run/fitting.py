"""What a model cannot be asked, said before anything is: images, prompts beyond its window.

Where the window is known (a model's entry, a local file's ``ctx``), prompts are rendered and their
tokens counted, if not by the model's own tokenizer: of up to a thousand questions, evenly spread.
So nothing is refused but what no tokenizer brings in; the endpoint has the last word, and what is
too long fails as ``too_long``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.models.images import no_images
from proofstone.models.tokens import FEWEST, MOST, counted_tokens, most_tokens
from proofstone.records.banks import BankReader
from proofstone.records.calls import Limits, Model
from proofstone.records.ids import content_id
from proofstone.records.items import ItemSet, Way
from proofstone.records.knowledge import Fact
from proofstone.run.first_prompts import first_prompts
from proofstone.store.store import Store


def check_fit(
    store: Store,
    method: Method,
    way: Way,
    item_set: ItemSet,
    n_items: int,
    model: Model,
    max_tokens: int | None,
) -> tuple[str, ...]:
    """What to say before a run: that prompts will, or may, pass the model's window.

    Raises BadUsage where the questions show images to a model that takes none, and where no prompt
    looked at leaves room for the reply.
    """
    if way.images and model.limits.images is False:
        raise no_images(model.name)
    limits = model.limits
    if limits.window is None:
        return ()
    reply = (max_tokens or 0) if limits.counts_reply else 0
    room = limits.window - reply
    prompts = list(first_prompts(store, method, way, item_set, n_items))
    if room > 0 and all(most_tokens(prompt) <= room for prompt in prompts):
        return ()
    lengths = sorted(map(counted_tokens, prompts))
    if lengths and (room <= 0 or lengths[0] * FEWEST > room):
        raise _nothing_fits(model.name, limits, reply, lengths[0])
    beyond = sum(length > room for length in lengths)
    near = sum(length * MOST > room for length in lengths) - beyond
    if not beyond and not near:
        return ()
    return (_note(model.name, limits, reply, beyond, near, lengths),)


def _nothing_fits(model: str, limits: Limits, reply: int, shortest: int) -> BadUsage:
    return BadUsage(
        f"no prompt fits {model}: the shortest has about {shortest:,} tokens, "
        f"and the window is {_window(limits, reply)}",
        hint="ask with fewer --shots or a lower --max-tokens, or correct window in its entry",
    )


def _note(
    model: str, limits: Limits, reply: int, beyond: int, near: int, lengths: Sequence[int]
) -> str:
    some = [f"about {beyond:,} will not fit"] if beyond else []
    some += [f"{near:,} {'more ' if beyond else ''}may not fit"] if near else []
    return (
        f"of {len(lengths):,} prompts looked at {' and '.join(some)} {model}: the longest has "
        f"about {lengths[-1]:,} tokens (by cl100k_base; the model's own may be {FEWEST:g} to "
        f"{MOST:g} times as many), the window is {_window(limits, reply)}; what does not fit fails "
        "as too_long"
    )


def _window(limits: Limits, reply: int) -> str:
    return (
        f"{limits.window:,}, of which --max-tokens keeps {reply:,}"
        if reply
        else (f"{limits.window:,}")
    )


# What a form is composed from: its bank, without the facts that were retired by then.
#
# Which these were stands in the form's recipe, and so in its id: the same command gives another
# form once something else is retired, and an old form is always composed as it was.

WITHOUT = "without"  # in a recipe: ids of the bank's facts that were left out, in hexadecimal


@dataclass(slots=True)
class _Fewer:
    """A bank without some of its facts."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def retired_facts(store: Store, bank: BankReader) -> dict[str, list[str]]:
    """What a recipe says of the bank's facts that are retired now; empty where none are."""
    retired = store.corrections.retired_facts(fact.id for fact in bank.facts())
    return {WITHOUT: sorted(identity.hex() for identity in retired)} if retired else {}


def fewer_facts(bank: BankReader, recipe: Mapping[str, Any]) -> BankReader:
    """The bank without the facts that a recipe leaves out."""
    without = {bytes.fromhex(identity) for identity in recipe.get(WITHOUT, ())}
    if not without:
        return bank
    return _Fewer(bank.id, bank.name, [fact for fact in bank.facts() if fact.id not in without])


def bank_of(store: Store, form: ItemSet) -> BankReader | None:
    """The bank that a form was composed from, without what it left out; None without one."""
    return fewer_facts(store.knowledge.bank(form.bank), form.recipe) if form.bank else None


def plain_form(form: ItemSet) -> ItemSet:
    """The form with its recipe as the method made it."""
    recipe = {name: value for name, value in form.recipe.items() if name != WITHOUT}
    return structs.replace(form, recipe=recipe)


def without_former_versions(store: Store, way: Way, form: ItemSet) -> Way:
    """The way of asking a corrected form, whose worked examples come from the bank before: none may
    rest on a former version of a fact that the form's items rest on. The others stay as they are,
    so that what does not show the corrected fact is not asked anew."""
    if form.corrects is None or not way.shots:
        return way
    shown = {fact.id for example in way.shots for fact in example.facts}
    former = frozenset(store.corrections.former_facts(form.id)) & shown
    if not former:
        return way
    key = content_id("without-former-versions", [way.prompt_hash, sorted(former)])
    return structs.replace(way, unfit=former, prompt_hash=key)
