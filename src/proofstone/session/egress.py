"""Check outbound data against the policy, and ask for permission before anything is sent.

``clear_loads`` and ``clear_probe`` are called before a client is used. The gate in the clients
refuses requests that neither has allowed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from proofstone.errors import EgressRefused, ProofstoneError
from proofstone.models.config import ModelConfig
from proofstone.models.egress import EgressGate
from proofstone.models.failures import NOT_SENT
from proofstone.models.names import Destination, destination_of
from proofstone.models.registry import leaves_to
from proofstone.records.calls import Clock
from proofstone.session.folders import MARK
from proofstone.session.permits import (
    AskEgress,
    BesideKind,
    Leaving,
    Outgoing,
    Permits,
    SentBeside,
    joined_origins,
)
from proofstone.session.session import Session
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_CONFIG = "proofstone.toml"


def keep_local(folder: Path) -> bool:
    """Adds the policy that lets nothing leave this machine to the ``proofstone.toml`` of a
    workspace's folder; returns False where that file states a policy already."""
    path = folder / _CONFIG
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if "egress" in tomllib.loads(text):
        return False
    gap = "\n" if text and not text.endswith("\n\n") else ""
    path.write_text(f'{text}{gap}[egress]\nhosts = ["local"]\n', encoding="utf-8", newline="\n")
    return True


class Load(Struct, frozen=True):
    """What several runs would send to one place, and by which models."""

    models: tuple[str, ...] = ()
    by_set: dict[bytes, Outgoing] = {}

    @property
    def outgoing(self) -> Outgoing:
        """All of it."""
        return sum(self.by_set.values(), Outgoing())

    def with_run(self, model: str, item_set: bytes, outgoing: Outgoing) -> Load:
        """The same with one more run."""
        known = self.by_set.get(item_set)
        one = outgoing if known is None else known.again(outgoing)
        models = tuple(dict.fromkeys([*self.models, model]))
        return Load(models, {**self.by_set, item_set: one})


Loads = dict[Destination, Load]


def questions_would_leave(store: Store, item_set: bytes) -> Outgoing:
    """Return what one query per question of a set sends, without its length."""
    n_items = store.items.item_set(item_set).n_items
    origins = store.origins.of_set(item_set)
    return Outgoing(items=n_items, requests=n_items, origins=joined_origins(origins, max))


def clear_loads(
    loads: Loads, gate: EgressGate, *, permits: Permits, ask: AskEgress | None, clock: Clock
) -> None:
    """Allow what runs would send, host by host, with permission.

    Raises EgressRefused naming every source whose policy excludes its host, before asking; and if
    something is new and ``ask`` is missing or returns no.
    """
    for to, load in loads.items():
        _refuse(gate, to, load.outgoing.origins)
    for to, load in loads.items():
        leaving = _judged(gate, to, load, permits.titles(str(to)))
        said = "" if ask is None else ask(leaving)
        if leaving.state == "new":
            if not said:
                raise _not_permitted(leaving)
            titles = _permits_of(leaving.asked, leaving.outgoing)
            permits.add(str(to), titles, at=clock.now(), by=said)
        gate.permit(to)


def clear_probe(names: Sequence[str], config: ModelConfig, ask: AskEgress | None) -> None:
    """Lets out requests that hold nothing of a workspace, to the hosts of models. A model that
    cannot be opened, or whose host a policy refuses, is left out: opening it says why."""
    hosts: dict[Destination, list[str]] = {}
    for name in dict.fromkeys(names):
        with suppress(ProofstoneError):
            to = leaves_to(name, config)
            if to is not None and not to.is_local:
                config.gate.check_policies(to)
                hosts.setdefault(to, []).append(name)
    for to, models in hosts.items():
        if ask is not None:
            ask(Leaving(to=str(to), models=tuple(models), state="probe"))
        config.gate.permit(to)


def _refuse(gate: EgressGate, to: Destination, origins: Sequence[Origin]) -> None:
    """Raises EgressRefused with everything that the policies have against it."""
    gate.check_policies(to)
    refused: dict[str, EgressRefused] = {}
    for origin in origins:
        for name in origin.names:
            try:
                gate.check_source(name, to)
            except EgressRefused as error:
                refused.setdefault(error.message, error)
    if refused:
        hint = next(iter(refused.values())).hint
        raise EgressRefused("\n".join(refused), hint=hint)


def _judged(gate: EgressGate, to: Destination, load: Load, permitted: frozenset[str]) -> Leaving:
    asked = [
        origin
        for origin in load.outgoing.origins
        if any(gate.of_source(name, to) == "ask" for name in origin.names)
    ]
    wanted = zip(asked, _permits_of(asked, load.outgoing), strict=True)
    new = tuple(
        origin
        for origin, name in wanted
        if name not in permitted and _with_text(origin.title) not in permitted
    )
    state: Literal["listed", "permitted", "new"] = "permitted" if asked else "listed"
    return Leaving(
        to=str(to), models=load.models, state="new" if new else state, outgoing=load.outgoing,
        asked=new,
    )  # fmt: skip


def _permits_of(origins: Iterable[Origin], outgoing: Outgoing) -> list[str]:
    """Return the stored permissions, by origin. Permission for questions on a source does not cover
    its own text, which is asked for separately."""
    return [_with_text(o.title) if outgoing.passages else o.title for o in origins]


def _with_text(title: str) -> str:
    return f"{title} [with its passages]"


