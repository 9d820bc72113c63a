"""What may go where: the ``[egress]`` table of a ``proofstone.toml``, read whole.

    [egress]
    hosts = ["api.openai.com", "*.openai.azure.com", "llm.corp.example:8443", "10.1.0.0/16"]

    [egress.sources."Manual 2024"]      # a title, with * and ? where wanted
    hosts = ["local"]

Without ``hosts`` a host that is not known yet is asked about. This machine (``local``) is always
allowed: nothing leaves it.
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
    'a host is "api.example.com", "*.example.com", "host:8443", an address, a network such as '
    '"10.1.0.0/16", "local" or "*"'
)


class SourceRule(Struct, frozen=True):
    """The hosts to which sources of a title (a pattern) may go, in place of the general ones."""

    title: str
    hosts: tuple[str, ...]


class EgressPolicy(Struct, frozen=True):
    """The ``[egress]`` table of one file. ``hosts`` is None where it says nothing in general."""

    where: str = ""
    hosts: tuple[str, ...] | None = None
    sources: tuple[SourceRule, ...] = ()

    def of_host(self, to: Destination) -> Verdict:
        """Whether anything at all may go there."""
        named = [*(self.hosts or ()), *(host for rule in self.sources for host in rule.hosts)]
        if to.is_local or any(_admits(pattern, to) for pattern in named):
            return "allowed"
        return "ask" if self.hosts is None else "refused"

    def of_source(self, title: str, to: Destination) -> Verdict:
        """Whether what rests on a source of this title may go there: every rule that names it must
        admit the host; where none does, ``hosts`` decides."""
        rules = self.rules_for(title)
        if to.is_local or (rules and all(_listed(rule.hosts, to) for rule in rules)):
            return "allowed"
        if rules:
            return "refused"
        if self.hosts is None:
            return "ask"
        return "allowed" if _listed(self.hosts, to) else "refused"

    def rules_for(self, title: str) -> tuple[SourceRule, ...]:
        """The rules whose pattern fits a title; upper and lower case are told apart."""
        return tuple(r for r in self.sources if r.title == title or fnmatchcase(title, r.title))


def judge(verdicts: Iterable[Verdict]) -> Verdict:
    """What several files say together: one refusal refuses; else one permission permits."""
    said = set(verdicts)
    if "refused" in said:
        return "refused"
    return "allowed" if "allowed" in said else "ask"


def read_policy(where: str, table: Any) -> tuple[EgressPolicy, list[Problem]]:
    """The policy of a file's ``[egress]`` and all that is wrong with it; with problems it is not
    to be used."""
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
        Problem(place, f"hosts: {host!r} is no host; {_HOSTS_HELP}")
        for host in value
        if not _is_pattern(host)
    ]
    return tuple(value), problems


def _unknown(place: str, table: dict[str, Any], known: tuple[str, ...]) -> list[Problem]:
    return [Problem(place, unknown_key(key, known)) for key in table if key not in known]


def _listed(patterns: Iterable[str], to: Destination) -> bool:
    return any(_admits(pattern, to) for pattern in patterns)


def _admits(pattern: str, to: Destination) -> bool:
    """Whether one entry of ``hosts`` names a destination. A star stands only for whole labels in
    front: ``10.*`` would also name ``10.somebody-else.example``."""
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
    """The network that a text names (an address is one of one), else None."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def _split(pattern: str) -> tuple[str, str]:
    """Host and port; brackets hold an IPv6 address."""
    if pattern.startswith("["):
        host, _, rest = pattern[1:].partition("]")
        return host, rest.removeprefix(":")
    host, _, port = pattern.partition(":")
    return (pattern, "") if ":" in port else (host, port)


# The gate through which every request leaves: ``open_session`` passes it, and nothing else sends.
#
# It lets out what the policies of all configuration files allow, and what a person has permitted in
# this process. Whoever is to ask a person does so before (see ``session.egress``): a caller that
# forgets to is refused here.


class EgressGate:
    """The policies of all files (each of which must agree) and what was permitted since."""

    def __init__(self, policies: Sequence[EgressPolicy] = ()) -> None:
        self.policies = tuple(policies)
        self._permitted: set[Destination] = set()

    def of_host(self, to: Destination) -> Verdict:
        """Whether anything may go to a destination; "ask" where nobody has decided."""
        if to.is_local:
            return "allowed"
        said = judge(policy.of_host(to) for policy in self.policies)
        return "allowed" if said == "ask" and to in self._permitted else said

    def of_source(self, title: str, to: Destination) -> Verdict:
        """Whether what rests on a source of this title may go to a destination."""
        if to.is_local:
            return "allowed"
        return judge(policy.of_source(title, to) for policy in self.policies)

    def permit(self, to: Destination) -> None:
        """Lets requests to a destination out, from now on and in this process, unless a policy
        refuses them."""
        self._permitted.add(to)

    def permitting(self, to: Destination) -> EgressGate:
        """Return a gate that also lets requests to one destination out; this one stays shut."""
        gate = EgressGate(self.policies)
        gate._permitted = self._permitted | {to}
        return gate

    def check(self, to: Destination) -> None:
        """Raises EgressRefused, with the line to add, where requests may not leave."""
        self.check_policies(to)
        if self.of_host(to) == "ask":
            raise EgressRefused(
                f"nobody has allowed requests to {to} yet",
                hint=f'to allow it, add [egress] hosts = ["{to}"] to proofstone.toml',
            )

    def check_policies(self, to: Destination) -> None:
        """Raises EgressRefused where a policy refuses everything that would go there."""
        refusing = [policy.where for policy in self.policies if policy.of_host(to) == "refused"]
        if refusing:
            raise EgressRefused(
                f"nothing may go to {to}: [egress] of {' and '.join(refusing)} does not list it",
                hint=f'add "{to}" to its hosts, if it may',
            )

    def check_source(self, title: str, to: Destination) -> None:
        """Raises EgressRefused, naming source, host and remedy, where it may not go there."""
        for policy in self.policies:
            if to.is_local or policy.of_source(title, to) != "refused":
                continue
            rules = policy.rules_for(title)
            table = f'[egress.sources."{rules[0].title}"]' if rules else "[egress]"
            raise EgressRefused(
                f"{title!r} may not go to {to}: {table} of {policy.where} does not list it",
                hint=f'add "{to}" to hosts of {table} there, ask a model at another host, or leave '
                "this source out",
            )
