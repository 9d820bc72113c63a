"""Exclude and include items and facts, and override verdicts on stored responses.

Nothing is changed in place. Excluded items remain in their forms, are still prompted, and keep
their scores. An override is a row for (item, response). Leaderboards apply the newest one of each
response, and the scores remain stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, NotFound, Problem
from proofstone.records.ids import short
from proofstone.records.reviews import (
    Action,
    Correction,
    Override,
    Person,
    Verdict,
    correction_id,
    override_id,
)
from proofstone.records.runs import Run
from proofstone.session.session import Session, Target, acting, response_name, stated_reason
from proofstone.session.terminal import day
from proofstone.store.calls import StoredResponse
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# Rows of corrections, and exclusion of new versions of excluded facts and items.


def correction_of(
    kind: Any,
    target: bytes,
    reason: str,
    by: Person,
    now: float,
    action: Action = "edit",
    follows: bytes | None = None,
) -> Correction:
    """Return a correction with its id."""
    made = Correction(
        action=action, kind=kind, target=target, reason=reason, actor=by.actor, at=now,
        follows=follows,
    )  # fmt: skip
    return msgspec.structs.replace(made, id=correction_id(made))


def excluded_again(
    store: Store, remade: Mapping[bytes, bytes], by: Person, now: float
) -> Iterator[Correction]:
    """Return exclusions of rebuilt facts, by the ids of the former versions.

    If the former version is excluded, the new one is excluded for the same reason.
    """
    for former in store.corrections.excluded_facts(remade):
        was = store.corrections.exclusion("fact", store.lookup.find(f"fact:{former.hex()}").key)
        if was is not None:
            yield correction_of("fact", remade[former], was.reason, by, now, action="exclude")


class Standing(Struct, frozen=True, kw_only=True):
    """Hold the state of a fact or item, and the number of affected items by form."""

    correction: Correction
    forms: tuple[tuple[str, int], ...]


def exclude(session: Session, target: Target, *, reason: str, by: str = "") -> Standing:
    """Exclude an item, or all items that depend on a fact, from leaderboards.

    Raises BadUsage if it is excluded already.
    """
    found, former = _with_former(session, target)
    if former is not None and former.action == "exclude":
        raise BadUsage(
            f"{found.spelled} is already excluded, since {day(former.at)}: {former.reason}",
            hint=f"include it again: proofstone correct include {found.spelled} --reason ...",
        )
    return _stored(session, found, "exclude", former, stated_reason(reason), by)


def include(session: Session, target: Target, *, reason: str, by: str = "") -> Standing:
    """Include an excluded item or fact again. Raises BadUsage if it is not excluded."""
    found, former = _with_former(session, target)
    if former is None or former.action != "exclude":
        hint = _through_facts(session.store, found)
        raise BadUsage(f"{found.spelled} is not excluded", hint=hint)
    return _stored(session, found, "include", former, stated_reason(reason), by)


def _with_former(session: Session, target: Target) -> tuple[Found, Correction | None]:
    """Return a fact or item, and its last correction."""
    found = session.find(target, "item", "fact")
    return found, session.store.corrections.exclusion(found.kind, found.key)


def _stored(
    session: Session,
    found: Found,
    action: Action,
    former: Correction | None,
    reason: str,
    by: str,
) -> Standing:
    kind = "fact" if found.kind == "fact" else "item"
    person, now = acting(session, by), session.clock.now()
    follows = former.id if former else None
    correction = correction_of(kind, found.id, reason, person, now, action, follows)
    session.store.corrections.add([correction])
    return Standing(correction=correction, forms=tuple(_forms(session.store, found)))


def _forms(store: Store, found: Found) -> list[tuple[str, int]]:
    """Return the forms of this fact or item, with the number of dependent items."""
    forms = []
    for identity, n in store.items.sets_with(found.kind, found.key):
        item_set = store.items.item_set(identity)
        forms.append((f"{item_set.name}-{short(identity, 4)}", n))
    return forms


def _through_facts(store: Store, found: Found) -> str:
    """Return the excluded fact because of which an item is excluded."""
    if found.kind != "item":
        return ""
    facts = store.corrections.excluded_facts(store.items.one(found.key).item.facts)
    return "".join(
        f"it is excluded because fact:{short(fact)} is excluded: proofstone correct include "
        f"fact:{short(fact)} --reason ..."
        for fact in facts[:1]
    )


# Overrides: a person sets the verdict on a stored response. No model is called, and nothing is
# changed.

_FORM = "a response is written RUN/ITEM, or RUN/ITEM/SAMPLE, as in 'proofstone show RUN'"


class Overridden(Struct, frozen=True, kw_only=True):
    """Hold a stored override.

    It has the response, its model, the former verdict on the response, if any, and the number of
    affected runs (a response may be reused).
    """

    response: str
    model: str
    override: Override
    former: Verdict | None
    n_runs: int


class Answered(Struct, frozen=True):
    """Hold a response: its run, its item's id, and its keys."""

    run: Run
    item: bytes
    response: StoredResponse


