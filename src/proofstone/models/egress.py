"""Read the ``[egress]`` table of a ``proofstone.toml``: which data may be sent where.

    [egress]
    hosts = ["api.openai.com", "*.openai.azure.com", "llm.corp.example:8443", "10.1.0.0/16"]

    [egress.sources."Manual 2024"]      # a title; * and ? are wildcards
    hosts = ["local"]

Without ``hosts``, Proofstone asks before it uses a new host. This machine (``local``) is always
allowed: no data leaves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from typing import Any, Literal

from msgspec import Struct

from proofstone.errors import EgressRefused, Problem
from proofstone.models.names import Destination, plain_host, unknown_key

LOCAL = "local"


Verdict = Literal["allowed", "ask", "refused"]


_HOSTS_HELP = (
    'expected "api.example.com", "*.example.com", "host:8443", an address, a network such as '
    '"10.1.0.0/16", "local" or "*"'
)


class SourceRule(Struct, frozen=True):
    """The hosts for sources with a title (a pattern), which replace the general ones."""

    title: str
    hosts: tuple[str, ...]


class EgressPolicy(Struct, frozen=True):
    """The ``[egress]`` table of one file. ``hosts`` is None if it sets no general rule."""

    where: str = ""
    hosts: tuple[str, ...] | None = None
    sources: tuple[SourceRule, ...] = ()

    def of_host(self, to: Destination) -> Verdict:
        """Return whether anything may be sent there."""
        named = [*(self.hosts or ()), *(host for rule in self.sources for host in rule.hosts)]
        if to.is_local or any(_admits(pattern, to) for pattern in named):
            return "allowed"
        return "ask" if self.hosts is None else "refused"

    def of_source(self, title: str, to: Destination) -> Verdict:
        """Return whether data from a source of this title may be sent there.

        Every rule that names the source must admit the host; without such a rule, ``hosts``
        decides.
        """
        rules = self.rules_for(title)
        if to.is_local or (rules and all(_listed(rule.hosts, to) for rule in rules)):
            return "allowed"
        if rules:
            return "refused"
        if self.hosts is None:
            return "ask"
        return "allowed" if _listed(self.hosts, to) else "refused"

    def rules_for(self, title: str) -> tuple[SourceRule, ...]:
        """Return the rules whose pattern matches a title, case-sensitively."""
        return tuple(r for r in self.sources if r.title == title or fnmatchcase(title, r.title))


def judge(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine the verdicts of several files: a refusal wins, then a permission."""
    said = set(verdicts)
    if "refused" in said:
        return "refused"
    return "allowed" if "allowed" in said else "ask"


def read_policy(where: str, table: Any) -> tuple[EgressPolicy, list[Problem]]:
    """Return the policy of a file's ``[egress]``, unusable if there are problems."""
    place = f"{where}, [egress]"
    if not isinstance(table, dict):
        return EgressPolicy(where), [Problem(place, "expected a table, [egress]")]
    problems = _unknown(place, table, ("hosts", "sources"))
    hosts = None
    if "hosts" in table:
        hosts, wrong = _read_hosts(place, table["hosts"])
        problems += wrong
    rules = []
    sources = table.get("sources", {})
    if not isinstance(sources, dict):
        sources = {}
        problems.append(Problem(place, 'sources are tables: [egress.sources."TITLE"]'))
    for title, rule in sources.items():
        read, wrong = _read_rule(f'{where}, [egress.sources."{title}"]', title, rule)
        rules.append(read)
        problems += wrong
    return EgressPolicy(where, hosts, tuple(rules)), problems


def _read_rule(place: str, title: str, table: Any) -> tuple[SourceRule, list[Problem]]:
    if not isinstance(table, dict) or "hosts" not in table:
        return SourceRule(title, ()), [Problem(place, 'expected hosts = ["local"] or a list')]
    hosts, problems = _read_hosts(place, table["hosts"])
    return SourceRule(title, hosts), _unknown(place, table, ("hosts",)) + problems


def _read_hosts(place: str, value: Any) -> tuple[tuple[str, ...], list[Problem]]:
    if not isinstance(value, list) or not all(isinstance(host, str) for host in value):
        return (), [Problem(place, f'hosts: expected a list of texts, as in ["{LOCAL}"]')]
    problems = [
        Problem(place, f"hosts: invalid host {host!r}; {_HOSTS_HELP}")
        for host in value
        if not _is_pattern(host)
    ]
    return tuple(value), problems


