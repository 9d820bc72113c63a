"""Whether the searches of the web that are set up here answer: one short fixed query each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.engines.models.online import Online, Step, StepName
from proofstone.engines.retrieval import WEB_SEARCHES, WebFailure, WebSearchError
from proofstone.errors import BadUsage, EgressRefused
from proofstone.ports import Clock
from proofstone.stages.search_sources import SearchSource, read_search_source
from proofstone.wiring.background import Background
from proofstone.wiring.egress import AskEgress, Leaving
from proofstone.wiring.web_searching import WebSearcher, set_searches, told_failure

if TYPE_CHECKING:
    from proofstone.engines.models import ModelConfig

__all__ = ["is_search", "look_at_searches"]

_STEPS: tuple[StepName, ...] = ("settings", "policy", "connection", "key", "model")
_ENDS_AT: Mapping[WebFailure, StepName] = {
    "server_error": "connection",
    "unreadable": "connection",
    "bad_key": "key",
    "no_credit": "key",
    "rate_limited": "key",
    "bad_request": "model",
}


def is_search(name: str) -> bool:
    """Whether this names a search of the web rather than a model."""
    return "/" not in name and name.partition(":")[0] in WEB_SEARCHES


def look_at_searches(
    names: Sequence[str] | None, config: ModelConfig, clock: Clock, ask: AskEgress | None
) -> list[Online]:
    """One query to each of these searches (None: to all that are set up); it holds nothing of a
    workspace. Raises BadUsage for an unknown one."""
    if names is None:
        sources = [SearchSource(web) for web in set_searches(config.environment)]
    else:
        sources = [read_search_source(name) for name in names]
    return [_looked(source, config, clock, ask) for source in sources]


def _looked(
    source: SearchSource, config: ModelConfig, clock: Clock, ask: AskEgress | None
) -> Online:
    from proofstone.engines.models import destination_of  # noqa: PLC0415 - heavy

    found: dict[StepName, str] = {"settings": "its variables are set"}
    if source.web is None:
        raise BadUsage(f"{source.name} is no search of the web")
    try:
        searcher = WebSearcher(source.web, Path(), config, clock, engines=source.engines)
    except BadUsage as error:
        return Online(source.name, "", _until("settings", found, error.message, error.hint))
    address = searcher.address
    to = destination_of(address)
    if to is None:
        said = "no address of http or https"
        return Online(source.name, address, _until("settings", found, said, ""))
    found["policy"] = f"{to} is this machine" if to.is_local else f"{to} may be asked"
    try:
        config.gate.check_policies(to)
        if not to.is_local:
            if ask is not None:
                ask(Leaving(to=str(to), models=(source.name,), state="probe"))
            config.gate.permit(to)
        started = clock.monotonic()
        n_hits = Background(lambda _stop: searcher.probe()).wait()
    except EgressRefused as error:
        return Online(source.name, address, _until("policy", found, error.message, error.hint))
    except WebSearchError as error:
        told = told_failure(source.name, error)
        found["connection"] = str(to)
        steps = _until(_ENDS_AT[error.kind], found, f"{error.kind}: {error.detail}", told.hint)
        return Online(source.name, address, steps)
    found |= {
        "connection": str(to),
        "key": "accepted",
        "model": f"searched, {n_hits} hit{'' if n_hits == 1 else 's'}",
    }
    return Online(source.name, address, _until(None, found), clock.monotonic() - started)


def _until(
    failed: StepName | None, found: Mapping[StepName, str], said: str = "", remedy: str = ""
) -> tuple[Step, ...]:
    """The steps before ``failed`` as ok, that one as failed, the rest open."""
    if failed is None:
        return tuple(Step(name, "ok", found.get(name, "")) for name in _STEPS)
    place = _STEPS.index(failed)
    return (
        *(Step(name, "ok", found.get(name, "")) for name in _STEPS[:place]),
        Step(failed, "failed", said, remedy),
        *(Step(name, "open") for name in _STEPS[place + 1 :]),
    )
