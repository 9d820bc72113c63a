"""What a model cannot be asked, said before anything is: images, prompts beyond its window.

Where the window is known (a model's entry, a local file's ``ctx``), prompts are rendered and their
tokens counted, if not by the model's own tokenizer: of up to a thousand questions, evenly spread.
So nothing is refused but what no tokenizer brings in; the endpoint has the last word, and what is
too long fails as ``too_long``.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.models import no_images
from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.ports import Limits, Method, Model
from proofstone.records import ItemSet, Way
from proofstone.stages.first_prompts import first_prompts
from proofstone.stages.prompt_tokens import FEWEST, MOST, counted_tokens, most_tokens

__all__ = ["check_fit"]


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