def override(
    session: Session, responses: str | Sequence[str], verdict: Verdict, *, reason: str, by: str = ""
) -> list[Overridden]:
    """Override the verdicts on stored responses, named RUN/ITEM/SAMPLE, without model calls.

    A second override of the same response refers to the first and replaces it. All responses are
    looked up first. Raises NotFound or BadUsage for a missing or failed response; BadInput with
    every such problem if several were named.
    """
    reason = stated_reason(reason)
    found = _all_found(session.store, [responses] if isinstance(responses, str) else responses)
    person = acting(session, by)
    return [override_response(session, one, verdict, reason, person) for one in found]


def override_response(
    session: Session, found: Answered, verdict: Verdict, reason: str, person: Person
) -> Overridden:
    """Store an override of a response, with its reason."""
    store = session.store
    former = store.overrides.over(found.response)
    override = Override(
        run=found.run.id,
        item=found.item,
        sample=found.response.sample,
        verdict=verdict,
        reason=reason,
        actor=person.actor,
        at=session.clock.now(),
        replaces=former[-1].id if former else None,
    )
    override = msgspec.structs.replace(override, id=override_id(override))
    store.overrides.add(override, found.response)
    return Overridden(
        response=response_name(found.run.id, found.item, found.response.sample),
        model=found.run.respondent,
        override=override,
        former=former[-1].verdict if former else None,
        n_runs=store.overrides.n_runs(found.response),
    )


def _all_found(store: Store, texts: Sequence[str]) -> list[Answered]:
    found, problems = [], []
    for text in dict.fromkeys(texts):
        try:
            found.append(find_response(store, text))
        except (BadUsage, NotFound) as error:
            if len(texts) == 1:
                raise
            problems.append(Problem(text, error.message))
    if problems:
        raise BadInput("these responses cannot be overridden; nothing was stored", problems)
    return found


def find_response(store: Store, text: str) -> Answered:
    """Return the response that ``RUN/ITEM/SAMPLE`` names."""
    parts = text.removeprefix("response:").split("/")
    if len(parts) not in (2, 3) or (len(parts) == 3 and not parts[2].isdecimal()):
        raise BadUsage(f"{text!r} does not name a response", hint=_FORM)
    run = store.lookup.find(parts[0].strip(), ("run",))
    item = store.lookup.find(parts[1].strip(), ("item",))
    _key, record = store.runs.run(run.id)
    if not store.responses.is_asked(run.key, item.key):
        raise NotFound(
            f"item {short(item.id)} is not in run {short(run.id)}",
            hint=f"Next: proofstone show run:{short(run.id)}",
        )
    found = store.responses.of_item(run.key, item.key, record.last_step)
    if len(parts) == 3:
        found = [response for response in found if response.sample == int(parts[2])]
    if not found:
        sample = int(parts[2]) if len(parts) == 3 else 0
        raise _no_response(store, record, run.key, item.key, text, sample)
    if len(found) > 1:
        several = ", ".join(response_name(run.id, item.id, each.sample) for each in found[:8])
        raise BadUsage(f"{text!r} has {len(found)} samples: {several}", hint="name one of them")
    return Answered(record, item.id, found[0])


def _no_response(store: Store, run: Run, key: int, item: int, text: str, sample: int) -> BadUsage:
    """Return why there is no response to override."""
    samples = int(run.settings.get("samples", 1))
    if sample >= samples:
        return BadUsage(f"{text!r}: this run has samples 0 to {samples - 1}")
    error = store.responses.error_of_item(key, item, sample)
    why = f"its call failed ({error})" if error else "it was not asked yet"
    return BadUsage(
        f"no response to override at {text!r}: {why}",
        hint=f"run it: proofstone run --resume run:{short(run.id)}",
    )
