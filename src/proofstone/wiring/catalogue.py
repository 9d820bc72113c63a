"""The models of a workspace, as its methods: which there are, what they cost, do they answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.engines.store import Store
from proofstone.ports import Clock
from proofstone.wiring.background import Background
from proofstone.wiring.folders import CONFIG_NAME

if TYPE_CHECKING:
    from proofstone.engines.models import Checked, Listed, ModelConfig
    from proofstone.stages.catalogue import PriceRow
    from proofstone.wiring.egress import AskEgress

__all__ = ["Catalogue"]


class Catalogue:
    """What a workspace can say of models."""

    folder: Path
    store: Store
    clock: Clock
    ask_egress: AskEgress | None
    tell: Callable[[str], None] | None = None  # hears how far something is that takes long

    @cached_property
    def config(self) -> ModelConfig:
        """The models' settings: this folder's file, the user's, and the environment."""
        from proofstone.engines.models import load_config  # noqa: PLC0415

        return load_config(self.folder, other_tables=frozenset({"workspace"}))

    def family_of(self, model: str) -> str:
        """The family by which a model's kin is known: by its card, else by its name."""
        from proofstone.stages.hands import family_by_card  # noqa: PLC0415

        return family_by_card(self.store, self.config, model)

    def models(self) -> list[Listed]:
        """The configured models, those once run and known providers: what keeps each from use."""
        from proofstone.stages.catalogue import list_catalogue  # noqa: PLC0415

        return list_catalogue(self.store, self.config)

    def models_here(self) -> list[str]:
        """Models on this machine that need no key and no configuration: those that running local
        servers list, then the bundled one where its package is installed."""
        from proofstone.engines.models import served_here, usable_bundled  # noqa: PLC0415

        config, clock = self.config, self.clock
        served = Background(lambda _stop: served_here(config, clock)).wait()
        return [*served, *usable_bundled()]

    def check_models(self, names: Sequence[str] = ()) -> list[Checked]:
        """Asks endpoints for these models, else for all: whether they list them, and one tiny
        question each. What came of it is kept."""
        from proofstone.stages.catalogue import check_catalogue  # noqa: PLC0415
        from proofstone.wiring.egress import clear_probe  # noqa: PLC0415

        config = self.config
        asked = names or [*config.models, *self.store.models.once_run()]
        clear_probe(asked, config, self.ask_egress)
        work = Background(lambda _stop: check_catalogue(self.store, config, names, self.clock))
        return work.wait()

    def prices(self, names: Sequence[str] = ()) -> list[PriceRow]:
        """What these models cost, else all; or the line to add where that is not known."""
        from proofstone.stages.catalogue import prices  # noqa: PLC0415

        file = str(self.folder / CONFIG_NAME)
        return prices(self.store, self.config, names, file=file, now=self.clock.now())
