"""Read which answer each response held along its reasoning, from stored responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct

from proofstone.choices.held import answers_held
from proofstone.method import Method, ShownOptions
from proofstone.models.responses import read_response
from proofstone.records.runs import Response, Run
from proofstone.store.store import Store

Holding: TypeAlias = Literal["right", "another", "none"]


HOLDINGS: tuple[Holding, ...] = get_args(Holding)


TENTHS = 10


# A shorter response text, in characters, shows no reasoning; it is the answer alone.
LEAST_REPLY = 200


class AnswerPath(Struct, frozen=True):
    """What a response held along its reasoning.

    ``seen`` is "observed"; "hidden" if the endpoint counted reasoning tokens and returned no text;
    "short" if there is no reasoning and the text is shorter than ``LEAST_REPLY``. If observed,
    ``tenths`` has what was held at the end of each tenth of the text. ``held`` is everything that
    was ever held.
    """

    seen: Literal["observed", "hidden", "short"]
    tenths: tuple[Holding, ...] = ()
    held: frozenset[Holding] = frozenset()


class Sampled(NamedTuple):
    """A response: its item's id, and the sample."""

    item: bytes
    sample: int


def path_of(response: Response, shown: ShownOptions) -> AnswerPath:
    """Return the answer held along a response's reasoning; without any, along the response text."""
    text = response.reasoning
    if not text and response.usage.reasoning:
        return AnswerPath("hidden")
    text = text or response.text.strip()
    if not response.reasoning and len(text) < LEAST_REPLY:
        return AnswerPath("short")
    found = [
        (each.end, _holding(each.letters, shown))
        for each in answers_held(text, shown.options, several=shown.several)
    ]
    tenths: list[Holding] = []
    for tenth in range(1, TENTHS + 1):
        before = [holding for end, holding in found if end * TENTHS <= len(text) * tenth]
        tenths.append(before[-1] if before else "none")
    return AnswerPath("observed", tuple(tenths), frozenset(holding for _end, holding in found))


def _holding(letters: Sequence[int], shown: ShownOptions) -> Holding:
    if not letters:
        return "none"
    return "right" if tuple(letters) == shown.right else "another"


def paths_by_run(store: Store, method: Method, key: int, run: Run) -> Mapping[Sampled, AnswerPath]:
    """Return the path of every response of a run to a question with options.

    Empty for a method or a prompting method without generated answers to choose. Responses with a
    purged body are left out.
    """
    found: dict[Sampled, AnswerPath] = {}
    if method.options_shown is None:
        return found
    for page in store.runs.response_pages(key, run.item_set):
        for each in page:
            loaded = each.item.loaded
            shown = method.options_shown(loaded)
            for (sample, step), stored in each.responses.items():
                if shown is not None and stored.raw and step == run.last_step:
                    response = read_response(stored.wire, stored.raw)
                    found[Sampled(loaded.item.id, sample)] = path_of(response, shown)
    return found
