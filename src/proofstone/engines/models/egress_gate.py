"""The gate through which every request leaves: ``open_session`` passes it, and nothing else sends.

It lets out what the policies of all configuration files allow, and what a person has permitted in
this process. Whoever is to ask a person does so before (see ``wiring.egress``): a caller that
forgets to is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.models.destination import Destination
from proofstone.engines.models.egress_policy import EgressPolicy, Verdict, judge
from proofstone.errors import EgressRefused

__all__ = ["EgressGate"]


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
