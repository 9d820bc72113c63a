"""Interfaces of model calls: a method's call, the model behind it, the cache."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from msgspec import Struct

from proofstone.errors import BadInput
from proofstone.records.items import Oracle
from proofstone.records.runs import Purpose, Response, Usage
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Prompt content: messages of text, or of text and images.

ImageType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


IMAGE_TYPES: tuple[ImageType, ...] = get_args(ImageType)


MAX_IMAGE_BYTES = 20 * 1024 * 1024  # the largest image that the major endpoints accept


class TextPart(Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """Text between images."""

    text: str


class ImagePart(Struct, frozen=True, gc=False, tag_field="type", tag="image"):
    """An image by the SHA-256 of its bytes, which the store holds.

    A prompt is therefore small, and its hash identifies the image.
    """

    digest: bytes
    media_type: ImageType


class Message(Struct, frozen=True, gc=False):
    """One chat message; the content is text, or parts in order.

    Text alone is never stored as a part, so it has one encoding and one hash.
    """

    role: Literal["system", "user", "assistant"]
    content: str | tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        """Return the content as text, an image as its type and the first digits of its hash."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_shown(part) for part in self.content)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """Return the images of the content, in order."""
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if isinstance(part, ImagePart))


def image_part(data: bytes, where: str = "the image") -> ImagePart:
    """Return the part for an image's bytes; the type is detected from the bytes.

    Raises BadInput if it is not PNG, JPEG, WebP or GIF, or is larger than 20 MB.
    """
    media_type = _type_of(data)
    if media_type is None:
        raise BadInput(
            (
                f"{where}: expected a PNG, JPEG, WebP or GIF image, got data that begins with "
                f"{data[:8]!r}"
            ),
            hint="save it in one of these formats",
        )
    if len(data) > MAX_IMAGE_BYTES:
        raise BadInput(
            f"{where}: expected at most {MAX_IMAGE_BYTES:,} bytes, got {len(data):,}",
            hint="save it at a smaller size or a higher compression",
        )
    return ImagePart(sha256(data).digest(), media_type)


def _type_of(data: bytes) -> ImageType | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _shown(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[{part.media_type}, sha256 {part.digest.hex()[:8]}]"


class Call(Protocol):
    """One request to the run's model, as a method's ``ask`` uses it.

    The caller caches, limits, retries and records it. ``step`` names the request within its item.
    Raises CallFailed without a response; do not catch it. A method that returns before the last
    step finishes the item with the response of the last step it asked.
    """

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response: ...


class ModelRequest(Struct, frozen=True, gc=False, kw_only=True):
    """One request to a model.

    ``settings`` are the requested model settings. ``prompt_hash`` is the SHA-256 of the canonical
    JSON of ``messages`` (``prompt``). ``draw_key`` seeds a simulated model, and ``oracle`` is only
    for it. Neither is sent to an endpoint or enters the hash.
    """

    messages: tuple[Message, ...]
    prompt: bytes
    prompt_hash: bytes
    settings: Mapping[str, Any] = {}
    sample: int = 0
    reask: int = 0
    replicate: str = ""
    purpose: Purpose = "ask"
    oracle: Oracle | None = None
    draw_key: str = ""


class Ticket(Struct, frozen=True, gc=False):
    """A submitted request.

    ``reference`` is the provider's id if it outlives the connection (a batch), or empty. Then the
    row ``submitted`` is stored before collecting.
    """

    request: ModelRequest
    body: bytes = b""
    reference: str = ""


class Attempt(Struct, frozen=True, gc=False, kw_only=True):
    """Raw result of one attempt.

    ``raw`` is the body as received, stored before parsing. ``response`` is None if none could be
    parsed; then ``error`` is the kind and ``detail`` quotes the scrubbed cause.
    """

    raw: bytes = b""
    status: int = 0
    response: Response | None = None
    error: str = ""
    detail: str = ""
    retry_after_s: float | None = None
    latency_s: float = 0.0


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """Known limits of a model.

    ``window`` is the tokens of prompt and response together (of the prompt alone if
    ``counts_response`` is False). ``images`` is whether it accepts images. ``thinking_tokens`` is
    the extra response length for reasoning.
    """

    window: int | None = None
    counts_response: bool = True
    images: bool | None = None
    thinking_tokens: int = 0


class Model(Protocol):
    """A model behind one endpoint.

    ``submit`` sends a request and ``collect`` returns its attempt: on one connection for an online
    endpoint, hours apart for a batch interface. Neither raises for endpoint failures.
    """

    name: str
    simulated: bool
    wire: str
    endpoint: str
    reported_as: str
    limits: Limits

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the settings that will be sent, and the names of dropped ones."""

    async def submit(self, request: ModelRequest) -> Ticket: ...

    async def collect(self, ticket: Ticket) -> Attempt: ...

    async def close(self) -> None: ...


