"""The models of a workspace: which there are, what they cost, and whether they still answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct, structs

from proofstone.engines.models import (
    Checked,
    Listed,
    ModelConfig,
    call_roll,
    card_of,
    key_lines,
    list_models,
    parse_model_name,
    price_of,
)
from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.ports import Clock
from proofstone.records import CardSnapshot, ModelCheck, Price
from proofstone.records.cards import CheckState
from proofstone.stages.planning import PlannedRun
from proofstone.stages.progress import RunProgress

__all__ = [
    "OLD_PRICE_DAYS",
    "PriceRow",
    "check_catalogue",
    "keep_cards",
    "list_catalogue",
    "prices",
    "snapshots",
]

OLD_PRICE_DAYS = 90  # makers change their prices a few times a year
_FREE = {"local": "runs on this machine", "sim": "simulated"}


class PriceRow(Struct, frozen=True, kw_only=True):
    """What a model costs, or what to write so that it is known.

    ``free`` says why a model costs nothing. ``age_days`` counts from the price's date. Where no
    price is known, ``table`` and ``line`` are what to add to ``file``, of which the two figures,
    and the page they stand on, are to be filled in; ``table_at`` is the line of that file on which
    the table stands already, 0 where it does not.
    """

    name: str
    price: Price | None = None
    free: str = ""
    age_days: int | None = None
    is_old: bool = False
    file: str = ""
    table: str = ""
    table_at: int = 0
    line: str = ""


def snapshots(config: ModelConfig, names: Iterable[str], now: float) -> list[CardSnapshot]:
    """What is known now of the models of these names, simulated ones left out."""
    parsed = [parse_model_name(name) for name in names]
    return [
        CardSnapshot(
            model=str(name),
            card=card_of(name, config),
            price=price_of(name, config),
            recorded_at=now,
        )
        for name in parsed
        if name.provider != "sim"
    ]


def keep_cards(
    store: Store,
    config: ModelConfig,
    runs: Sequence[tuple[PlannedRun, RunProgress]],
    clock: Clock,
) -> None:
    """Keeps what is known now of the models of these runs; it is in force for those of the runs
    that have something left to ask."""
    names = {planned.run.respondent for planned, _progress in runs if not planned.run.simulated}
    asked = {
        planned.key: planned.run.respondent
        for planned, progress in runs
        if not planned.run.simulated and not progress.complete
    }
    if names:
        store.models.record(snapshots(config, sorted(names), clock.now()), asked)


def list_catalogue(store: Store, config: ModelConfig) -> list[Listed]:
    """The configured models and known providers, and the models once run, with their last check."""
    checks = store.models.last_checks()
    return [
        structs.replace(listed, checked=checks.get(listed.name))
        for listed in list_models(config, store.models.once_run())
    ]


async def check_catalogue(
    store: Store, config: ModelConfig, names: Sequence[str], clock: Clock
) -> list[Checked]:
    """Checks the models of these names, else all configured ones and all once run; keeps what came
    of it, and what is known of them now."""
    once_run = store.models.once_run()
    asked = list(names) or _all_models(config, once_run)
    for name in asked:
        parse_model_name(name)  # a name that is none is a mistake of the command, not of a model
    checks = await call_roll(asked, config, clock, once_run=frozenset(once_run))
    now = clock.now()
    real = [check for check in checks if not check.name.startswith("sim/")]
    store.models.add_checks([_kept(check, now) for check in real])
    store.models.record(snapshots(config, [check.name for check in real], now), {})
    return checks


def prices(
    store: Store, config: ModelConfig, names: Sequence[str], *, file: str, now: float
) -> list[PriceRow]:
    """The price of each of these models, else of all configured ones and all once run."""
    today = datetime.fromtimestamp(now, UTC).date()
    asked = list(names) or _all_models(config, store.models.once_run())
    return [_price_row(name, config, file, today) for name in dict.fromkeys(asked)]


def _all_models(config: ModelConfig, once_run: Iterable[str]) -> list[str]:
    names = sorted({*config.models, *once_run})
    if not names:
        raise BadUsage(
            "no model is configured here and none was run yet",
            hint="name some: openai/gpt-5.1, local/FILE.gguf",
        )
    return names


def _kept(check: Checked, now: float) -> ModelCheck:
    state: CheckState = "answered"
    if not check.usable:
        state = "retired" if check.retired else "failed"
    detail = f"{check.kind}: {check.detail}" if check.kind else ""
    return ModelCheck(
        model=check.name,
        state=state,
        endpoint=check.endpoint,
        detail=detail,
        checked_at=now,
    )


def _line_of_table(name: str, config: ModelConfig, file: str) -> int:
    for layer in config.layers:
        if layer.where == file:
            return key_lines(layer.text).get(("models", name), 0)
    return 0


def _price_row(name: str, config: ModelConfig, file: str, today: date) -> PriceRow:
    parsed = parse_model_name(name)
    price = price_of(parsed, config)
    if price is None and parsed.provider in _FREE:
        return PriceRow(name=name, free=_FREE[parsed.provider])
    if price is None:
        line = f'price = {{ input = ..., output = ..., date = "{today}", source = "https://..." }}'
        at = _line_of_table(name, config, file)
        table = f'[models."{name}"]'
        return PriceRow(name=name, file=file, table=table, table_at=at, line=line)
    age = (today - date.fromisoformat(price.date)).days
    return PriceRow(name=name, price=price, age_days=age, is_old=age > OLD_PRICE_DAYS)