def _unknown(place: str, table: dict[str, Any], known: tuple[str, ...]) -> list[Problem]:
    return [Problem(place, unknown_key(key, known)) for key in table if key not in known]


def _listed(patterns: Iterable[str], to: Destination) -> bool:
    return any(_admits(pattern, to) for pattern in patterns)


def _admits(pattern: str, to: Destination) -> bool:
    """Return True if one entry of ``hosts`` names a destination.

    A star matches only whole leading labels: ``10.*`` would also match
    ``10.somebody-else.example``.
    """
    if pattern in ("*", LOCAL):
        return pattern == "*" or to.is_local
    network = _network(pattern)
    if network is not None:
        try:
            return ip_address(to.host) in network
        except ValueError:
            return False
    host, port = _split(pattern)
    if port not in ("", str(to.port)):
        return False
    if host.startswith("*."):
        return to.host.endswith(plain_host(host[2:]).join((".", "")))
    return to.host == plain_host(host)


def _is_pattern(text: str) -> bool:
    if text in ("*", LOCAL) or _network(text) is not None:
        return True
    host, port = _split(text)
    name = host.removeprefix("*.")
    sound = bool(name) and not any(c in "*?/@\\" or c.isspace() for c in name)
    if ":" in name:
        sound = sound and _network(name) is not None
    return sound and (not port or (port.isascii() and port.isdigit()))


def _network(text: str) -> Any:
    """Return the network that a text names (an address is a network of one), or None."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def _split(pattern: str) -> tuple[str, str]:
    """Return host and port; brackets hold an IPv6 address."""
    if pattern.startswith("["):
        host, _, rest = pattern[1:].partition("]")
        return host, rest.removeprefix(":")
    host, _, port = pattern.partition(":")
    return (pattern, "") if ":" in port else (host, port)


# The gate for every request: ``open_session`` checks it, and nothing else sends.
#
# It allows what the policies of all configuration files allow, and what a person has permitted in
# this process. Callers ask that person first (see ``session.egress``); otherwise the request is
# refused here.


class EgressGate:
    """The policies of all files (each must agree) and permissions given since."""

    def __init__(self, policies: Sequence[EgressPolicy] = ()) -> None:
        self.policies = tuple(policies)
        self._permitted: set[Destination] = set()

    def of_host(self, to: Destination) -> Verdict:
        """Return whether anything may be sent to a destination; "ask" if nothing decides it."""
        if to.is_local:
            return "allowed"
        said = judge(policy.of_host(to) for policy in self.policies)
        return "allowed" if said == "ask" and to in self._permitted else said

    def of_source(self, title: str, to: Destination) -> Verdict:
        """Return whether data from a source of this title may be sent to a destination."""
        if to.is_local:
            return "allowed"
        return judge(policy.of_source(title, to) for policy in self.policies)

    def permit(self, to: Destination) -> None:
        """Permit requests to a destination in this process, unless a policy refuses them."""
        self._permitted.add(to)

    def permitting(self, to: Destination) -> EgressGate:
        """Return a gate that also permits one destination; this one is unchanged."""
        gate = EgressGate(self.policies)
        gate._permitted = self._permitted | {to}
        return gate

    def check(self, to: Destination) -> None:
        """Raise EgressRefused, with the line to add, if requests may not be sent."""
        self.check_policies(to)
        if self.of_host(to) == "ask":
            raise EgressRefused(
                f"requests to {to} are not allowed yet",
                hint=f'to allow it, add [egress] hosts = ["{to}"] to proofstone.toml',
            )

    def check_policies(self, to: Destination) -> None:
        """Raise EgressRefused if a policy refuses all data for this destination."""
        refusing = [policy.where for policy in self.policies if policy.of_host(to) == "refused"]
        if refusing:
            raise EgressRefused(
                f"nothing may be sent to {to}: [egress] of {' and '.join(refusing)} does not "
                "list it",
                hint=f'add "{to}" to its hosts, if that is allowed',
            )

    def check_source(self, title: str, to: Destination) -> None:
        """Raise EgressRefused, naming source, host and remedy, if it may not be sent there."""
        for policy in self.policies:
            if to.is_local or policy.of_source(title, to) != "refused":
                continue
            rules = policy.rules_for(title)
            table = f'[egress.sources."{rules[0].title}"]' if rules else "[egress]"
            raise EgressRefused(
                f"{title!r} may not be sent to {to}: {table} of {policy.where} does not list it",
                hint=(
                    f'add "{to}" to hosts of {table} there, use a model at another host, or '
                    "leave this source out"
                ),
            )
