"""The models of a workspace: which there are, what they cost, and whether they still answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.models.check import Checked, call_roll, reported_here
from proofstone.models.config import ModelConfig, card_of, price_of
from proofstone.models.entries import key_lines, usable_bundled
from proofstone.models.names import ModelName, parse_model_name
from proofstone.models.registry import Listed, list_models
from proofstone.records.models import CardSnapshot, CheckState, ModelCheck, Price, family_of
from proofstone.session.egress import clear_probe
from proofstone.session.folders import CONFIG_NAME
from proofstone.session.progress import Background
from proofstone.session.session import Session

OLD_PRICE_DAYS = 90  # makers change their prices a few times a year


_FREE = {"local": "runs on this machine", "sim": "simulated"}


class PriceRow(Struct, frozen=True, kw_only=True):
    """Hold the price of a model, or the configuration lines to add for it.

    ``free`` states why a model costs nothing. ``age_days`` counts from the price's date. Without a
    price, ``table`` and ``line`` are the lines to add to ``file``, with figures and source page to
    fill in. ``table_at`` is the line of that file with the existing table, or 0.
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
        state = "unavailable" if check.is_unavailable else "failed"
    detail = f"{check.kind}: {check.detail}" if check.kind else ""
    return ModelCheck(
        model=check.name,
        state=state,
        endpoint=check.endpoint,
        detail=detail,
        checked_at=now,
    )


def _price_row(name: str, config: ModelConfig, file: str, today: date) -> PriceRow:
    parsed = parse_model_name(name)
    price = price_of(parsed, config)
    if price is None and parsed.provider in _FREE:
        return PriceRow(name=name, free=_FREE[parsed.provider])
    if price is None:
        line = f'price = {{ input = ..., output = ..., date = "{today}", source = "https://..." }}'
        text = next((layer.text for layer in config.layers if layer.where == file), "")
        at = key_lines(text).get(("models", name), 0)
        table = f'[models."{name}"]'
        return PriceRow(name=name, file=file, table=table, table_at=at, line=line)
    age = (today - date.fromisoformat(price.date)).days
    return PriceRow(name=name, price=price, age_days=age, is_old=age > OLD_PRICE_DAYS)


# The models of a workspace, as its methods: which there are, what they cost, do they answer.


def family_of_model(session: Session, model: str) -> str:
    """Return the family in the newest card of a model, stored or configured; without one, by its
    name.

    Roles may name a model without its provider.
    """
    provider, slash, own = model.partition("/")
    name = ModelName(provider, own) if slash else ModelName("", model)
    kept = session.store.models.cards([model]).get(model)
    stated = kept.card.family if kept is not None else ""
    return family_of(model, stated or card_of(name, session.config).family)


def known_models(session: Session) -> list[Listed]:
    """The configured models and known providers, and the models once run, with their last check:
    what keeps each from use."""
    checks = session.store.models.last_checks()
    return [
        structs.replace(listed, checked=checks.get(listed.name))
        for listed in list_models(session.config, session.store.models.once_run())
    ]


def models_here(session: Session) -> list[str]:
    """Models on this machine that need no key and no configuration: those that running local
    servers list, then the bundled one where its package is installed."""
    config, clock = session.config, session.clock
    reported = Background(lambda _stop: reported_here(config, clock)).wait()
    return [*reported, *usable_bundled()]


def check_models(session: Session, names: Sequence[str] = ()) -> list[Checked]:
    """Check models with one small request each, and store the results and current model cards.

    Without ``names``, all configured and previously run models are checked. A check also states
    whether the endpoint lists the model.
    """
    store, config, clock = session.store, session.config, session.clock
    once_run = store.models.once_run()
    clear_probe(names or [*config.models, *once_run], config, session.ask_egress)
    asked = list(names) or _all_models(config, once_run)
    for name in asked:
        parse_model_name(name)  # a name that is none is a mistake of the command, not of a model
    checks = Background(
        lambda _stop: call_roll(asked, config, clock, once_run=frozenset(once_run))
    ).wait()
    now = clock.now()
    real = [check for check in checks if not check.name.startswith("sim/")]
    store.models.add_checks([_kept(check, now) for check in real])
    store.models.record(snapshots(config, [check.name for check in real], now), {})
    return checks


def model_prices(session: Session, names: Sequence[str] = ()) -> list[PriceRow]:
    """Return the price of each model, or the line to add for it. Without ``names``, all configured
    and previously run models."""
    file, config = str(session.folder / CONFIG_NAME), session.config
    today = datetime.fromtimestamp(session.clock.now(), UTC).date()
    asked = list(names) or _all_models(config, session.store.models.once_run())
    return [_price_row(name, config, file, today) for name in dict.fromkeys(asked)]


# Which models can be used here, and which of them a person is likely to mean.


class ModelChoice(Struct, frozen=True):
    """A model and what it costs, in words."""

    name: str
    costs: str


def model_choices(
    listed: Iterable[Listed], prices: Iterable[PriceRow], here: Iterable[str] = ()
) -> list[ModelChoice]:
    """Return the usable models: local ones first, then by name, then those of ``here`` without a
    configuration.

    Providers without a model, unavailable and simulated models are left out.
    """
    costs = {row.name: _cost(row) for row in prices}
    usable = [
        each.name
        for each in listed
        if not each.name.endswith("/...")
        and not each.name.startswith("sim/")
        and not (each.unset or each.problem)
        and not (each.checked and each.checked.state == "unavailable")
    ]
    names = sorted(dict.fromkeys(usable), key=lambda name: (not name.startswith("local/"), name))
    known = [ModelChoice(name, costs.get(name, "price not known")) for name in names]
    return [*known, *(ModelChoice(name, _here(name)) for name in here if name not in names)]


def _here(name: str) -> str:
    is_bundled = name.startswith("local/")
    return f"free: {'bundled, small, to try with' if is_bundled else 'a server on this machine'}"


def other_family(writer: str, choices: Sequence[ModelChoice]) -> str:
    """Return a judge for a writer: the first model of another family, or the writer itself without
    one."""
    own = family_of(writer)
    return next((each.name for each in choices if family_of(each.name) != own), writer)


def _cost(row: PriceRow) -> str:
    if row.free:
        return f"free: {row.free}"
    if row.price is None:
        return "price not known"
    return f"{row.price.input:g} / {row.price.output:g} USD a million tokens in / out"
