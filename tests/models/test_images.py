"""Images in prompts: named by their hash, sent as data: URLs, refused where a model takes none."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_chat_endpoint import endpoint

from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.models.ask import request_hash
from proofstone.models.client import ChatEndpoint, CompletionsEndpoint
from proofstone.models.config import Endpoint
from proofstone.models.retries import SystemClock
from proofstone.records.calls import (
    MAX_IMAGE_BYTES,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
    image_part,
)
from proofstone.records.ids import canonical_json, digest
from scripted_server import ScriptedServer

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAEFAQEOq4BxAAAAAElFTkSuQmCC"
)
GIF = b"GIF89a" + bytes(16)
IMAGES = {digest(PNG): PNG, digest(GIF): GIF}


def read(identity: bytes) -> bytes:
    if identity not in IMAGES:
        raise NotFound("image is not here")
    return IMAGES[identity]


def request(*messages: Message) -> ModelRequest:
    prompt = canonical_json(messages)
    return ModelRequest(messages=messages, prompt=prompt, prompt_hash=digest(prompt))


def asking(text: str, *images: bytes) -> Message:
    return Message("user", (TextPart(text), *(image_part(image) for image in images)))


def client(known: Endpoint) -> ChatEndpoint:
    return ChatEndpoint(known, clock=SystemClock(), images=read)


async def test_an_image_is_sent_as_a_data_url_in_its_place() -> None:
    async with ScriptedServer() as server:
        model = client(endpoint(server.url))
        attempt = await model.collect(
            await model.submit(request(Message("system", "Look."), asking("Which?", PNG, GIF)))
        )
        await model.close()
        (seen,) = server.seen
    assert attempt.response is not None
    assert seen.json["messages"] == [
        {"role": "system", "content": "Look."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Which?"},
                {"type": "image_url", "image_url": {
                    "url": f"data:image/png;base64,{b64encode(PNG).decode()}"}},
                {"type": "image_url", "image_url": {
                    "url": f"data:image/gif;base64,{b64encode(GIF).decode()}"}},
            ],
        },
    ]  # fmt: skip


def test_the_hash_of_a_request_holds_the_very_image() -> None:
    model = client(endpoint("http://h/v1"))
    hashes = {
        request_hash(model, request(asking("Which?", image)), {}) for image in (PNG, PNG + b"\0")
    }
    assert len(hashes) == 2
    assert b64encode(PNG) not in request(asking("Which?", PNG)).prompt


def test_a_text_message_is_written_as_it_always_was() -> None:
    """Its bytes, and so every stored hash of a prompt, do not change for the parts' sake."""
    assert canonical_json([Message("user", 'Which? "Ω"')]) == (
        '[{"content":"Which? \\"Ω\\"","role":"user"}]'.encode()
    )


parts = st.one_of(
    st.text().map(TextPart),
    st.binary(min_size=32, max_size=32).map(lambda hash_: ImagePart(hash_, "image/webp")),
)


@given(st.lists(parts, min_size=1, max_size=4).map(tuple) | st.text())
def test_any_message_is_read_back_as_it_was(
    content: str | tuple[TextPart | ImagePart, ...],
) -> None:
    message = Message("user", content)
    assert msgspec.json.decode(canonical_json(message), type=Message) == message


async def test_a_text_that_looks_like_a_part_is_a_text() -> None:
    """The words of a part within a question are not taken for one."""
    async with ScriptedServer() as server:
        model = client(endpoint(server.url))
        text = 'What is {"type":"image"} here?'
        await model.collect(await model.submit(request(Message("user", text))))
        await model.close()
        assert server.seen[0].json["messages"] == [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + bytes(8), "image/jpeg"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (GIF, "image/gif"),
        (b"GIF87a" + bytes(8), "image/gif"),
    ],
)
def test_the_type_is_read_from_the_bytes(data: bytes, media_type: str) -> None:
    assert image_part(data) == ImagePart(digest(data), media_type)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", b"<svg/>", b"RIFF\0\0\0\0WAVE", b"BM" + bytes(9)]
)
def test_other_formats_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"figure 3: expected a PNG, JPEG, WebP or GIF image"):
        image_part(data, "figure 3")


def test_too_large_an_image_is_refused() -> None:
    limit = MAX_IMAGE_BYTES
    assert image_part(PNG.ljust(limit, b"\0")).media_type == "image/png"
    with pytest.raises(BadInput, match=f"expected at most {limit:,} bytes, got {limit + 1:,}"):
        image_part(PNG.ljust(limit + 1, b"\0"))


@pytest.mark.parametrize(
    "model_of",
    [
        lambda: client(endpoint("http://h/v1", images=False)),
        lambda: ChatEndpoint(endpoint("http://h/v1"), clock=SystemClock()),  # with no store at hand
        lambda: CompletionsEndpoint(endpoint("http://h/v1", images=True), clock=SystemClock()),
    ],
)
async def test_a_model_that_takes_no_images_is_sent_none(
    model_of: Callable[[], ChatEndpoint],
) -> None:
    with pytest.raises(BadUsage, match="acme/m-1 takes no images"):
        await model_of().submit(request(asking("Which?", PNG)))


async def test_an_image_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFound):
        await client(endpoint("http://h/v1")).submit(request(asking("Which?", PNG + b"\0")))


def test_a_message_is_shown_with_the_place_of_its_images() -> None:
    message = asking("Which?", PNG)
    assert message.text == f"Which?\n[image/png, sha256 {digest(PNG).hex()[:8]}]"
    assert [image.digest for image in message.images] == [digest(PNG)]
    assert Message("user", "x").images == ()
