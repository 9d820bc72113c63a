"""Models as judges: each asked through its asker, every call kept, with the purpose "judge"; and
several of them as a panel that scores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from proofstone.engines.judging import JudgingRules, Panel, PanelRules
from proofstone.engines.models import Asker
from proofstone.errors import CallFailed, NotAsked
from proofstone.identity import canonical_json, digest
from proofstone.ports import CallRecord, Model, ModelRequest
from proofstone.records import (
    Ballot,
    JudgeQuestion,
    Majority,
    Message,
    PanelVerdict,
    Reply,
)

__all__ = ["JUDGE_SETTINGS", "AskedJudge", "Bench", "JudgeSpec", "takes_schema"]

# Room for a reason and a label; a judge that thinks aloud is given more by its entry.
JUDGE_SETTINGS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0, "max_tokens": 512})


def takes_schema(model: Model) -> bool:
    """Whether a model's endpoint holds replies to a JSON schema."""
    _sent, dropped = model.sent_settings({"schema": {"type": "object"}})
    return "schema" not in dropped


class AskedJudge:
    """A ``JudgeModel`` over an asker. ``keep`` is awaited with each call that is not from the
    cache; ``settings`` go with every question."""

    def __init__(
        self,
        asker: Asker,
        keep: Callable[[CallRecord], Awaitable[None]],
        settings: Mapping[str, Any] = JUDGE_SETTINGS,
    ) -> None:
        self.name = asker.model.name
        self.takes_schema = takes_schema(asker.model)
        self._asker = asker
        self._keep = keep
        self._settings = dict(settings)

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Reply:
        """The reply; CallFailed where none came, the call kept all the same."""
        prompt = canonical_json(messages)
        request = ModelRequest(
            messages=tuple(messages),
            prompt=prompt,
            prompt_hash=digest(prompt),
            settings=self._settings if schema is None else {**self._settings, "schema": schema},
            sample=vote,
            reask=reask,
            purpose="judge",
        )
        asked = await self._asker.ask(request, self._keep)
        if asked.key is None:
            await self._keep(asked.record)
        if asked.reply is None:
            raise CallFailed(asked.record.error, asked.record.detail)
        return asked.reply


class JudgeSpec(Struct, frozen=True, kw_only=True):
    """Who is to judge, and how they decide: see ``JudgingRules`` and ``PanelRules``. A quorum of 0
    is all of them."""

    models: tuple[str, ...]
    votes: int = 1
    orders: int = 1
    quorum: int = 0
    majority: Majority = "half"

    @property
    def asking(self) -> JudgingRules:
        """How each is asked."""
        return JudgingRules(votes=self.votes, orders=self.orders)

    @property
    def rules(self) -> PanelRules:
        """How their votes decide."""
        return PanelRules(quorum=self.quorum or len(self.models), majority=self.majority)


class Bench:
    """The judges of a spec with their askers, ready to sit.

    A judge that cannot be asked any more (no budget, no endpoint) leaves its questions open.
    """

    def __init__(self, spec: JudgeSpec, askers: Sequence[Asker]) -> None:
        self._spec = spec
        self._askers = tuple(sorted(askers, key=lambda asker: asker.model.name))

    @property
    def name(self) -> str:
        """By which a scoring knows them: their names, and what of the rules is not as usual."""
        said = [", ".join(asker.model.name for asker in self._askers)]
        usual = JudgeSpec(models=self._spec.models)
        for rule in ("votes", "orders", "quorum", "majority"):
            value = getattr(self._spec, rule)
            said += [f"{rule}={value}"] if value != getattr(usual, rule) else []
        return " ".join(said)

    @property
    def stopped(self) -> Exception | None:
        """Why one of them cannot be asked any more."""
        return next((a.stopped for a in self._askers if a.stopped is not None), None)

    def sitting(self, keep: Callable[[CallRecord], Awaitable[None]]) -> Sitting:
        """The judges as one, each of whose calls goes to ``keep``. Raises BadUsage for rules that
        cannot be."""
        judges = [AskedJudge(asker, keep) for asker in self._askers]
        return Sitting(Panel(judges, asking=self._spec.asking, rules=self._spec.rules))


class Sitting:
    """A panel as ``ports.Judge``: what could not be put to it has failed, and may be put again."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        """See ``Panel.decide``."""
        try:
            return await self._panel.decide(question)
        except NotAsked as stopped:
            trouble = stopped.kind
            silent = [Ballot(judge=n, state="failed", trouble=trouble) for n in self._panel.names]
            return PanelVerdict(state="no_quorum", ballots=tuple(silent), rules=self._panel.rules)
