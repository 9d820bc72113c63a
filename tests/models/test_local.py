"""Local models over a fake child: requests, deaths and restarts, refusals to start, options."""

from __future__ import annotations

import asyncio
import json
import sys
from hashlib import sha256
from pathlib import Path

import aiohttp
import pytest

from proofstone.errors import BadUsage, EndpointUnusable, NotFound
from proofstone.models.entries import Entry
from proofstone.models.failures import treatment
from proofstone.models.gguf import open_gguf
from proofstone.models.local import (
    ChildProcess,
    LocalModel,
    LocalOptions,
    LocalServer,
    open_local,
)
from proofstone.models.retries import SystemClock
from proofstone.records.calls import Attempt, Message, ModelRequest
from proofstone.records.ids import canonical_json
from serving import PATIENCE_S, wait_until

CONTENT = b"GGUF and some weights"
FAKE = Path(__file__).with_name("fake_child.py")


def command(folder: Path, how: str = "serve") -> tuple[str, ...]:
    return (sys.executable, str(FAKE), str(folder / "starts"), how)


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text(encoding="utf-8").splitlines())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    return path


def server(folder: Path, how: str = "serve", **options: float) -> LocalServer:
    return LocalServer(
        command(folder, how),
        title="local/tiny",
        hide=(str(FAKE),),
        **options,  # type: ignore[arg-type]
    )


async def ask(model: LocalModel, text: str, **settings: object) -> Attempt:
    messages = (Message("user", text),)
    prompt = canonical_json(messages)
    request = ModelRequest(messages=messages, prompt=prompt, prompt_hash=b"", settings=settings)
    return await model.collect(await model.submit(request))


async def test_it_answers_through_its_child(file: Path, tmp_path: Path) -> None:
    """The child starts with the first request, and each reply is a chat completion's."""
    model = await open_local(str(file), command=command(tmp_path))
    assert not (tmp_path / "starts").exists()
    first, second = await ask(model, "one", temperature=0), await ask(model, "two")
    await model.close()
    assert first.response is not None
    assert json.loads(first.response.text) == {"model": "tiny.gguf", "temperature": 0.0}
    assert second.response is not None
    assert starts(tmp_path) == 1


async def test_its_identity_is_the_file_s_content(file: Path, tmp_path: Path) -> None:
    """No path, no port: the same file in another place is the same endpoint."""
    model = await open_local(str(file), command=command(tmp_path))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tiny.gguf").write_bytes(CONTENT)
    other = await open_local(f"{elsewhere / 'tiny.gguf'}?ctx=512", command=command(tmp_path))
    assert model.endpoint == f"gguf:{sha256(CONTENT).hexdigest()[:16]}" == other.endpoint
    assert model.reported_as == "tiny.gguf" == other.reported_as
    assert not model.simulated


async def test_a_death_in_mid_run_is_transient_and_restarted(file: Path, tmp_path: Path) -> None:
    """What was in flight comes back as worth another try, saying why; the next one is answered."""
    model = await open_local(str(file), command=command(tmp_path))
    together = await asyncio.gather(ask(model, "die together"), ask(model, "die together"))
    after = await asyncio.gather(ask(model, "one"), ask(model, "two"))
    await model.close()
    assert [attempt.error for attempt in together] == ["dropped", "dropped"]
    assert treatment("dropped").retried
    assert "ended (exit code 7)" in together[0].detail
    assert "ran out of memory" in together[0].detail
    assert all(attempt.response is not None for attempt in after)
    assert starts(tmp_path) == 2


async def test_a_killed_child_is_restarted(file: Path, tmp_path: Path) -> None:
    """A child that was ended from outside between two requests is noticed by the next one."""
    model = await open_local(str(file), command=command(tmp_path))
    await ask(model, "one")
    pid = int((tmp_path / "starts").read_text(encoding="utf-8"))
    await _kill(pid)
    attempts = [await ask(model, "two") for _ in range(2)]
    await model.close()
    assert attempts[-1].response is not None
    assert starts(tmp_path) == 2


async def _kill(pid: int) -> None:
    killer = f"import os, signal; os.kill({pid}, getattr(signal, 'SIGKILL', signal.SIGTERM))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", killer)
    await process.wait()


async def test_restarts_are_bounded(file: Path, tmp_path: Path) -> None:
    """After 1 + 2 starts with no reply between, the model's work ends with the last words."""
    found, options = open_gguf(file), LocalOptions()
    model = LocalModel(
        "local/tiny", found, server(tmp_path, restarts=2), clock=SystemClock(), options=options
    )
    attempts = [await ask(model, "die") for _ in range(5)]
    await model.close()
    assert [attempt.error for attempt in attempts] == ["dropped"] * 3 + ["not_running"] * 2
    assert treatment("not_running").stops
    assert "assertion failed" in attempts[-1].detail
    assert "crashed 3 times without a response in between" in attempts[-1].detail
    assert starts(tmp_path) == 1 + 2


async def test_a_reply_between_deaths_counts_them_anew(file: Path, tmp_path: Path) -> None:
    model = LocalModel(
        "local/tiny",
        open_gguf(file),
        server(tmp_path, restarts=1),
        clock=SystemClock(),
        options=LocalOptions(),
    )
    errors = [(await ask(model, text)).error for text in ("die", "one", "die", "two", "die", "x")]
    await model.close()
    assert errors == ["dropped", "", "dropped", "", "dropped", ""]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("crash", r"could not be loaded: exit code 7\n    \.\.\.: this machine is too old"),
        ("babble", "expected an address from its process, got b'Hello!"),
        ("silent", "was not ready within 0.5 s"),
        ("no-runner", "needs the package xllamacpp"),
    ],
)
async def test_a_child_that_cannot_serve_says_why(tmp_path: Path, how: str, words: str) -> None:
    """The error names the model and the cause, with what the child printed and no local path."""
    with pytest.raises(EndpointUnusable, match=words) as caught:
        await server(tmp_path, how, ready_within_s=0.5 if how == "silent" else PATIENCE_S).address()
    assert "local/tiny" in str(caught.value)
    assert str(FAKE) not in str(caught.value)


