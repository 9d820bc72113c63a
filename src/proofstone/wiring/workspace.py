"""A workspace: what people do with Proofstone, as a Python object.

Every method is synchronous and works in a notebook with a running loop; what calls models runs in
a loop of its own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from proofstone.engines.models.clock import SystemClock
from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.methods import find_method, find_payload, method_names
from proofstone.ports import Method
from proofstone.records import Bank, ItemSet, Role
from proofstone.stages.build import build_bank, build_forms
from proofstone.stages.exchange import export_bank, export_items, import_bank, import_items
from proofstone.stages.planning import RunSpec, plan_run, spec_of, store_run
from proofstone.stages.progress import RunProgress
from proofstone.stages.score import score_run
from proofstone.stages.sifting import SiftedBank, import_sifted
from proofstone.wiring.background import Background
from proofstone.wiring.correcting import Correcting
from proofstone.wiring.folders import MARK, create_folder, database_url, find_folder
from proofstone.wiring.kept import Kept
from proofstone.wiring.reading import Reading
from proofstone.wiring.targets import Target, find_target, forms_of, listed

if TYPE_CHECKING:
    from proofstone.engines.models import Asker, CacheUse
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.control import ControlReport
    from proofstone.wiring.egress import AskEgress, Loads

__all__ = ["Workspace", "create_workspace", "open_workspace"]

Watch = Callable[[list[RunProgress]], None]


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """The workspace in ``folder``, or the nearest one at or above the current folder.

    Raises WorkspaceUnusable where there is none, SchemaTooNew where a newer version wrote it.
    """
    if folder is None:
        return Workspace(find_folder(Path.cwd()))
    path = Path(folder)
    if not (path / MARK).is_dir():
        path = find_folder(path)
    return Workspace(path)


def create_workspace(folder: Path | str = ".") -> Workspace:
    """Makes a workspace in ``folder`` (kept as it is where it is one) and opens it."""
    create_folder(Path(folder))
    return Workspace(Path(folder))


class Workspace(Kept, Reading, Correcting):
    """An open workspace. Use as a context manager, or call ``close``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = SystemClock()
        # Told before anything leaves this machine, and asked where nobody has allowed it yet.
        self.ask_egress: AskEgress | None = None
        self.store = Store(database_url(folder), find_payload)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the database back."""
        self.store.close()

    # ---- finding

    def find(self, target: Target, *kinds: str) -> Found:
        """The row that a text or record names; see ``Lookup.find`` for what it raises."""
        return find_target(self.store, target, kinds)

    def method_building(self, kind: str) -> Method:
        """The method that builds facts or forms of ``kind``."""
        for name in method_names():
            method = find_method(name)
            if kind in method.builders:
                return method
        raise BadUsage(f"no method builds {kind!r}")

    # ---- making

    def import_bank(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
    ) -> Bank:
        """Reads statements from a JSONL, CSV or Parquet file, checked whole, into a bank.

        ``roles`` of models in the whole file are added to those that its rows state."""
        bank, _is_new = import_bank(
            self.store, find_method(method), Path(path), name=name, clock=self.clock, roles=roles
        )
        return bank

    def import_sifted(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
        dropped: Path | str | None = None,
    ) -> SiftedBank:
        """As ``import_bank``, of the rows that the method's filters leave; those dropped or
        cleaned are written to ``dropped``, and the counts are kept with the bank."""
        return import_sifted(
            self.store,
            find_method(method),
            Path(path),
            name=name,
            clock=self.clock,
            roles=roles,
            dropped=Path(dropped) if dropped is not None else None,
        )

    def import_form(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
    ) -> ItemSet:
        """Reads a form made elsewhere, checked whole; ``roles`` are those of models in it all."""
        form, _is_new = import_items(
            self.store, find_method(method), Path(path), name=name, clock=self.clock, roles=roles
        )
        return form

    def build_bank(
        self,
        kind: str,
        inputs: Sequence[str],
        *,
        name: str,
        seed: int = 0,
        method: str | None = None,
        **params: Any,
    ) -> Bank:
        """Builds facts of ``kind`` ("statements") from inputs into a bank, by the method named or
        else by the one that builds this kind."""
        bank, _is_new = build_bank(
            self.store,
            find_method(method) if method else self.method_building(kind),
            kind,
            [str(entry) for entry in inputs],
            name=name,
            params=params,
            seed=seed,
            clock=self.clock,
        )
        return bank

    def build_form(
        self, bank: Target, *, seeds: Iterable[int] = (0,), name: str | None = None, **params: Any
    ) -> list[ItemSet]:
        """Composes one form a seed from a bank; parameters are the method's own."""
        found = self.find(bank, "bank")
        method = self._method_of_bank(found)
        return build_forms(
            self.store,
            method,
            found.id,
            params=params,
            seeds=list(seeds),
            clock=self.clock,
            name=name,
        )

    def export(self, target: Target, path: Path | str) -> int:
        """Writes a bank or a form to a JSONL, CSV or Parquet file; returns the rows written."""
        found = self.find(target, "bank", "form")
        if found.kind == "bank":
            return export_bank(self.store, self._method_of_bank(found), found.id, Path(path))
        item_set = self.store.items.item_set(found.id)
        return export_items(self.store, find_method(item_set.method), found.id, Path(path))

    # ---- running

    def run(
        self,
        targets: Target | Sequence[Target],
        *,
        models: str | Sequence[str],
        ask: str | Sequence[str] = "direct",
        shots: int = 0,
        samples: int = 1,
        limit: int | None = None,
        replicate: str = "",
        max_connections: int | None = None,
        cache: CacheUse = "same",
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
        **settings: Any,
    ) -> list[RunResult]:
        """Asks models, scores their replies, and returns a result a run.

        What was asked before comes from the cache, where the model that answers now answered it;
        ``cache`` "any" takes it whichever model did.

        ``settings`` (temperature, max_tokens, ...) override the defaults of the way of asking. The
        same call again asks only what is missing. ``watch`` is called a few times a second with
        the progress of each run. KeyboardInterrupt once stops new requests, ``on_interrupt`` gets
        how many replies are waited for, and the results so far are returned; twice it passes.
        """
        item_sets = [
            identity
            for target in listed(targets)
            for identity in forms_of(self.store, self.find(target, "form", "bank", "run"))
        ]
        specs = [
            RunSpec(
                item_set=item_set, model=model, way=way, shots=shots, settings=settings,
                samples=samples, replicate=replicate, limit=limit,
            )
            for model in listed(models)
            for way in listed(ask)
            for item_set in dict.fromkeys(item_sets)
        ]  # fmt: skip
        return self.run_specs(
            specs,
            max_connections=max_connections,
            cache=cache,
            watch=watch,
            on_interrupt=on_interrupt,
        )

    def resume(
        self,
        run: Target,
        *,
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
        max_connections: int | None = None,
        cache: CacheUse = "same",
    ) -> list[RunResult]:
        """Asks what a run still lacks, with the settings that it has."""
        found = self.find(run, "run")
        _key, record = self.store.runs.run(found.id)
        spec = spec_of(record, find_method(record.method))
        return self.run_specs(
            [spec],
            max_connections=max_connections,
            cache=cache,
            watch=watch,
            on_interrupt=on_interrupt,
        )

    def control(self, model: str) -> ControlReport:
        """Asks a model a few simple completions, kept and cached like every call."""
        from proofstone.stages.control import perform_control  # noqa: PLC0415

        self._clear_probe([model])

        async def work(stop: asyncio.Event) -> ControlReport:
            async with self._askers([model], None, stop) as askers:
                return await perform_control(self.store, askers[model])

        return Background(work).wait()

    def score(self, run: Target, *, again: bool = False) -> int:
        """Scores a run's stored replies; returns how many scores it has. Asks nobody."""
        found = self.find(run, "run")
        key, record = self.store.runs.run(found.id)
        method = find_method(record.method)

        async def work(_stop: asyncio.Event) -> int:
            return await score_run(self.store, method, key, record, clock=self.clock, again=again)

        return Background(work).wait()

    # ---- inside

    def method_of(self, target: Target) -> Method:
        """The method of a bank, form or run."""
        found = find_target(self.store, target, ("bank", "form", "run"))
        if found.kind == "bank":
            return self._method_of_bank(found)
        if found.kind == "run":
            return find_method(self.store.runs.run(found.id)[1].method)
        return find_method(self.store.items.item_set(found.id).method)

    def _method_of_bank(self, found: Found) -> Method:
        return find_method(self.store.knowledge.bank(found.id).method)

    def run_specs(
        self,
        specs: Sequence[RunSpec],
        *,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
    ) -> list[RunResult]:
        """``run`` for runs whose settings differ from each other; results in their order."""
        shown: list[RunProgress] = []
        # A question to a person is put on this thread, before the other one is at work.
        self._clear(Background(lambda _stop: self._plan_loads(specs)).wait())

        async def work(stop: asyncio.Event) -> list[RunResult]:
            return await self.perform(
                specs,
                max_connections=max_connections,
                cache=cache,
                progress=shown,
                stop=stop,
                is_cleared=True,
            )

        background = Background(work)
        watching = None if watch is None else lambda: watch(shown)

        def interrupted() -> None:
            if on_interrupt is not None:
                on_interrupt(sum(progress.in_flight for progress in shown))

        return background.wait_stoppable(watching, interrupted)

    async def perform(
        self,
        specs: Sequence[RunSpec],
        *,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        progress: list[RunProgress] | None = None,
        stop: asyncio.Event | None = None,
        is_cleared: bool = False,
    ) -> list[RunResult]:
        """``run`` for callers with a loop of their own: asks and scores what ``specs`` mean.

        ``progress`` is filled with the counters of each run; setting ``stop`` ends new requests.
        """
        from proofstone.stages.campaign import perform_campaign, progress_of  # noqa: PLC0415
        from proofstone.stages.catalogue import keep_cards  # noqa: PLC0415

        if not is_cleared:
            self._clear(await self._plan_loads(specs))

        stop = asyncio.Event() if stop is None else stop
        names = list(dict.fromkeys(spec.model for spec in specs))
        async with self._askers(names, max_connections, stop, cache) as askers:
            plans = []
            for spec in specs:
                method = find_method(self.store.items.item_set(spec.item_set).method)
                model = askers[spec.model].model
                plans.append(plan_run(self.store, method, spec, model))
            stored = [store_run(self.store, planned, self.clock) for planned in plans]
            runs = [(planned, progress_of(self.store, planned)) for planned in stored]
            if progress is not None:
                progress += [counters for _planned, counters in runs]
            keep_cards(self.store, self.config, runs, self.clock)
            by_name = {askers[name].model.name: askers[name] for name in names}
            return await perform_campaign(
                self.store, find_method, runs, by_name, stop=stop, clock=self.clock
            )

    async def _plan_loads(self, specs: Sequence[RunSpec]) -> Loads:
        """What ``specs`` would send to each host that is not this machine."""
        from proofstone.wiring.egress import plan_loads  # noqa: PLC0415

        return await plan_loads(self.store, specs, self.config, self.clock)

    def _clear(self, loads: Loads) -> None:
        """Raises EgressRefused where something of it may not leave."""
        from proofstone.wiring.egress import clear_loads  # noqa: PLC0415
        from proofstone.wiring.permits import Permits  # noqa: PLC0415

        permits = Permits(self.folder / MARK)
        ask, gate = self.ask_egress, self.config.gate
        clear_loads(loads, gate, permits=permits, ask=ask, clock=self.clock)

    def _clear_probe(self, names: Sequence[str]) -> None:
        from proofstone.wiring.egress import clear_probe  # noqa: PLC0415

        clear_probe(names, self.config, self.ask_egress)

    def _askers(
        self,
        names: Sequence[str],
        max_connections: int | None,
        stop: asyncio.Event,
        cache: CacheUse = "same",
    ) -> AbstractAsyncContextManager[dict[str, Asker]]:
        from proofstone.wiring.askers import open_askers  # noqa: PLC0415

        return open_askers(
            names,
            self.config,
            store=self.store.calls,
            clock=self.clock,
            stop=stop,
            max_connections=max_connections,
            cache=cache,
        )
