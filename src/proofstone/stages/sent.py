"""All that was ever sent, by host: what a person who must answer for it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from proofstone.engines.models import NOT_SENT, destination_of
from proofstone.engines.store import SentCalls, Store
from proofstone.stages.sent_beside import BesideKind, SentBeside

__all__ = ["HERE", "BesideTotal", "SentSource", "SentTo", "what_was_sent"]

HERE = "this machine"


class SentSource(Struct, frozen=True, order=True):
    """A source of which something was sent: ``n_items`` questions, 0 where it only stood in worked
    examples."""

    title: str
    licence: str
    n_items: int


class BesideTotal(Struct, frozen=True, kw_only=True):
    """What went to one host besides calls of models, for one reason by one name; ``sources`` are
    titles. ``cost_usd`` is None where a price was not known."""

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
    """Every host that a call or check of this workspace, or what stands in the log ``beside`` them,
    went to: others first, this machine last.

    Reads the rows alone; simulated respondents, and people's answers, went nowhere.
    """
    found: dict[str, SentTo] = {}
    for sent in store.sent.calls(NOT_SENT):
        known = _of(found, sent.endpoint)
        found[known.host] = _with_calls(known, sent)
    for check in store.sent.checks():
        known = _of(found, check.endpoint)
        found[known.host] = structs.replace(
            _dated(known, check),
            models=_named(known.models, check.model),
            checks=known.checks + check.calls,
        )
    for line in beside:
        known = _of(found, line.endpoint)
        found[known.host] = _with_line(known, line)
    sources: dict[str, list[SentSource]] = {}
    for source in store.sent.sources(NOT_SENT):
        origin = SentSource(source.title, source.licence, source.n_items)
        sources.setdefault(_of(found, source.endpoint).host, []).append(origin)
    complete = [
        structs.replace(sent, sources=_merged(sources.get(sent.host, ())))
        for sent in found.values()
    ]
    return sorted(complete, key=lambda sent: (sent.is_local, sent.host))


def _of(found: dict[str, SentTo], endpoint: str) -> SentTo:
    to = destination_of(endpoint)
    is_local = to is None or to.is_local
    host = HERE if is_local else str(to)
    return found.get(host, SentTo(host=host, is_local=is_local))


def _with_calls(known: SentTo, sent: SentCalls) -> SentTo:
    return structs.replace(
        _dated(known, sent) if sent.calls else known,
        models=_named(known.models, sent.model),
        calls=known.calls + sent.calls,
        attempts=known.attempts + sent.attempts,
        n_bytes=known.n_bytes + sent.n_bytes,
        purged=known.purged + sent.purged,
        not_sent=known.not_sent + sent.not_sent,
    )


def _with_line(known: SentTo, line: SentBeside) -> SentTo:
    totals = {(each.what, each.by): each for each in known.beside}
    own = totals.get((line.what, line.by), BesideTotal(what=line.what, by=line.by))
    totals[line.what, line.by] = own.with_line(line)
    return structs.replace(
        known,
        beside=tuple(totals[key] for key in sorted(totals)),
        first_at=min(known.first_at or line.at, line.at),
        last_at=max(known.last_at, line.at),
    )


def _dated(known: SentTo, sent: SentCalls) -> SentTo:
    return structs.replace(
        known,
        first_at=min(known.first_at or sent.first_at, sent.first_at),
        last_at=max(known.last_at, sent.last_at),
    )


def _named(models: tuple[str, ...], model: str) -> tuple[str, ...]:
    return tuple(sorted({*models, model}))


def _merged(origins: Iterable[SentSource]) -> tuple[SentSource, ...]:
    """One a title and licence; several endpoints of a host may have been asked the same items, so
    the larger count is kept rather than their sum."""
    found: dict[tuple[str, str], SentSource] = {}
    for origin in origins:
        key = (origin.title, origin.licence)
        known = found.get(key, origin)
        found[key] = structs.replace(origin, n_items=max(known.n_items, origin.n_items))
    return tuple(found[key] for key in sorted(found))