class CallRecord(Struct, frozen=True, gc=False, kw_only=True):
    """One row of the call table: a request and its stored attempt.

    ``attempt`` numbers the stored rows of one request hash from 0; ``attempts`` is how often the
    endpoint was tried for this row. ``cost_usd`` is None without a known price.
    ``estimated_tokens`` is None where the endpoint reported usage or billed nothing. Otherwise it
    is the most tokens that it may have billed, prompt and output, and ``cost_usd`` is an estimate.
    """

    request_hash: bytes
    attempt: int = 0
    purpose: Purpose = "ask"
    model: str
    endpoint: str
    wire: str
    prompt_hash: bytes
    prompt: bytes = b""
    sample: int = 0
    settings_asked: Mapping[str, Any] = {}
    settings_sent: Mapping[str, Any] = {}
    settings_dropped: tuple[str, ...] = ()
    state: Literal["submitted", "complete", "failed"]
    simulated: bool = False
    error: str = ""
    detail: str = ""
    status: int = 0
    raw: bytes = b""
    usage: Usage = Usage()
    cost_usd: float | None = None
    estimated_tokens: int | None = None
    reported_model: str = ""
    fingerprint: str = ""
    latency_s: float = 0.0
    attempts: int = 1
    started_at: float = 0.0
    reference: str = ""


class CallStore(Protocol):
    """The cache: complete calls by request hash."""

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        """Return the key and row of the newest complete call of each hash that has one."""

    def known_hashes(self, model: str) -> Container[bytes]:
        """Return the request hashes of this model's complete calls, as a quick filter.

        It may contain hashes that are not stored, but never lacks one that is.
        """

    def image(self, digest: bytes) -> bytes:
        """Return the bytes of an image in a prompt. Raises NotFound."""

    def newest_reported(self, model: str, endpoint: str) -> str:
        """Return the model version reported by the newest complete call at this endpoint, or ""."""


class Clock(Protocol):
    """Time as an effect: seconds since the epoch, a monotonic clock, and sleep."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Judge(Protocol):
    """One LLM judge or a panel that returns closed labels.

    The caller caches, limits, budgets and records its calls. A verdict without a label gives the
    reason; if a vote ``failed``, retry later. Raises NotAsked if the question could not be sent.
    """

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict: ...


Recorder = Callable[[CallRecord], Awaitable[None]]


# Interfaces of text search: the workspace's own sources, or the web.


class FoundText(Struct, frozen=True, kw_only=True):
    """A text found by a search, verbatim at [start, end) (code points) of a stored ``passage``.

    ``passage`` and ``source`` are ids. ``address`` is the URL of a web page; ``is_web`` is True if
    a web search found it.
    """

    text: str
    passage: bytes
    start: int
    end: int
    source: bytes
    title: str
    address: str = ""
    is_web: bool = False


class Searcher(Protocol):
    """Search for texts near a query, best first; fewer than ``n`` if fewer match.

    ``name`` identifies the search ("local", "brave", "searxng:bing"). ``made_from`` are the ids of
    sources whose text the query contains: it is sent out only if each of them permits that. Raises
    CallFailed if the search failed, as opposed to finding nothing; do not catch it, and retry
    later.
    """

    name: str

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]: ...


# Embedding vectors.


class EmbeddingModel(Protocol):
    """Embed texts as unit vectors (texts, dimensions); similar meanings are close."""

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]: ...


CacheUse = Literal["same", "any"]


class TokenCounter(Protocol):
    """Count the tokens of texts; ``name`` identifies the vocabulary."""

    name: str

    def __call__(self, text: str) -> int: ...