def _not_permitted(leaving: Leaving) -> EgressRefused:
    titles = [repr(origin.title) for origin in leaving.asked]
    more = f" and {len(titles) - 5} more sources" if len(titles) > 5 else ""
    return EgressRefused(
        f"no permission to send {', '.join(titles[:5])}{more} to {leaving.to}; nothing was sent",
        hint=f'to allow it, add [egress] hosts = ["{leaving.to}"] to proofstone.toml, or '
        "give --yes once",
    )


# All data ever sent, by host.

HERE = "this machine"


class SentSource(Struct, frozen=True, order=True):
    """Hold a source with sent data: ``n_items`` questions, 0 if it occurred only in few-shot
    examples."""

    title: str
    license: str
    n_items: int


class BesideTotal(Struct, frozen=True, kw_only=True):
    """Hold what one host received other than model calls, by purpose and name.

    ``sources`` are titles. ``cost_usd`` is None if a price was unknown.
    """

    what: BesideKind
    by: str
    requests: int = 0
    n_bytes: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0
    sources: tuple[str, ...] = ()

    def with_line(self, line: SentBeside) -> BesideTotal:
        """The same with one more line of the log."""
        known = self.cost_usd is not None and line.cost_usd is not None
        return structs.replace(
            self,
            requests=self.requests + line.requests,
            n_bytes=self.n_bytes + line.n_bytes,
            tokens=self.tokens + line.tokens,
            cost_usd=(self.cost_usd or 0.0) + (line.cost_usd or 0.0) if known else None,
            sources=tuple(sorted({*self.sources, *line.sources})),
        )


class SentTo(Struct, frozen=True, kw_only=True):
    """What went to one host. ``calls`` are stored calls, ``attempts`` counts their retries,
    ``n_bytes`` the prompts of all attempts; ``checks`` short questions without anything of the
    workspace, ``not_sent`` calls that never reached it. Times are seconds since the epoch, 0 where
    nothing was sent."""

    host: str
    is_local: bool
    models: tuple[str, ...] = ()
    calls: int = 0
    attempts: int = 0
    n_bytes: int = 0
    purged: int = 0
    checks: int = 0
    not_sent: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    sources: tuple[SentSource, ...] = ()
    beside: tuple[BesideTotal, ...] = ()


def what_was_sent(store: Store, beside: Sequence[SentBeside] = ()) -> list[SentTo]:
    """Return every host that a call or check of this workspace, or a line of the log ``beside``
    them, went to. This machine is last.

    Only rows are read. Simulated models and human participants were sent nothing.
    """
    found: dict[str, SentTo] = {}

    def known_of(endpoint: str) -> SentTo:
        to = destination_of(endpoint)
        is_local = to is None or to.is_local
        host = HERE if is_local else str(to)
        return found.get(host, SentTo(host=host, is_local=is_local))

    for sent in store.sent.calls(NOT_SENT):
        known = known_of(sent.endpoint)
        found[known.host] = structs.replace(
            _dated(known, sent.first_at, sent.last_at) if sent.calls else known,
            models=tuple(sorted({*known.models, sent.model})),
            calls=known.calls + sent.calls,
            attempts=known.attempts + sent.attempts,
            n_bytes=known.n_bytes + sent.n_bytes,
            purged=known.purged + sent.purged,
            not_sent=known.not_sent + sent.not_sent,
        )
    for check in store.sent.checks():
        known = known_of(check.endpoint)
        found[known.host] = structs.replace(
            _dated(known, check.first_at, check.last_at),
            models=tuple(sorted({*known.models, check.model})),
            checks=known.checks + check.calls,
        )
    for line in beside:
        known = known_of(line.endpoint)
        totals = {(each.what, each.by): each for each in known.beside}
        own = totals.get((line.what, line.by), BesideTotal(what=line.what, by=line.by))
        totals[line.what, line.by] = own.with_line(line)
        found[known.host] = structs.replace(
            _dated(known, line.at, line.at), beside=tuple(totals[key] for key in sorted(totals))
        )
    sources: dict[str, list[SentSource]] = {}
    for source in store.sent.sources(NOT_SENT):
        origin = SentSource(source.title, source.license, source.n_items)
        sources.setdefault(known_of(source.endpoint).host, []).append(origin)
    complete = [
        structs.replace(sent, sources=_merged(sources.get(sent.host, ())))
        for sent in found.values()
    ]
    return sorted(complete, key=lambda sent: (sent.is_local, sent.host))


def _dated(known: SentTo, first: float, last: float) -> SentTo:
    return structs.replace(
        known,
        first_at=min(known.first_at or first, first),
        last_at=max(known.last_at, last),
    )


def _merged(origins: Iterable[SentSource]) -> tuple[SentSource, ...]:
    """Return one source per title and license. Several endpoints of a host may have received the
    same items, so counts are not added but the largest is kept."""
    found: dict[tuple[str, str], SentSource] = {}
    for origin in origins:
        key = (origin.title, origin.license)
        known = found.get(key, origin)
        found[key] = structs.replace(origin, n_items=max(known.n_items, origin.n_items))
    return tuple(found[key] for key in sorted(found))


def let_out(session: Session, loads: Loads) -> None:
    """Ask for permission before data is sent. Raises EgressRefused without permission."""
    clear_loads(
        loads, session.config.gate, permits=Permits(session.folder / MARK),
        ask=session.ask_egress, clock=session.clock,
    )  # fmt: skip
