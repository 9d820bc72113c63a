"""From all decisions on a version to one: keep, fix, drop, or open until one more has read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct, structs

from proofstone.records.ids import canonical_json
from proofstone.records.reviews import (
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewText,
)


def latest(reviews: Iterable[Review]) -> list[Review]:
    """The newest decision of each reviewer on each version and task, in the order of their first
    ones; of two at one time the later in the list. What another names as corrected never counts,
    whatever the clocks said."""
    every = list(reviews)
    corrected = {one.corrects for one in every if one.corrects is not None}
    newest: dict[tuple[Any, ...], Review] = {}
    for one in sorted(every, key=lambda one: one.at):
        if one.id and one.id in corrected:
            continue
        newest[one.kind, one.target, one.task, one.who] = one
    return list(newest.values())


def decide(
    reviews: Iterable[Review],
    policy: ReviewPolicy,
    shown: Mapping[bytes, ReviewText] = MappingProxyType({}),
) -> list[ReviewDecision]:
    """One decision a version that anybody reviewed for its format, in the order of first reviews.

    First whether it goes: by ``policy.drop`` of those who read it. Of those who would keep it,
    ``policy.fix`` of them asking for a change make it a fix, provided that they want the same
    change. Fewer than ``policy.quorum``, half against half, and different changes leave it open:
    a third reviewer decides. Encyclo-K's review is ``ReviewPolicy(quorum=3)``.

    ``shown`` says what versions are meant to be. A fix of one that is meant to be false needs
    somebody besides its author who finds the new wording false; a fix of any version stays open
    where as many readers or more find its new wording to be otherwise than meant.
    """
    of: dict[tuple[Any, ...], list[Review]] = {}
    checks: dict[bytes, list[Review]] = {}
    for one in latest(reviews):
        if one.task == "format":
            of.setdefault((one.kind, one.target), []).append(one)
        elif one.task == "wording":
            checks.setdefault(one.target, []).append(one)
    return [
        _with_key(_decided(members, policy), members, checks.get(target, []), shown.get(target))
        for (_kind, target), members in of.items()
    ]


def _with_key(
    decided: ReviewDecision,
    reviews: Sequence[Review],
    checks: Sequence[Review],
    shown: ReviewText | None,
) -> ReviewDecision:
    """The decision; a fix of a statement whose truth is meant names its key, or is open until
    enough readers have said that its new wording keeps it."""
    if decided.outcome != "fix" or shown is None or not shown.claim:
        return decided
    wording = str(decided.changes.get(shown.field, ""))
    authors = [one for one in reviews if one.verdict == "fix" and one.changes == decided.changes]
    others = [
        one for one in checks if one.answer == wording and one.who not in {a.who for a in authors}
    ]
    said = [str(one.rubric.get("claim", "")) for one in authors] + [one.verdict for one in others]
    votes = Counter(claim for claim in said if claim in ("true", "false"))
    other = "true" if shown.claim == "false" else "false"
    why = ""
    if votes[other] and votes[other] >= votes[shown.claim]:
        found = f"{votes[other]} of {votes.total()} readers find the new wording {other}"
        why = f"meant to be {shown.claim}, and {found}"
    elif shown.claim == "false" and not {"false"} & set(said[1:]):
        why = "false on purpose: a second reader must say whether the new wording still is"
    if why:
        return structs.replace(decided, outcome="open", changes={}, why=why, wording=wording)
    if shown.claim == "true" or not shown.key_field:
        return decided
    return structs.replace(decided, changes={**decided.changes, shown.key_field: False})


def _decided(reviews: Sequence[Review], policy: ReviewPolicy) -> ReviewDecision:
    votes = Counter(one.verdict for one in reviews)
    outcome, why = _fate(votes, len(reviews), policy)
    changes: Mapping[str, Any] = {}
    if outcome == "keep":
        asked = [one.changes for one in reviews if one.verdict == "fix"]
        if _is_enough(len(asked), len(asked) + votes["keep"], policy.fix, ties=True):
            if len({canonical_json(dict(one)) for one in asked}) > 1:
                outcome, why = "open", "they want different changes"
            else:
                outcome, changes = "fix", asked[0]
    if outcome in ("drop", "fix"):
        why = "; ".join(
            dict.fromkeys(r.reason for r in reviews if r.verdict == outcome and r.reason)
        )
    return ReviewDecision(
        kind=reviews[0].kind, target=reviews[0].target, outcome=outcome,
        votes={verdict: votes[verdict] for verdict in ("keep", "fix", "drop") if votes[verdict]},
        why=why, changes=changes,
    )  # fmt: skip


def _fate(votes: Counter[str], n: int, policy: ReviewPolicy) -> tuple[ReviewOutcome, str]:
    """Whether it goes, stays, or is open, by those who would drop it against all others."""
    if n < policy.quorum:
        return "open", f"{n} of {policy.quorum} have read it"
    drops = votes["drop"]
    if policy.drop == "majority" and 2 * drops == n:
        return policy.tie, "half of them would drop it" if policy.tie == "open" else ""
    return ("drop" if _is_enough(drops, n, policy.drop) else "keep"), ""


def _is_enough(said: int, n: int, rule: str, *, ties: bool = False) -> bool:
    """Whether ``said`` of ``n`` are any, the majority or all; with ``ties`` half suffices."""
    if not said:
        return False
    if rule == "any":
        return True
    return said == n if rule == "all" else 2 * said > n or (ties and 2 * said == n)


# Addresses of web pages that people name as evidence, and whose they are.
#
# Two addresses are one page where only dress differs: http and https, capitals in the host, the
# usual port, percent signs, a slash at the end, a place on the page. A host belongs to a site where
# it is that site or ends in a dot and its name, so that ``zh.wikipedia.org`` is Wikipedia's, and
# neither ``notwikipedia.org`` nor ``wikipedia.org.example.com`` is.

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")


# Between addresses: white space, or a comma or semicolon with another address behind it.
_BETWEEN = re.compile(r"\s+|[,;\uff0c\uff1b\u3001]\s*(?=[a-zA-Z]+:)")


_PORTS = {"http": 80, "https": 443}


class NoAddress(ValueError):
    """A text that is no address of a web page; the message says why."""


class WebAddress(Struct, frozen=True, gc=False):
    """An address: its host as the network writes it (lower case, ``xn--``), and what is the same
    for all spellings of this page."""

    host: str
    page: str


def split_addresses(text: str) -> list[str]:
    """The addresses of a cell, one after another with white space or commas between them."""
    return [part for part in _BETWEEN.split(text.strip()) if part]


def read_address(text: str) -> WebAddress:
    """The page that an address names. Raises NoAddress for what no browser would open as a web
    page of a named site: another scheme, no host, a name and password in it, a number as a host."""
    parts, port = _parts(text.strip())
    if parts.scheme not in _PORTS:
        raise NoAddress(f"expected https:// or http://, came {_cut(text)!r}")
    if "@" in parts.netloc:
        raise NoAddress(f"there is a name or password before the host of {_cut(text)!r}")
    host = _host(parts.hostname or "", text)
    own_port = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    # A fragment is a place on the page, but for pages that live behind it (#/ and #!).
    behind = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    query = f"?{unquote(parts.query)}" if parts.query else ""
    path = unquote(parts.path).rstrip("/")
    return WebAddress(host, f"{host}{own_port}{path}{query}{behind}")


def pages_of(texts: Iterable[str]) -> tuple[WebAddress, ...]:
    """The pages that addresses name, each once, in their order; what is no address is left out."""
    found: dict[str, WebAddress] = {}
    for text in texts:
        try:
            address = read_address(text)
        except NoAddress:
            continue
        found.setdefault(address.page, address)
    return tuple(found.values())


def read_site(text: str) -> str:
    """A site as hosts are matched: ``wikipedia.org``, or ``.edu`` for all under one ending. Raises
    NoAddress for anything else, a whole address too."""
    plain = text.strip().lower()
    if plain.startswith(".") and plain.count(".") == 1:
        return f".{_ascii(plain[1:], text)}"
    if re.search(r"[/:@?#\s]", plain):
        raise NoAddress(f"expected a site, as wikipedia.org; came {_cut(text)!r}")
    return _host(plain.removeprefix("."), text)


def is_of_site(host: str, site: str) -> bool:
    """Whether a host is a site or one of its subdomains; both as ``read_address`` and
    ``read_site`` give them."""
    return host == site or host.endswith(site if site.startswith(".") else f".{site}")


def _parts(text: str) -> tuple[SplitResult, int | None]:
    # A backslash before the query is a slash to browsers, and so may end the host.
    if re.search(r"[\s\x00-\x1f]", text.split("#", 1)[0]) or "\\" in re.split("[?#]", text)[0]:
        raise NoAddress(
            f"there is white space, a control character or a backslash in {_cut(text)!r}"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as cause:
        raise NoAddress(f"{_cut(text)!r} cannot be read: {cause}") from None
    return parts, port


def _host(name: str, text: str) -> str:
    host = _ascii(name.rstrip("."), text)
    if "." not in host:
        raise NoAddress(f"expected the host of a site, as zh.wikipedia.org; came {_cut(text)!r}")
    if host.rpartition(".")[2].isdigit():
        raise NoAddress(f"the host of {_cut(text)!r} is a number and no site's name")
    return host


def _ascii(name: str, text: str) -> str:
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if not host or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise NoAddress(f"there is no host that can be in {_cut(text)!r}")
    return host


def _cut(text: str) -> str:
    plain = text.strip()
    return plain if len(plain) <= 80 else f"{plain[:77]}..."
