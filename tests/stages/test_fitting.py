"""What a model cannot be asked is said before it is: images, and prompts beyond its window."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from proofstone.api import Workspace
from proofstone.cli import main
from proofstone.errors import BadUsage, NotFound
from proofstone.method import Method, find_method
from proofstone.methods.encyclo_k.ask import messages
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.models.concurrency import Limiters
from proofstone.models.registry import open_asker
from proofstone.models.tokens import counted_tokens, most_tokens
from proofstone.records.calls import Call, ImagePart, Message, TextPart
from proofstone.records.ids import digest
from proofstone.records.items import ItemSet, LoadedItem, PromptMethod
from proofstone.records.knowledge import BankReader
from proofstone.run.campaign import RunResult, perform_campaign, progress_of
from proofstone.run.plan import RunSpec, plan_run, store_run
from proofstone.run.prompts import first_prompts
from proofstone.store.purge import PurgePlan, empty_rows, images_in
from scripted_server import answer
from serving import configure, serving

QUESTIONS = 12
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def pictured(picture: ImagePart) -> Method:
    """The method, with a picture behind each question."""

    def prepare(
        prompt_method: str, shots: int, item_set: ItemSet, bank: BankReader | None
    ) -> PromptMethod:
        return replace(METHOD.prepare(prompt_method, shots, item_set, bank), images=True)

    async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
        (question,) = messages(item, prompt_method)
        await call("answer", [Message("user", (TextPart(question.text), picture))])

    return dataclasses.replace(METHOD, prepare=prepare, ask=ask)


def run_pictured(workspace: Workspace, form: str) -> list[RunResult]:
    """The form asked of scripted/one with a picture that the store keeps."""
    method = pictured(workspace.store.images.add(PNG))

    async def work() -> list[RunResult]:
        stop, store = asyncio.Event(), workspace.store
        asker = await open_asker(
            "scripted/one", workspace.config, store=store.calls, clock=workspace.clock,
            rng=Random(1), limiters=Limiters(), stop=stop,
        )  # fmt: skip
        try:
            spec = RunSpec(
                item_set=workspace.find(form).id, model="scripted/one", prompt_method="direct"
            )
            planned = store_run(store, plan_run(store, method, spec, asker.model), workspace.clock)
            return await perform_campaign(
                store, lambda _name: method, [(planned, progress_of(store, planned))],
                {"scripted/one": asker}, stop=stop, clock=workspace.clock,
            )  # fmt: skip
        finally:
            await asker.close()

    return asyncio.run(work())


def test_questions_with_pictures_are_asked_scored_and_shown(
    workspace: Workspace, form: str
) -> None:
    """The endpoint gets the picture, the store keeps its name, and a reader sees where it was."""
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url)
        (result,) = run_pictured(workspace, form)
        content = server.seen[0].json["messages"][0]["content"]
    assert (result.complete, result.n_scored) == (True, QUESTIONS)
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    shown = command("show", f"run:{result.planned.run.id.hex()[:8]}", "-w", workspace.folder)
    assert shown == 0


def test_a_model_that_takes_no_images_is_refused_before_the_run(
    workspace: Workspace, form: str
) -> None:
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, "images = false")
        with pytest.raises(BadUsage, match="scripted/one takes no images") as refused:
            run_pictured(workspace, form)
        assert server.requests == 0
    assert "images = false" in refused.value.hint
    assert workspace.store.lookup.count("run") == 0


def test_a_picture_goes_with_the_prompts_that_show_it(workspace: Workspace, form: str) -> None:
    """Purged with their source, they leave no picture; it may be stored again, and one that no
    purged prompt shows stays."""
    other = workspace.store.images.add(PNG + b"another")
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url)
        run_pictured(workspace, form)
    database = workspace.store.database
    with database.writing() as connection:
        prompts = connection.exec_driver_sql("SELECT id FROM prompt").scalars().all()
        images = frozenset(images_in(connection, prompts))
        assert len(images) == 1
        plan = PurgePlan(*[frozenset[int]()] * 9, images=images)
        assert plan.counts()["images"] == 1
        empty_rows(connection, plan)
        assert list(images_in(connection, prompts)) == []
    store = workspace.store
    assert store.images.image(other.digest) == PNG + b"another"
    with pytest.raises(NotFound):
        store.images.image(digest(PNG))
    assert store.images.image(store.images.add(PNG).digest) == PNG


# ---------------------------------------------------------------- windows


def notes(results: Sequence[RunResult]) -> list[str]:
    return [note for result in results for note in result.planned.notes]


@pytest.mark.parametrize(
    ("window", "settings"),
    [(100, {"max_tokens": 100}), (100, {"max_tokens": 1}), (60, {"max_tokens": None})],
    ids=["no room beside the reply", "far beyond", "far beyond, reply unlimited"],
)
def test_a_window_that_no_prompt_fits_is_refused_before_the_run(
    workspace: Workspace, form: str, window: int, settings: dict[str, Any]
) -> None:
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, f"window = {window}")
        with pytest.raises(BadUsage, match=f"the context window is {window}") as refused:
            workspace.run(form, models="scripted/one", **settings)
        assert server.requests == 0
    assert "--shots" in refused.value.hint
    assert workspace.store.lookup.count("run") == 0


def test_a_window_that_some_prompts_pass_is_noted_and_the_endpoint_decides(
    workspace: Workspace, form: str
) -> None:
    """The estimate is near: what passes it may fit, so all are asked."""
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, "window = 400")
        results = workspace.run(form, models="scripted/one", max_tokens=220)
        assert server.requests == QUESTIONS
    (note,) = notes(results)
    assert re.fullmatch(
        r"of 12 prompts checked about \d+ will not fit( and \d+ more may not fit)? scripted/one: "
        r"the longest has about \d+ tokens \(by cl100k_base; the model's own may be 0.6 to 1.5 "
        r"times as many\), the context window is 400, of which --max-tokens reserves 220; "
        r"prompts that do not fit fail as too_long",
        note,
    )


def test_a_window_that_only_another_count_passes_is_noted(workspace: Workspace, form: str) -> None:
    """The longest prompt fits by cl100k_base, and would not with half as many tokens more."""
    method, found = find_method("encyclo_k"), workspace.find(form)
    item_set = workspace.store.items.item_set(found.id)
    prompt_method = method.prepare("direct", 0, item_set, None)
    prompts = list(first_prompts(workspace.store, method, prompt_method, item_set, QUESTIONS))
    longest = max(map(counted_tokens, prompts))
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, f"window = {longest + 100}")
        (note,) = notes(workspace.run(form, models="scripted/one", max_tokens=100))
        assert re.match(r"of 12 prompts checked \d+ may not fit scripted/one", note)
        del workspace.config
        configure(workspace.folder, server.url, f"window = {int(longest * 1.5) + 102}")
        assert notes(workspace.run(form, models="scripted/one", max_tokens=101)) == []
    assert all(counted_tokens(prompt) < most_tokens(prompt) for prompt in prompts)


def test_a_wide_window_or_an_unknown_one_says_nothing(workspace: Workspace, form: str) -> None:
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, "window = 100_000")
        assert notes(workspace.run(form, models="scripted/one")) == []
        del workspace.config
        configure(workspace.folder, server.url)
        assert notes(workspace.run(form, models="scripted/two")) == []


def command(*arguments: object) -> int:
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as left:
        return int(left.code or 0)
    raise AssertionError("a command ends the process")


def test_the_command_names_it_before_it_asks(
    workspace: Workspace, form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, "window = 400")
        run = ("run", form, "-m", "scripted/one", "--max-tokens", "220", "-w", workspace.folder)
        assert command(*run) == 0
        assert capsys.readouterr().err.startswith("note: of 12 prompts checked ")
        assert command(*run, "-q") == 0
        assert capsys.readouterr().err == ""
