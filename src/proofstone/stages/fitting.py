"""What a model cannot be asked, said before anything is: images, prompts beyond its window.

Where the window is known (a model's entry, a local file's ``ctx``), prompts are rendered and their
tokens estimated: of up to a thousand questions, evenly spread. An estimate refuses nothing but what
cannot fit at all; the endpoint has the last word, and what is too long fails as ``too_long``.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.models import about_tokens, no_images
from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.ports import Limits, Method, Model
from proofstone.records import ItemSet, Way
from proofstone.stages.first_prompts import first_prompts

__all__ = ["check_fit"]

_SURELY = 1.5  # so far beyond the window that no tokenizer brings it back


def check_fit(
    store: Store,
    method: Method,
    way: Way,
    item_set: ItemSet,
    n_items: int,
    model: Model,
    max_tokens: int | None,
) -> tuple[str, ...]:
    """What to say before a run: that prompts are likely to pass the model's window.

    Raises BadUsage where the questions show images to a model that takes none, and where no prompt
    looked at leaves room for the reply.
    """
    if way.images and model.limits.images is False:
        raise no_images(model.name)
    limits = model.limits
    if limits.window is None:
        return ()
    reply = (max_tokens or 0) if limits.counts_reply else 0
    lengths = sorted(map(about_tokens, first_prompts(store, method, way, item_set, n_items)))
    room = limits.window - reply
    if lengths and (room <= 0 or lengths[0] > _SURELY * room):
        raise _nothing_fits(model.name, limits, reply, lengths[0])
    beyond = sum(length > room for length in lengths)
    if not beyond:
        return ()
    return (_note(model.name, limits, reply, beyond, lengths),)


def _nothing_fits(model: str, limits: Limits, reply: int, shortest: int) -> BadUsage:
    return BadUsage(
        f"no prompt fits {model}: the shortest has about {shortest:,} tokens, "
        f"and the window is {_window(limits, reply)}",
        hint="ask with fewer --shots or a lower --max-tokens, or correct window in its entry",
    )


def _note(model: str, limits: Limits, reply: int, beyond: int, lengths: Sequence[int]) -> str:
    return (
        f"about {beyond:,} of {len(lengths):,} prompts looked at will not fit {model}: the longest "
        f"has about {lengths[-1]:,} tokens, the window is {_window(limits, reply)}; "
        "they fail as too_long"
    )


def _window(limits: Limits, reply: int) -> str:
    return (
        f"{limits.window:,}, of which --max-tokens keeps {reply:,}"
        if reply
        else (f"{limits.window:,}")
    )