async def test_no_such_program_is_an_error_of_the_endpoint(tmp_path: Path) -> None:
    lost = LocalServer([str(tmp_path / "nothing")], title="local/tiny")
    with pytest.raises(EndpointUnusable, match="could not start a process for local/tiny"):
        await lost.address()
    assert await lost.death() == ""
    await lost.close()


async def test_a_failed_start_ends_the_model_and_not_the_run(file: Path, tmp_path: Path) -> None:
    """It comes back as an attempt whose kind stops this model's work."""
    model = await open_local(str(file), command=command(tmp_path, "no-runner"))
    attempt = await ask(model, "one")
    await model.close()
    assert attempt.error == "not_running"
    assert "pip install 'proofstone[demo]'" in attempt.detail


async def test_closing_ends_the_child(tmp_path: Path) -> None:
    """By closing its stdin, the way it would notice its parent's death too."""
    one = server(tmp_path)
    address = await one.address()
    assert await one.address() is address
    assert await one.death() == ""
    child = one._child
    await one.close()
    await one.close()
    assert child is not None
    assert not child.alive


async def test_a_child_that_does_not_listen_is_ended_by_force(tmp_path: Path) -> None:
    child = await ChildProcess.start(command(tmp_path, "deaf"))
    assert b"http://127.0.0.1:" in await child.first_line(PATIENCE_S)
    await child.close(within_s=0.2)
    assert not child.alive
    assert await child.death(PATIENCE_S) in ("SIGKILL", "exit code 1")  # POSIX; Windows


PARENT = """
import asyncio, os, signal, sys
from proofstone.models.local import LocalServer

async def main():
    await LocalServer(sys.argv[1:], title="local/tiny").address()
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

asyncio.run(main())
"""


async def test_the_child_of_a_killed_parent_ends(tmp_path: Path) -> None:
    """Nothing can be done by a process that is killed: the system closes its pipe."""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, *command(tmp_path))
    assert await parent.wait() != 0
    wait_until((tmp_path / "starts.gone").exists)


async def test_a_wrong_key_is_refused(tmp_path: Path) -> None:
    """Only the parent can ask: another user of the machine has no key."""
    one = server(tmp_path)
    address = await one.address()
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{address.url}/v1/chat/completions", json={"messages": []}) as response,
    ):
        assert response.status == 401
    await one.close()
    assert address.key.reveal() not in repr(address)


async def test_settings_that_the_server_ignores_are_dropped(file: Path, tmp_path: Path) -> None:
    """And log-probabilities come with one alternative a token unless more are asked for."""
    entry = Entry(body={"cache_prompt": False}, unsupported=("seed",), timeout_s=60.0)
    model = await open_local(str(file), entry=entry, command=command(tmp_path))
    asked = {"logprobs": True, "reasoning_effort": "low", "seed": 1, "max_tokens": 8}
    sent = {"cache_prompt": False, "logprobs": True, "max_tokens": 8, "top_logprobs": 1}
    assert model.sent_settings(asked) == (sent, ("reasoning_effort", "seed"))
    assert model.sent_settings({"logprobs": True, "top_logprobs": 5})[0]["top_logprobs"] == 5
    attempt = await ask(model, "one", **asked)
    await model.close()
    assert attempt.response is not None
    assert json.loads(attempt.response.text) == {"model": "tiny.gguf", **sent}


async def test_an_entry_may_name_the_file(file: Path, tmp_path: Path) -> None:
    """A name of one's own for a path with its options."""
    entry = Entry(model=f"{file}?parallel=2")
    model = await open_local("mine", entry=entry, command=command(tmp_path))
    assert (model.name, model.reported_as, model.max_connections) == ("local/mine", "tiny.gguf", 2)


async def test_every_wrong_option_is_named(file: Path) -> None:
    with pytest.raises(BadUsage) as caught:
        await open_local(f"{file}?ctx=0&threads=two&gpu=1")
    message = str(caught.value)
    assert "ctx: expected a whole number of 1 or more, got '0'" in message
    assert "threads: expected a whole number of 1 or more, got 'two'" in message
    assert "unknown option 'gpu'" in message
    assert "expected ctx, threads, parallel" in message


async def test_a_missing_file_lists_what_lies_there(file: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"model file .*none\.gguf not found\n.*: tiny\.gguf"):
        await open_local(str(tmp_path / "none.gguf"))
    with pytest.raises(NotFound, match=r"the folder .* does not exist"):
        await open_local(str(tmp_path / "no" / "none.gguf"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match=r"holds no \.gguf file"):
        await open_local(str(tmp_path / "empty" / "none.gguf"))


async def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    pointer = tmp_path / "pointer.gguf"
    pointer.write_text("version https://git-lfs.github.com/spec/v1", encoding="utf-8")
    with pytest.raises(
        EndpointUnusable, match="not a GGUF model: expected b'GGUF' at its start, got b'vers'"
    ):
        await open_local(str(pointer))


def test_a_changed_file_has_another_identity(file: Path) -> None:
    """The hash is kept while size and time of change stay, and made anew when they do not."""
    before = open_gguf(file)
    assert open_gguf(file) == before
    file.write_bytes(CONTENT + b" more")
    assert open_gguf(file).endpoint == f"gguf:{sha256(CONTENT + b' more').hexdigest()[:16]}"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_home_folder_is_expanded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    assert open_gguf(Path("~/tiny.gguf")).path == file
